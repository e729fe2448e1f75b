"""A late end names what kept it, and nothing that was over, or had not begun, when the loan was due."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.loans import LoanState
from bot.core.standing import Blocker
from bot.flows.why_late import Past, why_late
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

DUE = quota.NOW
API, KUEUE = Blocker.API_DOWN, Blocker.KUEUE_DOWN
NOT_KNOWN = "it is not known why"


def _past(blocker: Blocker, since: float, until: float) -> Past:
    """Minutes from when the loan was due."""
    return Past(blocker, DUE + timedelta(minutes=since), DUE + timedelta(minutes=until))


@pytest.mark.parametrize(
    ("gap", "past", "why"),
    [
        (None, [], NOT_KNOWN),
        ((-5, 20), [], "the bot was down"),
        ((-30, -1), [], NOT_KNOWN),
        ((1, 20), [], NOT_KNOWN),
        (None, [_past(API, -5, 20)], "the API server did not answer"),
        (None, [_past(API, 0.4, 20)], "the API server did not answer"),
        (None, [_past(KUEUE, -5, 20)], "Kueue did not answer"),
        (None, [_past(API, -30, -1)], NOT_KNOWN),
        (None, [_past(KUEUE, 5, 20)], NOT_KNOWN),
        ((-30, -1), [_past(KUEUE, -1, 20)], "Kueue did not answer"),
        ((1, 20), [_past(API, -1, 30)], "the API server did not answer"),
        ((-5, 20), [_past(API, 20.5, 30)], "the bot was down, then the API server did not answer"),
        (None, [_past(KUEUE, 9, 20), _past(API, -5, 10)], "the API server did not answer, then Kueue did not answer"),
    ],
)
def test_only_what_was_there_when_it_was_due_is_blamed(
    bench: "Bench", gap: tuple[float, float] | None, past: list[Past], why: str
) -> None:
    if gap is not None:
        bench.store.tables.leader.gap = (DUE + timedelta(minutes=gap[0]), DUE + timedelta(minutes=gap[1]))
    with bench.world.store.read() as uow:
        assert why_late(uow, DUE, past, None) == why


def test_what_kept_the_loan_itself_is_named_if_nothing_was_down(bench: "Bench") -> None:
    with bench.world.store.read() as uow:
        assert why_late(uow, DUE, [], Blocker.REFUSED) == "Kueue refused the change"
        assert why_late(uow, DUE, [_past(API, -5, 20)], Blocker.REFUSED) == "the API server did not answer"


def _ends(bench: "Bench", why: str) -> None:
    (loan,) = bench.store.tables.loans.values()
    assert loan.state is LoanState.CLOSED
    late = bench.facts("loan_ended:1:U0VISION")["late"]
    assert late["why"] == why
    assert late["by"] == pytest.approx(1800, abs=60)


@pytest.fixture
def lent(bench: "Bench") -> "Bench":
    """In force, and due in an instant."""
    bench.approved(quota.transfer(8))
    bench.converge()
    bench.pass_time(days=3, seconds=-1)
    bench.epoch = bench.lead("P1")  # the lease was kept all the time
    bench.store.tables.leader.gap = None
    return bench


@pytest.mark.parametrize("down", ["the API server", "Kueue"])
def test_the_end_that_an_outage_delayed_says_which(lent: "Bench", down: str) -> None:
    if down == "Kueue":
        lent.kube.kueue_up = False
    else:
        lent.api_down()
    lent.pass_time(seconds=1)
    lent.converge()
    lent.pass_time(minutes=30)
    lent.kube.faults.clear()
    lent.kube.kueue_up = True
    lent.converge()
    _ends(lent, f"{down} did not answer")


def test_the_end_that_a_gap_delayed_says_so(lent: "Bench") -> None:
    lent.pass_time(minutes=30)
    lent.epoch = lent.lead("P2")
    lent.converge()
    _ends(lent, "the bot was down")


def test_a_gap_that_was_over_is_not_blamed_for_what_came_later(lent: "Bench") -> None:
    lent.store.tables.leader.gap = (lent.clock() - timedelta(minutes=20), lent.clock() - timedelta(minutes=10))
    lent.api_down()
    lent.pass_time(seconds=1)
    lent.converge()
    lent.pass_time(minutes=30)
    lent.kube.faults.clear()
    lent.converge()
    _ends(lent, "the API server did not answer")
