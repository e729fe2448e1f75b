"""How many devices the pending work of a queue asks for. Used by the answers to `status` and `show`."""

from collections.abc import Mapping

from bot.core.errors import Rejected, Unavailable
from bot.flows.world import World


def waiting_devices(world: World, cluster: str, queue: str) -> Mapping[str, int]:
    """By resource; empty if the cluster does not say."""
    try:
        workloads = world.clusters[cluster].workloads([queue])
    except (Unavailable, Rejected):
        return {}
    waiting: dict[str, int] = {}
    for workload in workloads:
        for resource, amount in workload.requests.items() if workload.reserved_at is None else ():
            waiting[resource] = waiting.get(resource, 0) + amount
    return waiting
