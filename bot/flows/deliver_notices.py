"""Say what is owed: take due notices, post or update them at Slack's pace, record what came of it.

The leader's delivery loop calls `deliver`. Slack's post has no idempotency key, so a notice is claimed, posted with its
id in the metadata, then recorded. Whoever finds a claim without a record, or a post whose answer was lost, looks for
the id in the channel's history first and posts only if it is not there.

A call without an answer may be Slack's fault or the message's; a token that Slack does not accept is the same as no
answer. If a second message, for another place, gets none either, it is Slack: everything stays due in its order and
waits. If the second one gets through, the first is put off by itself and stops nobody.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from bot.core.backoff import longer_each_time
from bot.core.errors import Rejected, Stale, Unavailable
from bot.core.messages import Message, MessageRef
from bot.core.notices import Notice, NoticeState
from bot.core.pace import Pace
from bot.flows.mark_late import marked_late
from bot.flows.reroute_notices import reroute
from bot.flows.tell_outages import tell_slack_back
from bot.flows.world import World
from bot.ports.chat import PostUnknown
from bot.views.repeat import as_a_repeat

log = structlog.get_logger(__name__)
T = TypeVar("T")

BATCH = 500
"""Notices looked at in one step. More than one channel's queue, so that a slow channel does not hide the others."""
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
    looks_first: bool
    """It may stand in the channel already."""


class _Silence(Exception):
    """Slack gave no answer, or one that is not about this. `doubtful`: it may have done what it was asked."""

    def __init__(self, doubtful: bool, why: str) -> None:
        super().__init__(why)
        self.doubtful = doubtful


class _Limited(Exception):
    """Slack has had enough for a while."""

    def __init__(self, after: timedelta) -> None:
        super().__init__(f"again in {after}")
        self.after = after


def deliver(world: World, epoch: int, pace: Pace, render: Render) -> timedelta | None:
    """One pass over what is due. Returns how soon another pass is worth while, None if nothing is known to be due.

    Raises NotLeader, Unavailable (database).
    """
    return _Pass(world, epoch, pace, render).run()


