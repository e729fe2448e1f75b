"""A loan that lies idle: measured at each look, asked about once a day, returned or kept by one press."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import NotLeader, Refused, Stale
from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.loan_use import LoanUse, Unused
from bot.core.loans import Loan, LoanState
from bot.core.pause import Pause
from bot.demo.kube.faults import Refuse
from bot.flows.answer_idle import IdlePress, keep_idle, return_idle
from bot.flows.card_facts import card_facts, stored
from bot.flows.offer_idle import offer_idle
from bot.flows.return_loan import return_loan
from tests.support import quota
from tests.support.fakes.gate import Killed, kill

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
REQUESTER, LEAD = "U0VISION", "U0LEADVISION"


def lend(bench: "Bench", amount: int = 8, **changes: Any) -> int:
    """A transfer to vision, in force; vision's own 16 are in use, so that use is of the loan."""
    number = bench.approved(quota.transfer(amount, **changes))
    bench.converge()
    return number


def work(bench: "Bench", gpus: int, queue: str = "vision") -> None:
    """A job of so many GPUs, admitted if there is room."""
    with suppress(Exception):
        bench.kube.add_local_queue(f"{queue}-ns", "main", queue)
    bench.kube.submit_job(f"{queue}-ns", f"job-{queue}-{bench.new_id()}".lower(), "main", gpus)
    bench.kube.reconcile()


