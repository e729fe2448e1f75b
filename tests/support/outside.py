"""The demo's world with the bot outside of it: one or more processes that are killed, stopped and started again."""

import json
import multiprocessing
import os
import signal
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.adapters.db import engine as engines
from bot.adapters.db import migrate
from bot.demo.run_stage import Stage
from bot.demo.slack import Message
from bot.demo.slack.delivery import Delivery
from bot.resources import alembic_dir
from tests.support import child

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([child.__name__])


class Process:
    """One process of the bot, and where its log is."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        self._process = _FORKS.Process(target=child.run, args=(dict(environment), str(log)), daemon=True)
        self._process.start()

    @property
    def exit_code(self) -> int | None:
        """None while it lives."""
        return self._process.exitcode

    @property
    def port(self) -> int | None:
        """Its HTTP port, None until it works."""
        for line in self._lines():
            if '"the bot works"' in line:
                return int(json.loads(line)["port"])
        return None

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is cleaned up."""
        self._process.kill()
        self._process.join(10)

    def freeze(self) -> None:
        """It stands still in the middle of whatever it does."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on as if nothing had been."""
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """SIGTERM."""
        self._process.terminate()

    def ended(self, within: float = 20) -> int | None:
        """The exit code; None if it still lives then (real seconds)."""
        self._process.join(within)
        return self._process.exitcode

    def logged(self, words: str) -> int:
        """How many lines of the log have these words."""
        return sum(words in line for line in self._lines())

    def _lines(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def _signal(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)


class Outside(Stage):
    """A stage whose bots are processes of their own: none runs until `start_process`."""

    def __init__(self, database_url: str | None = None, *, socket_mode: bool = True, lease: float = 1.5) -> None:
        super().__init__(socket_mode)
        self._database_url = database_url
        self._lease = lease
        self._clock_file = self._folder / "clock"
        self.processes: list[Process] = []
        self.move(timedelta(0))

    def environment(self) -> dict[str, str]:
        usual = super().environment()
        database = {"DATABASE_URL": self._database_url} if self._database_url else {}
        return {**usual, **database, "LEASE_SECONDS": str(self._lease), "LOG_LEVEL": "INFO", "LOG_FORMAT": "json"}

    def move(self, by: timedelta) -> None:
        """Everybody's time is later by this at once, the bots' too."""
        self.clock.move(by)
        new = self._clock_file.with_suffix(".new")
        new.write_text(str(self.clock.ahead.total_seconds()), encoding="ascii")
        new.replace(self._clock_file)

    def start_bot(self) -> None:
        migrate.upgrade(self.environment()["DATABASE_URL"], alembic_dir())

    def stop_bot(self) -> None:
        for process in self.processes:
            if process.exit_code is None:
                process.kill()

    def start_process(self, *, await_slack: bool = True) -> Process:
        """Start a bot, and wait until it works."""
        log = self._folder / f"bot-{len(self.processes)}.log"
        environment = {**self.environment(), "CLOCK_FILE": str(self._clock_file), "PATH": os.defpath}
        process = Process(environment, log)
        self.processes.append(process)
        self.wait("the bot works", lambda: self._port(process))
        if not self._socket_mode:
            self.slack.use_http(f"http://127.0.0.1:{process.port}/slack/events")
        elif await_slack:
            living = sum(one.exit_code is None for one in self.processes)
            self.wait("all bots are connected, the dead ones no more", lambda: self.slack.connections == living)
        return process

    def _port(self, process: Process) -> int | None:
        if process.exit_code is not None:
            raise AssertionError(f"the bot ended with {process.exit_code}: {process.log.read_text()[-2000:]}")
        return process.port

    # -- the database, as an operator sees it -------------------------------------------------------------------------

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Of a statement in SQL."""
        engine = engines.create(self.environment()["DATABASE_URL"])
        try:
            with engine.begin() as connection:
                result = connection.exec_driver_sql(statement)
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            engine.dispose()

    def owed(self) -> int:
        """Messages that are not as they should be yet."""
        return len(self.rows("SELECT 1 FROM notice WHERE state IN ('owed', 'claimed')"))

    def let_claims_age(self) -> None:
        """As if what is claimed in the inbox had been claimed long ago."""
        self.rows(f"UPDATE inbox SET claimed_at = {self._ago(60)} WHERE state = 'claimed'")

    def let_the_loan_end(self, minutes_ago: int, down_for: int) -> None:
        """As if time had passed while no bot ran; also the database's, by which the lease goes."""
        self.rows(f'UPDATE loan SET "end" = {self._ago(minutes_ago)}')
        self.rows(f"UPDATE leader SET renewed_at = {self._ago(down_for)}, expires_at = {self._ago(down_for)}")

    def _ago(self, minutes: int) -> str:
        if self._database_url is None:
            return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', '-{minutes} minutes')"
        return f"now() - interval '{minutes} minutes'"

    def arrivals(self, state: str) -> int:
        """How many stand so in the inbox: waiting, claimed, done, failed."""
        return sum(row[0] == state for row in self.rows("SELECT state FROM inbox"))

    # -- people -------------------------------------------------------------------------------------------------------

    def types(self, who: str, line: str, channel: str = "vision") -> Delivery:
        """Somebody types a command."""
        return self.slack.type_command(self.people[who], self.channels[channel], line)

    def card(self, words: str = "a100 for vision") -> Message:
        """The newest card in the approvals channel."""
        return self.wait(f"a card with {words}", lambda: self.find_card(words))

    def find_card(self, words: str) -> Message | None:
        messages = reversed(self.slack.messages(self.channels["gpu-approvals"]))
        return next((one for one in messages if not one.is_reply and words in self.slack.render_text(one)), None)

    def presses(self, who: str, action: str, card: Message | None = None) -> Delivery:
        """Somebody presses a button of the card."""
        return self.slack.press(self.people[who], card or self.card(), action)

    def heard(self, who: str) -> list[str]:
        """What only this person saw, in their language of times."""
        return [self.text(one, who) for one in self.slack.ephemerals(self.people[who])]

    def told(self, channel: str, words: str) -> list[str]:
        """Messages of a channel (by name) or person with these words."""
        if channel in self.people:
            messages = self.slack.dms(self.people[channel])
        else:
            messages = self.slack.messages(self.channels[channel])
        return [text for one in messages if words in (text := self.slack.render_text(one))]

    def queues(self) -> tuple[int, int]:
        """nominalQuota of nlp and vision."""
        return self.nominal("nlp"), self.nominal("vision")

    def await_queues(self, nlp: int, vision: int) -> None:
        self.wait(f"nlp {nlp} and vision {vision}", lambda: self.queues() == (nlp, vision))

    def numbers(self, queue: str) -> list[int]:
        """nominalQuota of a100 in every version of a queue, without repeats."""
        found: list[int] = []
        for version in self.kube.history:
            if version.name == queue and (not found or found[-1] != _nominal(version.obj)):
                found.append(_nominal(version.obj))
        return found

    def most(self) -> int:
        """The largest sum over the cohort at any version of any queue."""
        now: dict[str, int] = {}
        sums = []
        for version in self.kube.history:
            now[version.name] = _nominal(version.obj)
            sums.append(sum(now.values()))
        return max(sums)

    def said_twice(self) -> list[str]:
        """Notices of which more than one message stands in one place. Empty, whatever happened."""
        places = [channel.id for channel in self.slack.world.workspace.channels.values()]
        keys: list[str] = []
        for place in places:
            for message in self.slack.messages(place):
                payload = (message.metadata or {}).get("event_payload") or {}
                if payload.get("id"):
                    keys.append(f"{place}/{payload['id']}")
        return sorted(key for key in set(keys) if keys.count(key) > 1)


def _nominal(queue: dict[str, Any]) -> int:
    entry = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    return int(entry["nominalQuota"])
