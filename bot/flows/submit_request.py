"""Somebody asks for quota: complete what they said, hear the policy, store the request, owe its card.

Called by chat for the typed command and for the form; flows/extend_loan has its requests stored here. What cannot be
done is refused in words before anything is stored; what a rule approves becomes a loan at once.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused, Stale
from bot.core.impact import Impact, to_json
from bot.core.kueue import ClusterPicture
from bot.core.limits import refusals
from bot.core.loans import LoanKind
from bot.core.membership import Roles, visible_queues
from bot.core.overcommit import Overcommit
from bot.core.people import Person
from bot.core.placing import place
from bot.core.policy import Policy
from bot.core.proposal import Proposal, propose
from bot.core.repeating import expand, repeated
from bot.core.request_facts import Pace
from bot.core.requests import Ask, AuditEntry, QuotaRequest, RequestState
from bot.core.series import Repeated, Span
from bot.core.verdict import Outcome, Verdict, evaluate
from bot.flows.cards import ask_next, owe_cards, owe_requesters_card, refresh_cards, tell_requester
from bot.flows.chase_requests import chase_new
from bot.flows.gather import open_loans, person_of, request_facts, roles_of_person
from bot.flows.grant_extension import check_extension, grant
from bot.flows.live_impact import live_impact
from bot.flows.overcommit_tick import hold_numbers
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.try_change import try_change
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Submitted:
    """What came of it, for the answer to the requester."""

    request: QuotaRequest
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A complete ask with all that was looked up for it, ready to be stored."""

    ask: Ask
    person: Person
    policy: Policy
    picture: str | None
    overcommit: Overcommit | None
    notes: tuple[str, ...]
    origin: str
    now: datetime
    extends: int | None = None
    """The loan that is to end later."""


def submit_request(world: World, draft: Draft, origin: str, arrival: str) -> Submitted | Question:
    """`origin` makes it unique (a form may be submitted twice), `arrival` is the inbox key.

    Raises Refused; a Question is what must be known and was not said.
    """
    stored = stored_from(world, origin)
    if stored is not None:
        return Submitted(stored)
    proposed = complete(world, draft)
    if isinstance(proposed, Question):
        return proposed
    proposal, picture, person, policy = proposed
    notes = try_change(world, proposal.ask, picture)
    impact = live_impact(world, proposal.ask, picture)
    asked = Asked(
        ask=proposal.ask,
        person=person,
        policy=policy,
        picture=to_json(impact) if isinstance(impact, Impact) else None,
        overcommit=impact.overcommit if isinstance(impact, Impact) else None,
        notes=(*proposal.notes, *notes, *_not_known(impact)),
        origin=origin,
        now=world.clock(),
    )
    return submit(world, asked, arrival)


def submit(world: World, asked: Asked, arrival: str) -> Submitted:
    """Store it, unless it is there already, and wake whoever goes on with it. Raises Refused, Stale."""
    try:
        submitted = _store(world, asked, arrival)
    except Stale:
        stored = stored_from(world, asked.origin)
        if stored is None:
            raise
        return Submitted(stored)
    submitted = replace(submitted, notes=(*submitted.notes, *chase_new(world, submitted.request.id)))
    world.wake_delivery()
    if submitted.request.state is RequestState.APPROVED:
        world.wake_convergence()
    return submitted


def complete(world: World, draft: Draft) -> tuple[Proposal, ClusterPicture, Person, Policy] | Question:
    """Everything of submitting up to the policy's verdict; also what the form's live lines and `explain` look at."""
    person = person_of(world, draft.requester)
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person)
    placed = place(_worked_out(draft, person, world.clock()), policy, person, roles)
    if isinstance(placed, Question):
        return placed
    assert placed.cluster is not None
    picture = _live(world, placed.cluster)
    with world.store.read() as uow:
        loans = open_loans(uow, placed.cluster)
    proposal = propose(placed, picture, policy, loans=loans, visible=_visible(policy, roles, picture))
    return proposal if isinstance(proposal, Question) else (proposal, picture, person, policy)


def _worked_out(draft: Draft, person: Person, now: datetime) -> Draft:
    """What repeats by a form, as its times in the zone of who asks. Raises Refused."""
    if not isinstance(draft.series, Repeated):
        return draft
    if draft.start is None:
        raise Refused("Say when the first one starts.", AskField.START_AT)
    until = draft.start + draft.duration if draft.duration is not None else draft.until
    if until is None or until <= draft.start:
        raise Refused("Say when the first one ends, after its start.", AskField.UNTIL)
    zone = ZoneInfo(person.timezone)
    series, _ = expand(repeated(draft.series, Span(draft.start, until), zone), zone, now)
    first = series.spans[0]
    return replace(draft, series=series, start=first.start, until=first.end, duration=None)


