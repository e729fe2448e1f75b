"""`KubeServer`: the simulator on a free loopback port, spoken to by the real Kubernetes client and by anything else
that knows HTTP.

Watches are streamed in chunks, one JSON value a line. A watch that reaches its `timeoutSeconds` ends with a
bookmark, if it asked for them.
"""

import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson
import yaml

from bot.demo.kube.api import Request, Response
from bot.demo.kube.faults import Answer, AnswerLost, Hung, NotReached
from bot.demo.kube.reads import Watch
from bot.demo.kube.sim import KubeSim
from bot.demo.kube.status import status

_DEFAULT_WATCH_SECONDS = 1800.0
_NO_LINGER = struct.pack("ii", 1, 0)


class KubeServer:
    """Serves a `KubeSim` while the context lasts. With `reconcile`, Kueue's controllers work after each request
    that wrote.
    """

    def __init__(self, sim: KubeSim, *, reconcile: bool = False) -> None:
        self.sim = sim
        self.reconcile = reconcile
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"kube": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="kube-sim", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def kubeconfig(self, path: Path, token: str = "") -> Path:
        """Write a kubeconfig for this server (with a bearer token) and return its path."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sim", "cluster": {"server": self.url}}],
            "users": [{"name": "sim", "user": {"token": token} if token else {}}],
            "contexts": [{"name": "sim", "context": {"cluster": "sim", "user": "sim"}}],
            "current-context": "sim",
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def __enter__(self) -> "KubeServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End open watches and stop listening; closing twice is fine."""
        self.closing.set()
        self.sim.faults.release()
        with self.sim.changed:
            self.sim.changed.notify_all()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection. `kube` is set by the server."""

    kube: KubeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self._handle()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names http.server calls

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's signature
        """Silence: tests and the demo print what they need."""

    def _handle(self) -> None:
        try:
            request = self._request()
        except ValueError as unreadable:
            text = f"couldn't get version/kind; json parse error: {unreadable}"
            return self._send(400, {}, status(400, "BadRequest", text))
        try:
            response = self.kube.sim.respond(request)
        except (NotReached, AnswerLost) as broken:
            if isinstance(broken, AnswerLost):
                self._after(request)
            return self._reset()
        except Hung as hung:
            return self._late(request, hung)
        if response.watch is not None:
            return self._stream(response, response.watch)
        self._after(request)
        return self._send(response.status, response.headers, response.body)

    def _request(self) -> Request:
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = self.rfile.read(int(headers.get("content-length") or 0))
        body: Any = None
        if raw:
            is_yaml = "yaml" in headers.get("content-type", "")
            body = _from_yaml(raw) if is_yaml else orjson.loads(raw)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        return Request(self.command, unquote(url.path), query, headers, body)

    def _after(self, request: Request) -> None:
        if self.kube.reconcile and request.method != "GET":
            self.kube.sim.reconcile()

    def _send(self, code: int, headers: dict[str, str], body: Any) -> None:
        text = isinstance(body, str)
        raw = body.encode() if text else orjson.dumps(body)
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; charset=utf-8" if text else "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _reset(self) -> None:
        """Break the connection so that the client sees a reset, not an orderly end."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.rfile.close()
        self.connection.close()

    def _late(self, request: Request, hung: Hung) -> None:
        """Keep the client waiting, then handle the request all the same."""
        hung.released.wait(hung.seconds)
        if self.kube.closing.is_set():
            return self._reset()
        answer: Answer = hung.land()
        self._after(request)
        try:
            return self._send(*answer)
        except OSError:
            self.close_connection = True

    def _stream(self, response: Response, watch: Watch) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.flush()
            self._events(watch)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            return

    def _events(self, watch: Watch) -> None:
        """Send events as they happen, until the watch's time is over, it failed, or the server closes."""
        ends = time.monotonic() + (watch.timeout or _DEFAULT_WATCH_SECONDS)
        changed, bookmarked = self.kube.sim.changed, self.kube.sim.bookmarks
        while not self.kube.closing.is_set():
            with changed:
                events = watch.pending()
                if watch.bookmarks and bookmarked != self.kube.sim.bookmarks:
                    bookmarked = self.kube.sim.bookmarks
                    events.append(watch.bookmark())
                left = ends - time.monotonic()
                if not events and left > 0:
                    changed.wait(left)
                    continue
            for event in events:
                self._chunk(event)
            if watch.ended:
                return
            if left <= 0:
                if watch.bookmarks:
                    self._chunk(watch.bookmark())
                return

    def _chunk(self, event: Any) -> None:
        raw = orjson.dumps(event) + b"\n"
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()


def _from_yaml(raw: bytes) -> Any:
    """JSON is YAML, and what most clients send; YAML's own types (dates) are not JSON's."""
    try:
        return orjson.loads(raw)
    except ValueError:
        pass
    try:
        return json.loads(json.dumps(yaml.safe_load(raw), default=str))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
