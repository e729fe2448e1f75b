"""What a loan means now: the figures of the messages, the order of reclaim, and the stored picture."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.impact import AtRisk, Impact, Move, Workers, assess, from_json, reclaim_order, to_json
from bot.core.kueue import ClusterPicture, Preemption, Quota
from bot.core.loans import LoanKind
from tests.support.quota import A100, GPU, NOW, ask, picture, queue, transfer, waiting, work

NEVER = Preemption(reclaim_within_cohort="Never")


def changed(name: str, **changes: Any) -> ClusterPicture:
    usual = picture()
    return replace(usual, queues={**usual.queues, name: replace(usual.queues[name], **changes)})


def test_a_borrow_has_the_figures_of_the_card() -> None:
    assert assess(ask(8), picture(), ()) == Impact(
        kind=LoanKind.BORROW,
        cluster="default",
        flavor="a100",
        resource=GPU,
        amount=8,
        read_at=NOW,
        cohort="gpu-pool",
        free=4,
        borrower=Move("vision", 4, 12),
        cohort_nominal=48,
        borrowed_is_reclaimable=True,
        borrower_reclaims=True,
    )


def test_a_transfer_has_the_figures_of_the_card() -> None:
    """At a moment when nlp uses 20: 4 GPUs become preemptible, nothing is free, 4 wait."""
    world = changed("nlp", reserved={A100: 20})
    running = (work("bert-large", 4, hours_ago=1), work("pretrain", 16, hours_ago=9), waiting("eval", 4))
    found = assess(transfer(8), world, running)
    assert (found.lender, found.borrower, found.cohort_nominal) == (Move("nlp", 24, 16), Move("vision", 16, 24), 48)
    assert (found.free, found.lender_reserved, found.lender_waiting) == (0, 20, 4)
    assert (found.preemptible, found.at_risk) == (4, (AtRisk("bert-large", 4),))


@pytest.mark.parametrize(
    ("reserved", "amount", "preemptible", "names"),
    [
        (16, 8, 0, ()),
        (17, 8, 1, ("new",)),
        (24, 8, 8, ("new", "low")),
        (24, 24, 24, ("new", "low", "old")),
        (28, 8, 8, ("low", "old")),  # 4 lie above already: those of "new"
        (28, 1, 1, ("low",)),
    ],
)
def test_only_what_newly_comes_to_lie_above_quota_is_at_risk(
    reserved: int, amount: int, preemptible: int, names: tuple[str, ...]
) -> None:
    running = (work("old", 20, hours_ago=9), work("low", 4, hours_ago=5), work("new", 4, hours_ago=1))
    found = assess(transfer(amount), changed("nlp", reserved={A100: reserved}), running)
    assert (found.preemptible, tuple(one.name for one in found.at_risk)) == (preemptible, names)


def test_where_nobody_may_reclaim_nothing_becomes_preemptible() -> None:
    quiet = picture(
        queue("nlp", 24, 24), queue("vision", 16, preemption=NEVER, borrowing=4), queue("robotics", 8, preemption=NEVER)
    )
    found = assess(transfer(8), quiet, (work("w", 24),))
    assert (found.preemptible, found.at_risk, found.borrower_reclaims) == (0, (), False)
    assert assess(ask(8), quiet, ()).borrowed_is_reclaimable  # nlp may take it back
    silent = replace(quiet, queues={**quiet.queues, "nlp": queue("nlp", 24, preemption=NEVER)})
    assert not assess(ask(8), silent, ()).borrowed_is_reclaimable


def test_the_order_of_reclaim_is_lowest_priority_then_newest() -> None:
    running = [
        work("high-new", 1, priority=100, hours_ago=1),
        work("low-old", 1, priority=-5, hours_ago=9),
        work("low-new", 1, priority=-5, hours_ago=2),
        work("mid", 1, priority=0, hours_ago=1),
        work("elsewhere", 1, in_queue="vision"),
        waiting("waits", 1),
        replace(work("no-gpu", 1), usage={}),
    ]
    expected = ["low-new", "low-old", "mid", "high-new"]
    for order in (running, running[::-1]):
        assert [one.name for one in reclaim_order(order, "nlp", A100)] == expected


def test_work_is_named_as_people_know_it() -> None:
    nameless = replace(work("x", 2), owner=None)
    assert reclaim_order([nameless, work("y", 1, hours_ago=3)], "nlp", A100) == [AtRisk("job-x-1", 2), AtRisk("y", 1)]


@pytest.mark.parametrize(
    ("limit", "move"), [(None, None), (20, Move("nlp", 20, 16)), (16, None), (10, None), (24, Move("nlp", 24, 16))]
)
def test_the_lenders_lending_limit_follows_where_it_must(limit: int | None, move: Move | None) -> None:
    assert assess(transfer(8), changed("nlp", quotas={A100: Quota(24, None, limit)}), ()).lender_lending_limit == move


@pytest.mark.parametrize(("limit", "move"), [(None, None), (12, Move("vision", 12, 20)), (0, Move("vision", 0, 8))])
def test_the_borrowers_lending_limit_follows_where_it_is_set(limit: int | None, move: Move | None) -> None:
    world = changed("vision", quotas={A100: Quota(16, 4, limit)})
    assert assess(transfer(8), world, ()).borrower_lending_limit == move
    assert assess(ask(8), world, ()).borrower_lending_limit is None


@pytest.mark.case("QUO-04", "QUO-05")
@pytest.mark.parametrize("tool", ["Argo CD", "Flux", "Helm"])
def test_quo_04_quo_05_queues_that_a_tool_manages_are_named_before_approval(tool: str) -> None:
    lender, borrower = changed("nlp", managed_by=tool), changed("vision", managed_by=tool)
    assert assess(transfer(8), lender, ()).managed_by == (("nlp", tool),)
    assert assess(transfer(8), borrower, ()).managed_by == (("vision", tool),)
    assert assess(ask(8), borrower, ()).managed_by == (("vision", tool),)
    assert assess(ask(8), lender, ()).managed_by == ()


@pytest.mark.parametrize("changes", [{"stop_policy": "Hold"}, {"stop_policy": "HoldAndDrain"}, {"active": False}])
def test_a_lender_that_admits_nothing_is_named(changes: dict[str, Any]) -> None:
    assert assess(transfer(8), changed("nlp", **changes), ()).stopped == ("nlp",)
    assert assess(ask(8), changed("nlp", **changes), ()).stopped == ()


@pytest.mark.parametrize(("reserved", "free"), [(0, 16), (10, 6), (16, 0), (30, 0)])
def test_without_cohort_free_is_that_of_the_queue_and_never_below_0(reserved: int, free: int) -> None:
    found = assess(ask(8), changed("vision", cohort=None, reserved={A100: reserved}), ())
    assert (found.cohort, found.free, found.cohort_nominal) == (None, free, 16)


AMOUNT = st.integers(0, 40)
MOVES = st.builds(Move, st.text(max_size=5), st.none() | AMOUNT, st.none() | st.integers(-9, 40))
IMPACTS = st.builds(
    Impact,
    kind=st.sampled_from(LoanKind),
    cluster=st.text(max_size=5),
    flavor=st.text(max_size=5),
    resource=st.text(max_size=5),
    amount=AMOUNT,
    read_at=st.datetimes(timezones=st.just(NOW.tzinfo)),
    cohort=st.none() | st.text(max_size=5),
    free=AMOUNT,
    borrower=MOVES,
    lender=st.none() | MOVES,
    lender_lending_limit=st.none() | MOVES,
    borrower_lending_limit=st.none() | MOVES,
    at_risk=st.lists(st.builds(AtRisk, st.text(max_size=5), AMOUNT), max_size=3).map(tuple),
    managed_by=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=2).map(tuple),
    stopped=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    workers=st.none() | st.builds(Workers, st.text(max_size=5), st.text(max_size=5)),
)


@given(IMPACTS)
def test_a_stored_picture_comes_back_as_it_was(impact: Impact) -> None:
    text = to_json(impact)
    assert from_json(text) == impact
    assert to_json(from_json(text)) == text
    assert "\n" not in text


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "borrow"}', "null"])
def test_what_is_no_stored_picture_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  pydantic's own words
        from_json(text)


@given(st.integers(1, 24), st.integers(0, 40), st.lists(st.tuples(st.integers(1, 8), st.integers(-1, 1)), max_size=8))
def test_those_at_risk_hold_at_least_what_becomes_preemptible_and_none_too_many(
    amount: int, reserved: int, running: list[tuple[int, int]]
) -> None:
    held = [work(f"w{n}", size, priority=priority, hours_ago=n) for n, (size, priority) in enumerate(running)]
    total = sum(size for size, _ in running)
    found = assess(transfer(amount), changed("nlp", reserved={A100: total}), held)
    assert found.preemptible == max(0, total - (24 - amount)) - max(0, total - 24)
    assert sum(one.amount for one in found.at_risk) >= found.preemptible
    if found.at_risk:
        ends = found.at_risk[0].amount + found.at_risk[-1].amount
        assert sum(one.amount for one in found.at_risk) - ends < found.preemptible