@dataclass(slots=True)
class _Pass:
    world: World
    epoch: int
    pace: Pace
    render: Render
    answered: bool = False
    """Slack answered something in this pass."""
    unanswered: Notice | None = None
    """The first that got no answer, while nothing else got one."""
    posted: set[str] = field(default_factory=set)
    """Keys of what got its place in a channel in this pass."""
    threadless: list[Notice] = field(default_factory=list)
    """What came before the message whose thread it goes to."""

    def run(self) -> timedelta | None:
        with self.world.store.read() as uow:
            waiting = uow.notices.waiting(self.world.clock(), self.epoch, BATCH)
        waits, tried = [], 0
        for notice in waiting:
            now = self.world.clock()
            at = self.pace.update_at() if notice.ref else self.pace.post_at(notice.draft.to)
            if at > now:
                waits.append(at - now)
            elif self._same_place(notice):
                continue  # behind the one that got no answer, so that they stay in order
            elif claimed := self._claim(notice):
                tried += 1
                self._say(claimed)
        if self.unanswered is not None:
            self._slack_is_silent(self.unanswered)
        now = self.world.clock()
        again = self.pace.next_due(now)
        waits += [again - now] if again else []
        have_a_thread = [one.draft.to for one in self.threadless if one.draft.thread_of in self.posted]
        waits += [max(self.pace.post_at(to) - now, timedelta(0)) for to in have_a_thread]
        return min(waits, default=timedelta(0) if tried and len(waiting) == BATCH else None)

    def _same_place(self, notice: Notice) -> bool:
        return self.unanswered is not None and notice.draft.to == self.unanswered.draft.to

    def _claim(self, notice: Notice) -> _Claimed | None:
        """Render, then claim. None: somebody else has it, it changed meanwhile, or it cannot be said now.

        Rendering asks Slack for names, so it stays outside the transaction; if what it read has changed since, `wanted`
        has risen and the claim fails.
        """
        thread = None
        if notice.draft.thread_of is not None:
            with self.world.store.read() as uow:
                parent = uow.notices.get(notice.draft.thread_of)
            thread = parent.ref if parent else None
            if thread is None:
                self._without_thread(notice, parent)
                return None
        message = self._rendered(notice)
        if message is None:
            return None
        with self.world.store.begin() as uow:
            claimed = uow.notices.claim(notice, self.epoch, self.world.clock())
            uow.commit()
        looks_first = notice.doubtful or notice.state is NoticeState.CLAIMED
        return None if claimed is None else _Claimed(claimed, message, thread, looks_first)

    def _without_thread(self, notice: Notice, parent: Notice | None) -> None:
        if parent is None or parent.state is NoticeState.GIVEN_UP:
            self._end(notice, lambda one: replace(one, state=NoticeState.GIVEN_UP, failure="no thread"))
        else:
            self.threadless.append(notice)

    def _rendered(self, notice: Notice) -> Message | None:
        """None: there is nothing to say, or a defect keeps it from being said, which must not stop the others."""
        try:
            return self.render(notice)
        except NotSaid:
            self._end(notice, lambda one: replace(one, state=NoticeState.SETTLED, shown=one.wanted))
        except Exception as error:
            if isinstance(error, Unavailable) and error.what == "database":
                raise
            log.exception("a notice could not be rendered; it is put off", key=notice.draft.key)
            self._end(notice, self._put_off)
        return None

    def _end(self, notice: Notice, outcome: Callable[[Notice], Notice]) -> None:
        """Claim and record in one step: Slack is not asked."""
        with self.world.store.begin() as uow:
            claimed = uow.notices.claim(notice, self.epoch, self.world.clock())
            if claimed is not None:
                uow.notices.record(outcome(claimed))
            uow.commit()

    def _say(self, claimed: _Claimed) -> None:
        notice = claimed.notice
        try:
            outcome = self._update(claimed) if notice.ref else self._post(claimed)
        except _Silence as silence:
            log.warning("Slack did not take a message; it stays due", key=notice.draft.key, why=str(silence))
            self._no_answer(replace(notice, doubtful=notice.doubtful or silence.doubtful))
            return
        except _Limited as limited:
            outcome = self._later(notice, limited.after)
        except Rejected as error:
            log.warning("Slack refused a message for good", key=notice.draft.key, code=error.code)
            outcome = replace(notice, state=NoticeState.GIVEN_UP, failure=error.code)
        self._got_answer()
        if outcome.state is NoticeState.GIVEN_UP:
            reroute(self.world, self.epoch, outcome)
        self._record(outcome)

    def _post(self, claimed: _Claimed) -> Notice:
        notice, message = claimed.notice, marked_late(claimed.notice, claimed.message, self.world.clock())
        if claimed.looks_first:
            try:
                found = _asked(lambda: self.world.chat.find(notice.draft.to, notice.id, _since(notice), claimed.thread))
            except Rejected:
                found, message = None, as_a_repeat(message)
            if found is not None:
                # What stands there may be older than what is wanted now: one update makes it right.
                return replace(notice, ref=found, shown=1, state=NoticeState.OWED, doubtful=False, attempts=0)
        self.pace.posted(notice.draft.to, self.world.clock())
        ref = _asked(lambda: self.world.chat.post(notice.draft.to, message, notice.id, claimed.thread))
        return _settled(notice, ref)

    def _update(self, claimed: _Claimed) -> Notice:
        notice, ref = claimed.notice, claimed.notice.ref
        assert ref is not None
        self.pace.updated(self.world.clock())
        _asked(lambda: self.world.chat.update(ref, claimed.message))
        return _settled(notice, ref)

    def _got_answer(self) -> None:
        since = self.pace.answered()
        self.answered = True
        if self.unanswered is not None:
            first, self.unanswered = self.unanswered, None
            self._put_off_unanswered(first)
        if since is not None:
            tell_slack_back(self.world, self.epoch, since)

    def _no_answer(self, notice: Notice) -> None:
        if self.answered:
            self._put_off_unanswered(notice)
        elif self.unanswered is None:
            self.unanswered = notice
        else:
            self._slack_is_silent(self.unanswered, notice)

    def _slack_is_silent(self, *notices: Notice) -> None:
        """It is not theirs: they stay due, and nothing goes out for a while."""
        self.unanswered = None
        self.pace.put_off(self.pace.silent(self.world.clock()))
        for notice in notices:
            self._record(replace(notice, state=NoticeState.OWED))

    def _later(self, notice: Notice, after: timedelta) -> Notice:
        """As long as Slack says."""
        until = self.world.clock() + after
        self.pace.put_off(until)
        if notice.ref:
            self.pace.hold_updates(until)
        else:
            self.pace.hold_channel(notice.draft.to, until)
        return replace(notice, state=NoticeState.OWED, attempts=notice.attempts + 1, not_before=until)

    def _put_off(self, notice: Notice) -> Notice:
        """Longer each time."""
        until = self.world.clock() + longer_each_time(FIRST_WAIT, notice.attempts, LONGEST_WAIT)
        self.pace.put_off(until)
        return replace(notice, state=NoticeState.OWED, attempts=notice.attempts + 1, not_before=until)

    def _put_off_unanswered(self, notice: Notice) -> None:
        """At its first failure what comes after it in the same channel waits with it, so that they stay in order."""
        put_off = self._put_off(notice)
        if notice.attempts == 0 and notice.ref is None and put_off.not_before:
            self.pace.hold_channel(notice.draft.to, put_off.not_before)
        self._record(put_off)

    def _record(self, outcome: Notice) -> None:
        try:
            with self.world.store.begin() as uow:
                uow.notices.record(outcome)
                uow.commit()
        except Stale:
            return  # claimed by somebody else meanwhile, who looks into the history first
        if outcome.ref is not None:
            self.posted.add(outcome.draft.key)


def _asked(call: Callable[[], T]) -> T:
    """What Slack answers. Raises _Silence, _Limited, Rejected."""
    try:
        return call()
    except PostUnknown as error:
        raise _Silence(doubtful=True, why=str(error)) from error
    except Unavailable as error:
        if error.retry_after is not None:
            raise _Limited(error.retry_after) from error
        raise _Silence(doubtful=False, why=error.why) from error


def _since(notice: Notice) -> datetime:
    return notice.created_at - HISTORY_SLACK


def _settled(notice: Notice, ref: MessageRef) -> Notice:
    return replace(notice, ref=ref, shown=notice.wanted, state=NoticeState.SETTLED, doubtful=False, attempts=0)
