"""The processes that benchmarks/ack measures and those it needs around them, each driven over a pipe.

One of its own for each, so that neither the simulators nor the client take the measured server's interpreter lock.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from multiprocessing.connection import Connection
from typing import Any, Self
from urllib.parse import urlencode

from slack_bolt import Ack

from bot.adapters.db import migrate
from bot.adapters.logs import configure_logs
from bot.adapters.system_clock import system_clock
from bot.app.parts import make_bolt
from bot.app.run import DISPATCHERS, Bot
from bot.chat.listeners import COMMAND
from bot.demo.kube.faults import Hang
from bot.demo.run_stage import Stage
from bot.demo.slack.http_mode import sign
from bot.demo.slack.payloads import slash_command
from bot.resources import alembic_dir
from bot.settings import Settings, load_settings
from bot.web import Pages, WebServer, web_app
from bot.workers import Urgent

Environment = dict[str, str]


class Child:
    """A process with a function that serves its pipe. A context manager; leaving it lets the function end."""

    def __init__(self, serve: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.send(None)
        self._process.join(10)
        self._process.kill()

    def receive(self) -> Any:
        """What the child says of itself; raises EOFError if it has died."""
        while not self._ours.poll(1.0):
            if not self._process.is_alive():
                raise EOFError(f"a child ended with {self._process.exitcode}")
        return self._ours.recv()

    def ask(self, *question: Any) -> Any:
        """One question, one answer."""
        self._ours.send(question)
        return self.receive()


class _Outside(Stage):
    """Slack and the cluster of the demo, without the bot."""

    def start_bot(self) -> None:
        """The bot has a process of its own."""

    def stop_bot(self) -> None:
        """As above."""


def outside(pipe: Connection, kube_hangs: float) -> None:
    """Simulated Slack and cluster. Says the bot's settings; then answers `commands`, `hang`, `heal`."""
    with _Outside(socket_mode=False) as stage:
        stage.slack.pacer.on = False
        pipe.send(_environment(stage.settings()))
        while question := pipe.recv():
            match question:
                case ("commands", lines):
                    pipe.send([_signed(stage, number, line) for number, line in enumerate(lines)])
                case ("hang",):
                    stage.kube.faults.plan(Hang(kube_hangs), times=None)
                    pipe.send(None)
                case ("heal",):
                    stage.kube.faults.clear()
                    pipe.send(None)


def the_bot(pipe: Connection, environment: Environment, slow: float) -> None:
    """The whole bot in HTTP mode, each arrival `slow` seconds slower. Says its port; then answers every question with
    its CPU seconds so far."""
    settings = load_settings(environment, None, Settings)
    configure_logs(settings.log_level, settings.log_format)
    migrate.upgrade(settings.database_url.get_secret_value(), alembic_dir())

    def clock() -> datetime:
        if slow and threading.current_thread().name.startswith("bolt"):
            time.sleep(slow)
        return system_clock()

    bot = Bot(settings, clock)
    bot.start()
    _serve(pipe, bot.port)
    bot.stop()


def empty_handler(pipe: Connection, environment: Environment) -> None:
    """The same web server and the same Bolt with a listener that does nothing but acknowledge."""
    settings = load_settings(environment, None, Settings)

    def acknowledge(ack: Ack) -> None:
        ack()

    with ThreadPoolExecutor(DISPATCHERS) as dispatchers:
        bolt = make_bolt(settings, dispatchers, Urgent())
        bolt.command(COMMAND)(acknowledge)
        server = WebServer(web_app(bolt, dispatchers, Pages(dict, dict, bytes)), settings.http_host, 0)
        server.start()
        _serve(pipe, server.port)
        server.stop()


def _serve(pipe: Connection, port: int) -> None:
    pipe.send(port)
    while pipe.recv():
        pipe.send(time.process_time())


def _environment(settings: Settings) -> Environment:
    """The settings as they stand in the environment of the process that gets them."""
    names = ("slack_bot_token", "slack_signing_secret", "database_url")
    secrets = {name: getattr(settings, name).get_secret_value() for name in names}
    plain = {"slack_api_url", "kubeconfig", "policies_dir", "http_host", "http_port", "log_level", "log_format"}
    shown = {name: str(getattr(settings, name)) for name in plain}
    return {name.upper(): value for name, value in (secrets | shown).items()}


def _signed(stage: Stage, number: int, line: str) -> bytes:
    """One command as Slack puts it on the wire, typed by one of the people in turn."""
    slack = stage.slack
    people = sorted(stage.people.values())
    with slack.world.changed:
        person = slack.world.workspace.person(people[number % len(people)])
        place = slack.world.workspace.channel(stage.channels["vision"])
        payload = slash_command(slack.world, person, place, COMMAND, line)
    body, now = urlencode(payload).encode(), str(int(time.time()))
    head = (
        "POST /slack/events HTTP/1.1",
        "Host: bot",
        "Connection: close",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        f"X-Slack-Request-Timestamp: {now}",
        f"X-Slack-Signature: {sign(slack.signing_secret, now, body)}",
    )
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body
