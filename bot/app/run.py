"""The running bot: threads, their order at start, and who stops whom at SIGTERM. Held by the command line and the demo.

Threads: `http` (uvicorn) or Slack's Socket Mode threads bring arrivals, `worker-N` handle them, `converge`, `deliver`
and `homes` work while this process leads, the timetable's threads renew the lease, reload policies and sweep the inbox,
and one thread of the inbox writer makes arrivals durable.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from bot.adapters.db import lock
from bot.adapters.db.engine import is_for_one_process
from bot.adapters.system_clock import new_id, system_clock
from bot.app.duties import Duties, Job
from bot.app.ending import Ending
from bot.app.leader import Leader
from bot.app.metrics import make_metrics
from bot.app.parts import Parts, make_bolt, make_parts
from bot.app.socket_mode import SocketMode
from bot.chat.desk import Desk
from bot.chat.directory import handler_of
from bot.chat.form_gate import form_gate
from bot.chat.listeners import Listeners
from bot.core.errors import Unavailable
from bot.core.inbox import InboxItem
from bot.core.pace import Pace
from bot.flows.keep_policy import PolicyMemory, keep_policy
from bot.flows.publish_home import follow_press
from bot.flows.tell_loans import tell_after_start
from bot.flows.world import World
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.web import Pages, WebServer, web_app
from bot.workers import Loop, Pool, Urgent

log = structlog.get_logger(__name__)

WORKERS = 16
"""Arrivals handled at a time. Most of their life they wait for the API server or Slack."""
DISPATCHERS = 64
"""HTTP requests in Bolt at a time."""
LEFT_BEHIND = 1000
"""Arrivals taken over at start; more is left to the sweeps."""
SWEEP_EVERY = timedelta(seconds=15)
RECONNECT_EVERY = timedelta(seconds=5)
SLOW_EVERY = timedelta(seconds=1)
RELOAD_EVERY = timedelta(seconds=10)
STOP_WITHIN = timedelta(seconds=15)


class Bot:
    """One process of the bot. `start` returns when it works, `stop` when it has ended cleanly."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        new_id: Callable[[], str] = new_id,
        pace: Pace | None = None,
    ) -> None:
        """`pace`: how fast it may speak; None is Slack's."""
        self._settings = settings
        self._pace = pace or Pace()
        self._lock = lock.hold(settings.database_url.get_secret_value())
        self._lock.__enter__()
        try:
            self._build(clock, new_id)
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise

    def _build(self, clock: Clock, new_id: Callable[[], str]) -> None:
        self._acknowledging = Urgent()
        self._parts: Parts = make_parts(self._settings, clock, self._acknowledging)
        try:
            self._wire(clock, new_id)
        except BaseException:
            self._parts.store.close()
            raise

    def _wire(self, clock: Clock, new_id: Callable[[], str]) -> None:
        settings = self._settings
        self.world = World(
            store=self._parts.store,
            chat=self._parts.chat,
            clusters=self._parts.clusters,
            policies=self._parts.policies,
            clock=clock,
            new_id=new_id,
            wake_convergence=self._wake_convergence,
            wake_delivery=self._wake_delivery,
            install=settings.install_name,
            observe_only=settings.observe_only,
        )
        process = new_id()
        self._policy_memory = PolicyMemory()
        lease = timedelta(seconds=settings.lease_seconds)
        self._leader = Leader(self.world, process, lease, self._on_leading)
        every = timedelta(seconds=settings.converge_every)
        self._duties = Duties(self.world, self._leader, self._pace, every, self._parts.sources)
        self._desk = Desk(self.world, handler_of, process)
        self._pool = Pool("worker", WORKERS, self._handle, self._acknowledging)
        self.timetable = self._make_timetable(lease)
        self._make_ways_in(clock)

    def _wake_convergence(self) -> None:
        self._duties.wake_convergence()

    def _wake_delivery(self) -> None:
        self._duties.wake_delivery()

    def _offer(self, item: InboxItem) -> None:
        self._desk.expect(item)
        self._pool.offer(item)

    def _handle(self, item: InboxItem) -> None:
        self._desk.handle(item)
        follow_press(self.world, item)

    def reload_policy(self) -> None:
        """Look at the policy files now. The timetable does, every few seconds."""
        keep_policy(self.world, self._parts.reload_policy, self._policy_memory)

    def _sweep(self) -> None:
        """Not while the pool has enough to do: what is taken and not begun would look abandoned to other replicas."""
        if not self._pool.has_waiting:
            for item in self._desk.left(WORKERS):
                self._pool.offer(item)

    def _take_left_behind(self) -> None:
        """What the last process was at when it died is taken at once, where no other process can be at it."""
        if not is_for_one_process(self._settings.database_url.get_secret_value()):
            return
        try:
            for item in self._desk.left(LEFT_BEHIND, timedelta(0)):
                self._pool.offer(item)
        except Unavailable as error:
            log.warning("arrivals of the last process wait", why=error.why)

    def _make_timetable(self, lease: timedelta) -> BackgroundScheduler:
        """What is due is asked of the database by each job; the timetable itself remembers nothing."""
        timetable = BackgroundScheduler(
            timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        jobs: tuple[Job, ...] = (
            (self._leader.renew, lease / 3),
            (self.reload_policy, RELOAD_EVERY),
            (self._sweep, SWEEP_EVERY),
            (self._desk.tell_slow, SLOW_EVERY),
            *self._duties.jobs(),
        )
        for job, every in jobs:
            timetable.add_job(_unless_down(job), "interval", seconds=every.total_seconds())
        return timetable

    def _make_ways_in(self, clock: Clock) -> None:
        settings = self._settings
        self._dispatchers = ThreadPoolExecutor(DISPATCHERS, thread_name_prefix="bolt")
        bolt = make_bolt(settings, self._dispatchers, self._acknowledging)
        Listeners(self._parts.inbox.put, self._offer, form_gate(self.world), clock).register(bolt)
        app_token = settings.slack_app_token
        self._socket = SocketMode(bolt, app_token.get_secret_value()) if app_token is not None else None
        metrics = make_metrics(self.world, lambda: self._leader.epoch is not None, lambda: self._parts.policy_is_good)
        pages = Pages(self._alive, self._ready, metrics)
        app = web_app(None if self._socket else bolt, self._dispatchers, pages)
        self._web = WebServer(app, settings.http_host, settings.http_port)

    @property
    def port(self) -> int:
        """The HTTP port, also when a free one was asked for."""
        return self._web.port

    def start(self) -> None:
        """Everything that works without Slack comes first: quota is given back even when Slack is down.

        Nothing here waits for the cluster either: the lease is taken by the timetable, which may ask it for fences.
        """
        self._take_left_behind()
        self._parts.inbox.start()
        for at_once in (self._leader.renew, self._sweep):
            self.timetable.add_job(_unless_down(at_once))
        for loop in self._duties.loops:
            loop.start()
        self.timetable.start()
        self._pool.start()
        self._web.start()
        if self._socket is not None:
            self._socket.keep_connected()
            self.timetable.add_job(self._socket.keep_connected, "interval", seconds=RECONNECT_EVERY.total_seconds())
        off = ["bills", *([] if self._parts.sources else ["alerts"])]
        log.info("the bot works", port=self.port, socket_mode=self._socket is not None, off=off)

    def stop(self) -> None:
        """Take nothing new, finish what has begun, hand over the lease, close the database last.

        All of them hear it before any is waited for, and together they get STOP_WITHIN: what a cluster that does not
        answer holds up longer than that is stored, and is left to the next start. The lease is handed over as soon as
        the loops that need it have ended.
        """
        ends = time.monotonic() + STOP_WITHIN.total_seconds()
        others = [
            Ending("timetable", self.timetable.shutdown),
            Ending("http", self._stop_http),
            *([Ending("socket mode", self._socket.close)] if self._socket is not None else []),
        ]
        self._pool.stop()
        for loop in self._duties.loops:
            loop.stop()
        cleanly = [_ended(part, ends) for part in self._duties.loops]
        cleanly.append(Ending("lease", self._leader.resign).cleanly(ends))
        cleanly.append(_ended(self._pool, ends))
        cleanly += [other.cleanly(ends) for other in others]
        cleanly.append(Ending("parts", self._parts.close).cleanly(ends))
        self._lock.__exit__(None, None, None)
        log.info("the bot has stopped", cleanly=all(cleanly))

    def _stop_http(self) -> None:
        self._web.stop()
        self._dispatchers.shutdown(wait=True)

    def _on_leading(self, epoch: int) -> None:
        tell_after_start(self.world, epoch)
        self._duties.begin()

    def _alive(self) -> dict[str, str]:
        return {"threads": "ok" if all(one.alive for one in self._duties.loops) else "a loop has died"}

    def _ready(self) -> dict[str, str]:
        """What must work to take work: the database, and in Socket Mode the connection. Not the cluster: what is asked
        while it is down is kept."""
        try:
            with self.world.store.read() as uow:
                uow.leadership.gap()
            database = "ok"
        except Unavailable as error:
            database = error.why
        ready = {"database": database}
        if self._socket is not None:
            ready["slack"] = "ok" if self._socket.connected else "not connected"
        return ready


def _ended(part: Loop | Pool, until: float) -> bool:
    return part.join(timedelta(seconds=max(0.0, until - time.monotonic())))


def _unless_down(job: Callable[[], object]) -> Callable[[], None]:
    """A job that a dependency keeps from its work is not a defect: the next time will do."""

    def run() -> None:
        try:
            job()
        except Unavailable as error:
            log.warning("waiting for a dependency", what=error.what, why=error.why)

    return run
