"""A cluster answers and does not let itself be read: to the platform channel, once for each right that is missing.

Called by flows/converge_quota and flows/read_cluster. Not only the leader may find it out, so no epoch is asked for:
the key makes it one message whoever owes it.
"""

from bot.core.errors import NoRight, Rejected
from bot.core.kueue import ClusterPicture
from bot.core.notices import NoticeDraft
from bot.flows.world import World
from bot.views.kinds import NoticeKind


def tell_unreadable(world: World, cluster: str, error: Rejected) -> None:
    """Owe the notice unless it was owed before. Raises Unavailable (database)."""
    what = f"{error.verb} {error.resource}" if isinstance(error, NoRight) else f"{error.what}: {error.code}"
    key, now = f"{NoticeKind.CANNOT_READ.value}:{cluster}:{what}", world.clock()
    with world.store.read() as uow:
        if uow.notices.get(key) is not None:
            return
    facts = {
        "cluster": cluster,
        "verb": error.verb if isinstance(error, NoRight) else None,
        "resource": error.resource if isinstance(error, NoRight) else None,
        "words": words_of(error),
        "since": now.isoformat(),
    }
    with world.store.begin() as uow:
        to = world.policies.policy.approvals.platform_channel
        uow.notices.owe_once(NoticeDraft(key, NoticeKind.CANNOT_READ, to, facts), now)
        uow.commit()
    world.wake_delivery()


def tell_unread(world: World, picture: ClusterPicture) -> None:
    """ResourceQuotas that the bot may not read: once for all of them."""
    for words in list(picture.unread.values())[:1]:
        tell_unreadable(world, picture.cluster, NoRight("API server", "get", "resourcequotas", words))


def words_of(error: Rejected) -> str:
    """The vendor's own text."""
    return error.words if isinstance(error, NoRight) else str(error)
