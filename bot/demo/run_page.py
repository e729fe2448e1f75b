"""`gpu-quota-bot demo`: the real bot between the simulators, and the page that shows them. Called by cli and by tests.

Only here the page and the bot meet: the page is told who can be played, what can be typed, and what loans moved.
"""

import signal
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from apscheduler.jobstores.base import JobLookupError

from bot.chat.commands import COMMANDS
from bot.core.convergence.facts import FieldName
from bot.core.errors import Unavailable
from bot.core.loans import LoanState
from bot.demo.page import Command, Ending, Moved, Page, Role, Scene
from bot.demo.run_stage import QUEUES, Stage, local_queue
from bot.demo.script_tour import tour

FLAVOR = "a100"
ROOMS = {
    "gpu-platform": ("ada", "alan", "noor", "lena", "rosa"),
    "nlp": ("noor", "ada", "alan"),
    "vision": ("mira", "tom", "lena", "ada", "alan"),
    "robotics": ("ravi", "rosa", "ada", "alan"),
}
"""Who is where; everybody is in #gpu-approvals."""
JOBS = {
    "nlp": (("bert-large", 8), ("tokenizer-ablation", 8)),
    "vision": (("detector-train", 8), ("segment-eval", 8), ("resnet-sweep", 8)),
    "robotics": (("grasp-policy", 4),),
}
"""GPUs of what runs when one comes in; resnet-sweep finds no room."""
REQUEST = "/gpu-quota request 8 a100 from nlp for 3d because paper deadline"
PLAYED = (
    (
        "mira",
        "engineer in vision",
        "vision",
        "Your job resnet-sweep waits for 8 GPUs. Ask the nlp team for theirs:",
        (REQUEST, "/gpu-quota request", "/gpu-quota status"),
    ),
    (
        "noor",
        "lead of nlp, which lends",
        "gpu-approvals",
        "Requests that take from your team's quota need your consent. They appear here and in your messages.",
        ("/gpu-quota list waiting", "/gpu-quota show nlp"),
    ),
    (
        "ada",
        "admin",
        "gpu-approvals",
        "Requests that need an admin appear here. Changes by hand are asked about in #gpu-platform.",
        ("/gpu-quota list all", "/gpu-quota show vision"),
    ),
    (
        "ravi",
        "robotics, an outsider",
        "gpu-approvals",
        "You see the requests of others. Press Approve on one and see what happens.",
        ("/gpu-quota status", "/gpu-quota help"),
    ),
)
"""Name, who that is, first channel, hint, lines to try."""


def show(say: Callable[[str], None], port: int = 0, *, browser: bool = True) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code."""
    ended = threading.Event()
    with _on_signals(ended), page_of_stage(port) as page:
        say(f"The demo is at {page.url}")
        say("Everything in it is on this machine. Ctrl-C ends it.")
        if browser:
            webbrowser.open(page.url)
        ended.wait()
        say("\nEnding.")
    return 0


@contextmanager
def page_of_stage(port: int = 0) -> Iterator[Page]:
    """A furnished stage with its page."""
    with Stage() as stage:
        _furnish(stage)
        with Page(scene_of(stage), port) as page:
            yield page


def scene_of(stage: Stage) -> Scene:
    """The stage as the page is told of it."""
    return Scene(
        slack=stage.slack,
        kube=stage.kube,
        now=stage.clock,
        move=lambda by: _move(stage, by),
        roles=[
            Role(stage.people[name], title, stage.channels[start], hint, examples)
            for name, title, start, hint, examples in PLAYED
        ],
        flavor=FLAVOR,
        local_queues={queue: local_queue(queue) for queue in QUEUES},
        commands=[
            Command(one.help.name, one.help.syntax, one.help.summary, one.help.examples) for one in COMMANDS.values()
        ],
        moved=lambda: _moved(stage),
        next_end=lambda: _next_end(stage),
        tour=tour(stage.people, stage.channels),
    )


def _furnish(stage: Stage) -> None:
    """Rooms with the people that belong there, a DM with the bot for each, and work in the queues."""
    bot = stage.slack.bot_user_id
    for room, names in ROOMS.items():
        members = frozenset({bot, *(stage.people[name] for name in names)})
        stage.slack.change_channel(stage.channels[room], members=members)
    for user in stage.people.values():
        stage.slack.open_dm(user)
    for queue, jobs in JOBS.items():
        for name, gpus in jobs:
            namespace, local = local_queue(queue)
            stage.kube.submit_job(namespace, name, local, gpus)
            stage.kube.reconcile()  # one after the other, so that the last one is the one that waits


def _move(stage: Stage, by: timedelta) -> None:
    """The bot goes by its own timers when it looks; in the demo nobody waits for them after a leap."""
    stage.clock.move(by)
    for job in stage.bot.timetable.get_jobs():
        with suppress(JobLookupError):  # it was to run once, and just did
            job.modify(next_run_time=datetime.now(UTC))


def _moved(stage: Stage) -> Mapping[str, Moved]:
    """By the bot's own records: the legs of each queue's quota."""
    found: dict[str, Moved] = {}
    try:
        with stage.bot.world.store.read() as uow:
            records = [uow.fields.records(cluster) for cluster in stage.bot.world.policies.policy.clusters.clusters]
    except Unavailable:
        return {}
    for key, record in (pair for one in records for pair in one.items()):
        if key.name is FieldName.NOMINAL and not record.gone:
            sizes = record.legs.values()
            received, lent = sum(size for size in sizes if size > 0), -sum(size for size in sizes if size < 0)
            found[key.queue] = Moved(received, lent, record.base)
    return found


def _next_end(stage: Stage) -> Ending | None:
    try:
        with stage.bot.world.store.read() as uow:
            running = uow.loans.find(states={LoanState.RUNNING})
    except Unavailable:
        return None
    ends = [Ending(f"Q-{loan.id}", loan.end) for loan in running if loan.in_force_at is not None]
    return min(ends, key=lambda ending: ending.at, default=None)


@contextmanager
def _on_signals(ended: threading.Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM set `ended`, from before the first thread starts until the last has ended."""
    before = {one: signal.signal(one, lambda *_: ended.set()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
