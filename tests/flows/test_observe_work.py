"""From a watched change to what its owner reads: the cases of class watch, each over more than its one example."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.core.errors import NotLeader
from bot.core.incidents.facts import Change
from bot.flows.observe_work import observe_work, tell_due
from tests.support import quota
from tests.support.view_text import seen
from tests.support.watched import RECLAIMED, Work, condition, pod, refused, unschedulable

VISION, PLATFORM = "C0VISION", "C0PLATFORM"


class Watcher:
    """A bench whose clock stands at the changes' own times."""

    def __init__(self, bench: Any) -> None:
        self.bench = bench

    @property
    def now(self) -> datetime:
        return self.bench.clock()

    def see(self, *changes: Change, cluster: str = "default", epoch: int | None = None) -> None:
        observe_work(self.bench.world, self.bench.epoch if epoch is None else epoch, cluster, changes)

    def tell(self, minutes: float = 2) -> None:
        """Time passes and all that is owed is told."""
        self.bench.pass_time(minutes=minutes)
        tell_due(self.bench.world, self.bench.epoch)
        self.bench.pass_time(minutes=2)
        self.bench.deliver_all()

    def cards(self, to: str = VISION) -> list[list[str]]:
        return [seen(one.message) for one in self.bench.posted(to) if one.thread is None]

    def first_lines(self, to: str = VISION) -> list[str]:
        return [lines[0] for lines in self.cards(to)]

    def thread(self, to: str = VISION) -> list[str]:
        return [one.message.text for one in self.bench.posted(to) if one.thread is not None]

    def policy(self, **alerts: Any) -> None:
        changed = quota.documents()
        changed["alerts.yaml"] = alerts
        changed["teams.yaml"]["teams"]["vision"]["namespaces"] = ["vision-train"]
        self.bench.policy = quota.policy(changed)


@pytest.fixture
def watch(bench: Any) -> Watcher:
    watcher = Watcher(bench)
    watcher.policy()
    return watcher


def test_a_story_is_one_message_from_preempted_to_running_again(watch: Watcher) -> None:
    work = Work(annotations={"gpu-quota-bot.io/owner": "U0VISIONTWO"})
    watch.bench.slack.people["U0VISIONTWO"] = quota.person("U0VISIONTWO")
    watch.see(work.admitted(watch.now).running(watch.now).change())
    watch.bench.pass_time(hours=3)
    watch.see(work.evicted(watch.now).change())
    watch.tell()
    assert watch.first_lines() == ["↩️ resnet-sweep preempted: 8 a100"]
    assert "Kueue reclaimed what the queue had borrowed" in watch.cards()[0]
    assert "For @-visiontwo" in watch.cards()[0][-2]
    watch.see(work.requeued(watch.now).change())
    watch.tell()
    assert any("Back in the queue" in one for one in watch.cards()[0])
    watch.see(work.admitted(watch.now).change(), work.running(watch.now).change())
    watch.tell()
    assert watch.first_lines() == ["✅ resnet-sweep preempted: 8 a100"]
    assert watch.cards()[0][1].startswith("Running again after")
    assert len(watch.thread()) == 3


@pytest.mark.parametrize("again", range(3))
def test_the_same_batch_tells_once(watch: Watcher, again: int) -> None:
    work = Work()
    batch = [work.admitted(watch.now).change(), work.evicted(watch.now).change(), work.requeued(watch.now).change()]
    for _ in range(again + 1):
        watch.see(*batch)
    watch.tell()
    watch.see(*batch)
    watch.tell()
    assert watch.first_lines() == ["↩️ resnet-sweep preempted: 8 a100"]
    assert watch.thread() == []


def test_an_old_leader_tells_nothing(watch: Watcher) -> None:
    old = watch.bench.epoch
    watch.bench.pass_time(minutes=5)
    watch.bench.epoch = watch.bench.lead("P2")
    with pytest.raises(NotLeader):
        watch.see(Work().evicted(watch.now).change(), epoch=old)
    assert watch.bench.keys("alert") == []
    assert not watch.bench.store.tables.remembered


