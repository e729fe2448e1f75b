"""Old compared with new: what is remembered of an object and what is seen of it make news, or nothing.

Pure. Called by flows/observe_work for each change, and once more when what was put off comes due.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.incidents.facts import (
    TROUBLES,
    Change,
    Kind,
    Move,
    Remembered,
    Seen,
    SeenFailedCreate,
    SeenPod,
    SeenWorkload,
    What,
)
from bot.core.incidents.looks import Look, Loss, look_at_pod, look_at_refusal, look_at_workload, story_key, with_missed

_MARKS = 8
"""Told marks that are kept of an object; older ones are of conditions that have moved on."""
_SETTLED = frozenset({What.RUNNING, What.OVER})


@dataclass(frozen=True, slots=True)
class Ways:
    """How news is made: by policy, and by whose story is open."""

    accelerators: Collection[str]
    grace: Mapping[str, timedelta]
    """How long a trouble lasts before it is told; what is not in it never is."""
    open: Collection[str] = ()
    """Keys of the stories that wait for an end."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What to remember from now on (None: nothing), and what is new of the story, in order."""

    remembered: Remembered | None
    moves: tuple[Move, ...] = ()


def judge(old: Remembered | None, change: Change, ways: Ways, now: datetime) -> Judged:
    """What a change means. The same change a second time means nothing."""
    if change.gone:
        return _gone(old, change, ways, now)
    seen = change.seen
    if seen is None or (old is not None and _is_older(seen, old)):
        return Judged(old)
    return _compared(old, seen, change, ways, now)


def come_due(old: Remembered, now: datetime) -> Judged:
    """What was put off, if its time has come."""
    if old.held is None or old.due is None or old.due > now:
        return Judged(old)
    return Judged(replace(old, held=None, due=None), (old.held,))


def _is_older(seen: Seen, old: Remembered) -> bool:
    """A version that was judged already. Versions are numbers, though nobody promises it for all servers."""
    if seen.version.isdigit() and old.version.isdigit() and not isinstance(seen, SeenFailedCreate):
        return int(seen.version) <= int(old.version)
    return bool(seen.version) and seen.version == old.version


def _look(seen: Seen, ways: Ways, now: datetime) -> Look:
    if isinstance(seen, SeenWorkload):
        return look_at_workload(seen, now)
    if isinstance(seen, SeenPod):
        return look_at_pod(seen, now)
    return look_at_refusal(seen, ways.accelerators, now) if isinstance(seen, SeenFailedCreate) else Look()


def _compared(old: Remembered | None, seen: Seen, change: Change, ways: Ways, now: datetime) -> Judged:
    look, key = _look(seen, ways, now), story_key(seen)
    if change.kind is Kind.EVENT and look.state is None:
        return Judged(old)
    fresh = Remembered(change.cluster, change.kind, change.uid, key, devices=_devices(seen))
    base = replace(old or fresh, version=seen.version, story=key)
    losses = _untold(base, look, seen, known=old is not None)
    told = (*base.told, *(one.mark for one in losses))[-_MARKS:]
    if losses:
        base = replace(base, state=losses[-1].move.what, since=losses[-1].move.at, held=None, due=None)
    base = replace(base, told=told, evictions=seen.evictions if isinstance(seen, SeenWorkload) else 0)
    settled, moves = _settle(base, look.state, ways, now, seeding=change.seeding)
    moves = () if change.seeding else (*(one.move for one in losses), *moves)
    return Judged(settled if _is_worth_keeping(settled) else None, moves)


def _untold(old: Remembered, look: Look, seen: Seen, *, known: bool) -> tuple[Loss, ...]:
    """Losses that were not told, and those that came and went unseen: Kueue counts evictions."""
    new = [one for one in look.losses if one.mark not in old.told]
    missed = seen.evictions - old.evictions - len(new) if known and isinstance(seen, SeenWorkload) else 0
    if missed > 0 and new:
        return (Loss(new[0].mark, with_missed(new[0].move, missed)), *new[1:])
    if missed > 0 and look.before is not None and look.before.mark not in old.told:
        return (Loss(look.before.mark, with_missed(look.before.move, missed - 1)),)
    return tuple(new)


def _settle(
    old: Remembered, move: Move | None, ways: Ways, now: datetime, *, seeding: bool
) -> tuple[Remembered, tuple[Move, ...]]:
    """What holds now, compared with what held."""
    if move is None:
        return old, ()
    if move.what in TROUBLES:
        return _troubled(old, move, ways, now, seeding=seeding)
    known = old.state is not None and (old.state not in TROUBLES or old.held is None)
    if not known and old.story not in ways.open:
        return replace(old, state=None, since=None, held=None, due=None), ()
    news = () if move.what is old.state else (move,)
    after = None if move.what in _SETTLED else move.what
    return replace(old, state=after, since=move.at, held=None, due=None), news


def _troubled(
    old: Remembered, move: Move, ways: Ways, now: datetime, *, seeding: bool
) -> tuple[Remembered, tuple[Move, ...]]:
    grace = ways.grace.get(move.what)
    if old.state is move.what and (old.kind is not Kind.EVENT or old.since is not None):
        return (replace(old, held=move) if old.held is not None else old), ()
    if grace is None or (old.kind is Kind.EVENT and old.since is not None and move.at <= old.since):
        return replace(old, held=None, due=None, state=None if old.state in TROUBLES else old.state), ()
    began = replace(old, state=move.what, since=move.at, held=None, due=None)
    if seeding:
        return began, ()
    due = move.at + grace
    return (began, (move,)) if due <= now else (replace(began, held=move, due=due), ())


def _gone(old: Remembered | None, change: Change, ways: Ways, now: datetime) -> Judged:
    """An Event is gone after an hour whatever it spoke of. Of the rest, the last look may show what nobody saw."""
    if change.kind is Kind.EVENT:
        return Judged(old)
    last = Judged(old)
    if change.seen is not None and not (old is not None and _is_older(change.seen, old)):
        last = _compared(old, change.seen, change, ways, now)
    kept = last.remembered
    in_a_story = kept is not None and kept.state is not None and kept.held is None
    ended = (Move(What.OVER, now),) if in_a_story and not change.seeding else ()
    return Judged(None, (*last.moves, *ended))


def _devices(seen: Seen) -> int:
    return sum(seen.accelerators.values()) if isinstance(seen, (SeenWorkload, SeenPod)) else 0


def _is_worth_keeping(one: Remembered) -> bool:
    return one.kind is not Kind.POD or one.state is not None or bool(one.told)
