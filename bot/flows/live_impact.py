"""What a loan means at this moment, read from the cluster. Used when a card is drawn and again at the click."""

from dataclasses import replace

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.impact import Impact, Move, Workers, assess
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.loans import LoanKind
from bot.core.overcommit import Lent, Overcommit, against, overcommit, quota_overcommit
from bot.core.requests import Ask
from bot.core.resource_quotas import hard_field, is_resource_quota, kind_of
from bot.flows.gather import open_loans
from bot.flows.read_cluster import NotRead, read_hardware, read_multikueue, read_queues, read_work
from bot.flows.world import World


def live_impact(world: World, ask: Ask, picture: ClusterPicture | None = None) -> Impact | NotRead:
    """What is known now. A queue of the loan, or its entry, that is not there any more leaves nothing to be known."""
    look = picture or read_queues(world, ask.cluster)
    if isinstance(look, NotRead):
        return look
    for queue in (ask.queue, ask.lender):
        if queue is not None and queue not in look.queues:
            return NotRead(f"{kind_of(queue)} {queue} is gone", "Ask an admin.")
        if queue is not None and (ask.flavor, ask.resource) not in look.queues[queue].quotas:
            return NotRead(f"{queue} does not list {ask.resource} of flavor {ask.flavor}", "Ask an admin.")
    workloads = (
        () if is_resource_quota(ask.queue) else read_work(world, ask.cluster, [ask.lender] if ask.lender else [])
    )
    if isinstance(workloads, NotRead):
        return workloads
    proposing = world.policies.policy.proposing(ask.cluster)
    in_git = tuple(name for name in (ask.lender, ask.queue) if name in proposing and name is not None)
    impact = assess(ask, look, workloads)
    workers = live_workers(world, ask, look)
    impact = replace(impact, overcommit=live_overcommit(world, ask, look), in_git=in_git, workers=workers)
    return _with_bases(world, ask, impact)


def live_workers(world: World, ask: Ask, picture: ClusterPicture) -> Workers | None:
    """Whether quota on worker clusters limits the borrower as well; None if it does not. Asked only where the queue
    has admission checks on this flavor: without any, nobody needs the right to list them."""
    checks = {one.name for one in picture.queues[ask.queue].checks if not one.flavors or ask.flavor in one.flavors}
    if not checks:
        return None
    found = read_multikueue(world, ask.cluster)
    if isinstance(found, NotRead):
        return Workers(ask.queue, found.why)
    return Workers(ask.queue) if checks & set(found) else None


def live_overcommit(world: World, ask: Ask, picture: ClusterPicture) -> Overcommit | None:
    """What an extra loan promises, against the nodes as they are now; None for the other kinds."""
    if ask.kind is not LoanKind.EXTRA:
        return None
    entry = FlavorResource(ask.flavor, ask.resource)
    with world.store.read() as uow:
        known = Lent(open_loans(uow, ask.cluster), uow.fields.records(ask.cluster), world.install)
    found = (quota_overcommit if is_resource_quota(ask.queue) else overcommit)(picture, entry, ask.amount, known)
    hardware = read_hardware(world, ask.cluster, ask.resource)
    if isinstance(hardware, NotRead):
        return replace(found, why=hardware.why)
    if is_resource_quota(ask.queue):
        hardware = replace(hardware, flavors={ask.flavor: {}})  # its pods may run on any node
    return against(found, hardware, entry)


def _with_bases(world: World, ask: Ask, impact: Impact) -> Impact:
    """The numbers without the bot's loans, where it keeps a record of them."""
    with world.store.read() as uow:
        records = uow.fields.records(ask.cluster)

    def with_base(move: Move, name: FieldName) -> Move:
        key = FieldKey(ask.cluster, move.queue, ask.flavor, ask.resource, name)
        if is_resource_quota(move.queue):
            key = hard_field(ask.cluster, move.queue, ask.resource)
        record = records.get(key)
        return replace(move, base=record.base) if record is not None and record.legs else move

    field = FieldName.BORROWING_LIMIT if ask.kind is LoanKind.BORROW else FieldName.NOMINAL
    lender = with_base(impact.lender, FieldName.NOMINAL) if impact.lender else None
    return replace(impact, borrower=with_base(impact.borrower, field), lender=lender)
