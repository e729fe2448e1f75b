"""Playing a counter-offer on a stage as people do: Change on the card, the form, the direct message, an answer."""

from collections.abc import Mapping
from typing import Any

from bot.demo.slack import Message, View
from tests.support.stage import CaseStage

LESS = {"gpuq_change_amount": "3", "gpuq_change_until": "1d", "gpuq_change_words": "the rest is needed"}
INSTEAD = "3 a100 for 1 day instead of 4 for 2 days"
"""What `LESS` is of a request for 4 for 2 days."""


def sees_view(stage: CaseStage, who: str, words: str) -> View:
    """The view in front of somebody, once it says so."""

    def shown() -> View | None:
        view = stage.slack.open_view(stage.people[who])
        return view if view is not None and words in stage.slack.render_text(view) else None

    return stage.wait(f"a view with {words} in front of {who}", shown)


def presses_change(stage: CaseStage, who: str, number: int, words: str = "Offer less") -> View:
    """Press Change, and wait for what is in front of them then."""
    assert stage.slack.press(stage.people[who], stage.card(number), "gpuq_card_change").acked
    return sees_view(stage, who, words)


def offers(stage: CaseStage, who: str, number: int, values: Mapping[str, Any] = LESS) -> None:
    """Fill the form, and wait until the offer is made."""
    presses_change(stage, who, number)
    assert stage.slack.submit_view(stage.people[who], values).acked
    sees_view(stage, who, "Offered:")
    stage.slack.close_view(stage.people[who], everything=True)


def offer_to(stage: CaseStage, who: str, words: str = INSTEAD) -> Message:
    """The direct message."""
    return stage.wait(f"an offer to {who}", lambda: stage.find_dm(who, words))


def answers(stage: CaseStage, who: str, what: str, where: Message | None = None) -> str:
    """Press `accept` or `keep`, and read the answer."""
    message = where or offer_to(stage, who)
    return stage.answer(who, lambda: stage.slack.press(stage.people[who], message, f"gpuq_offer_{what}"))
