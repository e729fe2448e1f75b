"""What a plan of convergence is made from: the database's side, read at one moment. Used by flows/converge_quota."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.convergence.annotation import may_be_ours, read
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.convergence.planner import Plan, PlanFacts, plan
from bot.core.convergence.proposals import TAKEN_BACK_FOR, Proposal, Proposing
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan
from bot.core.pause import Pause
from bot.core.policy import Policy
from bot.core.resource_quotas import is_resource_quota
from bot.flows.gather import OPEN
from bot.flows.world import World
from bot.ports.cluster import Cluster
from bot.ports.store import Store, UnitOfWork


@dataclass(frozen=True, slots=True)
class Before:
    """What the plan was made from, as read from the database."""

    records: Mapping[FieldKey, FieldRecord]
    intents: Sequence[Intent]
    loans: Sequence[Loan]
    closed: Sequence[Loan] = ()
    """Closed ones that a record or an annotation still names: nobody's legs would be anybody's to take back."""

    pause: Pause | None = None
    proposals: Sequence[Proposal] = ()
    """Those that are open."""
    taken_back: Sequence[Proposal] = ()

    @property
    def versions(self) -> tuple[object, ...]:
        """Equal if and only if nothing changed."""
        return (
            {key: record.version for key, record in self.records.items()},
            {intent.id for intent in self.intents},
            {loan.id: loan.version for loan in self.loans},
            self.pause,
            {proposal.id for proposal in self.proposals},
        )


def read_before(world: World, cluster: str) -> Before:
    with world.store.read() as uow:
        return before_in(uow, cluster, world.clock())


def before_in(uow: UnitOfWork, cluster: str, now: datetime | None) -> Before:
    """`now` None: without what was taken back lately, for who only compares the versions."""
    loans = [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == cluster]
    records = uow.fields.records(cluster)
    named = {leg for record in records.values() for leg in record.legs} - {loan.leg_id for loan in loans}
    closed = [loan for leg in sorted(named) if (loan := uow.loans.get(int(leg.removeprefix("L")))) is not None]
    taken_back = () if now is None else uow.proposals.taken_back(cluster, now - TAKEN_BACK_FOR)
    pause, proposals = uow.pauses.get(), uow.proposals.open(cluster)
    return Before(records, uow.fields.open_intents(cluster), loans, closed, pause, proposals, taken_back)


def _known_after_all(world: World, planned: Plan) -> list[Loan]:
    """Loans that an annotation names and the database has, closed: the plan took them for lost ones."""
    if not planned.found_loans:
        return []
    with world.store.read() as uow:
        return [known for loan in planned.found_loans if (known := uow.loans.get(loan.id)) is not None]


def _plan_from(
    world: World, epoch: int, before: Before, picture: ClusterPicture, unwritable: Mapping[str, str]
) -> Plan:
    facts = PlanFacts(world.install, epoch, world.clock(), picture, before.records, before.intents, before.loans)
    loans = (*before.loans, *before.closed)
    return plan(replace(_by_policy(facts, before, world.policies.policy), loans=loans, unwritable=unwritable))


def _by_policy(facts: PlanFacts, before: Before, policy: Policy) -> PlanFacts:
    """With what does not come from the cluster: the pause, the teams' ResourceQuotas, the queues in Git."""
    proposing = _proposing(before, policy.proposing(facts.picture.cluster))
    return replace(facts, paused=before.pause is not None, beside=beside(policy, before), proposing=proposing)


def _proposing(before: Before, queues: Set[str]) -> Proposing:
    return Proposing(queues, {proposal.queue: proposal for proposal in before.proposals}, before.taken_back)


def beside(policy: Policy, before: Before) -> Mapping[str, str]:
    """Borrower's queue -> the ResourceQuota of its team, for all loans there are."""
    found = {loan.borrower: policy.resource_quota_beside(loan.cluster, loan.borrower) for loan in before.loans}
    return {queue: quota for queue, quota in found.items() if quota is not None}


def resource_quotas(policy: Policy, before: Before) -> frozenset[str]:
    """Those to read: that loans go with now, or that something of the bot may be in.

    A database that knows nothing may have been lost: then all that the policy names.
    """
    touched = {key.queue for key in before.records} | {intent.queue for intent in before.intents}
    named = {quota for team in policy.teams.teams if (quota := policy.resource_quota_of(team))}
    if before.records or before.intents:
        named = set(beside(policy, before).values())
    touched |= {loan.borrower for loan in before.loans}
    return frozenset(named | {queue for queue in touched if is_resource_quota(queue)})


def needs_kueue(policy: Policy, cluster: str, before: Before) -> bool:
    """Whether anything there is, or was, about ClusterQueues: then a look that finds none is no look at all."""
    names = {key.queue for key in before.records} | {loan.borrower for loan in before.loans} | policy.places_on(cluster)
    return not names or not all(is_resource_quota(name) for name in names)


def knows_nothing(before: Before, picture: ClusterPicture, install: str) -> bool:
    """The database was lost: annotations of this installation stand on queues that it has no record of.

    Then every queue gets a fence before anything else, so that patches which only the lost database knew of are dead.
    Annotations of others say nothing about this database: it may just be new on a shared cluster.
    """
    lost = not before.records and not before.intents
    return lost and any(may_be_ours(read(queue, install)[0]) for queue in picture.objects().values())


def plan_for(store: Store, cluster: Cluster, policy: Policy, install: str, now: datetime) -> Plan:
    """What convergence would do at this moment; nothing is stored or sent. For `converge --dry-run`."""
    with store.read() as uow:
        before = before_in(uow, cluster.name, now)
    kueue = needs_kueue(policy, cluster.name, before)
    picture = cluster.read(resource_quotas=resource_quotas(policy, before), kueue=kueue)
    facts = PlanFacts(install, 0, now, picture, before.records, before.intents, before.loans, picture.unread)
    return plan(_by_policy(facts, before, policy))


def make_plan(
    world: World, epoch: int, before: Before, picture: ClusterPicture, unwritable: Mapping[str, str]
) -> tuple[Before, Plan]:
    """The plan, and what it was made from: with closed loans that only an annotation names, if there are such."""
    planned = _plan_from(world, epoch, before, picture, unwritable)
    known = _known_after_all(world, planned)
    if not known:
        return before, planned
    before = replace(before, closed=(*before.closed, *known))
    return before, _plan_from(world, epoch, before, picture, unwritable)
