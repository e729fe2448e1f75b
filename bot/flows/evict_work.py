"""Work above quota is evicted at a loan's end where policy says so: announced first, undone by an extension.

Run by the leader's timetable. Each write is stored before it is sent and bears a mark of its own, so that a kill at any
step neither forgets it nor does it twice; what is evicted is decided again, live, when the grace is over.
"""

from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from bot.core.convergence.changes import PatchOutcome, PatchResult
from bot.core.errors import NoRight, Stale
from bot.core.evictions import (
    ActiveChange,
    Eviction,
    EvictionState,
    Work,
    WorkState,
    announced,
    excess,
    is_by_our_hand,
    settled_send,
)
from bot.core.kueue import WorkloadSnapshot
from bot.core.requests import AuditEntry
from bot.flows.eviction_facts import Hangs, LiveWork, hangs, look
from bot.flows.pause_quota import TURN
from bot.flows.tell_evictions import tell_announced, tell_changed, tell_over, tell_undone
from bot.flows.tell_unreadable import tell_unreadable
from bot.flows.world import World
from bot.ports.store import UnitOfWork

LATER = timedelta(seconds=30)
"""How soon to look again at what the cluster keeps from going on."""
ROUNDS = 5
"""Looks at one loan in a step: a workload that changed under a write is decided about again at once."""
CALLED_OFF = "the policy lets it run on now"
Memory = MutableMapping[int, datetime]
"""By loan: not looked at before. A new process begins with none."""
_CERTAIN = frozenset({PatchOutcome.FORBIDDEN, PatchOutcome.REFUSED, PatchOutcome.KUEUE_DOWN})
"""Answers that nothing was written. (A conflict may be with one's own write, sent before.)"""
_DONE = {
    (WorkState.EVICTING, WorkState.EVICTED): "evict",
    (WorkState.RESTORING, WorkState.RESTORED): "reactivate",
}
"""What the audit calls it."""


def evict_work(world: World, epoch: int, memory: Memory) -> timedelta | None:
    """One step over all loans that are over. Raises NotLeader, Unavailable (database)."""
    with world.store.read() as uow:
        still_open = uow.evictions.open()
    for eviction in still_open:
        if memory.get(eviction.loan, world.clock()) <= world.clock():
            memory.pop(eviction.loan, None)
            if not _go_on(world, epoch, eviction.loan):
                memory[eviction.loan] = world.clock() + LATER
    return None


def _go_on(world: World, epoch: int, loan: int) -> bool:
    """False: something keeps it, and it is looked at later."""
    for _ in range(ROUNDS):
        with world.store.read() as uow:
            eviction = uow.evictions.get(loan)
            facts = hangs(uow, world, eviction) if eviction else None
        if eviction is None or facts is None or eviction.state is EvictionState.CLOSED:
            return True
        try:
            again = _STEPS[eviction.state](world, epoch, eviction, facts)
        except Stale:
            continue  # the row, or what it hangs on, changed since it was read
        if again is not None:
            return again
    return False


# A step says None to be taken again at once, True if there is nothing to do before something changes, False to wait.


def _announce(world: World, epoch: int, eviction: Eviction, facts: Hangs) -> bool | None:
    """Tell which work is evicted when. The grace is counted from here, so nobody has less of it than was said."""
    if facts.held or facts.edited:
        return True
    live = look(world, eviction)
    if isinstance(live, str):
        return False
    now = world.clock()
    staying = [one for one in live.work.values() if one.uid not in facts.elsewhere]
    found = excess(eviction, live.allowed, staying) if live.allowed is not None and facts.wanted else None
    if found is None or not found.work or facts.request is None:
        closed = replace(eviction, state=EvictionState.CLOSED, held="" if facts.wanted else CALLED_OFF)
        _store(world, epoch, closed, facts, lambda _uow, _stored: None)
        return True
    works = tuple(announced(one, eviction.entry) for one in found.work)
    told = replace(eviction, state=EvictionState.ANNOUNCED, due=now + eviction.grace, works=works)

    def tell(uow: UnitOfWork, stored: Eviction) -> None:
        uow.audit.add(AuditEntry(now, "bot", "announce eviction", f"Q-{stored.loan}", found.why))
        tell_announced(uow, world.policies.policy, facts, stored, now)

    _store(world, epoch, told, facts, tell)
    return True


