"""The world of the demo: simulated Slack and cluster on loopback, and the real bot between them.

Called by demo/run and by the tests that play whole stories. The bot gets nothing but settings; its clients are the real
ones. One clock serves all three and can be moved forward.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from bot.adapters.db import migrate
from bot.app.run import Bot
from bot.core.pace import Pace
from bot.demo.kube.people import Limits
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim
from bot.demo.slack import Clocks, Message, Setup, SlackSim
from bot.resources import alembic_dir, default_policies_dir
from bot.settings import Settings, load_settings

T = TypeVar("T")
COHORT = "gpu-pool"
QUEUES: dict[str, Limits] = {
    "nlp": {"nominal": 24},
    "vision": {"nominal": 16, "borrowing": 4},
    "robotics": {"nominal": 8, "borrowing": 0},
}
"""Quota of a100."""
NODES, GPUS_PER_NODE = 6, 8
"""As many devices as the queues promise: an extra loan promises more than there are."""
PREEMPTION = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
PEOPLE = {
    "U0REQUESTER": "mira",
    "U0VISIONTWO": "tom",
    "U0LEADVISION": "lena",
    "U0LEADNLP": "noor",
    "U0ROBOTICSONE": "ravi",
    "U0LEADROBOTICS": "rosa",
    "U0ADMIN": "ada",
    "U0ADMINTWO": "alan",
}
"""Ids in the default policies, and who they are here."""
CHANNELS = {
    "C0APPROVALS": "gpu-approvals",
    "C0PLATFORM": "gpu-platform",
    "C0NLP": "nlp",
    "C0VISION": "vision",
    "C0ROBOTICS": "robotics",
}
PATIENCE = 20.0
"""Real seconds that anything may take."""


def local_queue(queue: str) -> tuple[str, str]:
    """Where jobs for a ClusterQueue go: (namespace, LocalQueue)."""
    return f"{queue}-train", "main"


class StageClock:
    """Real time plus what it was moved forward."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            return datetime.now(UTC) + self._ahead

    @property
    def ahead(self) -> timedelta:
        """How much it was moved."""
        with self._lock:
            return self._ahead

    def move(self, by: timedelta) -> None:
        """Everybody's time is later by this at once."""
        with self._lock:
            self._ahead += by


