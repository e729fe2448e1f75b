"""A small threaded HTTP server on a free loopback port, with connections that can be cut. Used by `web_api`.

One request per connection, a named daemon thread each; `stop` cuts what is still open and joins every thread.
"""

import logging
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

_LOG = logging.getLogger(__name__)
_LONGEST_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    verb: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """`cut`: the connection is closed instead of answering."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


class HttpServer:
    """`answer` is called on the request's own thread."""

    def __init__(self, answer: Callable[[HttpRequest], HttpAnswer], name: str) -> None:
        self._server = _Server(answer, name)
        self._accepting = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"{name}-accept", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self) -> None:
        self._accepting.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._accepting.join()
        self._server.server_close()
        self._server.cut_all()


class _Server(socketserver.ThreadingTCPServer):
    request_queue_size = 1024
    allow_reuse_address = True

    def __init__(self, answer: Callable[[HttpRequest], HttpAnswer], name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self._name = name
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, socket.socket] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self._serve, args=(request, client_address), name=f"{self._name}-call", daemon=True
        )
        with self._lock:
            self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(threading.current_thread(), None)

    def cut_all(self) -> None:
        with self._lock:
            still_open = dict(self._open)
        for connection in still_open.values():
            cut(connection)
        for thread in still_open:
            thread.join(5)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A connection that broke is nothing to report: breaking them is part of the job."""
        _LOG.debug("connection lost", exc_info=True)


def cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        _LOG.debug("already closed")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    wbufsize = -1
    server_version = "SimulatedSlack"

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        url = urlsplit(self.path)
        length = min(int(self.headers.get("Content-Length") or 0), _LONGEST_BODY)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = HttpRequest(
            verb=self.command, path=url.path, query=url.query, headers=headers, body=self.rfile.read(length)
        )
        answer = self.server.answer(request)
        if answer.cut:
            cut(self.connection)
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *args: object) -> None:
        """Quiet: the journal has it all."""
