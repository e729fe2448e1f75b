"""One watch: list, hand on what differs from what is remembered, follow, and list again when the server says so.

A step for a thread of app/watches, which runs it again and again while this process leads. Everything is handed to
flows/observe_work, for which twice is the same as once: after any failure the last stretch is handed on again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import structlog

from bot.core.errors import NoRight, Rejected, Unavailable
from bot.core.incidents.facts import Change, Kind, Wanted
from bot.flows.observe_work import LATE, observe_work
from bot.flows.tell_unreadable import tell_unreadable
from bot.flows.world import World
from bot.ports.watching import Expired, Position, Source

SAVE_EVERY = timedelta(seconds=30)
"""How much of a watch a restart goes through again, at most, if nothing that matters happened."""
AT_A_TIME = 250
"""Changes in one transaction."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=0.5), timedelta(seconds=30)

log = structlog.get_logger(__name__)


def wanted_of(world: World, cluster: str) -> Wanted:
    """What policy says is to be read of a cluster's objects."""
    policy = world.policies.policy
    found, alerts = policy.cluster(cluster), policy.alerts
    labels = frozenset({*alerts.owner_labels, *alerts.team_labels})
    return Wanted(frozenset(found.accelerators) if found else frozenset(), labels)


class WorkWatch:
    """The watch of one kind of one cluster. `step` is for one thread."""

    def __init__(self, world: World, source: Source, chance: Callable[[], float]) -> None:
        """`chance` gives numbers from 0 to 1."""
        self._world = world
        self._source = source
        self._chance = chance
        self._epoch: int | None = None
        self._position: Position | None = None
        """None: this process has to list first."""
        self._saved: Position | None = None
        self._wanted: Wanted | None = None
        self._failures = 0
        self._said = ""
        """Why it could not be watched, as it was logged last."""

    def step(self, epoch: int) -> timedelta | None:
        """One watch until it ends, after a list where one is needed; how long to wait then. Raises NotLeader."""
        try:
            self._resume(epoch)
            if self._position is None:
                self._list(epoch)
            self._follow(epoch)
        except Expired:
            self._position = None
            return self._after_failure()
        except Unavailable as error:
            log.warning("a watch is interrupted", **self._names(), what=error.what, why=error.why)
            self._source.reset()
            return max(self._after_failure(), error.retry_after or timedelta(0))
        except Rejected as error:
            self._tell(error)
            return LONGEST_WAIT
        except BaseException:
            self._epoch = None
            raise
        return SHORTEST_WAIT * (0.5 + self._chance() / 2)

    def _resume(self, epoch: int) -> None:
        """A new leader goes on where the last one stopped; a new policy may want to know of more."""
        wanted = wanted_of(self._world, self._source.cluster)
        if epoch != self._epoch:
            self._source.reset()
            with self._world.store.read() as uow:
                self._saved = uow.positions.get(self._source.cluster, self._source.kind)
            self._position = self._saved
        elif wanted != self._wanted:
            self._position = None
        self._epoch, self._wanted = epoch, wanted

    def _list(self, epoch: int) -> None:
        """Compare all that there is with what is remembered. What is remembered and not there was deleted unseen."""
        world, source, saved = self._world, self._source, self._saved
        late = saved is not None and world.clock() - saved.heard_at > LATE
        how = {"seeding": saved is None, "late": late}
        there: set[str] = set()
        version = ""
        for page in source.pages(self._wanted or wanted_of(world, source.cluster)):
            version = page.version
            there.update(one.uid for one in page.seen)
            self._hand_on(epoch, [Change(source.cluster, source.kind, one.uid, one, **how) for one in page.seen])
        if source.kind is not Kind.EVENT:  # Events go by themselves, which says nothing
            with world.store.read() as uow:
                gone = uow.memory.uids(source.cluster, source.kind) - there
            changes = [Change(source.cluster, source.kind, uid, None, gone=True, **how) for uid in sorted(gone)]
            for some in _parts(changes):
                self._hand_on(epoch, some)
        self._save(epoch, Position(source.cluster, source.kind, version, world.clock()))

    def _follow(self, epoch: int) -> None:
        """Hand on what happens. The position moves when that is done."""
        source, begun = self._source, self._position
        if begun is None or self._wanted is None:
            return
        for news in source.follow(begun.version, self._wanted):
            changes = [Change(source.cluster, source.kind, seen.uid, seen, gone=gone) for seen, gone in news.changes]
            for some in _parts(changes):
                self._hand_on(epoch, some)
            self._failures = 0
            self._heard(epoch, news.version)

    def _hand_on(self, epoch: int, changes: Sequence[Change]) -> None:
        if changes:
            observe_work(self._world, epoch, self._source.cluster, changes)

    def _heard(self, epoch: int, version: str) -> None:
        if self._position is None:
            return
        here = replace(self._position, version=version or self._position.version, heard_at=self._world.clock())
        self._position = here
        if self._saved is None or here.heard_at - self._saved.heard_at >= SAVE_EVERY:
            self._save(epoch, here)

    def _save(self, epoch: int, position: Position) -> None:
        with self._world.store.begin() as uow:
            uow.leadership.check(epoch)
            uow.positions.put(position)
            uow.commit()
        self._position = self._saved = position

    def _tell(self, error: Rejected) -> None:
        """To the platform channel, where it is the bot that has too few rights; a cluster without Kueue is none."""
        self._source.reset()
        if str(error) != self._said:
            log.warning("cannot watch", **self._names(), why=str(error))
        self._said = str(error)
        if isinstance(error, NoRight):
            tell_unreadable(self._world, self._source.cluster, error)

    def _after_failure(self) -> timedelta:
        """Longer each time, and never the same for all."""
        self._failures += 1
        wait = min(SHORTEST_WAIT * (1 << min(self._failures - 1, 10)), LONGEST_WAIT)
        return wait * (0.5 + self._chance() / 2)

    def _names(self) -> dict[str, str]:
        return {"cluster": self._source.cluster, "kind": self._source.kind.value}


def _parts(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    for start in range(0, len(changes), AT_A_TIME):
        yield changes[start : start + AT_A_TIME]
