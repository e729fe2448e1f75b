"""Reminders as their reader gets them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from bot.core.impact import AtRisk
from bot.core.messages import Message
from bot.views.reminders import Above, Ending, day_before, hour_before
from tests.support.view_facts import World, at
from tests.support.view_text import seen

T = World()
BUSY = Ending(T.loan(), Above(8, (AtRisk("resnet-sweep", 8),)))
FIRST = Ending(T.loan(amount=1), Above(0))
SECOND = Ending(T.loan(id=143, end=at("14:50", 5)), Above(2))

MESSAGES: dict[str, tuple[Callable[[Sequence[Ending]], Message], list[Ending], list[str]]] = {
    "a day before": (
        day_before,
        [BUSY],
        [
            "⏳ 8 a100 end Sat 5 Dec 14:20 (Q-142)",
            "In use above base now: 8 GPUs, resnet-sweep (8)",
            "After the end it runs on, without protection",
            "[Extend] [Return]",
        ],
    ),
    "a day before, nothing above": (
        day_before,
        [FIRST],
        ["⏳ 1 a100 ends Sat 5 Dec 14:20 (Q-142)", "Nothing runs above base now", "[Extend] [Return]"],
    ),
    "an hour before": (
        hour_before,
        [BUSY],
        [
            "⏳ 8 a100 end soon, Sat 5 Dec 14:20 (Q-142)",
            "Still above base: 8 GPUs, resnet-sweep (8)",
            "Save a checkpoint, or extend",
            "[Extend] [Return]",
        ],
    ),
    "an hour before, no live figures": (
        hour_before,
        [replace(BUSY, above=None)],
        [
            "⏳ 8 a100 end soon, Sat 5 Dec 14:20 (Q-142)",
            "What runs above base is not known: no live figures",
            "[Extend] [Return]",
        ],
    ),
    "several": (
        hour_before,
        [FIRST, SECOND],
        [
            "⏳ 2 loans end soon, the first Sat 5 Dec 14:20",
            "1 a100 for vision ends 14:20 (Q-142)",
            "Nothing runs above base now",
            "[Extend] [Return]",
            "8 a100 for vision end 14:50 (Q-143)",
            "In use above base now: 2 GPUs",
            "[Extend] [Return]",
        ],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_reminder_says(name: str) -> None:
    view, endings, lines = MESSAGES[name]
    assert seen(view(endings)) == lines


def test_many_loans_are_not_all_listed() -> None:
    many = [Ending(T.loan(id=number)) for number in range(142, 150)]
    assert seen(day_before(many))[-1] == "and 3 more: /gpu-quota list"
