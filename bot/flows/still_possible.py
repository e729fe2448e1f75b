"""A decision is about to be made: refuse it in words if the names it stands on are gone. Used by the deciding flows."""

from bot.core.errors import Refused
from bot.core.impact import Impact
from bot.core.policy import Policy
from bot.core.requests import Ask, QuotaRequest
from bot.core.still_possible import gone_from_cluster, gone_from_policy
from bot.flows.live_impact import live_impact
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.world import World


def check_policy_names(policy: Policy, request: QuotaRequest) -> None:
    """Raises Refused if the team, its queue or the cluster is in the policy no more."""
    gone = gone_from_policy(policy, request.ask)
    if gone is not None:
        waits = "It waits 24 h for that to come back, then it lapses."
        raise Refused(f"{request.name} cannot be approved: {gone.why}. {waits}")


def impact_if_possible(world: World, ask: Ask, name: str) -> Impact | NotRead:
    """What it means now. Raises Refused if what it needs is not there: nobody approves what cannot be put in force."""
    look = read_queues(world, ask.cluster)
    if isinstance(look, NotRead):
        return look
    why = gone_from_cluster(ask, look)
    if why is not None:
        raise Refused(f"Nothing was decided. {why} {name} waits on; deny it if that is for good.")
    return live_impact(world, ask, look)
