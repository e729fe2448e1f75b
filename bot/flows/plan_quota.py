"""What a plan of convergence is made from: the database's side, read at one moment. Used by flows/converge_quota."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.convergence.annotation import may_be_ours, read
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.convergence.planner import Plan, PlanFacts, plan
from bot.core.convergence.proposals import Proposal, Proposing
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan
from bot.core.pause import Pause
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
        return before_in(uow, cluster)


def before_in(uow: UnitOfWork, cluster: str) -> Before:
    loans = [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == cluster]
    records = uow.fields.records(cluster)
    named = {leg for record in records.values() for leg in record.legs} - {loan.leg_id for loan in loans}
    closed = [loan for leg in sorted(named) if (loan := uow.loans.get(int(leg.removeprefix("L")))) is not None]
    return Before(
        records, uow.fields.open_intents(cluster), loans, closed, uow.pauses.get(), uow.proposals.open(cluster)
    )


def _known_after_all(world: World, planned: Plan) -> list[Loan]:
    """Loans that an annotation names and the database has, closed: the plan took them for lost ones."""
    if not planned.found_loans:
        return []
    with world.store.read() as uow:
        return [known for loan in planned.found_loans if (known := uow.loans.get(loan.id)) is not None]


def _plan_from(
    world: World, epoch: int, before: Before, picture: ClusterPicture, unwritable: Mapping[str, str]
) -> Plan:
    return plan(
        PlanFacts(
            install=world.install,
            epoch=epoch,
            now=world.clock(),
            picture=picture,
            records=before.records,
            intents=before.intents,
            loans=(*before.loans, *before.closed),
            unwritable=unwritable,
            paused=before.pause is not None,
            proposing=_proposing(before, world.policies.policy.proposing(picture.cluster)),
        )
    )


def _proposing(before: Before, queues: Set[str]) -> Proposing:
    return Proposing(queues, {proposal.queue: proposal for proposal in before.proposals})


def knows_nothing(before: Before, picture: ClusterPicture, install: str) -> bool:
    """The database was lost: annotations of this installation stand on queues that it has no record of.

    Then every queue gets a fence before anything else, so that patches which only the lost database knew of are dead.
    Annotations of others say nothing about this database: it may just be new on a shared cluster.
    """
    lost = not before.records and not before.intents
    return lost and any(may_be_ours(read(queue, install)[0]) for queue in picture.queues.values())


def plan_for(store: Store, cluster: Cluster, install: str, now: datetime, in_git: Set[str] = frozenset()) -> Plan:
    """What convergence would do at this moment; nothing is stored or sent. For `converge --dry-run`.

    `in_git`: queues that the bot proposes changes for and does not write.
    """
    with store.read() as uow:
        before = before_in(uow, cluster.name)
    facts = PlanFacts(install, 0, now, cluster.read(), before.records, before.intents, before.loans)
    return plan(replace(facts, paused=before.pause is not None, proposing=_proposing(before, in_git)))


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