def _carry_out(world: World, epoch: int, eviction: Eviction, facts: Hangs) -> bool | None:
    """Evict what is still too much once the grace is over; before that only see whether an extension made room."""
    over = eviction.due is not None and eviction.due <= world.clock()
    extension = facts.extension
    if not over and not (extension and extension.in_force):
        return True
    if not facts.wanted and not eviction.of(WorkState.EVICTING):
        return _finish(world, epoch, eviction, facts, CALLED_OFF)
    if extension and extension.loan and extension.waits:
        return _hold(world, epoch, eviction, facts, f"{extension.request.name} is being put in force")
    if why := facts.held or facts.edited:
        return _hold(world, epoch, eviction, facts, why)
    live = look(world, eviction)
    if isinstance(live, str):
        return _hold(world, epoch, eviction, facts, live) and False
    settled = _settled(eviction, live, WorkState.EVICTING)
    if settled != eviction:
        _store(world, epoch, settled, facts, lambda uow, stored: _audit(uow, world, eviction, stored))
        return None
    chosen = _still_too_much(eviction, live) if facts.wanted else []
    if chosen and over:
        return _send(world, epoch, eviction, facts, chosen, active=False)
    if chosen:
        return True
    if eviction.of(WorkState.EVICTING):
        return False  # a write whose answer was lost may land yet
    return _finish(world, epoch, eviction, facts, f"extended by {extension.request.name}" if extension else "")


def _undo(world: World, epoch: int, eviction: Eviction, facts: Hangs) -> bool | None:
    """The grace is over. Set active again what the bot evicted and nobody touched since, once an extension is there."""
    extension = facts.extension
    if extension is None or (not extension.waits and not extension.in_force and not eviction.of(WorkState.RESTORING)):
        return _close(world, epoch, eviction, facts)
    if extension.waits or facts.held:
        return True
    live = look(world, eviction)
    if isinstance(live, str):
        return False
    settled = _left(_settled(eviction, live, WorkState.RESTORING), live)
    if settled != eviction:
        _store(world, epoch, settled, facts, lambda uow, stored: _audit(uow, world, eviction, stored))
        return None
    chosen = [live.work[one.uid] for one in eviction.of(WorkState.EVICTED, WorkState.RESTORING)]
    if chosen:
        return _send(world, epoch, eviction, facts, chosen, active=True)
    return _close(world, epoch, eviction, facts)


_STEPS: dict[EvictionState, Callable[[World, int, Eviction, Hangs], bool | None]] = {
    EvictionState.DUE: _announce,
    EvictionState.ANNOUNCED: _carry_out,
    EvictionState.OVER: _undo,
}


def _settled(eviction: Eviction, live: LiveWork, sent: WorkState) -> Eviction:
    return eviction.with_works(settled_send(one, live.work.get(one.uid)) for one in eviction.of(sent))


def _left(eviction: Eviction, live: LiveWork) -> Eviction:
    """What is gone, or is not inactive by the bot's hand any more, is let alone."""
    known = [(one, live.work.get(one.uid)) for one in eviction.of(WorkState.EVICTED)]
    gone = (one for one, found in known if found is None or not is_by_our_hand(one, found))
    return eviction.with_works(replace(one, state=WorkState.LEFT) for one in gone)


def _still_too_much(eviction: Eviction, live: LiveWork) -> list[WorkloadSnapshot]:
    if live.allowed is None:
        return []
    among = {one.uid for one in eviction.of(WorkState.ANNOUNCED, WorkState.EVICTING)}
    return list(excess(eviction, live.allowed, live.work.values(), among).work)


def _send(
    world: World, epoch: int, eviction: Eviction, facts: Hangs, chosen: Iterable[WorkloadSnapshot], *, active: bool
) -> bool | None:
    """Store that each is written, write it once, and record what its answer proves."""
    known = {one.uid: one for one in eviction.works}
    sending = WorkState.RESTORING if active else WorkState.EVICTING
    mark = f"L{eviction.loan}:{world.new_id()}"
    planned = [(live, _planned(known[live.uid], live, sending, mark)) for live in chosen]
    stored = _store(world, epoch, eviction.with_works(work for _, work in planned), facts, lambda _uow, _stored: None)
    done, held = [], ""
    for live, work in planned:
        result = world.clusters[eviction.cluster].set_active(ActiveChange(live, active, work.mark))
        done.append(_after(work, result, again=known[live.uid].state is sending))
        held = _why_not(world, eviction, result) or held
    written = replace(stored.with_works(done), held=held)

    def record(uow: UnitOfWork, recorded: Eviction) -> None:
        _audit(uow, world, stored, recorded)
        if held != stored.held:
            tell_changed(uow, recorded, world.clock())

    with suppress(Stale):  # then the next look at the workloads tells what became of the writes
        _store(world, epoch, written, None, record)
    return False if held else None


