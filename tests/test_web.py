"""The HTTP port: signed events on threads, limits, and what it says of the process."""

import http.client
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import pytest
from slack_bolt import Ack, App
from slack_bolt.authorization import AuthorizeResult

from bot.core.errors import Unavailable
from bot.demo.slack.http_mode import sign
from bot.web import BODY_LIMIT, EVENTS_PATH, Pages, WebServer, web_app

SECRET = "a-signing-secret"
NOW = "1796212800"
FORM = "application/x-www-form-urlencoded"
Handler = Callable[[Ack, dict[str, Any]], None]


def _bolt(handler: Handler) -> App:
    """As app/parts makes it, with one listener."""
    app = App(
        signing_secret=SECRET,
        authorize=lambda: AuthorizeResult(enterprise_id=None, team_id="T0", bot_token="xoxb-1"),
        process_before_response=True,
    )
    app.command("/gpu-quota")(handler)
    return app


class Port:
    """A served port and a client for it."""

    def __init__(self, server: WebServer) -> None:
        self._port = server.port

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """Status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def command(self, text: str, secret: str = SECRET, **headers: str) -> tuple[int, bytes]:
        """A slash command as Slack sends it."""
        fields = {"command": "/gpu-quota", "text": text, "user_id": "U1", "team_id": "T0", "trigger_id": text}
        return self.send(urlencode(fields).encode(), secret, **headers)

    def send(self, body: bytes, secret: str = SECRET, **headers: str) -> tuple[int, bytes]:
        """Any body, signed."""
        signed = {
            "X-Slack-Request-Timestamp": NOW,
            "X-Slack-Signature": sign(secret, NOW, body),
            "Content-Type": FORM,
        }
        return self.ask("POST", EVENTS_PATH, body, **{**signed, **headers})


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Port]]:
    """Serves with this handler of commands (None: Socket Mode) and these reports; the clock of signatures stands."""
    monkeypatch.setattr("slack_sdk.signature.Clock.now", lambda _: float(NOW))
    with ExitStack() as stack:

        def begin(
            handler: Handler | None = lambda ack, body: ack(body["text"]),
            alive: Callable[[], dict[str, str]] = dict,
            ready: Callable[[], dict[str, str]] = dict,
        ) -> Port:
            executor = stack.enter_context(ThreadPoolExecutor(64))
            bolt = None if handler is None else _bolt(handler)
            server = WebServer(
                web_app(bolt, executor, Pages(alive, ready, lambda: b"gpuq_leader 1.0\n")), "127.0.0.1", 0
            )
            server.start()
            stack.callback(server.stop)
            return Port(server)

        yield begin


def test_a_signed_command_is_answered(serve: Callable[..., Port]) -> None:
    assert serve().command("status") == (200, b"status")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Slack-Signature": "v0=00"},
        {"X-Slack-Signature": ""},
        {"X-Slack-Request-Timestamp": "1796212800.5"},
        {"X-Slack-Request-Timestamp": str(int(NOW) - 301)},
        {"X-Slack-Request-Timestamp": "yesterday"},
        {"X-Slack-Request-Timestamp": "9" * 5000},
        {"X-Slack-Request-Timestamp": "\xb2"},
        {"X-Slack-Request-Timestamp": ""},
    ],
)
def test_what_slack_did_not_sign_is_turned_away(serve: Callable[..., Port], headers: dict[str, str]) -> None:
    assert serve().command("status", **headers)[0] == 401


def test_another_secret_is_turned_away(serve: Callable[..., Port]) -> None:
    assert serve().command("status", "another-secret")[0] == 401


def test_without_any_signature_nothing_is_heard(serve: Callable[..., Port]) -> None:
    heard: list[str] = []
    port = serve(lambda ack, body: heard.append(body["text"]))
    status, _ = port.ask("POST", EVENTS_PATH, b"command=%2Fgpu-quota&text=status", **{"Content-Type": FORM})
    assert (status, heard) == (401, [])


@pytest.mark.parametrize(("size", "status"), [(BODY_LIMIT, 401), (BODY_LIMIT + 1, 413), (4 * BODY_LIMIT, 413)])
def test_a_body_beyond_the_limit_is_not_read(serve: Callable[..., Port], size: int, status: int) -> None:
    """One of exactly the limit is read, and turned away for its signature."""
    assert serve().ask("POST", EVENTS_PATH, b"x" * size, **{"Content-Type": FORM})[0] == status


@pytest.mark.parametrize("body", [b"\xff\xfe", b"text=\xc3", b"\x80" * 100])
def test_a_body_that_is_no_text_is_a_bad_request(serve: Callable[..., Port], body: bytes) -> None:
    assert serve().send(body)[0] == 400


@pytest.mark.parametrize("body", [b"", b"\x00", b"payload=%7B", b"payload=null", b"{", b"command=/other", b"a" * 5000])
def test_signed_nonsense_never_harms(serve: Callable[..., Port], body: bytes) -> None:
    port = serve()
    for kind in (FORM, "application/json", "text/plain", ""):
        assert port.send(body, **{"Content-Type": kind})[0] in {200, 404, 500}
    assert port.command("status") == (200, b"status")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_posts_are_events(serve: Callable[..., Port], method: str) -> None:
    assert serve().ask(method, EVENTS_PATH)[0] == 405


def test_fifty_at_once_are_handled_side_by_side(serve: Callable[..., Port]) -> None:
    """They all are inside at the same moment: a handler that waits holds nobody up."""
    together = threading.Barrier(50)

    def handle(ack: Ack, body: dict[str, Any]) -> None:
        together.wait(10)
        ack(body["text"])

    port = serve(handle)
    with ThreadPoolExecutor(50) as people:
        answers = list(people.map(lambda number: port.command(f"line {number}"), range(50)))
    assert answers == [(200, f"line {number}".encode()) for number in range(50)]


def test_health_answers_while_handlers_wait(serve: Callable[..., Port]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def handle(ack: Ack, body: dict[str, Any]) -> None:
        inside.set()
        assert leave.wait(10)
        ack(body["text"])

    port = serve(handle, alive=lambda: {"threads": "ok"})
    with ThreadPoolExecutor(1) as people:
        waiting = people.submit(port.command, "status")
        assert inside.wait(10)
        assert port.ask("GET", "/healthz") == (200, b'{"threads":"ok"}')
        leave.set()
        assert waiting.result(10) == (200, b"status")


@pytest.mark.parametrize("handler", [None, lambda ack, body: ack()], ids=["Socket Mode", "HTTP"])
@pytest.mark.parametrize(
    ("report", "status"),
    [({}, 200), ({"database": "ok"}, 200), ({"database": "ok", "slack": "not connected"}, 503), ({"x": "gone"}, 503)],
)
def test_health_and_readiness_say_what_is_wrong_in_both_modes(
    serve: Callable[..., Port], handler: Handler | None, report: dict[str, str], status: int
) -> None:
    ready = serve(handler, ready=lambda: report)
    assert ready.ask("GET", "/readyz")[0] == status
    assert ready.ask("GET", "/healthz")[0] == 200
    alive = serve(handler, alive=lambda: report)
    assert alive.ask("GET", "/healthz")[0] == status


def test_in_socket_mode_nothing_is_heard_over_http(serve: Callable[..., Port]) -> None:
    assert serve(None).command("status")[0] == 404


def test_metrics_are_served(serve: Callable[..., Port]) -> None:
    assert serve().ask("GET", "/metrics") == (200, b"gpuq_leader 1.0\n")


def test_a_port_that_is_taken_is_named(serve: Callable[..., Port]) -> None:
    first = WebServer(web_app(None, ThreadPoolExecutor(1), Pages(dict, dict, bytes)), "127.0.0.1", 0)
    try:
        with pytest.raises(Unavailable) as caught:
            WebServer(web_app(None, ThreadPoolExecutor(1), Pages(dict, dict, bytes)), "127.0.0.1", first.port)
        assert caught.value.what == "HTTP port"
        assert f"127.0.0.1:{first.port}: Address already in use" in caught.value.why
    finally:
        first.stop()


def test_stop_answers_what_has_begun() -> None:
    inside, leave = threading.Event(), threading.Event()

    def alive() -> dict[str, str]:
        inside.set()
        assert leave.wait(10)
        return {"threads": "ok"}

    server = WebServer(web_app(None, ThreadPoolExecutor(1), Pages(alive, dict, bytes)), "127.0.0.1", 0)
    server.start()
    port = Port(server)
    with ThreadPoolExecutor(2) as people:
        asked = people.submit(port.ask, "GET", "/healthz")
        assert inside.wait(10)
        stopped = people.submit(server.stop)
        leave.set()
        stopped.result(10)
        assert asked.result(10)[0] == 200
    with pytest.raises(OSError, match="refused"):
        port.ask("GET", "/healthz")


def test_a_server_that_was_never_started_can_be_stopped() -> None:
    server = WebServer(web_app(None, ThreadPoolExecutor(1), Pages(dict, dict, bytes)), "127.0.0.1", 0)
    server.stop()
    with pytest.raises(OSError, match="refused"):
        Port(server).ask("GET", "/healthz")
