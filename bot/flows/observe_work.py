"""What watches see becomes incidents, and what people are told of them. Called by the watching threads of the leader.

Everything that follows from a batch (what is remembered, the stories, the messages owed) is one transaction under the
leader's epoch. The same batch a second time changes nothing, so whoever is killed in between starts it again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.core.errors import Rejected, Unavailable
from bot.core.incidents.audience import Trail, audience, is_muted
from bot.core.incidents.classify import Judged, Ways, come_due, judge
from bot.core.incidents.facts import LOSSES, Change, Kind, Move, Owner, Remembered, SeenFailedCreate, What
from bot.core.incidents.looks import story_key
from bot.core.incidents.stories import Around, Incident, Step, step
from bot.core.policy import Policy
from bot.flows.tell_incidents import owe_news, owe_start
from bot.flows.world import World
from bot.ports.store import UnitOfWork

LATE = timedelta(minutes=15)
"""What happened longer ago is marked late when it is told."""
TOO_OLD = timedelta(hours=24)
"""What happened longer ago is not told."""
DUE_AT_A_TIME = 500

Notes = tuple[dict[str, str], dict[str, str]]
"""Annotations of the bot on what stands above the work, and on its namespace."""


def observe_work(world: World, epoch: int, cluster: str, batch: Sequence[Change]) -> None:
    """All changes of one cluster, in order. Raises NotLeader, Unavailable (database)."""

    def changes(one: "_Pass", uow: UnitOfWork) -> None:
        ways = one.ways(uow, cluster)
        known = _known(uow, cluster, batch)
        for change in batch:
            uid, old = _uid(change), known.get((change.kind, _uid(change)))
            judged = judge(old, replace(change, uid=uid), ways, one.now)
            one.keep(uow, old, judged)
            if judged.remembered is None:
                known.pop((change.kind, uid), None)
            else:
                known[change.kind, uid] = judged.remembered
            if judged.moves:
                key = _story(old, judged, change)
                one.tell(uow, key, change.kind, judged.moves, late=change.late)

    _Pass(world, epoch, world.clock()).run(changes)


def tell_due(world: World, epoch: int) -> None:
    """What was put off and lasts still. Raises NotLeader, Unavailable (database)."""

    def come(one: "_Pass", uow: UnitOfWork) -> None:
        for old in uow.memory.due(one.now, DUE_AT_A_TIME):
            judged = come_due(old, one.now)
            one.keep(uow, old, judged)
            one.tell(uow, old.story, old.kind, judged.moves, late=False)

    with world.store.read() as uow:
        if not uow.memory.due(world.clock(), 1):
            return
    _Pass(world, epoch, world.clock()).run(come)


def _uid(change: Change) -> str:
    """Events about one owner are one object: each has a uid of its own, and says the same."""
    seen = change.seen
    return seen.owner.uid if isinstance(seen, SeenFailedCreate) and seen.owner and seen.owner.uid else change.uid


def _known(uow: UnitOfWork, cluster: str, batch: Iterable[Change]) -> dict[tuple[Kind, str], Remembered]:
    uids: dict[Kind, list[str]] = {}
    for change in batch:
        uids.setdefault(change.kind, []).append(_uid(change))
    return {(kind, uid): one for kind, some in uids.items() for uid, one in uow.memory.get(cluster, kind, some).items()}


def _story(old: Remembered | None, judged: Judged, change: Change) -> str:
    if judged.remembered is not None:
        return judged.remembered.story
    return old.story if old is not None else story_key(change.seen) if change.seen is not None else ""


@dataclass(slots=True)
class _Pass:
    world: World
    epoch: int
    now: datetime
    notes: dict[str, Notes] = field(default_factory=dict)
    """By story."""
    missing: dict[str, Owner] = field(default_factory=dict)
    """Stories that begin and of which nobody has looked up yet whose they are."""

    def run(self, work: Callable[["_Pass", UnitOfWork], None]) -> None:
        """In one transaction. The cluster is asked outside of it, and then all of it is done again."""
        while True:
            with self.world.store.begin() as uow:
                uow.leadership.check(self.epoch)
                work(self, uow)
                if not self.missing:
                    uow.commit()
                    break
            self._look_up()
        self.world.wake_delivery()

    @property
    def policy(self) -> Policy:
        return self.world.policies.policy

    def ways(self, uow: UnitOfWork, cluster: str) -> Ways:
        """How changes of a cluster are judged."""
        found = self.policy.cluster(cluster)
        accelerators = frozenset(found.accelerators) if found else frozenset()
        return Ways(accelerators, self.policy.alerts.graces(), uow.incidents.open_keys(cluster))

    def keep(self, uow: UnitOfWork, old: Remembered | None, judged: Judged) -> None:
        """Remember it, or forget it."""
        if judged.remembered is not None and judged.remembered != old:
            uow.memory.put(judged.remembered)
        elif judged.remembered is None and old is not None:
            uow.memory.forget(old.cluster, old.kind, old.uid)

    def tell(self, uow: UnitOfWork, key: str, kind: Kind, moves: Sequence[Move], *, late: bool) -> None:
        """What the moves do to their story, and what is said of it."""
        for move in moves:
            around = Around(self.now, self.policy.alerts.fold_within, uow.memory.troubled(key)[0])
            done = step(uow.incidents.latest(key), key, move, kind, around)
            if done is not None and done.new:
                self._begin(uow, done, move, late=late)
            elif done is not None:
                owe_news(uow, uow.incidents.update(done.incident), done.line, self.now)
                if move.what is What.RUNNING:
                    self._mended(uow, key)

    def _begin(self, uow: UnitOfWork, done: Step, move: Move, *, late: bool) -> None:
        draft, age = done.incident, self.now - move.at
        if move.what in LOSSES and age > TOO_OLD:
            return
        if draft.key not in self.notes:
            self.missing[draft.key] = Owner(draft.kind, draft.name)
            return
        trail = self._trail(draft, move)
        who = audience(trail, move.what, self.policy)
        if is_muted(trail, move.what, who.team, self.policy):
            return
        mention = who.person is not None and move.what.value in self.policy.alerts.mention
        is_late = late or (move.what in LOSSES and age > LATE)
        begun = uow.incidents.add(replace(draft, audience=who, mention=mention, late=is_late))
        owe_start(uow, self.policy, begun, self.now)

    def _trail(self, draft: Incident, move: Move) -> Trail:
        above, namespace = self.notes[draft.key]
        facts = move.facts
        queue = facts.get("queue")
        names = (facts.get("notes", {}), above, namespace, facts.get("labels", {}), queue)
        return Trail(draft.cluster, draft.namespace, draft.kind, *names)

    def _mended(self, uow: UnitOfWork, key: str) -> None:
        """Events older than this are of what is over."""
        for one in uow.memory.refusals(key):
            uow.memory.put(replace(one, state=None, since=self.now, held=None, due=None))

    def _look_up(self) -> None:
        """A cluster that does not answer, or does not let the bot look, has no annotations: the team hears."""
        for key, owner in self.missing.items():
            cluster, namespace, _, _ = key.split("/", 3)
            try:
                above, around = self.world.clusters[cluster].notes_above(namespace, owner)
            except (Unavailable, Rejected, KeyError):
                above, around = {}, {}
            self.notes[key] = dict(above), dict(around)
        self.missing.clear()
