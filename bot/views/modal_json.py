"""A modal in the shape that Slack takes. Used by the chat adapter and by the acknowledgement of a submission."""

from typing import Any

from bot.core.messages import Modal


def modal_json(modal: Modal) -> dict[str, Any]:
    """The `view` of views.open, views.update and of a submission's answer."""
    view: dict[str, Any] = {
        "type": "modal",
        "callback_id": str(modal.callback_id),
        "title": {"type": "plain_text", "text": modal.title},
        "close": {"type": "plain_text", "text": modal.close},
        "blocks": list(modal.blocks),
        "private_metadata": modal.metadata,
    }
    if modal.submit is not None:
        view["submit"] = {"type": "plain_text", "text": modal.submit}
    return view
