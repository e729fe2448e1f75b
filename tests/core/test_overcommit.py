"""What is promised of a flavor with an extra loan, against what its nodes have."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.impact import Impact, Move, from_json, to_json
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.news import worse
from bot.core.overcommit import Hardware, Lent, NodeSnapshot, Overcommit, against, overcommit
from tests.support.quota import A100, GPU, NOW, loan, picture

SUM = 48
"""nominalQuota of a100 in the picture."""


def extra(number: int = 7, amount: int = 4, **changes: Any) -> Loan:
    return loan(number, amount, **{"kind": LoanKind.EXTRA, **changes})


def promised(*loans: Loan, amount: int = 8) -> int:
    return overcommit(picture(), A100, amount, Lent(loans, {}, "bot")).promised


def test_all_queues_and_this_loan_are_promised() -> None:
    assert promised() == SUM + 8


@pytest.mark.parametrize("state", [LoanState.SCHEDULED, LoanState.RUNNING, LoanState.RETURNING])
def test_every_other_extra_loan_counts_until_it_is_closed(state: LoanState) -> None:
    assert promised(extra(state=state)) == SUM + 4 + 8


@pytest.mark.parametrize(
    "one",
    [
        extra(state=LoanState.CLOSED),
        extra(suspended="the queue is gone"),
        extra(flavor="h100"),
        replace(extra(), kind=LoanKind.BORROW),
        replace(extra(), kind=LoanKind.TRANSFER, lender="nlp"),
    ],
)
def test_what_is_over_or_of_another_kind_or_flavor_does_not(one: Loan) -> None:
    assert promised(one) == SUM + 8


def _node(name: str, amount: int, flavor: str = "a100", *, in_service: bool = True) -> NodeSnapshot:
    return NodeSnapshot(name, {"gpu": flavor, "zone": "b"}, amount, in_service)


HARDWARE = Hardware(
    {"a100": {"gpu": "a100"}, "any": {}},
    [_node("one", 40), _node("two", 20), _node("shut", 4, in_service=False), _node("else", 8, "h100")],
)


@pytest.mark.case("QUO-10")
@pytest.mark.parametrize(
    ("sum_of_nominal", "amount", "over"), [(64, 8, 12), (52, 8, 0), (52, 9, 1), (60, 1, 1), (0, 60, 0)]
)
def test_the_nodes_of_the_flavor_that_are_in_service_are_what_there_is(
    sum_of_nominal: int, amount: int, over: int
) -> None:
    found = against(Overcommit(sum_of_nominal + amount, None), HARDWARE, A100)
    assert (found.capacity, found.aside, found.over, found.needs_tick) == (60, 4, over, over > 0)


def test_a_flavor_without_labels_means_every_node() -> None:
    assert against(Overcommit(1, None), HARDWARE, FlavorResource("any", GPU)).capacity == 68


def test_a_flavor_that_is_not_there_leaves_the_capacity_unknown_and_takes_a_tick() -> None:
    found = against(Overcommit(1, None), HARDWARE, FlavorResource("gone", GPU))
    assert (found.capacity, found.over, found.needs_tick) == (None, 0, True)
    assert found.why == "there is no ResourceFlavor gone"


def _impact(found: Overcommit | None) -> Impact:
    move = Move("vision", 16, 24)
    return Impact(LoanKind.EXTRA, "default", "a100", GPU, 8, NOW, None, free=0, borrower=move, overcommit=found)


OVER_12, OVER_4 = Overcommit(72, 60), Overcommit(64, 60)
FITS, UNKNOWN = Overcommit(60, 60), Overcommit(72, None, why="the bot may not list nodes")


@pytest.mark.parametrize(
    ("shown", "now", "line"),
    [
        (OVER_4, OVER_12, "72 of 60 a100 promised: 12 more than the nodes have"),
        (FITS, OVER_4, "64 of 60 a100 promised: 4 more than the nodes have"),
        (UNKNOWN, OVER_4, "64 of 60 a100 promised: 4 more than the nodes have"),
        (None, OVER_4, "64 of 60 a100 promised: 4 more than the nodes have"),
        (OVER_12, UNKNOWN, "What the nodes have is not known now: the bot may not list nodes"),
        (FITS, UNKNOWN, "What the nodes have is not known now: the bot may not list nodes"),
    ],
)
def test_worse_numbers_than_those_shown_are_news(shown: Overcommit | None, now: Overcommit, line: str) -> None:
    news = worse(_impact(shown), _impact(now))
    assert news is not None
    assert news.lines == (line,)


@pytest.mark.parametrize(
    ("shown", "now"), [(OVER_12, OVER_4), (OVER_12, OVER_12), (OVER_4, FITS), (UNKNOWN, UNKNOWN), (UNKNOWN, FITS)]
)
def test_better_numbers_are_none(shown: Overcommit, now: Overcommit) -> None:
    assert worse(_impact(shown), _impact(now)) is None


@pytest.mark.parametrize("found", [OVER_12, UNKNOWN, None])
def test_the_picture_of_a_card_keeps_it(found: Overcommit | None) -> None:
    assert from_json(to_json(_impact(found))) == _impact(found)
