"""HTTP/1.1 on a loopback port, one request a connection: what a page on this machine needs and no more.

Called by `page`. `stop` ends what is open and joins every thread, so that Ctrl-C leaves nothing behind.
"""

import contextlib
import logging
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_LOG = logging.getLogger(__name__)
LONGEST_BODY = 64 * 1024
PATIENCE = 10.0
"""Seconds for a request to arrive."""


@dataclass(frozen=True, slots=True)
class Request:
    """`headers` by lower-case name."""

    verb: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"


class Wire:
    """`answer` is called on the request's own thread; `headers` go out with every answer."""

    def __init__(self, answer: Callable[[Request], Answer], port: int, headers: Mapping[str, str]) -> None:
        self._server = _Server(("127.0.0.1", port), answer, headers)
        self._accepting = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="page-accept")

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self) -> None:
        self._accepting.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._accepting.join()
        self._server.server_close()
        self._server.hang_up()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True

    def __init__(
        self, address: tuple[str, int], answer: Callable[[Request], Answer], headers: Mapping[str, str]
    ) -> None:
        super().__init__(address, _Handler)
        self.answer, self.headers = answer, headers
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, socket.socket] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._serve, args=(request, client_address), name="page-request")
        with self._lock:
            self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(threading.current_thread(), None)

    def hang_up(self) -> None:
        """No more is read; what is being answered is answered."""
        with self._lock:
            still_open = dict(self._open)
        for connection in still_open.values():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        for thread in still_open:
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A browser that went away is nothing to report."""
        _LOG.debug("connection lost", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE
    wbufsize = -1
    server_version = "gpu-quota-bot-demo"
    sys_version = ""

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            self._send(Answer(411, b"Say how long the body is."))
        elif len(length) > len(str(LONGEST_BODY)) or int(length) > LONGEST_BODY:
            self._send(Answer(413, b"That is too much."))
        else:
            self._send(self.server.answer(self._request(int(length))))

    def _request(self, length: int) -> Request:
        url = urlsplit(self.path if self.path.startswith("/") else "/")
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(url.query, max_num_fields=20)) if len(url.query) < 1000 else {}
        return Request(self.command, url.path, query, headers, self.rfile.read(length))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, *args: object) -> None:
        """Quiet: the terminal belongs to whoever started the demo."""
