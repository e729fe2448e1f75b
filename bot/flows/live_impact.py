"""What a loan means at this moment, read from the cluster. Used when a card is drawn and again at the click."""

from bot.core.errors import Rejected, Unavailable
from bot.core.impact import Impact, assess
from bot.core.kueue import ClusterPicture
from bot.core.requests import Ask
from bot.flows.gather import picture_of
from bot.flows.world import World


def live_impact(world: World, ask: Ask, picture: ClusterPicture | None = None) -> Impact | None:
    """None if there are no live figures, or a queue of the loan is not there any more."""
    picture = picture or picture_of(world, ask.cluster)
    if picture is None:
        return None
    queues = {ask.queue, ask.lender} - {None}
    if not all(queue in picture.queues for queue in queues):
        return None
    try:
        workloads = world.clusters[ask.cluster].workloads([ask.lender] if ask.lender else [])
    except (Unavailable, Rejected):
        return None
    return assess(ask, picture, workloads)
