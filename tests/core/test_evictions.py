"""Who is evicted at a loan's end: Kueue's own order, no more than the loan gave, and nobody who need not go."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.evictions import (
    Eviction,
    Work,
    WorkState,
    announced,
    excess,
    grace_of,
    is_by_our_hand,
    may_have,
    settled_send,
)
from bot.core.kueue import WorkloadSnapshot
from bot.core.requests import RequestState
from tests.support import quota

HOUR = timedelta(hours=1)
ENDED = Eviction(7, "default", "vision", quota.A100, 8, HOUR, quota.NOW)


def of_vision(name: str, amount: int, **how: float) -> WorkloadSnapshot:
    return quota.work(name, amount, in_queue="vision", **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("work", "allowed", "taken"),
    [
        pytest.param([("a", 8, {}), ("b", 8, {})], 16, [], id="all fits"),
        pytest.param([("old", 8, {"hours_ago": 9}), ("new", 8, {})], 8, ["new"], id="the newest goes first"),
        pytest.param(
            [("low", 8, {"hours_ago": 9, "priority": -1}), ("new", 8, {})], 8, ["low"], id="priority goes before age"
        ),
        pytest.param([("a", 4, {"hours_ago": 3}), ("b", 4, {"hours_ago": 2}), ("c", 4, {})], 4, ["c", "b"], id="two"),
        pytest.param([("big", 8, {}), ("small", 2, {"hours_ago": 9})], 9, ["big"], id="whole, though 1 is too many"),
        pytest.param(
            [("small", 2, {}), ("big", 8, {"hours_ago": 2})], 2, ["big"], id="who need not go after all is left out"
        ),
        pytest.param([("a", 8, {}), ("b", 8, {"hours_ago": 2}), ("c", 8, {"hours_ago": 3})], 0, ["a"], id="never more"),
    ],
)
def test_the_smallest_set_in_the_order_of_kueue(
    work: list[tuple[str, int, dict[str, float]]], allowed: int, taken: list[str]
) -> None:
    running = [of_vision(name, amount, **how) for name, amount, how in work]
    assert [one.owner for one in excess(ENDED, allowed, running).work] == taken


def test_what_is_inactive_leaves_by_itself_and_other_queues_do_not_count() -> None:
    running = [replace(of_vision("a", 8), active=False), of_vision("b", 8, hours_ago=3), quota.work("nlps", 8)]
    assert excess(ENDED, 8, running).work == ()
    assert [one.owner for one in excess(ENDED, 4, running).work] == ["b"]


def test_only_those_that_were_announced_and_no_more_than_the_loan_gave_in_all() -> None:
    first, second = of_vision("a", 8), of_vision("b", 8, hours_ago=3)
    assert [one.owner for one in excess(ENDED, 8, [first, second], {second.uid}).work] == ["b"]
    done = replace(ENDED, works=(replace(announced(first, quota.A100), state=WorkState.EVICTED),))
    again = excess(done, 8, [first, second])
    assert (again.work, again.needed) == ((), 0), "8 of 8 are evicted; who came back is not the bot's again"


amounts = st.lists(st.tuples(st.integers(1, 9), st.integers(-2, 2), st.integers(1, 99)), max_size=8)


@given(amounts, st.integers(0, 40), st.integers(1, 40))
def test_each_of_them_is_needed_and_together_they_are_enough(
    made: list[tuple[int, int, int]], allowed: int, most: int
) -> None:
    running = [
        of_vision(f"w{number}", amount, priority=priority, hours_ago=age)
        for number, (amount, priority, age) in enumerate(made)
    ]
    found = excess(replace(ENDED, most=most), allowed, running)
    used, freed = sum(amount for amount, _, _ in made), sum(one.usage[quota.A100] for one in found.work)
    assert found.needed == max(0, min(used - allowed, most))
    assert freed >= found.needed
    assert all(freed - one.usage[quota.A100] < found.needed for one in found.work)


def test_what_a_queue_may_have_is_its_nominal_and_all_that_it_may_borrow() -> None:
    picture = quota.picture()
    assert may_have(picture, "vision", quota.A100) == 20
    assert may_have(picture, "robotics", quota.A100) == 8
    assert may_have(picture, "nlp", quota.A100) == 48, "no limit: all of the cohort"
    alone = quota.picture(quota.queue("vision", 16, cohort=None))
    assert may_have(alone, "vision", quota.A100) == 16
    assert may_have(picture, "gone", quota.A100) is None


def test_the_rule_of_the_last_extension_says_what_happens_at_the_end() -> None:
    evicts = {"name": "evicts", "then": {"approve": "auto"}, "if": {"amount": {"at_most": 9}}, "at_end": "evict"}
    policy = quota.with_rules({**evicts, "grace": "30min"}, {"name": "rest", "then": {"approve": "auto"}})
    first = quota.request(1, rule="evicts", decided_at=quota.NOW)
    later = quota.request(2, rule="rest", decided_at=quota.NOW + HOUR, extends=1, state=RequestState.APPROVED)
    assert grace_of(policy, first, ()) == timedelta(minutes=30)
    assert grace_of(policy, first, (later,)) is None
    assert grace_of(policy, replace(later, rule="gone"), ()) is None
    assert grace_of(quota.with_rules(evicts), first, ()) == HOUR


WORK = Work("ns", "job-a-1", "uid-a", "a", 8, WorkState.EVICTING, "L7:x", "10", 3)
BEFORE = replace(of_vision("a", 8), resource_version="10", generation=3)
OURS = replace(BEFORE, active=False, mark="L7:x", resource_version="11", generation=4)


@pytest.mark.parametrize(
    ("state", "live", "becomes"),
    [
        pytest.param(WorkState.EVICTING, OURS, WorkState.EVICTED, id="landed"),
        pytest.param(WorkState.EVICTING, BEFORE, WorkState.EVICTING, id="may land yet"),
        pytest.param(WorkState.EVICTING, replace(BEFORE, resource_version="11"), WorkState.ANNOUNCED, id="never will"),
        pytest.param(WorkState.EVICTING, None, WorkState.SPARED, id="gone"),
        pytest.param(
            WorkState.EVICTING, replace(OURS, active=True, generation=5), WorkState.EVICTED, id="reactivated since"
        ),
        pytest.param(
            WorkState.EVICTING, replace(OURS, mark=None), WorkState.ANNOUNCED, id="inactive by somebody else's hand"
        ),
        pytest.param(WorkState.RESTORING, replace(BEFORE, generation=5), WorkState.RESTORED, id="active again"),
        pytest.param(WorkState.RESTORING, replace(OURS, resource_version="10"), WorkState.RESTORING, id="may yet be"),
        pytest.param(WorkState.RESTORING, OURS, WorkState.EVICTED, id="will not be"),
        pytest.param(WorkState.RESTORING, None, WorkState.LEFT, id="gone meanwhile"),
    ],
)
def test_what_a_lost_answer_came_to_is_read_from_the_workload(
    state: WorkState, live: WorkloadSnapshot | None, becomes: WorkState
) -> None:
    assert settled_send(replace(WORK, state=state), live).state is becomes


@pytest.mark.parametrize(
    ("live", "ours"),
    [
        (OURS, True),
        (BEFORE, False),
        (replace(OURS, mark=None), False),
        (replace(OURS, mark="L8:y"), False),
        (replace(OURS, generation=6), False),
    ],
)
def test_only_what_nobody_touched_since_is_inactive_by_the_bots_hand(live: WorkloadSnapshot, ours: bool) -> None:
    """Active and inactive again, by somebody else, leaves the mark and moves the generation."""
    assert is_by_our_hand(WORK, live) is ours
