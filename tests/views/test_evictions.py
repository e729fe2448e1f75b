"""Evictions at a loan's end as their reader gets them."""

from collections.abc import Callable

import pytest

from bot.core.messages import Message
from bot.views.evictions import EvictionFacts, announced, evicted, undone
from tests.support.view_evictions import evictions
from tests.support.view_text import seen

MESSAGES: list[tuple[Callable[[EvictionFacts], Message], str, list[str]]] = [
    (
        announced,
        "announced",
        [
            "⚠️ resnet-sweep (8 GPUs) is evicted Sat 5 Dec 15:20",
            "The loan Q-142 ended Sat 5 Dec 14:20, and its policy gives 1 h",
            "Save a checkpoint; resubmit, or ask for an extension now",
            "[Extend]",
        ],
    ),
    (
        announced,
        "announced, two",
        [
            "⚠️ 2 workloads (12 GPUs) are evicted Sat 5 Dec 15:20",
            "resnet-sweep (8), bert-large (4)",
            "The loan Q-142 ended Sat 5 Dec 14:20, and its policy gives 1 h",
            "Save a checkpoint; resubmit, or ask for an extension now",
            "[Extend]",
        ],
    ),
    (
        announced,
        "announced, extension waits",
        [
            "⚠️ resnet-sweep (8 GPUs) is evicted Sat 5 Dec 15:20",
            "The loan Q-142 ended Sat 5 Dec 14:20, and its policy gives 1 h",
            "Save a checkpoint: Q-150 asks for more time, and is not approved yet",
        ],
    ),
    (
        announced,
        "called off",
        [
            "⚪ Nothing is evicted: Q-142",
            "resnet-sweep (8), bert-large (4)",
            "Because the policy lets it run on now",
        ],
    ),
    (
        evicted,
        "done",
        [
            "↩️ resnet-sweep evicted: 8 a100, loan Q-142 ended",
            "Announced, and the grace of 1 h is over",
            "Not evicted, since it ended or fits: bert-large (4)",
            "It does not come back by itself: resubmit, or ask for quota again",
            "[Request again]",
        ],
    ),
    (
        evicted,
        "done, extension waits",
        [
            "↩️ resnet-sweep evicted: 8 a100, loan Q-142 ended",
            "Announced, and the grace of 1 h is over",
            "Not evicted, since it ended or fits: bert-large (4)",
            "If Q-150 comes in force, it is set active again",
        ],
    ),
    (
        undone,
        "undone",
        [
            "✅ resnet-sweep set active again: Q-142 was extended (Q-150)",
            "Kueue admits it when there is room",
            "Let alone, changed by somebody else or gone: bert-large (4)",
        ],
    ),
]


@pytest.mark.parametrize(("view", "which", "lines"), MESSAGES, ids=[f"{one[0].__name__}, {one[1]}" for one in MESSAGES])
def test_each_says_what_happens_and_what_to_do(
    view: Callable[[EvictionFacts], Message], which: str, lines: list[str]
) -> None:
    assert seen(view(evictions()[which])) == lines
