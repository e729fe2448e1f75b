"""What is said of a loan that repeats, word by word, as people read it."""

from dataclasses import replace

import pytest

from bot.views.direct import in_force
from bot.views.facts import Surface
from bot.views.request_card import card
from bot.views.series import approved, stopped
from tests.support.view_facts import World
from tests.support.view_gallery import cards
from tests.support.view_text import seen

CARDS = cards(World())
FIRST = "8 a100 for vision, every Fri 18:00 to Mon 08:00, 4 times, last ends Mon 28 Dec 08:00, transfer · Q-142"


def lines(name: str, surface: Surface = Surface.CHANNEL) -> list[str]:
    found = seen(card(CARDS[name], surface))
    return found.splitlines() if isinstance(found, str) else list(found)


@pytest.mark.parametrize("name", [name for name in CARDS if name.startswith("series")])
def test_the_first_line_says_how_often_and_until_when(name: str) -> None:
    assert lines(name)[0].endswith(FIRST)


def test_a_waiting_one_says_whose_clock_it_goes_by_and_what_it_comes_to() -> None:
    assert "First Fri 4 Dec 18:00; times of Europe/Zurich, 1,984 GPU-h in all" in lines("series, waiting")


@pytest.mark.parametrize(
    ("name", "second", "third"),
    [
        (
            "series in force",
            "2 of 4: In force since 14:20, ends Mon 14 Dec 08:00",
            "2 more, the next Fri 18 Dec 18:00, last ends Mon 28 Dec 08:00",
        ),
        (
            "series, next",
            "3 of 4: Approved, starts Fri 11 Dec 18:00, ends Mon 14 Dec 08:00",
            "2 more, the next Fri 18 Dec 18:00, last ends Mon 28 Dec 08:00",
        ),
        ("series, last in force", "4 of 4: In force since 14:20, ends Mon 14 Dec 08:00", "The last one"),
    ],
)
def test_it_says_which_time_it_is_and_what_is_to_come(name: str, second: str, third: str) -> None:
    assert lines(name)[1:3] == [second, third]


@pytest.mark.parametrize(
    ("name", "surface", "buttons"),
    [
        ("series, waiting", Surface.CHANNEL, "[Approve] [Deny] [Details]"),
        ("series, waiting", Surface.REQUESTER, "[Withdraw]"),
        ("series in force", Surface.REQUESTER, "[Extend] [Return] [Stop series]"),
        ("series, last in force", Surface.REQUESTER, "[Extend] [Return]"),
        ("series, next", Surface.REQUESTER, "[Stop series]"),
        ("series in force", Surface.CHANNEL, "[End]"),
        ("series over", Surface.REQUESTER, "[Request again]"),
    ],
)
def test_its_buttons_are_for_the_time_that_runs_and_for_the_rest(name: str, surface: Surface, buttons: str) -> None:
    assert lines(name, surface)[-1] == buttons


def test_the_messages_of_the_whole_and_of_one_time() -> None:
    decided, over = seen(approved(CARDS["series, next"])), seen(stopped(CARDS["series over"]))
    one = seen(in_force(replace(CARDS["in force"], series=CARDS["series in force"].series)))
    assert "8 a100 for vision, every Fri 18:00 to Mon 08:00, approved (Q-142)" in "".join(decided)
    assert "8 a100 for vision, every Fri 18:00 to Mon 08:00, stopped (Q-142)" in "".join(over)
    assert "(Q-142, 2 of 4)" in "".join(one)
