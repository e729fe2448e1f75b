"""How many devices the pending work of a queue asks for. Used by the answers to `status`, `show` and Details."""

from collections.abc import Mapping

from bot.core.kueue import QueueSnapshot
from bot.flows.read_cluster import NotRead, read_work
from bot.flows.world import World


def waiting_devices(world: World, queue: QueueSnapshot) -> Mapping[str, int] | NotRead:
    """By resource. Asks for Workloads only if the queue says that some are pending."""
    if not queue.pending_workloads:
        return {}
    workloads = read_work(world, queue.cluster, [queue.name])
    if isinstance(workloads, NotRead):
        return workloads
    waiting: dict[str, int] = {}
    for workload in workloads:
        for resource, amount in workload.requests.items() if workload.reserved_at is None else ():
            waiting[resource] = waiting.get(resource, 0) + amount
    return waiting


def waiting_of(waiting: Mapping[str, int] | NotRead, resource: str) -> int | None:
    """Of one resource, None if that is not known."""
    return None if isinstance(waiting, NotRead) else waiting.get(resource, 0)
