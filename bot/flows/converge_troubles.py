"""What does not answer, and what says no: told to people, tried again later and later, and over once it answers.

Called by flows/converge_quota. Outages and refusals are kept in its memory, so a new process finds them anew.
"""

from datetime import datetime, timedelta

from bot.core.backoff import longer_each_time
from bot.core.convergence.landed import still_refused
from bot.core.errors import Rejected
from bot.core.kueue import ClusterPicture
from bot.core.standing import Blocker
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.loan_standing import Trouble
from bot.flows.tell_loans import tell_blocked
from bot.flows.tell_outages import began, forget, over, tell_back, tell_down
from bot.flows.tell_unreadable import tell_unreadable, words_of
from bot.flows.why_late import Past
from bot.flows.world import World

RETRY_FIRST = timedelta(seconds=1)
RETRY_LONGEST = timedelta(seconds=60)
HICCUP = timedelta(seconds=1)
"""One call that fails, and the next one does not, is nobody's news."""


def cannot(world: World, epoch: int, memory: ConvergeMemory, cluster: str, blocker: Blocker, words: str) -> timedelta:
    """The cluster does not answer, or Kueue does not: say so where people look, and try again later and later."""
    now = world.clock()
    if blocker is Blocker.KUEUE_DOWN:
        answers(world, epoch, memory, cluster, Blocker.API_DOWN)  # it was the API server that said so
    outage = began(memory.outages, cluster, blocker, now)
    tell_down(world, epoch, cluster, outage)
    if now - outage.since >= HICCUP:
        tell_blocked(world, epoch, cluster, Trouble(blocker, words, outage.since), memory.told)
    return longer_each_time(RETRY_FIRST, memory.failed(cluster) - 1, RETRY_LONGEST)


def may_not(world: World, epoch: int, memory: ConvergeMemory, cluster: str, error: Rejected) -> timedelta:
    """The cluster answers and says no: the bot may not read its queues, or it has no Kueue."""
    answers(world, epoch, memory, cluster, Blocker.API_DOWN)
    tell_unreadable(world, cluster, error)
    trouble = Trouble(Blocker.CANNOT_READ, words_of(error), world.clock())
    tell_blocked(world, epoch, cluster, trouble, memory.told)
    memory.failed(cluster)
    return RETRY_LONGEST


def answers(world: World, epoch: int, memory: ConvergeMemory, cluster: str, *blockers: Blocker) -> None:
    """What did not answer does."""
    for outage in over(memory.outages, cluster, *blockers):
        memory.past[cluster, outage.blocker] = Past(outage.blocker, outage.since, world.clock())
        tell_back(world, epoch, cluster, outage)
        forget(memory.outages, cluster, outage)


def refused_lately(memory: ConvergeMemory, picture: ClusterPicture, now: datetime) -> dict[str, str]:
    """Queues whose last write was refused, until they change or some time has passed."""
    left = dict(picture.unread)
    for (cluster, queue), refusal in list(memory.refusals.items()):
        if cluster != picture.cluster:
            continue
        if still_refused(refusal, picture.find(queue), now):
            left[queue] = refusal.words
        else:
            del memory.refusals[cluster, queue]
            memory.troubles.pop((cluster, queue), None)
    return left