def may_overcommit(ask: Ask, found: Overcommit | None) -> bool:
    """Whether a loan may promise more than the nodes have, as far as anybody knows."""
    return ask.kind is LoanKind.EXTRA and (found is None or found.needs_tick)


def _live(world: World, cluster: str) -> ClusterPicture:
    picture = read_queues(world, cluster)
    if isinstance(picture, NotRead):
        raise Refused(f"{picture.opening}, so nothing was sent. {picture.then}")
    return picture


def _not_known(impact: Impact | NotRead) -> tuple[str, ...]:
    return (f"What it means for running work is not known: {impact.why}",) if isinstance(impact, NotRead) else ()


def _visible(policy: Policy, roles: Roles, picture: ClusterPicture) -> frozenset[str]:
    """What the person may see, and always what is their own."""
    own = {queue for team in roles.teams for queue in policy.queues_of(team, picture.cluster)}
    return visible_queues(policy, roles, picture.cluster, picture.queues) | own


def stored_from(world: World, origin: str) -> QuotaRequest | None:
    """What came of the same submission before."""
    with world.store.read() as uow:
        return uow.requests.by_origin(origin)


def _store(world: World, asked: Asked, arrival: str) -> Submitted:
    """One transaction: limits and verdict against what is stored, the request, its messages, the arrival done."""
    with world.store.begin() as uow:
        # Two requests of one team at the same moment must see each other: neither may pass as the only one.
        uow.alone(f"team:{asked.ask.team}")
        if asked.extends is not None:
            check_extension(uow, asked.ask, asked.extends, asked.now)
        facts = replace(
            request_facts(uow, asked.ask, asked.now, asked.policy, extends=asked.extends),
            overcommits=may_overcommit(asked.ask, asked.overcommit),
        )
        stops = refusals(asked.policy, facts, _pace(uow, asked))
        if stops:
            raise stops[0]
        verdict = evaluate(asked.policy, facts)
        request = _decided(uow, asked, verdict)
        uow.inbox.done(arrival)
        what = "request" if asked.extends is None else "extend"
        uow.audit.add(AuditEntry(asked.now, asked.person.id, what, request.subject, request.state.value))
        _owe(uow, asked, request, verdict)
        pause = uow.pauses.get() if request.state is RequestState.APPROVED else None
        uow.commit()
    waits = (f"It waits: quota changes are paused by {pause.name}.",) if pause else ()
    return Submitted(request, verdict, (*asked.notes, *waits))


def _decided(uow: UnitOfWork, asked: Asked, verdict: Verdict) -> QuotaRequest:
    lapses_at = asked.now + asked.policy.approvals.lapse_after
    if asked.extends is not None and asked.ask.start is not None:
        lapses_at = min(lapses_at, asked.ask.start)  # what is over cannot be extended any more
    request = uow.requests.add(
        QuotaRequest(
            id=0,
            ask=asked.ask,
            state=RequestState.WAITING,
            created_at=asked.now,
            lapses_at=lapses_at,
            origin=asked.origin,
            rule=verdict.rule,
            steps=verdict.steps,
            picture=asked.picture,
            extends=asked.extends,
        )
    )
    by = f"rule:{verdict.rule}" if verdict.rule else "rule:none"
    if verdict.outcome is Outcome.AUTO:
        hold_numbers(uow, asked.ask, asked.overcommit)
        return grant(uow, asked.policy, request, by, asked.now)
    if verdict.outcome is Outcome.DENIED:
        denied = replace(request, state=RequestState.DENIED, decided_by=by, decided_at=asked.now, words=verdict.words)
        return uow.requests.update(denied)
    return request


def _owe(uow: UnitOfWork, asked: Asked, request: QuotaRequest, verdict: Verdict) -> None:
    """What a rule denies is nobody's work: it stays out of the approvers' channel."""
    if request.state is RequestState.DENIED:
        owe_requesters_card(uow, request, asked.now)
        tell_requester(uow, request, NoticeKind.DENIED, asked.now)
        return
    notes = [*asked.notes, verdict.words] if verdict.words else [*asked.notes]
    owe_cards(uow, asked.policy, request, asked.now, {"notes": notes})
    if request.extends is not None:
        refresh_cards(uow, request.extends, asked.now)
    if request.state is RequestState.WAITING:
        ask_next(uow, asked.policy, request, 0, asked.now)


def _pace(uow: UnitOfWork, asked: Asked) -> Pace:
    mine = asked.person.id
    waiting = uow.requests.find(requester=mine, states={RequestState.WAITING})
    recent = uow.requests.find(requester=mine, since=asked.now - HOUR)
    return Pace(len(waiting), [request.created_at for request in recent], asked.person.timezone)
