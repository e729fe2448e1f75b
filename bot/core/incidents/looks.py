"""What one watched object says right now, before it is compared with what is remembered. Used by classify."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.incidents import vendor_words
from bot.core.incidents.facts import Condition, Move, Owner, Seen, SeenFailedCreate, SeenPod, SeenWorkload, What
from bot.core.incidents.vendor_words import PREVIOUSLY, Facts

MESSAGE_LIMIT = 1_000
"""Characters of a vendor's message that are kept."""
TOLD_BY_THE_MANAGER = "EvictedOnManagerCluster"
_NO_ALERT = frozenset({TOLD_BY_THE_MANAGER, "FlavorMigration"})
_CANNOT = ("doesn't exist", "not found", "unavailable in ClusterQueue")
_NEVER_REASONS = frozenset({"Misconfigured", "NoMatchingFlavor"})


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that happened at one moment. `mark` is the same however often it is seen."""

    mark: str
    move: Move


@dataclass(frozen=True, slots=True)
class Look:
    """What an object says."""

    losses: tuple[Loss, ...] = ()
    state: Move | None = None
    """What holds now; None: it says nothing of that."""
    before: Loss | None = field(default=None)
    """What the conditions say of an eviction that is over already."""


def story_key(seen: Seen) -> str:
    """All that happens to one piece of work has one key, whichever of its objects shows it."""
    owner = seen.owner or Owner("Pod" if isinstance(seen, SeenPod) else "Workload", seen.name)
    return f"{seen.cluster}/{seen.namespace}/{owner.kind}/{owner.name}"


def look_at_workload(seen: SeenWorkload, now: datetime) -> Look:
    """Of a variant of another Workload, nothing."""
    if seen.variant:
        return Look()
    evicted = seen.conditions.get("Evicted")
    losses: tuple[Loss, ...] = ()
    if evicted is not None and evicted.true and evicted.reason not in _NO_ALERT:
        losses = (_eviction(seen, evicted, now),)
    return Look(losses, _standing(seen, now), _past_eviction(seen, evicted, now))


def _eviction(seen: SeenWorkload, evicted: Condition, now: datetime) -> Loss:
    preempted = seen.conditions.get("Preempted")
    at = evicted.since or now
    facts = _work(seen) | _run(seen, at)
    if evicted.reason.startswith("Preempted"):
        why = preempted.reason if preempted is not None and preempted.true else ""
        said = vendor_words.preemption(evicted.message)
        move = Move(What.PREEMPTED, at, why or said.get("why", ""), _cut(evicted.message), {**facts, **said})
    else:
        again = None if seen.requeue_at is None else seen.requeue_at.timestamp()
        kept = facts | ({"again_at": again} if again else {})
        move = Move(What.EVICTED, at, evicted.reason, _cut(evicted.message), kept)
    return Loss(_mark("Evicted", evicted.since), move)


def _past_eviction(seen: SeenWorkload, evicted: Condition | None, now: datetime) -> Loss | None:
    """Kueue keeps the message of an eviction after the work was admitted again."""
    if evicted is None or evicted.true:
        return None
    message = evicted.message.removeprefix(PREVIOUSLY)
    said = vendor_words.preemption(message)
    what = What.PREEMPTED if said or message.startswith("Preempted") else What.EVICTED
    move = Move(what, evicted.since or now, said.get("why", ""), _cut(message), {**_work(seen), **said})
    return Loss(_mark("Evicted", evicted.since), move)


def _standing(seen: SeenWorkload, now: datetime) -> Move | None:
    def holds(name: str) -> Condition | None:
        found = seen.conditions.get(name)
        return found if found is not None and found.true else None

    if finished := holds("Finished"):
        return Move(What.OVER, finished.since or now, finished.reason, _cut(finished.message))
    reserved, evicted = holds("QuotaReserved"), holds("Evicted")
    if evicted:
        requeued = seen.conditions.get("Requeued")
        comes_back = seen.active and (requeued is None or requeued.true)
        if reserved or not comes_back:
            return None
        since = requeued.since if requeued else None
        return Move(What.QUEUED, since or now, requeued.reason if requeued else "", facts=_work(seen))
    if reserved:
        ready, admitted = holds("PodsReady"), holds("Admitted")
        if admitted and ready:
            return Move(What.RUNNING, ready.since or now)
        # Without PodsReady nobody says later that it runs.
        last = {} if "PodsReady" in seen.conditions else {"last": True}
        return Move(What.ADMITTED, admitted.since or now, facts=last) if admitted else None
    return _pending(seen, now) if seen.active and not seen.deleting else None


def _pending(seen: SeenWorkload, now: datetime) -> Move | None:
    waits = seen.conditions.get("QuotaReserved")
    if waits is None:
        return None
    at, message, facts = waits.since or now, waits.message, _work(seen)
    most = vendor_words.too_much(message, seen.accelerators)
    if most or waits.reason == "ExceedsMaxQuota":
        return Move(What.NEVER, at, "ExceedsMaxQuota", _cut(message), {**facts, **most})
    if waits.reason in _NEVER_REASONS or any(one in message for one in _CANNOT):
        return Move(What.NEVER, at, "Misconfigured", _cut(message), facts)
    facts |= vendor_words.shortage(message, seen.accelerators)
    return Move(What.WAITING, at, waits.reason, _cut(message), facts)


def look_at_pod(seen: SeenPod, now: datetime) -> Look:
    """Pods that are over say nothing more: what stands above them does."""
    disrupted, scheduled = seen.disrupted, seen.scheduled
    facts: Facts = {"devices": dict(seen.accelerators), "node": seen.node, "pod": seen.name, **_named(seen)}
    losses: tuple[Loss, ...] = ()
    if disrupted is not None and disrupted.true and seen.phase != "Succeeded":
        at = disrupted.since or now
        move = Move(What.REMOVED, at, disrupted.reason, _cut(disrupted.message), facts)
        losses = (Loss(_mark("DisruptionTarget", disrupted.since), move),)
    if losses or seen.deleting or seen.phase in ("Succeeded", "Failed"):
        return Look(losses)
    if seen.node is not None:
        what = What.RUNNING if seen.phase == "Running" else What.ADMITTED
        return Look(state=Move(what, (scheduled.since if scheduled else None) or now, facts=facts))
    if scheduled is None or scheduled.true or scheduled.reason == "SchedulingGated" or seen.nominated:
        return Look()
    what = What.NO_ROOM if seen.workload else What.UNSCHEDULABLE
    facts |= {"node": None, **vendor_words.placement(scheduled.message)}
    return Look(state=Move(what, scheduled.since or now, scheduled.reason, _cut(scheduled.message), facts))


def look_at_refusal(seen: SeenFailedCreate, accelerators: Collection[str], now: datetime) -> Look:
    """Pods that could not be made because of a ResourceQuota over accelerators; every other cause says nothing."""
    refused = vendor_words.refusal(seen.message, accelerators)
    if refused is None:
        return Look()
    facts = {**refused, **_named(seen)}
    return Look(state=Move(What.REFUSED, seen.at or now, "FailedCreate", _cut(seen.message), facts))


def _named(seen: Seen) -> Facts:
    """By which a person or a team is found."""
    return {key: dict(value) for key, value in (("notes", seen.notes), ("labels", seen.labels)) if value}


def _work(seen: SeenWorkload) -> Facts:
    """What is said of the work whatever happened to it."""
    facts = {
        "devices": dict(seen.accelerators),
        "pods": seen.pods,
        "queue": seen.queue,
        "local_queue": seen.local_queue,
        "flavors": dict(seen.flavors),
        "priority": seen.priority,
        "workload": seen.name,
        "uid": seen.uid,
        "on_cluster": seen.on_cluster,
        **_named(seen),
    }
    return {key: value for key, value in facts.items() if value not in (None, {}, "")}


def _run(seen: SeenWorkload, at: datetime) -> Facts:
    """How long it had run, and when it says that it saved its work last."""
    admitted = seen.conditions.get("Admitted")
    began = admitted.since if admitted is not None and admitted.true else None
    return {"ran": max((at - began).total_seconds(), 0)} if began else {}


def _mark(condition: str, since: datetime | None) -> str:
    return f"{condition}@{int(since.timestamp()) if since else 0}"


def _cut(message: str) -> str:
    return message[:MESSAGE_LIMIT]


def with_missed(move: Move, missed: int) -> Move:
    """The same, which stands for so many more that nobody saw."""
    return replace(move, facts={**move.facts, "missed": missed}) if missed > 0 else move
