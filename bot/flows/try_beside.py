"""Try the ResourceQuota that goes with a loan, as try_change tries its queues, and say on the card what becomes of it.

It is no condition of the loan: whatever is wrong with it is a note for those who approve. Called by flows/try_change.
"""

from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.wants import absence
from bot.core.errors import Rejected, Unavailable
from bot.core.kueue import ClusterPicture
from bot.core.requests import Ask
from bot.core.resource_quotas import hard_entry, hard_field, idle_keys
from bot.flows.world import World


def try_beside(world: World, ask: Ask, quota: str) -> tuple[str, ...]:
    """Notes for the card about this ResourceQuota (namespace/name)."""
    try:
        picture = world.clusters[ask.cluster].read(resource_quotas={quota})
    except (Unavailable, Rejected) as error:
        return (f"Not tried with the cluster yet (ResourceQuota {quota}): {error}",)
    if quota in picture.unread:
        return (f"The bot may not read ResourceQuota {quota}. Admins: allow get on it",)
    return (_tried(world, ask, quota, picture), *_without_effect(ask, quota, picture), *_managed(quota, picture))


def _tried(world: World, ask: Ask, quota: str, picture: ClusterPicture) -> str:
    field, found = hard_field(ask.cluster, quota, ask.resource), picture.resource_quotas.get(quota)
    entry = found.quotas.get(hard_entry(ask.resource)) if found else None
    if found is None or entry is None:
        return f"{absence(picture, field)}: nothing is raised beside the queue"
    raised = entry.nominal + ask.amount
    result = world.clusters[ask.cluster].patch(QueueChange(found, {field: raised}), dry_run=True)
    if result.outcome is PatchOutcome.APPLIED:
        return f"ResourceQuota {quota} goes {entry.nominal:,} -> {raised:,} with it"
    if result.outcome is PatchOutcome.FORBIDDEN:
        return f"The bot may not write ResourceQuota {quota}. Admins: allow patch on it"
    return f"Not tried with the cluster yet (ResourceQuota {quota}): {result.words or result.outcome.value}"


def _without_effect(ask: Ask, quota: str, picture: ClusterPicture) -> tuple[str, ...]:
    found = picture.resource_quotas.get(quota)
    keys = [key for key in idle_keys(ask.resource) if found and key in found.no_effect]
    return tuple(f"ResourceQuota {quota}: {key} limits nothing, Kubernetes counts requests. alone" for key in keys)


def _managed(quota: str, picture: ClusterPicture) -> tuple[str, ...]:
    found = picture.resource_quotas.get(quota)
    if found is None or found.managed_by is None:
        return ()
    return (f"Warning: ResourceQuota {quota} is managed by {found.managed_by}: it may set the number back",)
