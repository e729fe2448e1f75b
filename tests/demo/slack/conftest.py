"""A simulated workspace on a clock that only tests move, the real WebClient, and real Bolt apps in both modes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from slack_bolt import App, BoltRequest
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.demo.slack import Channel, Clocks, Person, Setup, SlackSim
from bot.demo.slack.http_server import HttpAnswer, HttpRequest, HttpServer

NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


@dataclass
class MovableClock:
    """Time that stands still until a test moves it; `monotonic` moves along."""

    moment: datetime = NOON
    seconds: float = 100.0

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, **gap: float) -> None:
        step = timedelta(**gap)
        self.moment += step
        self.seconds += step.total_seconds()


@dataclass
class Town:
    """A workspace with a few people in it."""

    slack: SlackSim
    clock: MovableClock
    ada: Person
    bob: Person
    guest: Person
    room: Channel
    client: WebClient


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def make_town(clock: MovableClock) -> Iterator[Callable[[Setup], Town]]:
    """Towns with another setup than the usual one."""
    sims: list[SlackSim] = []

    def make(setup: Setup) -> Town:
        slack = SlackSim(setup, Clocks(now=clock.now, monotonic=clock.monotonic)).start()
        sims.append(slack)
        ada = slack.add_person("ada", tz="Europe/Berlin", locale="de-DE")
        bob = slack.add_person("bob", tz="America/New_York")
        guest = slack.add_person("guest", is_restricted=True)
        room = slack.add_channel("gpu", ada.id, bob.id)
        client = WebClient(token=slack.bot_token, base_url=slack.api_url, retry_handlers=[])
        return Town(slack, clock, ada, bob, guest, room, client)

    yield make
    for slack in sims:
        slack.stop()


@pytest.fixture
def town(make_town: Callable[[Setup], Town]) -> Town:
    return make_town(Setup(pacing=False))


@dataclass
class Bots:
    """Starts Bolt apps against a town, and stops them."""

    stops: list[Callable[[], None]] = field(default_factory=list)

    def app(self, town: Town) -> App:
        client = WebClient(token=town.slack.bot_token, base_url=town.slack.api_url)
        return App(client=client, signing_secret=town.slack.signing_secret, token_verification_enabled=False)

    def over_socket(self, town: Town, app: App) -> SocketModeHandler:
        handler = SocketModeHandler(app, town.slack.app_token)
        before = town.slack.connections
        handler.connect()

        def stop() -> None:
            # The client's own close waits for its blocked receive (3 s) and its empty queue (1 s): end both waits.
            handler.client.auto_reconnect_enabled = False
            town.slack.cut_connections()
            handler.client.closed = True
            handler.client.message_queue.put("{}")
            handler.close()

        self.stops.append(stop)
        town.slack.wait_for(lambda: town.slack.connections > before)
        return handler

    def over_http(self, town: Town, app: App) -> None:
        def answer(request: HttpRequest) -> HttpAnswer:
            found = app.dispatch(BoltRequest(body=request.body.decode(), headers=dict(request.headers)))
            kind = found.first_headers().get("content-type", "text/plain")
            body = json.dumps(found.body) if isinstance(found.body, dict) else found.body or ""
            return HttpAnswer(status=found.status, body=body.encode(), content_type=kind)

        server = HttpServer(answer, "bolt")
        server.start()
        self.stops.append(server.stop)
        town.slack.use_http(f"http://127.0.0.1:{server.port}/slack/events")

    def connect(self, town: Town, app: App, mode: str) -> None:
        self.over_socket(town, app) if mode == "socket" else self.over_http(town, app)


@pytest.fixture
def bots() -> Iterator[Bots]:
    found = Bots()
    yield found
    for stop in found.stops:
        stop()


@pytest.fixture(params=["socket", "http"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Refused = Callable[[Callable[[], object]], SlackApiError]


@pytest.fixture
def refusal() -> Refused:
    """Calls, and hands back the refusal; the test fails if there was none."""

    def call(method: Callable[[], object]) -> SlackApiError:
        with pytest.raises(SlackApiError) as caught:
            method()
        return caught.value

    return call


@pytest.fixture
def error_of(refusal: Refused) -> Callable[[Callable[[], object]], str]:
    """As `refusal`, and hands back Slack's code alone."""
    return lambda method: str(refusal(method).response["error"])
