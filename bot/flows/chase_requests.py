"""Requests that nobody answers: their approvers are reminded, then others may decide too, at once if nobody is there.

`chase_requests` is run by the leader's timetable, `chase_new` by flows/submit_request for the one who asks. What was
done is known by the stored escalations and by the notices' keys, so it is done once, whoever notices that it is due.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.errors import Unavailable
from bot.core.escalations import Due, Escalation, Wait, due, escalates_to, wait_of, without_answer
from bot.core.membership import step_words
from bot.core.notices import NoticeDraft, Priority
from bot.core.policy import Policy
from bot.core.requests import Approval, ApprovalStep, AuditEntry, QuotaRequest, RequestState
from bot.flows.approvers_reachable import enough_reachable
from bot.flows.cards import channel_card, refresh_cards
from bot.flows.who_may_decide import with_escalations
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.escalation import NO_ONE_THERE, asked_too, nobody_there
from bot.views.kinds import NoticeKind


@dataclass(frozen=True, slots=True)
class _Case:
    """One waiting request, and what it waits for."""

    policy: Policy
    request: QuotaRequest
    """As it is stored."""
    may: QuotaRequest
    """With who may give its steps now."""
    approvals: Sequence[Approval]
    wait: Wait
    now: datetime

    @property
    def to(self) -> str | None:
        """Who may give the open step too, once that is due."""
        return escalates_to(self.policy, self.request, self.wait.asked)

    @property
    def is_escalated(self) -> bool:
        return self.may.steps[self.wait.step].also is not None

    @property
    def key(self) -> str:
        """Tells the steps of a request, and the terms that they are of, apart."""
        return f"{self.request.id}:{self.request.terms}.{self.wait.step}"

    def escalated(self) -> "_Case":
        """As it is after its escalation."""
        step = replace(self.may.steps[self.wait.step], also=self.to)
        steps = (*self.may.steps[: self.wait.step], step, *self.may.steps[self.wait.step + 1 :])
        return replace(self, may=replace(self.may, steps=steps))


def chase_requests(world: World, epoch: int) -> timedelta | None:
    """Whatever is due now and was not done. Raises NotLeader, Unavailable (database)."""
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
    for request in waiting:
        if (case := _case(world, request.id)) is not None:
            _chase(world, case, epoch)
    return None


def chase_new(world: World, number: int) -> tuple[str, ...]:
    """Of a request that was just made, for its requester: who else can decide, or that nobody can, if those who are
    asked cannot be reached. What cannot be done now is left to the leader."""
    try:
        case = _case(world, number)
        chased = _chase(world, case, None) if case is not None else None
    except Unavailable:
        return ()
    if chased is None:
        return ()
    asked = step_words(ApprovalStep(chased.wait.asked))
    if not _enough(world, chased):
        return (nobody_there(asked),)
    return (asked_too(asked, step_words(ApprovalStep(chased.to or ""))),) if chased.is_escalated else ()


def _chase(world: World, case: _Case, epoch: int | None) -> _Case:
    """Do what is due; the case as it is then."""
    there, what = _enough(world, case), due(case.policy, case.request, case.wait, case.now)
    if case.to is not None and not case.is_escalated and (what is Due.ESCALATE or not there):
        after = case.policy.approvals.unanswered.escalate_after
        _escalate(world, case, without_answer(after) if there else NO_ONE_THERE, epoch)
        case = case.escalated()
        there = _enough(world, case)
    elif what is Due.REMIND and there:
        _owe(world, case, _reminder(case), epoch)
    if not there:
        _owe(world, case, _nobody(case), epoch)
    return case


def _case(world: World, number: int) -> _Case | None:
    """None if it does not wait for its approvers, or not any more."""
    policy, now = world.policies.policy, world.clock()
    with world.store.read() as uow:
        request = uow.requests.get(number)
        if request is None or request.state is not RequestState.WAITING or request.lapses_at <= now:
            return None
        approvals = uow.requests.approvals(number)
        wait = wait_of(request, approvals, uow.offers.of(number))
        may = with_escalations(uow, policy, request)
    return _Case(policy, request, may, approvals, wait, now) if wait is not None else None


def _enough(world: World, case: _Case) -> bool:
    return enough_reachable(world, case.policy, case.may, case.approvals, case.wait.step)


def _escalate(world: World, case: _Case, why: str, epoch: int | None) -> None:
    """Unless somebody else noticed it first. The card says so from now on."""
    request, wait, to = case.request, case.wait, case.to
    assert to is not None
    with world.store.begin() as uow:
        if not _still(uow, case, epoch):
            return
        made = Escalation(request.id, request.terms, wait.step, wait.asked, to, case.now, why)
        if not uow.escalations.add(made):
            return
        what = f"{step_words(ApprovalStep(to))} too: {why}"
        uow.audit.add(AuditEntry(case.now, "bot", request.verb("escalate"), request.subject, what))
        uow.notices.owe_once(_ping(case, NoticeKind.STEP_ESCALATED, to), case.now)
        refresh_cards(uow, request.id, case.now)
        uow.commit()
    world.wake_delivery()


def _owe(world: World, case: _Case, drafts: Sequence[NoticeDraft], epoch: int | None) -> None:
    """Nothing is written for what was said before: this is asked every few seconds."""
    with world.store.read() as uow:
        if all(uow.notices.get(draft.key) is not None for draft in drafts):
            return
    with world.store.begin() as uow:
        if not _still(uow, case, epoch):
            return
        for draft in drafts:
            uow.notices.owe_once(draft, case.now)
        uow.commit()
    world.wake_delivery()


def _still(uow: UnitOfWork, case: _Case, epoch: int | None) -> bool:
    """Whether nothing happened to the request since it was looked at."""
    if epoch is not None:
        uow.leadership.check(epoch)
    found = uow.requests.get(case.request.id)
    return found is not None and found.version == case.request.version


def _reminder(case: _Case) -> list[NoticeDraft]:
    """Once for each time that somebody answered, and others have not."""
    return [_ping(case, NoticeKind.STEP_REMINDED, case.wait.since.isoformat())]


def _ping(case: _Case, kind: NoticeKind, which: str) -> NoticeDraft:
    """In the thread of the channel's card."""
    request, channel = case.request, case.policy.approvals.approvals_channel
    facts = {
        "request": request.id,
        "step": case.wait.step,
        "terms": request.terms,
        "since": case.wait.since.isoformat(),
    }
    key = f"{kind.value}:{case.key}:{which}"
    return NoticeDraft(key, kind, channel, facts, Priority.APPROVAL, thread_of=channel_card(request.id, channel))


def _nobody(case: _Case) -> list[NoticeDraft]:
    """The requester and the admins hear it, once for each step."""
    kind, request = NoticeKind.NOBODY_REACHABLE, case.request
    facts = {"request": request.id, "step": case.wait.step, "terms": request.terms}
    people = (request.ask.requester, case.policy.approvals.platform_channel)
    return [NoticeDraft(f"{kind.value}:{case.key}:{to}", kind, to, facts) for to in people]