def test_the_first_look_remembers_and_tells_nobody(watch: Watcher) -> None:
    work = Work().admitted(watch.now).evicted(watch.now)
    lost = pod("p", conditions=unschedulable(watch.now), seeding=True)
    watch.see(work.change(seeding=True), lost)
    watch.tell(minutes=60)
    watch.see(work.change())
    watch.tell(minutes=60)
    assert watch.cards() == []


@pytest.mark.parametrize("how", ["both conditions", "no Preempted condition"])
@pytest.mark.case("WAT-01")
def test_one_preemption_is_one_alert_however_it_is_written(watch: Watcher, how: str) -> None:
    work = Work().admitted(watch.now)
    watch.see(work.evicted(watch.now).change())
    if how == "no Preempted condition":
        del work.conditions["Preempted"]
    watch.see(work.change())
    watch.tell()
    assert watch.first_lines() == ["↩️ resnet-sweep preempted: 8 a100"]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (None, "For a workload of another queue"),
        ("hidden", "For a workload of another queue"),
        ("queue", "For a workload of queue nlp"),
        ("team", "For a workload of team nlp"),
    ],
)
@pytest.mark.case("WAT-03")
def test_the_preemptor_is_named_as_policy_says_and_its_job_never(
    watch: Watcher, setting: str | None, says: str
) -> None:
    watch.policy(**({"preemptor": setting} if setting else {}))
    watch.see(Work().admitted(watch.now).evicted(watch.now).change())
    watch.tell()
    card = watch.cards()[0]
    assert says in card
    assert not any("9d0a" in one or "0e5d" in one or "/gpu-pool" in one for one in card)


SHORT = "0/5 nodes are available: 5 Insufficient nvidia.com/mig-3g.40gb."


@pytest.mark.parametrize(
    ("message", "resource", "says"),
    [
        (SHORT, "nvidia.com/mig-1g.5gb", "5 of 5 nodes lack free nvidia.com/mig-3g.40gb"),
        (
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
            "nvidia.com/gpu",
            "1 of 1 nodes lack free nvidia.com/gpu",
        ),
    ],
)
@pytest.mark.case("WAT-04")
def test_a_shortage_names_what_is_short_whatever_it_is_called(
    watch: Watcher, message: str, resource: str, says: str
) -> None:
    watch.see(pod("p", conditions=unschedulable(watch.now, message), resource=resource))
    watch.tell(minutes=6)
    assert watch.first_lines() == ["⚠️ p: no node has room"]
    assert says in watch.cards()[0]


@pytest.mark.case("WAT-05")
def test_work_on_gpus_is_known_by_its_spec_and_a_taint_is_no_shortage(watch: Watcher) -> None:
    message = "0/12 nodes are available: 12 node(s) had untolerated taint {gpu-class: h100}."
    watch.see(pod("p", conditions=unschedulable(watch.now, message), devices=8))
    watch.tell(minutes=6)
    assert watch.first_lines() == ["⚠️ p: no node lets it in"]
    assert "12 of 12 nodes have a taint it does not tolerate: {gpu-class: h100}" in watch.cards()[0]
    assert "Not a shortage: add the toleration, waiting does not help" in watch.cards()[0]


@pytest.mark.parametrize("story", ["preempted", "unschedulable", "refused"])
@pytest.mark.case("WAT-08")
def test_what_is_listed_again_is_told_once(watch: Watcher, story: str) -> None:
    began = watch.now
    work = Work().admitted(began).evicted(began).requeued(began)

    def listed() -> Sequence[Change]:
        if story == "preempted":
            return [work.change()]
        if story == "unschedulable":
            return [pod("p", conditions=unschedulable(began))]
        return [refused(f"e{number}", began) for number in range(800)]

    for _ in range(4):
        watch.see(*listed())
        watch.tell(minutes=10)
    assert len(watch.cards()) == 1
    assert watch.thread() == []


