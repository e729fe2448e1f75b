"""A name that the policy loses is told once, held for a day, and nothing is lost when it is back in time."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.loans import LoanState
from bot.core.policy import Policy
from bot.core.requests import RequestState
from bot.flows.lost_names import lost_names
from tests.support import quota
from tests.support.fakes.gate import Killed, kill

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

GONE = "Team vision is not in the policy any more"
BACK = "Team vision is in the policy again"


def without(known: Policy, *names: str) -> Policy:
    left = {name: team for name, team in known.teams.teams.items() if name not in names}
    return replace(known, teams=known.teams.model_copy(update={"teams": left}))


@pytest.fixture(autouse=True)
def waiting(bench: "Bench") -> int:
    with bench.world.store.begin() as uow:
        number = uow.requests.add(quota.request(created_at=bench.clock(), origin="test:waits")).id
        uow.commit()
    return number


def look(bench: "Bench", **by: float) -> None:
    bench.pass_time(**by)
    lost_names(bench.world, bench.epoch)
    bench.deliver_all()


def state(bench: "Bench", number: int) -> RequestState:
    return bench.store.tables.requests[number].state


def shown(bench: "Bench") -> list[str]:
    return [str(one.message.blocks) for one in bench.posted("C0PLATFORM")]


def test_it_is_held_for_a_day_and_told_once(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    for _ in range(23):
        look(bench, hours=1)
    assert bench.texts("C0PLATFORM") == [GONE]
    assert f"Q-{waiting}" in shown(bench)[0]
    assert "Held until" in shown(bench)[0]
    assert state(bench, waiting) is RequestState.WAITING
    look(bench, hours=2)
    assert state(bench, waiting) is RequestState.LAPSED
    assert bench.texts("C0PLATFORM") == [GONE]
    assert "Lapsed: " in shown(bench)[0]
    assert any(f"Q-{waiting} lapsed" in text for text in bench.texts("U0VISION"))


def test_back_within_a_day_nothing_is_lost(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    look(bench, hours=23)
    bench.policy = quota.policy()
    look(bench)
    look(bench, hours=48)
    assert bench.texts("C0PLATFORM") == [GONE, BACK]
    assert state(bench, waiting) is RequestState.WAITING
    assert bench.texts("U0VISION") == []


def test_the_next_disappearance_is_told_again_and_held_for_a_day_of_its_own(bench: "Bench", waiting: int) -> None:
    for _ in range(2):
        bench.policy = without(quota.policy(), "vision")
        look(bench, hours=1)
        look(bench, hours=23)
        bench.policy = quota.policy()
        look(bench)
    assert bench.texts("C0PLATFORM") == [GONE, BACK, GONE, BACK]
    assert state(bench, waiting) is RequestState.WAITING


def test_the_hold_outlasts_the_process(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    bench.pass_time(hours=25)
    bench.epoch = bench.lead("P2")
    look(bench)
    assert state(bench, waiting) is RequestState.LAPSED


def test_when_nothing_stands_on_it_any_more_it_is_over_without_a_word(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    look(bench, hours=25)
    look(bench)
    assert [one.ended_at is not None for one in bench.store.tables.lost_names.values()] == [True]
    bench.policy = quota.policy()
    look(bench)
    assert bench.texts("C0PLATFORM") == [GONE]


def test_another_name_that_is_missing_now_is_not_taken_for_the_first_one_back(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    vision = quota.policy().teams.teams["vision"].model_copy(update={"queues": {"*": ("other",)}})
    teams = quota.policy().teams.model_copy(update={"teams": {**quota.policy().teams.teams, "vision": vision}})
    bench.policy = replace(quota.policy(), teams=teams)
    look(bench, hours=20)
    assert bench.texts("C0PLATFORM") == [GONE, "ClusterQueue vision is no queue of team vision any more"]
    look(bench, hours=23)
    assert state(bench, waiting) is RequestState.WAITING
    bench.policy = quota.policy()
    look(bench)
    assert bench.texts("C0PLATFORM")[2:] == ["ClusterQueue vision of team vision is in the policy again"]


def test_a_loan_goes_on_and_is_named_when_the_name_is_back(bench: "Bench") -> None:
    loan = bench.approved(quota.ask())
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    look(bench, hours=25)
    assert bench.store.tables.loans[loan].state is not LoanState.CLOSED
    bench.policy = quota.policy()
    look(bench)
    assert bench.texts("C0PLATFORM") == [GONE, BACK]
    assert f"Q-{loan}" in shown(bench)[1]
    assert "Lapsed meanwhile" in shown(bench)[1]


@pytest.mark.parametrize("hours", [0, 24])
def test_a_kill_at_any_passage_loses_no_message_and_says_none_twice(bench: "Bench", waiting: int, hours: int) -> None:
    """Whether the name is only missed or what waits lapses: state and message are one transaction."""
    bench.policy = without(quota.policy(), "vision")
    if hours:
        look(bench)
    bench.pass_time(hours=hours)
    after, killed = 0, True
    while killed:
        bench.gate.plan(kill, after=after, matches="store")
        try:
            lost_names(bench.world, bench.epoch)
            killed = False
        except Killed:
            after += 1
        bench.gate.clear()
        tables = bench.store.tables
        missing = list(tables.lost_names.values())
        assert bench.keys("name_gone") == [f"name_gone:{one.id}" for one in missing]
        lapsed = tables.requests[waiting].state is RequestState.LAPSED
        assert not missing or (waiting in bench.facts("name_gone:1")["lapsed"]) == lapsed
    assert after
    bench.deliver_all()
    assert bench.texts("C0PLATFORM") == [GONE]
    assert (state(bench, waiting) is RequestState.LAPSED) == bool(hours)


def test_a_request_that_is_withdrawn_at_the_same_moment_stays_withdrawn(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    bench.pass_time(hours=24)

    def withdraw() -> None:
        known = bench.store.tables.requests[waiting]
        withdrawn = replace(known, state=RequestState.WITHDRAWN, version=known.version + 1)
        bench.store.tables.requests[waiting] = withdrawn

    bench.gate.plan(withdraw, matches="store.begin")
    look(bench, minutes=1)
    assert state(bench, waiting) is RequestState.WITHDRAWN
    assert "Lapsed" not in shown(bench)[0]


def test_the_hold_is_a_day_long_to_the_second(bench: "Bench", waiting: int) -> None:
    bench.policy = without(quota.policy(), "vision")
    look(bench)
    since = bench.store.tables.lost_names[1].since
    bench.clock.advance(since + timedelta(hours=24) - bench.clock() - timedelta(seconds=1))
    lost_names(bench.world, bench.epoch)
    assert state(bench, waiting) is RequestState.WAITING
    bench.pass_time(seconds=1)
    lost_names(bench.world, bench.epoch)
    assert state(bench, waiting) is RequestState.LAPSED
