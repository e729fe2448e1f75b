"""Eviction at a loan's end, from the announcement to the undoing, with kills and outages at every step."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import NotLeader, Refused, Unavailable
from bot.core.evictions import MARK, EvictionState, WorkState
from bot.core.requests import RequestState
from bot.demo.kube.faults import Hang, Refuse, ResetAfter, ResetBefore
from bot.demo.kube.rbac import Rule
from bot.flows.evict_work import evict_work
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.pause_quota import pause_quota, resume_quota
from bot.flows.record_decision import Press, approve
from bot.flows.return_loan import return_loan
from tests.support import quota
from tests.support.fakes.cluster import TOKEN
from tests.support.fakes.gate import Killed, kill
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOUR = timedelta(hours=1)
RULE = {"name": "evicts", "then": {"steps": [{"who": "group gpu-admins"}]}, "at_end": "evict"}
NAMESPACE = "vision-train"


def _ready(bench: "Bench", *jobs: tuple[str, int], ask: Any = None) -> int:
    """A loan that is in force, and jobs of vision that use it; the number of the loan."""
    bench.policy = quota.with_rules(RULE)
    bench.kube.add_local_queue(NAMESPACE, "main", "vision")
    number = bench.approved(ask or quota.transfer(8, duration=HOUR))
    with bench.world.store.begin() as uow:
        request = uow.requests.get(number)
        assert request is not None
        uow.requests.update(replace(request, rule="evicts"))
        uow.commit()
    bench.converge()
    for name, gpus in jobs:
        bench.kube.submit_job(NAMESPACE, name, "main", gpus)
        bench.kube.reconcile()
        bench.pass_time(seconds=1)
    return number


def _look(bench: "Bench", memory: dict[int, Any] | None = None) -> None:
    evict_work(bench.world, bench.epoch, {} if memory is None else memory)
    bench.kube.reconcile()
    bench.deliver_all(within=60)


def _end(bench: "Bench") -> None:
    """The loan is over and the work is announced."""
    bench.pass_time(hours=1)
    bench.epoch = bench.lead("P1")
    bench.converge()
    _look(bench)


def _grace_is_over(bench: "Bench", **more: float) -> None:
    bench.pass_time(hours=1, **more)
    bench.epoch = bench.lead("P1")
    bench.converge()
    _look(bench)


def _active(bench: "Bench", job: str) -> bool:
    return bool(bench.kube.workload(NAMESPACE, job)["spec"].get("active", True))


def _state(bench: "Bench", number: int) -> EvictionState:
    return bench.store.tables.evictions[number].state


def _heard(bench: "Bench", to: str, words: str) -> list[str]:
    """The lines of the one message of these words, as it is now."""
    found = [one.message for one in bench.posted(to) if words in one.message.text]
    assert len(found) == 1, [one.message.text for one in bench.posted(to)]
    return seen(found[0])


def test_it_is_announced_then_done_and_told_once(bench: "Bench") -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    lines = _heard(bench, "U0VISION", "sweep (8 GPUs) is evicted")
    assert lines[0].startswith("⚠️ sweep (8 GPUs) is evicted Wed 2 Dec")
    assert "and its policy gives 1 h" in lines[1]
    assert lines[2:] == ["Save a checkpoint; resubmit, or ask for an extension now", "[Extend]"]
    assert _heard(bench, "C0VISION", "sweep (8 GPUs) is evicted") == lines
    assert _active(bench, "sweep"), "nothing happens before the grace is over"
    _look(bench)
    assert _active(bench, "sweep")
    _grace_is_over(bench)
    assert not _active(bench, "sweep")
    assert _active(bench, "base")
    assert _heard(bench, "U0VISION", "sweep evicted: 8 a100, loan Q-1 ended") == [
        "↩️ sweep evicted: 8 a100, loan Q-1 ended",
        "Announced, and the grace of 1 h is over",
        "It does not come back by itself: resubmit, or ask for quota again",
        "[Request again]",
    ]
    assert _heard(bench, "C0VISION", "was evicted") == ["↩️ sweep (8 GPUs) was evicted: Q-1"]
    for _ in range(3):
        _grace_is_over(bench)
    assert _state(bench, number) is EvictionState.CLOSED
    assert len([text for text in bench.texts("U0VISION") if "evicted" in text]) == 2
    assert [one.what for one in bench.store.tables.audit if one.who == "bot" and "evict" in one.what] == [
        "announce eviction",
        "evict",
    ]


def test_the_end_says_that_it_is_evicted_and_not_that_it_runs_on(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    lines = _heard(bench, "U0VISION", "Ended: 8 a100")
    assert "After a grace of 1 h the bot evicts it: you hear which work, and when" in lines
    assert not any("Kueue takes them back" in line for line in lines)


def test_without_such_a_rule_work_runs_on(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    bench.policy = quota.policy()
    _end(bench)
    assert bench.store.tables.evictions == {}
    assert not [text for text in bench.texts("U0VISION") if "evicted" in text]


def test_what_it_may_borrow_anyway_is_not_too_much(bench: "Bench") -> None:
    """16 and 4 to borrow: of 20 in use nothing is evicted, of 24 the newest."""
    number = _ready(bench, ("base", 16), ("small", 4))
    _end(bench)
    assert _state(bench, number) is EvictionState.CLOSED
    assert not bench.store.tables.evictions[number].works


def test_all_of_a_loan_that_was_given_back_counts_as_its_end(bench: "Bench") -> None:
    """Also the part that went back before: nobody keeps work by returning a minute before the end."""
    number = _ready(bench, ("base", 16), ("sweep", 8))
    return_loan(bench.world, number, 7, "U0VISION", bench.arrival("part"))
    bench.converge()
    _look(bench)
    assert number not in bench.store.tables.evictions
    return_loan(bench.world, number, None, "U0VISION", bench.arrival("rest"))
    bench.converge()
    _look(bench)
    assert [one.known_as for one in bench.store.tables.evictions[number].works] == ["sweep"]


def test_two_loans_that_end_together_each_announce_their_own(bench: "Bench") -> None:
    """Together they gave 8, so 8 go, and nobody is announced for both."""
    first = _ready(bench, ("base", 16), ask=quota.transfer(4, duration=HOUR))
    second = bench.approved(quota.transfer(4, duration=HOUR))
    with bench.world.store.begin() as uow:
        request = uow.requests.get(second)
        assert request is not None
        uow.requests.update(replace(request, rule="evicts"))
        uow.commit()
    bench.converge()
    for name in ("one", "two", "three"):
        bench.kube.submit_job(NAMESPACE, name, "main", 4)
        bench.kube.reconcile()
        bench.pass_time(seconds=1)
    _end(bench)
    announced = {loan: [one.known_as for one in bench.store.tables.evictions[loan].works] for loan in (first, second)}
    assert announced == {first: ["three"], second: ["two"]}
    _grace_is_over(bench)
    assert [name for name in ("base", "one", "two", "three") if _active(bench, name)] == ["base", "one"]


@pytest.mark.parametrize("how", ["finished", "deleted", "unadmitted", "deactivated by somebody"])
def test_who_is_gone_by_then_is_not_evicted(bench: "Bench", how: str) -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    if how == "finished":
        bench.kube.finish(NAMESPACE, "sweep")
    elif how == "deleted":
        bench.kube.delete("jobs", "sweep", NAMESPACE)
    elif how == "deactivated by somebody":
        bench.kube.set_active(NAMESPACE, "sweep", active=False)
    else:
        bench.kube.stop("vision", "HoldAndDrain")
    bench.kube.reconcile()
    _grace_is_over(bench)
    assert [one.state for one in bench.store.tables.evictions[number].works] == [WorkState.SPARED]
    assert _heard(bench, "U0VISION", "Nothing is evicted") == [
        "⚪ Nothing is evicted: Q-1",
        "It ended by itself, or fits into the quota",
    ]
    assert not [text for text in bench.texts("U0VISION") if "sweep evicted" in text]


def test_who_was_not_announced_is_never_evicted(bench: "Bench") -> None:
    """The announced one ends; what came in its place above quota has its own luck."""
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    bench.kube.finish(NAMESPACE, "sweep")
    bench.kube.hand_edit("vision", "a100", nominal=24)
    bench.kube.submit_job(NAMESPACE, "late", "main", 8)
    bench.kube.reconcile()
    bench.kube.hand_edit("vision", "a100", nominal=16)
    bench.kube.reconcile()
    _grace_is_over(bench)
    assert _active(bench, "late")
    assert _state(bench, number) is EvictionState.CLOSED


def test_what_somebody_set_active_again_is_let_alone(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    _grace_is_over(bench)
    bench.kube.set_active(NAMESPACE, "sweep", active=True)
    bench.kube.hand_edit("vision", "a100", nominal=24)
    bench.kube.reconcile()
    for _ in range(3):
        _grace_is_over(bench)
    assert _active(bench, "sweep")


def _extend(bench: "Bench", number: int, *, granted: bool = True) -> int:
    """Somebody presses Extend; the number of what is asked for."""
    wish = MoreTime(number, by=timedelta(hours=5))
    request = extend_loan(bench.world, wish, "U0VISION", f"again:{number}", bench.arrival("again")).request
    assert request.state is RequestState.WAITING
    if granted:
        _approve(bench, request.id)
    return request.id


def _approve(bench: "Bench", number: int) -> None:
    for who in ("U0LEADNLP", "U0ADMIN"):
        revision = bench.store.tables.requests[number].revision
        with suppress(Refused):  # given before a kill
            approve(bench.world, Press(number, revision, who, bench.arrival(f"{who}:{number}:{bench.clock()}")))
    bench.converge()
    bench.kube.reconcile()


def test_extended_before_the_grace_is_over_nothing_happens(bench: "Bench") -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    again = _extend(bench, number)
    _look(bench)
    assert _heard(bench, "U0VISION", "Nothing is evicted")[1] == f"Because extended by Q-{again}"
    for _ in range(2):
        _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert _state(bench, number) is EvictionState.CLOSED


def test_extended_after_it_what_the_bot_evicted_is_set_active_again(bench: "Bench") -> None:
    number = _ready(bench, ("base", 16), ("sweep", 4), ("eval", 4))
    _end(bench)
    again = _extend(bench, number, granted=False)
    _look(bench)
    assert "[Extend]" not in _heard(bench, "U0VISION", "eval (4 GPUs) is evicted")
    _grace_is_over(bench)
    evicted = [one.known_as for one in bench.store.tables.evictions[number].works if one.state is WorkState.EVICTED]
    assert evicted == ["eval"], "20 may be used"
    assert f"If Q-{again} comes in force, it is set active again" in _heard(bench, "U0VISION", "eval evicted")
    _approve(bench, again)
    _look(bench)
    assert _active(bench, "eval")
    assert MARK not in bench.kube.workload(NAMESPACE, "eval")["metadata"].get("annotations", {})
    assert _heard(bench, "U0VISION", "set active again") == [
        f"✅ eval set active again: Q-1 was extended (Q-{again})",
        "Kueue admits it when there is room",
    ]
    assert _state(bench, number) is EvictionState.CLOSED
    bench.kube.reconcile()
    assert bench.kube.workload(NAMESPACE, "eval")["status"]["admission"]


@pytest.mark.parametrize("how", ["off and on", "off and on and off", "deleted"])
def test_what_somebody_touched_since_is_not_set_active(bench: "Bench", how: str) -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    again = _extend(bench, number, granted=False)
    _grace_is_over(bench)
    if how == "deleted":
        bench.kube.delete("jobs", "sweep", NAMESPACE)
    else:
        bench.kube.set_active(NAMESPACE, "sweep", active=True)
        if how.endswith("off"):
            bench.kube.set_active(NAMESPACE, "sweep", active=False)
    bench.kube.reconcile()
    _approve(bench, again)
    _look(bench)
    assert [one.state for one in bench.store.tables.evictions[number].works] == [WorkState.LEFT]
    if how != "deleted":
        assert _active(bench, "sweep") is (how == "off and on")
    assert "Let alone, changed by somebody else or gone: sweep (8)" in _heard(bench, "U0VISION", "Nothing was set")


def test_somebody_elses_inactive_workload_stays_so(bench: "Bench") -> None:
    """It was announced, and somebody set it inactive before the bot did."""
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    again = _extend(bench, number, granted=False)
    bench.kube.set_active(NAMESPACE, "sweep", active=False)
    _grace_is_over(bench)
    _approve(bench, again)
    _look(bench)
    assert not _active(bench, "sweep")
    assert _state(bench, number) is EvictionState.CLOSED


def test_extend_is_for_who_may_handle_the_loan_and_once(bench: "Bench") -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    wish = MoreTime(number, by=HOUR)
    with pytest.raises(Refused, match="vision"):
        extend_loan(bench.world, wish, "U0ROBOTICS", "stranger", bench.arrival("stranger"))
    asked = _extend(bench, number, granted=False)
    with pytest.raises(Refused, match=f"Q-{asked} asks for that already"):
        extend_loan(bench.world, wish, "U0VISION", "twice", bench.arrival("twice"))
    _grace_is_over(bench)
    with pytest.raises(Refused, match="over already"):
        extend_loan(bench.world, wish, "U0VISION", "late", bench.arrival("late"))


def test_a_pause_holds_it_and_says_so(bench: "Bench") -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    pause_quota(bench.world, "nodes are serviced", "U0ADMIN", bench.arrival("pause"))
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert "Waits: quota changes are paused by u0admin" in _heard(bench, "U0VISION", "sweep (8 GPUs) is evicted")
    resume_quota(bench.world, "U0ADMIN", bench.arrival("resume"))
    _look(bench)
    assert not _active(bench, "sweep")
    assert _state(bench, number) is EvictionState.CLOSED


def test_who_only_observes_evicts_nothing(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    bench.world = replace(bench.world, observe_only=True)
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert "Waits: the bot only observes" in _heard(bench, "U0VISION", "sweep (8 GPUs) is evicted")


def test_an_unanswered_edit_of_the_queue_holds_it(bench: "Bench") -> None:
    """The number that somebody typed is not what use is to be judged by."""
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    bench.approved(quota.transfer(2, duration=HOUR * 9))
    bench.converge()
    bench.set_nominal("vision", 2)
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert "Waits: somebody else's edit of vision waits for an answer" in _heard(
        bench, "U0VISION", "sweep (8 GPUs) is evicted"
    )


def test_a_policy_that_changed_its_mind_calls_it_off(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    bench.policy = quota.policy()
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert _heard(bench, "U0VISION", "Nothing is evicted")[1] == "Because the policy lets it run on now"


def test_a_missing_right_is_told_and_it_goes_on_once_it_is_given(bench: "Bench") -> None:
    lists = Rule(("list",), ("*",))
    bench.kube.access.grant(TOKEN, "bot", (lists, Rule(("patch",), ("clusterqueues",))))
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    assert "Waits: the bot may not patch workloads" in _heard(bench, "U0VISION", "sweep (8 GPUs) is evicted")
    told = _heard(bench, "C0PLATFORM", "The bot may not patch workloads")
    assert "Allow patch on workloads.kueue.x-k8s.io in the bot's ClusterRole" in told
    bench.kube.access.grant(TOKEN, "bot", (lists, Rule(("patch",), ("clusterqueues", "workloads"))))
    _grace_is_over(bench)
    assert not _active(bench, "sweep")


FAULTS = {
    "503": Refuse(503),
    "409": Refuse(409),
    "reset before": ResetBefore(),
    "answer lost": ResetAfter(),
    "no answer in time": Hang(60),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_becomes_of_the_write_it_is_done_once(bench: "Bench", fault: str) -> None:
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    before = bench.kube.workload(NAMESPACE, "sweep")["metadata"]["generation"]
    bench.kube.faults.plan(FAULTS[fault], verb="patch", resource="workloads")
    for _ in range(4):
        _grace_is_over(bench)
    assert not _active(bench, "sweep")
    assert bench.kube.workload(NAMESPACE, "sweep")["metadata"]["generation"] == before + 1
    assert _state(bench, number) is EvictionState.CLOSED
    assert [one.what for one in bench.store.tables.audit].count("evict") == 1
    _heard(bench, "U0VISION", "sweep evicted")


def test_an_eviction_that_lands_after_the_extension_is_undone(bench: "Bench") -> None:
    """The answer is lost, the loan is extended, and only then the API server gets to the write."""
    number = _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    again = _extend(bench, number, granted=False)
    late: list[Callable[[], Any]] = []
    bench.world.clusters["default"]._api._on_late = late.append  # type: ignore[attr-defined]
    bench.kube.faults.plan(Hang(60), verb="patch", resource="workloads")
    _grace_is_over(bench)
    assert _active(bench, "sweep")
    _approve(bench, again)
    late.pop()()
    bench.kube.reconcile()
    assert not _active(bench, "sweep")
    for _ in range(3):
        bench.pass_time(minutes=1)
        bench.epoch = bench.lead("P1")
        _look(bench)
    assert _active(bench, "sweep")
    assert _state(bench, number) is EvictionState.CLOSED


def _whole_story(bench: "Bench", number: int) -> bool:
    """From the end to the undoing, each part until it is done, whatever dies; whether anything did."""
    asked = 0
    for minute in range(200):
        with suppress(Killed, NotLeader, Unavailable):
            bench.epoch = bench.lead(f"P{minute}")
            bench.converge()
            _look(bench)
            found = bench.store.tables.evictions.get(number)
            if found and found.state is EvictionState.ANNOUNCED and not asked:
                asked = _extend(bench, number, granted=False)
            if found and found.state is EvictionState.OVER:
                _approve(bench, asked)
            if found and found.state is EvictionState.CLOSED:
                break
        bench.pass_time(minutes=2)
    died = not bench.gate.waiting
    bench.gate.clear()
    bench.pass_time(minutes=6)
    bench.epoch = bench.lead("last")
    _look(bench)
    return died


@pytest.mark.parametrize(
    ("matches", "step"), [("store.committed", 3), ("store.begin", 3), ("cluster.", 5), ("chat.", 2)]
)
def test_killed_at_any_step_it_is_announced_done_and_undone_once(
    new_bench: "Callable[[], Bench]", matches: str, step: int
) -> None:
    """Each so many steps, by how many there are of a kind."""
    after, died = 0, True
    while died:
        bench = new_bench()
        number = _ready(bench, ("base", 16), ("sweep", 8))
        before = bench.kube.workload(NAMESPACE, "sweep")["metadata"]["generation"]
        bench.pass_time(hours=1)
        bench.gate.plan(kill, after=after, matches=matches)
        died = _whole_story(bench, number)
        why = f"killed at passage {after} of {matches}"
        assert _state(bench, number) is EvictionState.CLOSED, why
        meta = bench.kube.workload(NAMESPACE, "sweep")["metadata"]
        assert (meta["generation"], _active(bench, "sweep")) == (before + 2, True), why
        for words in ("sweep evicted: 8 a100", "was evicted: Q-1", "sweep set active again"):
            assert sum(words in text for text in bench.texts("U0VISION")) == 1, f"{why}: {words}"
        after += step
    assert after > 20, "it was killed all along the way"


def test_a_leader_that_is_no_more_writes_nothing(bench: "Bench") -> None:
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    old = bench.epoch
    bench.pass_time(hours=1)
    bench.lead("P2")
    with pytest.raises(NotLeader):
        evict_work(bench.world, old, {})
    assert _active(bench, "sweep")


def test_the_patch_is_what_it_says(bench: "Bench") -> None:
    """Marked and inactive in one write of the bot's."""
    _ready(bench, ("base", 16), ("sweep", 8))
    _end(bench)
    _grace_is_over(bench)
    meta = bench.kube.workload(NAMESPACE, "sweep")["metadata"]
    assert meta["annotations"][MARK].startswith("L1:")