@pytest.mark.parametrize(
    ("pods", "label"), [(64, "jobset.sigs.k8s.io/jobset-name"), (5, "leaderworkerset.sigs.k8s.io/name")]
)
@pytest.mark.case("WAT-09")
def test_a_gang_is_one_message(watch: Watcher, pods: int, label: str) -> None:
    for number in range(pods):
        job = ("Job", f"big-workers-{number % 4}")
        watch.see(pod(f"p{number}", owner=job, labels={label: "big"}, conditions=unschedulable(watch.now)))
        watch.bench.pass_time(seconds=5 / pods)
    watch.tell(minutes=6)
    assert watch.first_lines() == [f"⚠️ big: no node has room ({pods} pods)"]


LONG = "exp.2026.11.30." + "a" * 238


@pytest.mark.case("WAT-11")
def test_a_name_of_any_length_is_found_by_its_owner_and_shown_shortened(watch: Watcher) -> None:
    assert len(LONG) == 253
    watch.see(Work(name=LONG).admitted(watch.now).evicted(watch.now).change())
    watch.see(pod("p", owner=("Job", LONG), workload="job-exp", conditions=unschedulable(watch.now)))
    watch.tell()
    assert len(watch.cards()) == 1
    (first,) = watch.first_lines()
    assert "…" in first
    assert len(first) < 100


@pytest.mark.parametrize("event", ["on the Job", "on both", "none"])
@pytest.mark.case("WAT-12")
def test_pods_that_were_not_ready_in_time_are_told_once_whatever_events_there_are(watch: Watcher, event: str) -> None:
    message = "Exceeded the PodsReady timeout vision-train/job-resnet-sweep"
    work = Work().admitted(watch.now)
    if event != "none":
        watch.see(refused("e", watch.now))  # Events are no source of evictions; this one is of another Job
    watch.see(work.evicted(watch.now, "PodsReadyTimeout", message=message).change())
    watch.tell()
    mine = [one for one in watch.first_lines() if "resnet-sweep" in one]
    assert mine == ["↩️ resnet-sweep evicted: not all pods were ready in time"]


TOO_BIG = "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor a100, "


@pytest.mark.parametrize(
    ("reason", "message", "first"),
    [
        (
            "ExceedsMaxQuota",
            TOO_BIG + "request (16) > maximum capacity (8)",
            "⛔ resnet-sweep can never start: asks 16 a100, most is 8",
        ),
        (
            "Pending",
            TOO_BIG
            + "previously considered podsets requests (0) + current podset request (100) > maximum capacity (16)",
            "⛔ resnet-sweep can never start: asks 100 a100, most is 16",
        ),
        (
            "Pending",
            TOO_BIG + "request > maximum capacity (16 > 8)",
            "⛔ resnet-sweep can never start: asks 16 a100, most is 8",
        ),
        (
            "WaitingForQuota",
            "insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed",
            "⏳ resnet-sweep waits for quota: 2 more a100 needed",
        ),
        (
            "Inadmissible",
            "LocalQueue does-not-exist doesn't exist",
            "⛔ resnet-sweep can never start as it was submitted",
        ),
        ("SomethingNew", "a wording of another release", "⏳ resnet-sweep waits for quota"),
    ],
)
@pytest.mark.case("WAT-13")
def test_what_can_never_fit_and_what_only_waits_are_told_apart(
    watch: Watcher, reason: str, message: str, first: str
) -> None:
    watch.see(Work().pending(watch.now, message, reason).change())
    watch.tell(minutes=70)
    assert watch.first_lines() == [first]


@pytest.mark.parametrize(("hours", "told"), [(1.5, True), (23, True), (30, False)])
@pytest.mark.case("WAT-14")
def test_what_happened_while_the_bot_was_away_is_told_late_or_not_at_all(
    watch: Watcher, hours: float, told: bool
) -> None:
    work = Work().admitted(watch.now)
    watch.see(work.change())
    at = watch.now
    watch.bench.pass_time(hours=hours)
    watch.see(work.evicted(at).requeued(at).change(late=True))
    watch.tell()
    # Its flavor is known from its admission only, which is gone by now.
    assert watch.first_lines() == (["↩️ resnet-sweep preempted: 8 GPUs (late)"] if told else [])