class Stage:
    """A context manager; inside it everything runs."""

    def __init__(
        self, socket_mode: bool = True, pace: Pace | None = None, setup: Setup | None = None, kube_token: str = ""
    ) -> None:
        """`pace`: how fast the bot may speak; None is Slack's real pace. `setup`: the Slack app as installed.

        `kube_token`: what the bot shows to the cluster.
        """
        self._socket_mode = socket_mode
        self.pace = pace or Pace()
        self._kube_token = kube_token
        self._folder = Path(tempfile.mkdtemp(prefix="gpu-quota-bot-"))
        self.clock = StageClock()
        self.slack = SlackSim(setup, clocks=Clocks(now=self.clock))
        self.kube = KubeSim(clock=self.clock)
        self._server = KubeServer(self.kube, reconcile=True)
        self.people: dict[str, str] = {}
        self.channels: dict[str, str] = {}
        self.bot: Bot

    def __enter__(self) -> Self:
        try:
            self.slack.start()
            self._server.__enter__()
            self._furnish()
            self.start_bot()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_bot()
        self._close()

    @property
    def policies(self) -> Path:
        """The folder of the policy files, which may be edited."""
        return self._folder / "policies"

    def start_bot(self) -> None:
        """Start a process of the bot, the first or one after a stop."""
        settings = self.settings()
        migrate.upgrade(settings.database_url.get_secret_value(), alembic_dir())
        self.bot = Bot(settings, self.clock, pace=self.pace)
        self.bot.start()
        if self._socket_mode:
            self.wait("the bot is connected", lambda: self.slack.connections > 0)
        else:
            self.slack.use_http(f"http://127.0.0.1:{self.bot.port}/slack/events")

    def stop_bot(self) -> None:
        """As SIGTERM does."""
        self.bot.stop()

    def settings(self) -> Settings:
        """The same, read as the bot reads it."""
        return load_settings(self.environment(), None, Settings)

    def environment(self) -> dict[str, str]:
        """What a person would put into `.env` for this world."""
        environment = {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            "SLACK_API_URL": self.slack.api_url,
            "KUBECONFIG": str(self.kubeconfig()),
            "DATABASE_URL": self.database_url(),
            "POLICIES_DIR": str(self._folder / "policies"),
            "HTTP_HOST": "127.0.0.1",
            "HTTP_PORT": "0",
            "CONVERGE_EVERY": "0.5",
            "LOG_LEVEL": "WARNING",
            "LOG_FORMAT": "console",
        }
        if self._socket_mode:
            environment["SLACK_APP_TOKEN"] = self.slack.app_token
        return environment

    def database_url(self) -> str:
        """Where this world's bot keeps what it knows. tests/support/databases puts PostgreSQL in its place."""
        return f"sqlite:///{self._folder / 'bot.db'}"

    def wait(self, what: str, predicate: Callable[[], T | None]) -> T:
        """The first truthy value; raises AssertionError that says what did not come."""
        try:
            return self.slack.wait_for(predicate, PATIENCE)
        except TimeoutError:
            raise AssertionError(f"did not happen: {what}") from None

    def add_rule(self, rule: str) -> None:
        """Somebody puts a rule before the others, and the bot reads it."""
        file = self.policies / "approvals.yaml"
        head, found, rules = file.read_text(encoding="utf-8").partition("\nrules:\n")
        assert found
        file.write_text(f"{head}{found}{rule.lstrip(chr(10))}{rules}", encoding="utf-8")
        self.bot.reload_policy()

    def text(self, message: Message, reader: str = "") -> str:
        """A message as this person reads it."""
        return self.slack.render_text(message, self.people.get(reader))

    def find(self, channel: str, words: str) -> Message | None:
        """The newest message of a channel (by name), threads left out, whose text, as it is now, has these words."""
        messages = [one for one in self.slack.messages(self.channels[channel]) if not one.is_reply]
        return next((one for one in reversed(messages) if words in self.slack.render_text(one)), None)

    def type_line(self, who: str, channel: str, line: str) -> None:
        """A command, which Slack has to acknowledge."""
        delivery = self.slack.type_command(self.people[who], self.channels[channel], line)
        if not delivery.acked:
            raise AssertionError(f"Slack showed {who}: {delivery.shown}")

    def sees(self, channel: str, *words: str) -> Message:
        """Wait until the newest message with the first of these words has all of them; the message."""

        def found() -> Message | None:
            message = self.find(channel, words[0])
            text = self.text(message) if message else ""
            return message if all(one in text for one in words) else None

        return self.wait(f"{' and '.join(words)} in #{channel}", found)

    def find_dm(self, person: str, words: str) -> Message | None:
        """The newest direct message to a person (by name) with these words."""
        found = reversed(self.slack.dms(self.people[person]))
        return next((one for one in found if words in self.slack.render_text(one)), None)

    # The cluster. tests/cluster has a stage whose cluster is a real one, and which puts its own in place of these.

    def kubeconfig(self) -> Path:
        """How the bot finds the cluster."""
        return self._server.kubeconfig(self._folder / "kubeconfig", self._kube_token)

    def nominal(self, queue: str) -> int:
        """nominalQuota of a100, as the cluster has it."""
        return int(self.kube.nominal(queue, "a100"))

    def edit_by_hand(self, queue: str, nominal: int) -> None:
        """Somebody changes the number beside the bot."""
        self.kube.hand_edit(queue, "a100", nominal=nominal, manager="kubectl-edit")
        self.kube.reconcile()

    def submit(self, queue: str, job: str, gpus: int, priority: int = 0) -> None:
        """Somebody submits a Job of a100 to a queue."""
        namespace, local = local_queue(queue)
        self.kube.submit_job(namespace, job, local, gpus, priority=priority)
        self.kube.reconcile()

    def is_running(self, queue: str, job: str) -> bool:
        """Whether the Job is admitted."""
        admission = self.kube.workload(local_queue(queue)[0], job).get("status", {}).get("admission")
        return admission is not None

    def cancel(self, queue: str, job: str) -> None:
        """Somebody deletes the Job."""
        self.kube.delete("jobs", job, local_queue(queue)[0])
        self.kube.reconcile()

    def merge_in_git(self, queue: str, nominal: int) -> None:
        """Somebody merges the number, and the GitOps tool applies it."""
        self.kube.hand_edit(queue, "a100", nominal=nominal, manager="argocd-controller")
        self.kube.reconcile()

    def leave_to_git(self, queue: str) -> None:
        """Set `write: propose` for a queue in the policy files, and wait until the bot has read it."""
        file = self.policies / "clusters.yaml"
        text = file.read_text(encoding="utf-8")
        rules = f"    queues:\n      {queue}: {{write: propose}}\n"
        file.write_text(f"{text.rstrip()}\n{rules}", encoding="utf-8")
        policies = self.bot.world.policies
        self.wait(f"the policy for {queue}", lambda: policies.policy.proposes("default", queue))

    def sums(self) -> list[int]:
        """nominalQuota of all queues together, after each version of any of them."""
        now: dict[str, int] = {}
        sums = []
        for version in self.kube.history:
            entry = version.obj["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
            now[version.name] = int(entry["nominalQuota"])
            sums.append(sum(now.values()))
        return sums

    def make_queues(self) -> None:
        """The cohort of three."""
        for name, limits in QUEUES.items():
            self.kube.add_cluster_queue(name, {"a100": limits}, cohort=COHORT, preemption=PREEMPTION)
            self.kube.add_local_queue(*local_queue(name), name)
        for number in range(1, NODES + 1):
            self.kube.add_node(f"node-{number}", "a100", GPUS_PER_NODE)
        self.kube.reconcile()

    def _furnish(self) -> None:
        """People, channels, policies that name them, and a cohort of three queues."""
        for user_id, name in PEOPLE.items():
            self.people[name] = self.slack.add_person(name, id=user_id, tz="Europe/Zurich").id
        ids = {"S0NLPTEAM": self.slack.add_group("nlp-team", self.people["noor"]).id}
        for policy_id, name in CHANNELS.items():
            ids[policy_id] = self.channels[name] = self.slack.add_channel(name, *self.people.values()).id
        shutil.copytree(default_policies_dir(), self._folder / "policies")
        for file in (self._folder / "policies").glob("*.yaml"):
            text = file.read_text(encoding="utf-8")
            for known, here in ids.items():
                text = text.replace(known, here)
            file.write_text(text, encoding="utf-8")
        self.make_queues()

    def _close(self) -> None:
        self._server.close()
        self.slack.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
