"""Socket Mode: the WebSocket end that the bot's clients connect to. Built and stopped by `SlackSim`.

Up to ten connections; each envelope goes to one of them, in turn. An envelope is acknowledged by its `envelope_id`
within the limit, or the person sees `operation_timeout`.
"""

import json
import logging
import threading
import uuid
from collections import deque
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from bot.demo.slack.delivery import Parcel, Receipt
from bot.demo.slack.entities import Json
from bot.demo.slack.world import World

MOST_CONNECTIONS = 10
_LOG = logging.getLogger(__name__)
_QUIET = logging.getLogger(f"{__name__}.wire")
_QUIET.setLevel(logging.CRITICAL)


@dataclass(slots=True)
class _Waiting:
    acked: threading.Event = field(default_factory=threading.Event)
    answer: Json | None = None


class SocketMode:
    def __init__(self, world: World) -> None:
        self._world = world
        self._connections: deque[ServerConnection] = deque()
        self._leaving: set[ServerConnection] = set()
        self._waiting: dict[str, _Waiting] = {}
        self._server: Server = serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            ping_interval=None,
            close_timeout=1,
            logger=_QUIET,
        )
        self._accepting = threading.Thread(
            target=self._server.serve_forever, name="slack-sim-socket-accept", daemon=True
        )
        world.socket_site = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def start(self) -> None:
        self._accepting.start()

    def stop(self) -> None:
        self.cut()
        self._server.shutdown()
        self._accepting.join()

    @property
    def connections(self) -> int:
        """How many clients could be sent something now."""
        with self._world.changed:
            return len(self._connections)

    def carry(self, parcel: Parcel) -> Receipt:
        """Send to one connection and wait for the acknowledgement."""
        clock = self._world.clocks.monotonic
        envelope = _envelope(parcel)
        sent_as = replace(parcel, envelope_id=envelope["envelope_id"])
        waiting = _Waiting()
        with self._world.changed:
            self._waiting[envelope["envelope_id"]] = waiting
        started = clock()
        try:
            if not self._send(json.dumps(envelope)):
                return Receipt(acked=False, elapsed=0, error="dispatch_failed", sent_as=sent_as)
            in_time = waiting.acked.wait(self._world.setup.ack_limit)
        finally:
            with self._world.changed:
                self._waiting.pop(envelope["envelope_id"], None)
        elapsed = clock() - started
        if not in_time:
            return Receipt(acked=False, elapsed=elapsed, error="operation_timeout", sent_as=sent_as)
        answer = waiting.answer if parcel.accepts_payload else None
        return Receipt(acked=True, elapsed=elapsed, answer=answer, sent_as=sent_as)

    def disconnect(self, reason: str) -> int:
        """Tell every client to reconnect (`warning`, `refresh_requested`, `link_disabled`); returns how many.

        A connection told so gets nothing more as long as there is another one. `warning` comes ahead of the refresh
        and changes nothing yet.
        """
        with self._world.changed:
            told = list(self._connections)
            if reason != "warning":
                self._leaving.update(told)
        frame = json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "simulated"}})
        for connection in told:
            _try_send(connection, frame)
        return len(told)

    def cut(self) -> None:
        """Break every connection without a word."""
        with self._world.changed:
            cut = list(self._connections)
        for connection in cut:
            connection.close_socket()

    def _send(self, frame: str) -> bool:
        """Whether some connection took it."""
        for _ in range(MOST_CONNECTIONS):
            connection = self._next()
            if connection is None:
                return False
            if _try_send(connection, frame):
                return True
            self._forget(connection)
        return False

    def _next(self) -> ServerConnection | None:
        with self._world.changed:
            staying = [c for c in self._connections if c not in self._leaving]
            chosen = next(iter(staying or self._connections), None)
            if chosen is not None:
                self._connections.remove(chosen)
                self._connections.append(chosen)
            return chosen

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse the handshake, or None to go on with it."""
        if self._world.faults.take("websocket", web_api=False) is not None:
            return connection.respond(503, "not now\n")
        ticket = parse_qs(urlsplit(request.path).query).get("ticket", [""])[0]
        with self._world.changed:
            good = self._world.tickets.redeem(ticket)
        return None if good else connection.respond(403, "bad ticket\n")

    def _serve(self, connection: ServerConnection) -> None:
        threading.current_thread().name = "slack-sim-socket"
        connection.recv_events_thread.name = "slack-sim-socket-read"
        with self._world.changed:
            count = len(self._connections) + 1
        if count > MOST_CONNECTIONS:
            _try_send(connection, json.dumps({"type": "disconnect", "reason": "too_many_websockets"}))
            return
        if not _try_send(connection, json.dumps(self._hello(count))):
            return
        with self._world.changed:
            self._connections.append(connection)
            self._world.changed.notify_all()
        try:
            for frame in connection:
                self._take_ack(frame)
        except ConnectionClosed:
            _LOG.debug("connection lost")
        finally:
            self._forget(connection)

    def _take_ack(self, frame: str | bytes) -> None:
        try:
            ack = json.loads(frame)
            envelope_id = ack["envelope_id"]
        except (ValueError, KeyError, TypeError):
            _LOG.warning("not an acknowledgement: %.200r", frame)
            return
        with self._world.changed:
            waiting = self._waiting.get(envelope_id)
        if waiting is not None:
            waiting.answer = ack.get("payload")
            waiting.acked.set()

    def _forget(self, connection: ServerConnection) -> None:
        with self._world.changed:
            if connection in self._connections:
                self._connections.remove(connection)
            self._leaving.discard(connection)
            self._world.changed.notify_all()

    def _hello(self, count: int) -> Json:
        return {
            "type": "hello",
            "num_connections": count,
            "debug_info": {"host": "simulated", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._world.setup.app_id},
        }


def _envelope(parcel: Parcel) -> Json:
    envelope: Json = {
        "envelope_id": parcel.envelope_id or str(uuid.uuid4()),
        "type": parcel.kind,
        "accepts_response_payload": parcel.accepts_payload,
        "payload": parcel.payload,
    }
    if parcel.kind == "events_api" or parcel.retry_attempt:
        envelope |= {"retry_attempt": parcel.retry_attempt, "retry_reason": parcel.retry_reason or ""}
    return envelope


def _try_send(connection: ServerConnection, frame: str) -> bool:
    try:
        connection.send(frame)
    except (ConnectionClosed, OSError):
        return False
    return True