@pytest.mark.case("WAT-14")
def test_a_preemption_that_came_and_went_unseen_is_told(watch: Watcher) -> None:
    work = Work().admitted(watch.now)
    watch.see(work.change())
    for _ in range(3):
        watch.bench.pass_time(minutes=10)
        work.evicted(watch.now).requeued(watch.now).admitted(watch.now)
    watch.see(work.running(watch.now).change(late=True))
    watch.tell()
    assert watch.first_lines() == ["✅ resnet-sweep preempted 3 times in 1 min (late)"]


@pytest.mark.parametrize("order", [("worker", "default"), ("default", "worker")])
@pytest.mark.case("WAT-16")
def test_an_eviction_that_the_manager_passes_on_is_one_alert_with_its_cluster(
    watch: Watcher, order: Sequence[str]
) -> None:
    watch.bench.world.clusters["worker"] = watch.bench.world.clusters["default"]
    for cluster in order:
        work = Work(cluster=cluster).admitted(watch.now)
        reason = "Preempted" if cluster == "worker" else "EvictedOnManagerCluster"
        watch.see(work.evicted(watch.now, reason, message=RECLAIMED).change(), cluster=cluster)
    watch.tell()
    (card,) = watch.cards()
    assert card[-1].endswith("cluster worker")


def test_a_storm_is_one_message_for_its_place(watch: Watcher) -> None:
    for number in range(64):
        work = Work(name=f"job-{number}", annotations={"gpu-quota-bot.io/owner": f"U0OWNER{'ABCD'[number % 4]}"})
        watch.see(work.admitted(watch.now).evicted(watch.now).change())
        watch.bench.pass_time(seconds=0.5)
    watch.tell()
    (card,) = watch.cards()
    assert card[0].startswith("↩️ 64 workloads preempted, ")
    assert "54 more" in card[1]
    assert [one for one in card if one.startswith("For ")] == ["For @-ownera @-ownerb @-ownerc @-ownerd"]


def test_repeats_fold_and_ping_at_the_third_time(watch: Watcher) -> None:
    work = Work(annotations={"gpu-quota-bot.io/owner": "U0VISION"}).admitted(watch.now)
    for _ in range(4):
        watch.see(work.evicted(watch.now).requeued(watch.now).change())
        watch.tell()
        watch.see(work.admitted(watch.now).running(watch.now).change())
        watch.tell()
    (first,) = watch.first_lines()
    assert "preempted 4 times" in first
    assert sum("@" in "".join(seen(one.message)) for one in watch.bench.posted(VISION) if one.thread is not None) == 1


def test_pods_that_find_a_node_within_the_grace_are_never_told(watch: Watcher) -> None:
    watch.see(pod("p", 1, conditions=unschedulable(watch.now)))
    watch.tell(minutes=3)
    watch.see(pod("p", 2, node="n", conditions=[condition("PodScheduled", watch.now)]))
    watch.tell(minutes=60)
    assert watch.cards() == []


def test_a_quota_of_the_namespace_is_told_with_its_numbers_and_its_end(watch: Watcher) -> None:
    watch.see(refused("e1", watch.now), refused("e2", watch.now))
    watch.tell()
    assert watch.first_lines() == ["⛔ rq: pods refused, 2 GPUs too many"]
    assert "ResourceQuota gpu: 8 allowed, 6 used, 4 asked" in watch.cards()[0]
    watch.see(pod("rq-1", owner=("Job", "rq"), node="n", phase="Running"))
    watch.tell()
    assert watch.first_lines() == ["✅ rq: pods refused, 2 GPUs too many"]
    watch.see(refused("e1", watch.now - timedelta(minutes=9)))
    watch.tell()
    assert len(watch.cards()) == 1


