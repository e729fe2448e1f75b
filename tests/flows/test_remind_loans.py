"""A reminder is said once, to somebody who is there, and only of an end that is still to come."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import NotLeader
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.requests import RequestState
from bot.demo.kube.faults import Refuse
from bot.flows.remind_loans import remind_loans
from tests.support import quota
from tests.support.fakes.gate import Killed, kill

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOUR = timedelta(hours=1)
LENGTH = timedelta(days=3)


def lend(bench: "Bench", number: int = 1, **changes: Any) -> Loan:
    """A loan in force of vision for three days, as if it had been asked for and approved now."""
    asked = quota.transfer(8)
    made = quota.request(
        number, of=asked, state=RequestState.APPROVED, decided_at=bench.clock(), origin=f"test:{number}"
    )
    facts = {"start": bench.clock(), "end": bench.clock() + LENGTH, "in_force_at": bench.clock(), **changes}
    one = quota.loan(number, 8, kind=asked.kind, lender="nlp", **facts)
    with bench.world.store.begin() as uow:
        stored = uow.requests.add(made)
        loan = uow.loans.add(replace(one, id=stored.id))
        uow.commit()
    return loan


def change(bench: "Bench", loan: Loan, **changes: Any) -> Loan:
    with bench.world.store.begin() as uow:
        stored = uow.loans.get(loan.id)
        assert stored is not None
        changed = uow.loans.update(replace(stored, **changes))
        uow.commit()
    return changed


def tick(bench: "Bench", **by: float) -> None:
    """Time goes on, and the leader looks."""
    bench.pass_time(**by)
    remind_loans(bench.world, bench.epoch)
    bench.deliver_all()


def said(bench: "Bench", to: str = "U0VISION") -> list[str]:
    return [text.split(" <")[0] for text in bench.texts(to)]


def test_a_day_and_an_hour_before_each_once(bench: "Bench") -> None:
    lend(bench)
    for _ in range(73 * 4):
        tick(bench, minutes=15)
    assert said(bench) == ["8 a100 end", "8 a100 end soon,"]
    assert [int((one.at - quota.NOW) / HOUR) for one in bench.posted("U0VISION")] == [48, 71]


def test_it_says_what_runs_above_base(bench: "Bench") -> None:
    bench.kube.hand_edit("vision", "a100", manager="test", nominal="24")
    bench.kube.hand_edit("nlp", "a100", manager="test", nominal="16")
    bench.kube.add_local_queue("vision-ns", "main", "vision")
    bench.kube.submit_job("vision-ns", "resnet-sweep", "main", 20)
    bench.kube.reconcile()
    lend(bench)
    tick(bench, hours=48)
    facts = bench.facts(bench.keys("ends_in_a_day")[0])
    assert (facts["loans"][0]["above"], facts["loans"][0]["work"]) == (4, [["resnet-sweep", 20]])


def test_it_works_without_the_cluster(bench: "Bench") -> None:
    lend(bench)
    bench.kube.faults.plan(Refuse(503), times=None)
    tick(bench, hours=48)
    assert said(bench) == ["8 a100 end"]
    assert "above" not in bench.facts(bench.keys("ends_in_a_day")[0])["loans"][0]


def test_a_wake_up_two_hours_before_the_end_says_only_the_last_one(bench: "Bench") -> None:
    lend(bench)
    tick(bench, hours=70)
    assert said(bench) == []
    tick(bench, hours=1)
    assert said(bench) == ["8 a100 end soon,"]


def test_another_leader_does_not_say_it_again(bench: "Bench") -> None:
    lend(bench)
    tick(bench, hours=48)
    bench.pass_time(minutes=2)
    bench.epoch = bench.lead("P2")
    remind_loans(bench.world, bench.epoch)
    bench.deliver_all()
    assert said(bench) == ["8 a100 end"]
    with pytest.raises(NotLeader):
        lend(bench, 2, start=bench.clock() - LENGTH, end=bench.clock() + HOUR)
        remind_loans(bench.world, bench.epoch - 1)


def test_a_moved_end_is_recalled_anew_and_the_old_one_is_not_said(bench: "Bench") -> None:
    """Owed, and not delivered yet, when the end moves."""
    loan = lend(bench)
    bench.pass_time(hours=48)
    remind_loans(bench.world, bench.epoch)
    change(bench, loan, end=loan.end + 48 * HOUR)
    bench.deliver_all()
    assert said(bench) == []
    tick(bench, hours=48)
    assert said(bench) == ["8 a100 end"]


@pytest.mark.parametrize("state", [LoanState.RETURNING, LoanState.CLOSED])
def test_a_loan_that_is_given_back_meanwhile_is_not_recalled(bench: "Bench", state: LoanState) -> None:
    loan = lend(bench)
    bench.pass_time(hours=71)
    remind_loans(bench.world, bench.epoch)
    change(bench, loan, state=state, end_reason=LoanEnd.RETURNED, ended_at=bench.clock())
    bench.deliver_all()
    assert said(bench) == []


def test_loans_of_one_person_share_a_message(bench: "Bench") -> None:
    """The second is not recalled once more when its own hour comes; one that ends much later is."""
    lend(bench)
    lend(bench, 2, end=bench.clock() + LENGTH + HOUR / 2)
    lend(bench, 3, end=bench.clock() + LENGTH + 2 * HOUR)
    bench.pass_time(hours=70)
    for _ in range(12):
        tick(bench, minutes=20)
    assert said(bench) == ["2 loans end soon, the first", "8 a100 end soon,"]


@pytest.mark.parametrize("gone", ["deactivated", "unknown", "left the team"])
def test_the_leads_hear_it_when_the_requester_is_gone(bench: "Bench", gone: str) -> None:
    lend(bench)
    if gone == "deactivated":
        bench.slack.people["U0VISION"] = replace(bench.slack.people["U0VISION"], full_member=False)
    elif gone == "unknown":
        del bench.slack.people["U0VISION"]
    else:
        changed = quota.documents()
        changed["teams.yaml"]["teams"]["vision"]["members"] = []
        bench.policy = quota.policy(changed)
    tick(bench, hours=48)
    assert said(bench) == []
    assert said(bench, "U0LEADVISION") == ["8 a100 end"]


def test_a_kill_at_any_passage_loses_nothing_and_repeats_nothing(bench: "Bench") -> None:
    lend(bench)
    bench.pass_time(hours=48)
    for passage in range(12):
        bench.gate.plan(kill, after=passage)
        with suppress(Killed):
            remind_loans(bench.world, bench.epoch)
        bench.gate.clear()
    remind_loans(bench.world, bench.epoch)
    bench.deliver_all()
    assert said(bench) == ["8 a100 end"]
