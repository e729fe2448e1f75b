"""The answer to `show`: one queue's numbers from a live picture and its loans. Reads only; called by chat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.cohorts import quota_tree
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanState
from bot.core.membership import visible_queues
from bot.core.placing import no_such_queue
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.card_facts import unit_of
from bot.flows.gather import OPEN, person_of, roles_of_person
from bot.flows.look_up import pause_of
from bot.flows.propose_changes import proposed_number
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.series import without_later_times
from bot.flows.waiting_devices import waiting_devices, waiting_of
from bot.flows.world import World
from bot.views.amounts import Unit
from bot.views.answers.show import FlavorFigures, LoanPart, OpenRequest, ShowFacts


def show_facts(world: World, user: str, queue: str | None, hardware: str | None) -> ShowFacts:
    """The named queue, or the asker's only one. What may not be seen is answered as what is not there."""
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person_of(world, user))
    for name in world.clusters:
        picture = _picture(world, name)
        own = {one for team in roles.teams for one in policy.queues_of(team, name)}
        seen = visible_queues(policy, roles, name, picture.queues) | own
        if queue is None:
            queue = _only(own)
        if queue in picture.queues and queue in seen:
            found = picture.queues[queue]
            waiting = waiting_devices(world, found)
            return ShowFacts(
                found,
                tuple(_figures(world, policy, picture, _Asked(found, hardware, waiting))),
                picture.read_at,
                may_request=roles.admin or queue in own,
                waiting_unknown=waiting.why if isinstance(waiting, NotRead) else None,
                pause=pause_of(world),
                in_git=policy.proposes(name, queue),
                proposed=_proposed(world, name, queue),
            )
    raise no_such_queue(queue or "", seen)


def _proposed(world: World, cluster: str, queue: str) -> tuple[tuple[str, str, str], ...]:
    with world.store.read() as uow:
        proposals = [one for one in uow.proposals.open(cluster) if one.queue == queue]
    return tuple(proposed_number(part) for proposal in proposals for part in proposal.fields)


def _picture(world: World, cluster: str) -> ClusterPicture:
    picture = read_queues(world, cluster)
    if isinstance(picture, NotRead):
        raise Refused(f"No live figures: {picture.why}. {picture.then}")
    return picture


def _only(own: set[str]) -> str:
    if len(own) == 1:
        return next(iter(own))
    raise Refused(f"Which queue? Say one of: {', '.join(sorted(own))}." if own else "Which queue? Say its name.")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked at."""

    queue: QueueSnapshot
    hardware: str | None
    waiting: Mapping[str, int] | NotRead


@dataclass(frozen=True, slots=True)
class _Around:
    """What one flavor's figures are taken from."""

    picture: ClusterPicture
    queue: QueueSnapshot
    loans: Sequence[Loan]
    requests: Sequence[tuple[QuotaRequest, int]]
    """With how many approvals each has."""
    waiting: Mapping[str, int] | NotRead
    records: Mapping[FieldKey, FieldRecord]


def _figures(world: World, policy: Policy, picture: ClusterPicture, looked: _Asked) -> list[FlavorFigures]:
    queue, hardware = looked.queue, looked.hardware
    cluster = policy.cluster(picture.cluster)
    accelerators = cluster.accelerators if cluster else {}
    with world.store.read() as uow:
        found = [loan for loan in uow.loans.find(states=OPEN, queues={queue.name}) if loan.cluster == picture.cluster]
        loans = without_later_times(uow, found)
        requests = [one for one in uow.requests.find(states={RequestState.WAITING}) if one.extends is None]
        records = uow.fields.records(picture.cluster)
        asked = [(one, len(uow.requests.approvals(one.id))) for one in requests if one.ask.cluster == picture.cluster]
    around = _Around(picture, queue, loans, asked, looked.waiting, records)
    return [
        _flavor(around, entry, unit_of(policy, picture.cluster, entry.resource))
        for entry in queue.quotas
        if entry.resource in accelerators and hardware in {None, entry.flavor, entry.resource}
    ]


def _flavor(around: _Around, entry: FlavorResource, unit: Unit) -> FlavorFigures:
    queue, tree = around.queue, quota_tree(around.picture, entry)
    quota = queue.quotas[entry]
    parts = [_part(loan, queue.name) for loan in around.loans if (loan.flavor, loan.resource) == entry]
    record = around.records.get(FieldKey(queue.cluster, queue.name, *entry, FieldName.NOMINAL))
    moved = sum(part.amount for part in parts if part.other is not None and part.in_force)
    if record is not None and (record.uid, record.wrote, record.question) == (queue.uid, quota.nominal, None):
        moved = sum(record.legs.values())  # what is over and not given back yet is still in it
    return FlavorFigures(
        flavor=entry.flavor,
        nominal=quota.nominal,
        base=quota.nominal - moved,
        reserved=queue.reserved.get(entry, 0),
        borrowing_limit=quota.borrowing_limit,
        lending_limit=quota.lending_limit,
        waiting=waiting_of(around.waiting, entry.resource),
        most=tree.potential(queue.name),
        free=tree.free(queue.name),
        unit=unit,
        loans=tuple(parts),
        requests=tuple(_open(one, given) for one, given in around.requests if _is_for(one, queue.name, entry)),
    )


def _open(request: QuotaRequest, given: int) -> OpenRequest:
    return OpenRequest(request.id, request.ask.amount, given, sum(step.count for step in request.steps))


def _part(loan: Loan, queue: str) -> LoanPart:
    lends = loan.lender == queue
    other = loan.borrower if lends else loan.lender
    in_force = loan.in_force_at is not None and loan.state is LoanState.RUNNING
    return LoanPart(loan.id, -loan.amount if lends else loan.amount, other, loan.end, in_force)


def _is_for(request: QuotaRequest, queue: str, entry: FlavorResource) -> bool:
    ask = request.ask
    return (ask.queue, ask.flavor, ask.resource) == (queue, *entry)
