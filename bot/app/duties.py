"""What a process does while it leads: loops that can be woken, and jobs of the timetable. Built by app/run."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from bot.app.leader import Leader
from bot.app.watches import watch_loops
from bot.core.pace import Pace
from bot.flows.answer_ask_back import close_ask_backs
from bot.flows.chase_requests import chase_requests
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from bot.flows.deliver_notices import deliver
from bot.flows.evict_work import Memory as EvictMemory
from bot.flows.evict_work import evict_work
from bot.flows.lapse_requests import lapse_requests
from bot.flows.lost_names import lost_names
from bot.flows.observe_work import tell_due
from bot.flows.offer_idle import offer_idle
from bot.flows.publish_home import HomeMemory, publish_homes
from bot.flows.remind_loans import remind_loans
from bot.flows.render_notices import renderer
from bot.flows.world import World
from bot.ports.watching import Source
from bot.workers import Loop

Job = tuple[Callable[[], object], timedelta]
"""What to do, and how often."""

LOOK_EVERY = timedelta(seconds=30)
EVICT_EVERY = timedelta(seconds=5)


class Duties:
    """The leader's loops and jobs of one process; while another one leads they do nothing."""

    def __init__(
        self, world: World, leader: Leader, pace: Pace, converge_every: timedelta, sources: Sequence[Source]
    ) -> None:
        self._world = world
        self._leader = leader
        homes, render = HomeMemory(), renderer(world)
        self._converged = ConvergeMemory()
        self._converge = Loop(
            "converge",
            leader.leading(lambda epoch: converge_all(world, epoch, self._converged, leader.lift)),
            converge_every,
        )
        self._deliver = Loop("deliver", leader.leading(lambda epoch: deliver(world, epoch, pace, render)), LOOK_EVERY)
        self._homes = Loop("homes", leader.leading(lambda _epoch: publish_homes(world, homes)), LOOK_EVERY)
        self._watches = watch_loops(world, leader, sources)
        self.loops: tuple[Loop, ...] = (self._converge, self._deliver, self._homes, *self._watches)

    def jobs(self) -> tuple[Job, ...]:
        """What is due is asked of the database by each of them."""
        world, leading = self._world, self._leader.leading
        evicted: EvictMemory = {}
        return (
            (leading(lambda epoch: lapse_requests(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: lost_names(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: remind_loans(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: offer_idle(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: evict_work(world, epoch, evicted)), EVICT_EVERY),
            (leading(lambda epoch: close_ask_backs(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: chase_requests(world, epoch)), LOOK_EVERY),
            (leading(lambda epoch: tell_due(world, epoch)), LOOK_EVERY),
        )

    def begin(self) -> None:
        """This process leads from now on."""
        for loop in (self._converge, self._deliver, *self._watches):
            loop.wake()

    def wake_convergence(self) -> None:
        """Quota may have to change."""
        self._converge.wake()

    def wake_delivery(self) -> None:
        """What somebody must hear shows in Home tabs as well."""
        self._deliver.wake()
        self._homes.wake()