def look(bench: "Bench", minutes: int) -> None:
    """The leader goes on for so long, with a look each 5 minutes."""
    for _ in range(minutes // 5):
        bench.pass_time(minutes=5)
        bench.converge()


def use(bench: "Bench", number: int = 1) -> LoanUse:
    return bench.store.tables.uses[number]


def unused(bench: "Bench", number: int = 1, devices: int = 8, lasted: timedelta = 12 * HOUR) -> None:
    """As if it had been seen unused for so long. (Leaders later go on from what is stored.)"""
    with bench.world.store.begin() as uow:
        loan = uow.loans.get(number)
        assert loan is not None
        seen = (Unused(devices, lasted),)
        uow.uses.put([LoanUse(number, bench.clock(), loan.amount, loan.amount - devices, lasted, unused=seen)])
        uow.commit()


def asked(bench: "Bench") -> list[IdleOffer]:
    offer_idle(bench.world, bench.epoch)
    bench.deliver_all()
    return [one for _, one in sorted(bench.store.tables.idle_offers.items())]


def said(bench: "Bench", to: str = REQUESTER) -> list[str]:
    return [text.split(" <")[0] for text in bench.texts(to) if "unused" in text or "returned" in text or "kept" in text]


def loan(bench: "Bench", number: int = 1) -> Loan:
    return bench.store.tables.loans[number]


def press(bench: "Bench", offer: IdleOffer, user: str = REQUESTER) -> IdlePress:
    key = bench.arrival(bench.new_id())
    return IdlePress(offer.id, offer.version, user, key)


def return_now(bench: "Bench", offer: IdleOffer, user: str = REQUESTER) -> tuple[Loan, int]:
    return return_idle(bench.world, press(bench, offer, user))


# measuring


def test_each_look_counts_and_few_are_stored(bench: "Bench") -> None:
    work(bench, 16)
    lend(bench)
    work(bench, 3)
    commits: list[int] = []
    heard = bench.store.on_commit
    bench.store.on_commit = lambda before, after: (  # type: ignore[func-returns-value]
        heard(before, after),
        commits.append(1) if before.uses != after.uses else None,
    )
    look(bench, 120)
    assert len(commits) == 12
    seen = use(bench)
    assert (seen.amount, seen.used) == (8, 3)
    assert seen.observed == pytest.approx(120 * MINUTE, abs=5 * MINUTE)
    assert seen.used_time / seen.observed == pytest.approx(3, abs=0.2)
    assert seen.unused[-1].at_least == 5


def test_an_outage_is_a_gap(bench: "Bench") -> None:
    lend(bench)
    look(bench, 30)
    bench.api_down()
    look(bench, 120)
    bench.kube.faults.clear()
    look(bench, 30)
    assert use(bench).observed <= 60 * MINUTE
    assert use(bench).observed >= 40 * MINUTE
    assert use(bench).lasted(8) <= 30 * MINUTE, "the stretch began anew"


def test_another_leader_goes_on_from_what_is_stored(bench: "Bench") -> None:
    lend(bench)
    look(bench, 60)
    before = use(bench)
    bench.pass_time(minutes=1)
    bench.epoch = bench.lead("P2")
    look(bench, 60)
    assert use(bench).observed >= before.observed + 45 * MINUTE
    assert use(bench).observed <= 121 * MINUTE
    assert use(bench).lasted(8) == use(bench).observed


def test_the_last_of_a_loan_that_is_over_is_stored(bench: "Bench") -> None:
    lend(bench)
    look(bench, 15)
    return_loan(bench.world, 1, None, REQUESTER, bench.arrival("return"))
    bench.converge()
    assert use(bench).observed == pytest.approx(15 * MINUTE, abs=5 * MINUTE)
    assert bench.memory.use.uses["default"] == {}


def test_a_number_in_question_is_a_gap(bench: "Bench") -> None:
    lend(bench)
    look(bench, 30)
    bench.set_nominal("vision", 20)
    look(bench, 60)
    assert use(bench).observed <= 35 * MINUTE


# asking


def test_it_is_asked_after_twelve_hours_unused_and_once_a_day(bench: "Bench") -> None:
    work(bench, 16)
    lend(bench, duration=timedelta(days=5))
    work(bench, 2)
    for hours in range(1, 60):
        look(bench, 60)
        offers = asked(bench)
        assert len(offers) == (hours >= 13) + (hours >= 37), hours
    first = offers[0]
    assert (first.amount, first.of, first.state) == (6, 8, IdleState.OPEN)
    assert said(bench)[0] == "6 of 8 a100 unused for 12 h (Q-1)"
    assert len(said(bench)) == 2


def _paused(bench: "Bench") -> None:
    with bench.world.store.begin() as uow:
        uow.pauses.begin(Pause("U0ADMIN", "admin", bench.clock(), ""))
        uow.commit()


def _off(bench: "Bench") -> None:
    bench.policy = quota.with_rules(*quota.documents()["approvals.yaml"]["rules"], idle_loans={"offer": False})


def _suspended(bench: "Bench") -> None:
    with bench.world.store.begin() as uow:
        uow.loans.update(replace(loan(bench), suspended="queue nlp is gone"))
        uow.commit()


def _near_its_end(bench: "Bench") -> None:
    with bench.world.store.begin() as uow:
        uow.loans.update(replace(loan(bench), end=bench.clock() + 6 * HOUR))
        uow.commit()


def _not_looked_at(bench: "Bench") -> None:
    bench.pass_time(minutes=21)


def _used_now(bench: "Bench") -> None:
    work(bench, 24)


def _edited(bench: "Bench") -> None:
    bench.set_nominal("vision", 20)


def _api_down(bench: "Bench") -> None:
    bench.kube.faults.plan(Refuse(503), times=None)


@pytest.mark.parametrize(
    "reason", [_paused, _off, _suspended, _near_its_end, _not_looked_at, _used_now, _edited, _api_down]
)
def test_it_is_not_asked(bench: "Bench", reason: Callable[["Bench"], None]) -> None:
    lend(bench)
    unused(bench)
    reason(bench)
    assert asked(bench) == []
    assert said(bench) == []


def test_the_policy_says_after_how_long(bench: "Bench") -> None:
    lend(bench)
    rules = {"after": "2h", "again_after": "3h", "not_in_last": "1h"}
    bench.policy = quota.with_rules(*quota.documents()["approvals.yaml"]["rules"], idle_loans=rules)
    unused(bench, lasted=2 * HOUR - MINUTE)
    assert asked(bench) == []
    unused(bench, lasted=2 * HOUR)
    assert len(asked(bench)) == 1
    bench.pass_time(hours=3)
    unused(bench, lasted=5 * HOUR)
    assert len(asked(bench)) == 2


def test_it_says_who_waits_elsewhere(bench: "Bench") -> None:
    lend(bench)
    work(bench, 16, "nlp")
    work(bench, 40, "nlp")
    unused(bench)
    (offer,) = asked(bench)
    assert bench.facts(f"idle_loan:{offer.id}:{REQUESTER}")["waiting"] == ["gpu-pool", 40]


def test_the_leads_are_asked_when_the_requester_is_gone(bench: "Bench") -> None:
    lend(bench)
    bench.slack.people[REQUESTER] = replace(bench.slack.people[REQUESTER], full_member=False)
    unused(bench)
    asked(bench)
    assert (said(bench), said(bench, LEAD)) == ([], ["8 of 8 a100 unused for 12 h (Q-1)"])


def test_a_loan_that_is_another_one_by_now_is_not_spoken_of(bench: "Bench") -> None:
    lend(bench)
    unused(bench)
    offer_idle(bench.world, bench.epoch)
    return_loan(bench.world, 1, 4, REQUESTER, bench.arrival("return"))
    bench.deliver_all()
    assert said(bench) == []


def test_another_leader_does_not_ask_again_and_an_old_one_cannot(bench: "Bench") -> None:
    lend(bench)
    unused(bench)
    asked(bench)
    bench.pass_time(minutes=2)
    bench.epoch = bench.lead("P2")
    assert len(asked(bench)) == 1
    bench.pass_time(days=1)
    unused(bench)
    with pytest.raises(NotLeader):
        offer_idle(bench.world, bench.epoch - 1)


def test_a_kill_at_any_passage_loses_nothing_and_repeats_nothing(bench: "Bench") -> None:
    lend(bench)
    unused(bench)
    for passage in range(14):
        bench.gate.plan(kill, after=passage)
        with suppress(Killed):
            offer_idle(bench.world, bench.epoch)
        bench.gate.clear()
    assert len(asked(bench)) == 1
    assert said(bench) == ["8 of 8 a100 unused for 12 h (Q-1)"]


# answering


def test_return_gives_back_what_the_button_says(bench: "Bench") -> None:
    work(bench, 18)
    lend(bench)
    unused(bench, devices=6)
    (offer,) = asked(bench)
    left, given = return_now(bench, offer)
    bench.converge()
    assert (left.amount, given, bench.number("vision"), bench.number("nlp")) == (2, 6, 18, 22)
    bench.deliver_all()
    assert said(bench)[-1].startswith("6 returned, 2 kept until")
    assert (loan(bench).state, bench.store.tables.idle_offers[1].state) == (LoanState.RUNNING, IdleState.RETURNED)


def test_return_of_all_ends_the_loan(bench: "Bench") -> None:
    work(bench, 16)
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    return_now(bench, offer, LEAD)
    bench.converge()
    bench.deliver_all()
    assert (loan(bench).state, bench.number("vision")) == (LoanState.CLOSED, 16)
    assert "8 returned, all of the loan (Q-1)" in said(bench)


def test_keep_changes_nothing_and_is_quiet_for_a_day(bench: "Bench") -> None:
    lend(bench, duration=timedelta(days=5))
    unused(bench)
    (offer,) = asked(bench)
    bench.pass_time(hours=3)
    keep_idle(bench.world, press(bench, offer))
    bench.deliver_all()
    assert loan(bench).amount == 8
    assert said(bench)[-1].startswith("8 kept until")
    for hours, times in ((23, 1), (2, 2)):
        bench.pass_time(hours=hours)
        unused(bench)
        assert len(asked(bench)) == times


def test_what_is_used_meanwhile_is_asked_again_with_the_number_of_now(bench: "Bench") -> None:
    work(bench, 16)
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    work(bench, 5)
    with pytest.raises(Refused, match="3 of 8 a100 are unused now, not 8. Nothing was returned"):
        return_now(bench, offer)
    with pytest.raises(Refused, match="out of date"):
        return_now(bench, offer)
    bench.deliver_all()
    assert said(bench) == ["3 of 8 a100 unused for 12 h (Q-1)"], "the same message"
    assert return_now(bench, bench.store.tables.idle_offers[1])[0].amount == 5


def test_nothing_goes_back_when_all_is_used_again(bench: "Bench") -> None:
    work(bench, 16)
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    work(bench, 8)
    with pytest.raises(Refused, match="0 of 8 a100 are unused now"):
        return_now(bench, offer)
    assert (loan(bench).amount, bench.store.tables.idle_offers[1].state) == (8, IdleState.USED)
    with pytest.raises(Refused, match="answered already"):
        return_now(bench, offer)


@pytest.mark.parametrize("trouble", [_api_down, _edited])
def test_what_cannot_be_looked_at_is_not_returned(bench: "Bench", trouble: Callable[["Bench"], None]) -> None:
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    trouble(bench)
    with pytest.raises(Refused, match="/gpu-quota return Q-1 8"):
        return_now(bench, offer)
    assert loan(bench).amount == 8


def test_a_part_that_was_returned_by_hand_meanwhile_is_counted(bench: "Bench") -> None:
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    return_loan(bench.world, 1, 3, REQUESTER, bench.arrival("return"))
    bench.converge()
    with pytest.raises(Refused, match="5 of 5 a100 are unused now, not 8"):
        return_now(bench, offer)


@pytest.mark.parametrize("act", [return_idle, keep_idle], ids=["return", "keep"])
@pytest.mark.parametrize(
    ("user", "words"),
    [("U0NLP", "Only u0vision can accept, withdraw, extend or return Q-1"), ("U0ADMIN", "Only u0vision can")],
)
def test_only_its_people_answer(bench: "Bench", act: Callable[..., object], user: str, words: str) -> None:
    lend(bench)
    unused(bench)
    (offer,) = asked(bench)
    with pytest.raises(Refused, match=words):
        act(bench.world, press(bench, offer, user))
    assert bench.store.tables.audit[-1].who == user


@pytest.mark.parametrize("first", [return_idle, keep_idle], ids=["returned", "kept"])
@pytest.mark.parametrize("second", [return_idle, keep_idle], ids=["return", "keep"])
def test_one_answer_counts(bench: "Bench", first: Callable[..., object], second: Callable[..., object]) -> None:
    lend(bench)
    unused(bench, devices=3)
    (offer,) = asked(bench)
    first(bench.world, press(bench, offer))
    with pytest.raises(Refused, match="answered already"):
        second(bench.world, press(bench, offer))
    assert loan(bench).amount == (5 if first is return_idle else 8)


@pytest.mark.parametrize("other", ["keep", "return by hand"])
def test_two_answers_at_the_same_moment(bench: "Bench", other: str) -> None:
    """One comes in the middle of the other's handling: what is lent goes down once or not at all."""
    lend(bench)
    unused(bench, devices=3)
    (offer,) = asked(bench)
    mine, theirs = press(bench, offer), press(bench, offer, LEAD)

    def meanwhile() -> None:
        if other == "keep":
            keep_idle(bench.world, theirs)
        else:
            return_loan(bench.world, 1, 3, LEAD, theirs.origin)

    bench.gate.plan(meanwhile, matches="cluster.get")
    with pytest.raises((Refused, Stale)):
        return_idle(bench.world, mine)
    assert loan(bench).amount == (8 if other == "keep" else 5)


def test_a_kill_at_any_passage_of_a_return_returns_it_once(bench: "Bench") -> None:
    lend(bench)
    unused(bench, devices=3)
    (offer,) = asked(bench)
    one = press(bench, offer)
    for passage in range(30):
        bench.gate.plan(kill, after=passage)
        with suppress(Killed, Refused, Stale):
            return_idle(bench.world, one)
        bench.gate.clear()
    assert loan(bench).amount == 5
    done: Mapping[str, Any] = {entry.what: entry.outcome for entry in bench.store.tables.audit}
    assert done["return"] != "", "in the audit"
    assert sum(entry.outcome == "3" for entry in bench.store.tables.audit) == 1


# what approvers see


def test_a_waiting_card_says_what_was_used_of_earlier_loans(bench: "Bench") -> None:
    lend(bench)
    unused(bench, devices=6, lasted=60 * HOUR)
    with bench.world.store.begin() as uow:
        uow.uses.put([replace(use(bench), used_time=2 * 60 * HOUR)])
        waiting = uow.requests.add(quota.request(of=quota.ask(8), created_at=bench.clock(), origin="next"))
        others = uow.requests.add(
            quota.request(of=quota.ask(8, team="nlp", queue="nlp"), created_at=bench.clock(), origin="others")
        )
        uow.commit()
    with bench.world.store.read() as uow:
        found = [stored(uow, number) for number in (1, waiting.id, others.id)]
    past = [card_facts(bench.world, one).past for one in found if one]
    assert [one and (one.loans, one.asked, one.used) for one in past] == [None, (1, 8, 2), None]