@pytest.mark.parametrize(
    ("reason", "first"),
    [
        ("PreemptionByScheduler", "↩️ big: pods removed for a higher-priority pod"),
        ("EvictionByEvictionAPI", "↩️ big: pods evicted"),
        ("SomethingNew", "↩️ big: pods removed"),
    ],
)
def test_pods_that_are_taken_away_are_one_message_until_others_run(watch: Watcher, reason: str, first: str) -> None:
    gang = [pod(f"p{n}", 1, owner=("Job", "big"), node="n", phase="Running") for n in range(8)]
    watch.see(*gang)
    taken = [condition("DisruptionTarget", watch.now, reason, "words of its own")]
    watch.see(*(pod(f"p{n}", 2, owner=("Job", "big"), node="n", phase="Running", conditions=taken) for n in range(3)))
    watch.see(
        *(
            pod(f"p{n}", 3, owner=("Job", "big"), node="n", phase="Running", conditions=taken, gone=True)
            for n in range(3)
        )
    )
    watch.tell()
    assert watch.first_lines() == [first]
    watch.see(pod("q0", 4, owner=("Job", "big"), node="n", phase="Running"))
    watch.tell()
    assert watch.first_lines() == [first.replace("↩️", "✅")]


WHO: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "annotation",
        {"annotations": {"gpu-quota-bot.io/owner": "U0VISION"}},
        VISION,
        "Owner: u0vision (annotation on Job)",
    ),
    (
        "dm",
        {"annotations": {"gpu-quota-bot.io/owner": "U0VISION", "gpu-quota-bot.io/alerts": "dm"}},
        "U0VISION",
        "Owner: u0vision",
    ),
    ("label", {"labels": {"owner": "U0NLP"}}, VISION, "Owner: u0nlp (label owner)"),
    ("team label", {"labels": {"team": "nlp"}}, "C0NLP", "Team nlp (label team)"),
    ("namespace", {}, VISION, "Team vision (namespace)"),
    ("not an id", {"annotations": {"gpu-quota-bot.io/owner": "<!channel>"}}, VISION, "Team vision (namespace)"),
    ("nobody", {"namespace": "elsewhere"}, PLATFORM, "No owner found"),
    (
        "owner without team",
        {"namespace": "elsewhere", "annotations": {"gpu-quota-bot.io/owner": "U0NLP"}},
        "U0NLP",
        "Owner: u0nlp",
    ),
]


@pytest.mark.parametrize(("fields", "to", "says"), [one[1:] for one in WHO], ids=[one[0] for one in WHO])
def test_who_is_told_is_found_in_one_order(watch: Watcher, fields: dict[str, Any], to: str, says: str) -> None:
    watch.policy(owner_labels=["owner"], team_labels=["team"])
    work = Work(**fields)
    # Of a queue that is no team's: else the queue would say whose it is.
    watch.see(work.pending(watch.now, TOO_BIG + "request (16) > maximum capacity (8)").change())
    watch.tell()
    (card,) = watch.cards(to)
    assert says in card[-1]


def test_policy_mutes_routes_and_keeps_quiet(watch: Watcher, new_bench: Callable[[], Any]) -> None:
    watch.policy(mutes=[{"namespaces": ["vision-train"], "incidents": ["preempted"]}])
    watch.see(Work().admitted(watch.now).evicted(watch.now).change())
    watch.tell()
    assert watch.cards() == []
    routed = Watcher(new_bench())
    routed.policy(routes=[{"incidents": ["preempted"], "to": "C0NLP"}])
    routed.see(Work().admitted(routed.now).evicted(routed.now).change())
    routed.tell()
    assert len(routed.cards("C0NLP")) == 1
    quiet = Watcher(new_bench())
    begins = (quiet.now - timedelta(hours=1)).strftime("%H:%M")
    ends = (quiet.now + timedelta(hours=3)).strftime("%H:%M")
    quiet.policy(quiet_hours={"after": begins, "until": ends, "timezone": "UTC"})
    quiet.see(Work().admitted(quiet.now).evicted(quiet.now).change())
    quiet.tell(minutes=60)
    assert quiet.cards() == []
    quiet.tell(minutes=150)
    assert len(quiet.cards()) == 1
