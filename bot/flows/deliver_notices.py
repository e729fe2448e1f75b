"""Say what is owed: take due notices, post or update them at Slack's pace, record what came of it.

The leader's delivery loop calls `deliver`. Slack's post has no idempotency key, so a notice is claimed, posted with its
id in the metadata, then recorded. Whoever finds a claim without a record, or a post whose answer was lost, looks for
the id in the channel's history first and posts only if it is not there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.core.errors import Rejected, Stale, Unavailable
from bot.core.messages import Message, MessageRef
from bot.core.notices import Notice, NoticeState
from bot.core.pace import Pace
from bot.flows.world import World
from bot.ports.chat import PostUnknown
from bot.views.repeat import as_a_repeat

BATCH = 100
"""Notices looked at in one step."""
FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=5)
HISTORY_SLACK = timedelta(minutes=5)
"""Slack's clock and ours may differ by that much when a message is looked for."""

Render = Callable[[Notice], Message]
"""Makes the message from the notice's facts and the state of now. Raises NotSaid."""


class NotSaid(Exception):
    """Rendering found that there is nothing to say any more."""


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A notice in our hands, with all that is needed to say it."""

    notice: Notice
    message: Message
    thread: MessageRef | None


def deliver(world: World, epoch: int, pace: Pace, render: Render) -> timedelta | None:
    """One pass over what is due. Returns how soon another pass is worth while, None if nothing waits for the pace.

    Raises NotLeader, Unavailable (database).
    """
    with world.store.read() as uow:
        waiting = uow.notices.waiting(world.clock(), epoch, BATCH)
    waits = []
    for notice in waiting:
        now = world.clock()
        at = pace.update_at() if notice.ref else pace.post_at(notice.draft.to)
        if at > now:
            waits.append(at - now)
        else:
            _deliver_one(world, epoch, pace, render, notice)
    return min(waits, default=timedelta(0) if len(waiting) == BATCH else None)


def _deliver_one(world: World, epoch: int, pace: Pace, render: Render, notice: Notice) -> None:
    claimed = _claim(world, epoch, render, notice)
    if claimed is None:
        return
    try:
        outcome = _update(world, pace, claimed) if notice.ref else _post(world, pace, claimed, notice)
    except Unavailable as error:
        outcome = _later(world, pace, claimed.notice, error)
    except PostUnknown:
        outcome = replace(_put_off(world, claimed.notice), doubtful=True)
    except Rejected as error:
        outcome = replace(claimed.notice, state=NoticeState.GIVEN_UP, failure=error.code)
    try:
        with world.store.begin() as uow:
            uow.notices.record(outcome)
            uow.commit()
    except Stale:
        return  # claimed by somebody else meanwhile, who looks into the history first


def _claim(world: World, epoch: int, render: Render, notice: Notice) -> _Claimed | None:
    """Render, then claim. None: somebody else has it, it changed meanwhile, or its thread is not there yet.

    Rendering asks Slack for names, so it stays outside the transaction; if what it read has changed since, `wanted` has
    risen and the claim fails.
    """
    thread = None
    if notice.draft.thread_of is not None:
        with world.store.read() as uow:
            parent = uow.notices.get(notice.draft.thread_of)
        if parent is None or parent.ref is None:
            return None
        thread = parent.ref
    try:
        message = render(notice)
    except NotSaid:
        message = None
    with world.store.begin() as uow:
        claimed = uow.notices.claim(notice, epoch, world.clock())
        if claimed is not None and message is None:
            uow.notices.record(replace(claimed, state=NoticeState.SETTLED, shown=claimed.wanted))
        uow.commit()
    return None if claimed is None or message is None else _Claimed(claimed, message, thread)


def _post(world: World, pace: Pace, claimed: _Claimed, before: Notice) -> Notice:
    notice, message = claimed.notice, claimed.message
    if before.doubtful or before.state is NoticeState.CLAIMED:
        try:
            found = world.chat.find(notice.draft.to, notice.id, notice.created_at - HISTORY_SLACK, claimed.thread)
        except Rejected:
            found, message = None, as_a_repeat(message)
        if found is not None:
            # What stands there may be older than what is wanted now: one update makes it right.
            return replace(notice, ref=found, shown=1, state=NoticeState.OWED, doubtful=False, attempts=0)
    pace.posted(notice.draft.to, world.clock())
    ref = world.chat.post(notice.draft.to, message, notice.id, claimed.thread)
    return _settled(notice, ref)


def _update(world: World, pace: Pace, claimed: _Claimed) -> Notice:
    notice = claimed.notice
    assert notice.ref is not None
    pace.updated(world.clock())
    world.chat.update(notice.ref, claimed.message)
    return _settled(notice, notice.ref)


def _settled(notice: Notice, ref: MessageRef) -> Notice:
    return replace(notice, ref=ref, shown=notice.wanted, state=NoticeState.SETTLED, doubtful=False, attempts=0)


def _later(world: World, pace: Pace, notice: Notice, error: Unavailable) -> Notice:
    """As long as Slack says; if it says nothing, longer each time, and nobody else tries meanwhile."""
    put_off = _put_off(world, notice)
    if error.retry_after is None:
        pace.hold_all(world.clock() + FIRST_WAIT)
        return put_off
    until = world.clock() + error.retry_after
    if notice.ref:
        pace.hold_updates(until)
    else:
        pace.hold_channel(notice.draft.to, until)
    return replace(put_off, not_before=until)


def _put_off(world: World, notice: Notice) -> Notice:
    wait = min(FIRST_WAIT * 2 ** min(notice.attempts, 10), LONGEST_WAIT)
    return replace(notice, state=NoticeState.OWED, attempts=notice.attempts + 1, not_before=world.clock() + wait)
