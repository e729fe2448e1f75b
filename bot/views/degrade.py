"""Messages for a Slack that does not know tables or alerts: the same words in older blocks.

For the chat adapter, when Slack answers `invalid_blocks`.
"""

from typing import Any

from bot.core.messages import Block, Message, Modal
from bot.views.columns import columns
from bot.views.kit import pre


def plainer(message: Message) -> Message:
    """The message with its tables as preformatted text."""
    return Message(message.text, tuple(_plainer(block) for block in message.blocks))


def plainer_modal(modal: Modal) -> Modal:
    """The modal with its alerts as rich_text."""
    blocks = tuple(_plainer(block) for block in modal.blocks)
    return Modal(modal.callback_id, modal.title, blocks, modal.submit, modal.close, modal.metadata)


def _plainer(block: Block) -> Block:
    if block["type"] == "table":
        rows = [[_cell(cell) for cell in row] for row in block["rows"]]
        right = [at for at, column in enumerate(block["column_settings"]) if column["align"] == "right"]
        return pre(columns(rows[0], rows[1:], right))
    if block["type"] == "alert":
        text = {"type": "text", "text": block["text"]["text"], "style": {"bold": True}}
        return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [text]}]}
    return block


def _cell(cell: dict[str, Any]) -> str:
    if cell["type"] == "raw_text":
        return str(cell["text"])
    parts = cell["elements"][0]["elements"]
    return "".join(part.get("text") or part.get("fallback") or "" for part in parts)
