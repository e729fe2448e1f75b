"""Who may offer other terms, what the form behind Change shows, and what was filled in as terms.

Called by chat/offers and flows/make_offer. Reads only.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.drafts import AskField
from bot.core.durations import parse_duration
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.lenders import Lenders
from bot.core.loans import LoanKind
from bot.core.membership import NotAllowed, groups_of_steps, may_approve, visible_queues
from bot.core.offers import Terms, as_of, lasts, terms_of
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import Ask, QuotaRequest
from bot.flows.audited import refusals_audited
from bot.flows.card_facts import unit_of
from bot.flows.gather import OPEN, look_up_groups, person_of, person_or_id, roles_of_person
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.waiting_request import waiting_request
from bot.flows.who_may_decide import as_asked_now
from bot.flows.world import World
from bot.views.change_form import AS_ASKED, ChangeFacts, ChangeValues
from bot.views.ids import LENDER_BOT, option_value
from bot.views.request_form import FormError, LenderChoice


@dataclass(frozen=True, slots=True)
class Offerer:
    """Somebody who may decide the open step of a request now, and so may offer other terms for it."""

    person: Person
    request: QuotaRequest
    policy: Policy
    now: datetime


def may_offer(world: World, number: int, user: str) -> Offerer:
    """Authorised as an Approve is, at the press. Raises Refused."""
    person, policy, now = person_of(world, user), world.policies.policy, world.clock()
    request = waiting_request(world, number, now)
    if request.extends is not None:
        raise Refused(f"{request.name} can be approved or denied, not changed. Deny it with what you would agree to.")
    if request.ask.series is not None:
        instead = "Deny it with what you would agree to: it can be asked for again"
        raise Refused(f"{request.name} repeats, so it can be approved or denied, not changed. {instead}.")
    if user == request.ask.requester:
        raise Refused(f"Q-{number} is yours. To ask for less, withdraw it and request again.")
    may = as_asked_now(world, policy, request)
    groups = look_up_groups(world, groups_of_steps(policy, may.steps))
    with world.store.read() as uow:
        approvals = uow.requests.approvals(number)
    allowed = may_approve(policy, person, may, approvals, groups)
    if isinstance(allowed, NotAllowed):
        raise Refused(allowed.sentence)
    return Offerer(person, request, policy, now)


def change_facts(
    world: World, number: int, user: str, values: ChangeValues | None = None, error: FormError | None = None
) -> ChangeFacts:
    """The form: filled with the request's own terms, or with what was sent and is wrong. Raises Refused; audited."""
    with refusals_audited(world, user, "offer", f"Q-{number}"):
        offerer = may_offer(world, number, user)
    ask, policy = offerer.request.ask, offerer.policy
    asked = as_of(terms_of(ask), offerer.now)
    longest = lasts(asked, offerer.now)
    if longest <= timedelta():
        raise Refused(f"The time that Q-{number} asks for has passed.")
    return ChangeFacts(
        request=offerer.request,
        requester=person_or_id(world, ask.requester),
        values=values or _as_asked(asked),
        longest=longest,
        kinds=tuple(kind for kind in LoanKind if policy.approvals.allows(kind) or kind is ask.kind),
        lenders=_lenders(world, policy, ask),
        unit=unit_of(policy, ask.cluster, ask.resource),
        error=error,
    )


def terms_of_values(values: ChangeValues, ask: Ask, policy: Policy) -> Terms:
    """What was filled in; what was left alone is as asked. Raises Refused for what no form of ours sends."""
    if values.amount is None:
        raise Refused("Whole numbers from 1, like 8.", AskField.AMOUNT)
    if values.kind not in list(LoanKind):
        raise Refused("There is no such kind of loan.", AskField.KIND)
    kind = LoanKind(values.kind)
    duration, until = ask.duration, ask.until
    if values.until_at is not None:
        duration, until = None, values.until_at
    elif values.until != AS_ASKED:
        length = parse_duration(values.until)
        if not isinstance(length, timedelta):
            raise Refused("Choose how long.", AskField.UNTIL)
        duration, until = length, None
    lender = _lender(values.lender, ask, policy) if kind is LoanKind.TRANSFER else None
    return Terms(values.amount, kind, lender, values.start_at, duration, until)


def visible_to_requester(world: World, policy: Policy, ask: Ask, picture: ClusterPicture) -> frozenset[str]:
    """An offer names no queue that its requester may not see; those of the request are known to them."""
    roles = roles_of_person(world, policy, person_or_id(world, ask.requester))
    known = {queue for queue in (ask.queue, ask.lender) if queue}
    return visible_queues(policy, roles, ask.cluster, picture.queues) | known


def _as_asked(asked: Terms) -> ChangeValues:
    lender = asked.lender or LENDER_BOT
    return ChangeValues(asked.amount, asked.kind.value, lender, AS_ASKED, None, asked.start)


def _lender(value: str, ask: Ask, policy: Policy) -> str | None:
    """The queue behind an option; None lets the bot choose."""
    cluster = policy.cluster(ask.cluster)
    names: Collection[str] = {*(cluster.lenders if cluster else ()), *([ask.lender] if ask.lender else ())}
    return None if value == LENDER_BOT else next((one for one in names if option_value(one) == value), value)


def _lenders(world: World, policy: Policy, ask: Ask) -> tuple[LenderChoice, ...]:
    """Who may lend, with how much as far as the cluster can be read."""
    picture, cluster = read_queues(world, ask.cluster), policy.cluster(ask.cluster)
    if isinstance(picture, NotRead) or cluster is None or not policy.approvals.allows(LoanKind.TRANSFER):
        return (LenderChoice(ask.lender, None),) if ask.lender else ()
    visible = visible_to_requester(world, policy, ask, picture)
    with world.store.read() as uow:
        loans = [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == ask.cluster]
    known, entry = Lenders(picture, cluster, loans, visible), FlavorResource(ask.flavor, ask.resource)
    return tuple(
        LenderChoice(name, known.most(queue, entry))
        for name in cluster.lenders
        if name in visible and name != ask.queue
        if (queue := picture.queues.get(name)) is not None and entry in queue.quotas
    )
