"""A request that nobody answers: when its approvers are reminded, and from when on others may decide it too.

Time counts in the working hours of whoever is asked, from when the open step was first asked. What was done once is
stored, what is due is worked out anew from the policy of now, so a reload moves the times of what is still to come.
Asked by flows/chase_requests; `widened` by everybody who looks at who may decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.durations import format_duration
from bot.core.membership import Groups, is_group, open_step, people_of_step
from bot.core.offers import Offer, OfferState
from bot.core.policy import Policy
from bot.core.requests import Approval, ApprovalStep, QuotaRequest
from bot.core.working_hours import Shift, worked


@dataclass(frozen=True, slots=True)
class Escalation:
    """From `at` on, the people of `to` may give a step too."""

    request: int
    terms: int
    """Of which terms of the request."""
    step: int
    asked: str
    """Whom the step asks; one that asks somebody else since then is not escalated."""
    to: str
    """`group:NAME`."""
    at: datetime
    why: str
    """A clause: "8 h without an answer"."""


class Due(StrEnum):
    """What is to be done about a request now."""

    NOTHING = "nothing"
    REMIND = "remind"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Wait:
    """The open step of a request that waits for its approvers."""

    step: int
    asked: str
    since: datetime
    """When it was first asked, or last answered."""


def wait_of(request: QuotaRequest, approvals: Sequence[Approval], offers: Sequence[Offer]) -> Wait | None:
    """None if no step is open, or the requester has an offer to answer. An approval or an offer is an answer."""
    step = open_step(request.steps, approvals)
    if step is None or any(one.state is OfferState.OPEN for one in offers):
        return None
    answers = [request.judged_at or request.created_at, *(one.at for one in approvals)]
    answers += [one.settled_at for one in offers if one.settled_at is not None]
    return Wait(step, request.steps[step].who, max(answers))


def escalates_to(policy: Policy, request: QuotaRequest, asked: str) -> str | None:
    """`group:NAME` of who may give a step too when nobody answers; None for nobody.

    The lender's consent is never given by others than its leads: what is lent is theirs.
    """
    rules = policy.approvals.rules
    named = next((one.escalate_to for one in rules if one.name == request.rule), None)
    group = named or policy.approvals.unanswered.escalate_to
    to = f"group:{group}" if group is not None and group in policy.approvals.groups else None
    return None if to == asked or asks_lender(policy, request, asked) else to


def asks_lender(policy: Policy, request: QuotaRequest, asked: str) -> bool:
    """Whether a step is the consent of the lender's leads."""
    ask = request.ask
    team = policy.team_of(ask.cluster, ask.lender) if ask.lender is not None else None
    return team is not None and asked == f"leads:{team}"


def due(policy: Policy, request: QuotaRequest, wait: Wait, now: datetime) -> Due:
    """What the time without an answer asks for, whether it was done or not. Of two that are due only the later."""
    rules, waited = policy.approvals.unanswered, worked(wait.since, now, shift_of(policy, request, wait.asked))
    if waited >= rules.escalate_after and escalates_to(policy, request, wait.asked) is not None:
        return Due.ESCALATE
    return Due.REMIND if waited >= rules.remind_after else Due.NOTHING


def shift_of(policy: Policy, request: QuotaRequest, asked: str) -> Shift | None:
    """The working hours of whom a step asks; None: all hours count. Without a zone of its own, that of the team."""
    rules = policy.approvals.unanswered
    sort, _, name = asked.partition(":")
    hours = rules.hours_of.get(name, rules.hours) if sort == "group" else rules.hours
    team = policy.team(name if sort == "leads" else request.ask.team)
    return Shift(hours, hours.timezone or (team.timezone if team else "UTC")) if hours is not None else None


def in_force(policy: Policy, request: QuotaRequest, escalations: Sequence[Escalation]) -> tuple[Escalation, ...]:
    """Those that count: of these terms and steps, to whom the policy of now escalates."""
    steps = request.steps
    return tuple(
        one
        for one in escalations
        if one.terms == request.terms
        and one.step < len(steps)
        and steps[one.step].who == one.asked
        and escalates_to(policy, request, one.asked) == one.to
    )


def widened(policy: Policy, request: QuotaRequest, escalations: Sequence[Escalation]) -> QuotaRequest:
    """The request with who may give its steps now, for membership's questions. Never stored."""
    also = {one.step: one.to for one in in_force(policy, request, escalations)}
    steps = tuple(_also(step, also.get(index)) for index, step in enumerate(request.steps))
    return replace(request, steps=steps) if also else request


def _also(step: ApprovalStep, also: str | None) -> ApprovalStep:
    return replace(step, also=also) if also is not None else step


def without_answer(after: timedelta) -> str:
    """Why it escalates, as the card says it: "8 h without an answer"."""
    return f"{format_duration(after)} without an answer"


def candidates(
    policy: Policy, request: QuotaRequest, approvals: Sequence[Approval], step: int, groups: Groups
) -> frozenset[str] | None:
    """Who could give a step of a (widened) request, by its lists alone; None while a group of it is not known."""
    gave = {one.who for one in approvals}
    barred = gave if policy.approvals.self_approval else gave | {request.ask.requester}
    people: set[str] = set()
    for one in people_of_step(policy, request.steps[step]):
        members = groups.get(one) if is_group(one) else frozenset({one})
        if not isinstance(members, frozenset):
            return None
        people |= members
    return frozenset(people - barred)


def missing(request: QuotaRequest, approvals: Sequence[Approval], step: int) -> int:
    """How many approvals a step still takes."""
    return request.steps[step].count - len({one.who for one in approvals if one.step == step})