def _planned(work: Work, live: WorkloadSnapshot, sending: WorkState, mark: str) -> Work:
    """What is sent once more keeps its mark: whichever of them lands, it is the same write."""
    planned = replace(work, state=sending, resource_version=live.resource_version)
    fresh = sending is WorkState.EVICTING and work.state is not sending
    return replace(planned, mark=mark, generation=live.generation) if fresh else planned


def _after(work: Work, result: PatchResult, *, again: bool) -> Work:
    evicting = work.state is WorkState.EVICTING
    if result.outcome is PatchOutcome.APPLIED:
        return replace(work, state=WorkState.EVICTED if evicting else WorkState.RESTORED)
    if result.outcome in _CERTAIN and not again:
        return replace(work, state=WorkState.ANNOUNCED if evicting else WorkState.EVICTED)
    return work


def _why_not(world: World, eviction: Eviction, result: PatchResult) -> str:
    if result.outcome is PatchOutcome.FORBIDDEN:
        right = NoRight("API server", "patch", "workloads.kueue.x-k8s.io", result.words)
        tell_unreadable(world, eviction.cluster, right)
        return "the bot may not patch workloads"
    if result.outcome is PatchOutcome.REFUSED:
        return f"Kueue refused it: {result.words}"
    if result.outcome is PatchOutcome.KUEUE_DOWN:
        return "Kueue is not answering"
    return "the API server is not answering" if result.outcome is PatchOutcome.UNKNOWN else ""


def _hold(world: World, epoch: int, eviction: Eviction, facts: Hangs, why: str) -> bool:
    """Say where it was announced why it does not go on. Nothing is stored if that is said."""
    if eviction.held != why:
        _store(
            world,
            epoch,
            replace(eviction, held=why),
            facts,
            lambda uow, stored: tell_changed(uow, stored, world.clock()),
        )
    return True


def _finish(world: World, epoch: int, eviction: Eviction, facts: Hangs, why: str) -> bool:
    """The grace is over and everything that had to go is gone."""
    spared = eviction.with_works(replace(one, state=WorkState.SPARED) for one in eviction.of(WorkState.ANNOUNCED))
    state = EvictionState.OVER if facts.extension else EvictionState.CLOSED
    over = replace(spared, state=state, held=why)
    _store(
        world,
        epoch,
        over,
        facts,
        lambda uow, stored: tell_over(uow, world.policies.policy, facts, stored, world.clock()),
    )
    return True


def _close(world: World, epoch: int, eviction: Eviction, facts: Hangs) -> bool:
    closed = replace(eviction, state=EvictionState.CLOSED)
    _store(
        world,
        epoch,
        closed,
        facts,
        lambda uow, stored: tell_undone(uow, world.policies.policy, facts, stored, world.clock()),
    )
    return True


def _store(
    world: World, epoch: int, eviction: Eviction, facts: Hangs | None, tell: Callable[[UnitOfWork, Eviction], None]
) -> Eviction:
    """Compare-and-set under the epoch, with what is told of it. Raises Stale, also if `facts` are not so any more."""
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.alone(TURN)
        if facts is not None and hangs(uow, world, eviction) != facts:
            raise Stale(f"what the eviction of loan {eviction.loan} hangs on has changed")
        stored = uow.evictions.update(eviction)
        tell(uow, stored)
        uow.commit()
    world.wake_delivery()
    return stored


def _audit(uow: UnitOfWork, world: World, before: Eviction, after: Eviction) -> None:
    """One line for each workload that the bot's own write has set inactive, or active again."""
    known = {one.uid: one.state for one in before.works}
    for one in after.works:
        if what := _DONE.get((known[one.uid], one.state)):
            name = f"{one.namespace}/{one.name}"
            uow.audit.add(AuditEntry(world.clock(), "bot", what, f"Q-{after.loan}", name))
