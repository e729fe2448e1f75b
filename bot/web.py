"""The HTTP port: Slack's events in HTTP mode, health and readiness always. Built by app/run, served by uvicorn.

Bolt's own Starlette adapter runs the synchronous app inside the event loop, so that commands wait for each other; here
each request is dispatched on a thread of its own.
"""

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from slack_bolt import App, BoltRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.core.errors import Unavailable

EVENTS_PATH = "/slack/events"
BODY_LIMIT = 1_000_000
"""Bytes. Slack's payloads stay far below."""
START_SECONDS = 10.0
_TIMESTAMP = re.compile(r"[0-9]{1,12}")

Report = Callable[[], Mapping[str, str]]
"""Part -> "ok" or what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What the port says of the process."""

    alive: Report
    ready: Report
    metrics: Callable[[], bytes]


def web_app(bolt: App | None, executor: Executor, pages: Pages) -> Starlette:
    """The routes. Without `bolt` (Socket Mode) there is no events path."""
    routes = [
        Route("/healthz", _report(pages.alive)),
        Route("/readyz", _report(pages.ready)),
        Route("/metrics", _metrics(pages.metrics)),
    ]
    if bolt is not None:
        routes.append(Route(EVENTS_PATH, _events(bolt, executor), methods=["POST"]))
    return Starlette(routes=routes)


def _metrics(write: Callable[[], bytes]) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        text = await asyncio.get_running_loop().run_in_executor(None, write)
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    return answer


def _report(report: Report) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        parts = await asyncio.get_running_loop().run_in_executor(None, report)
        well = all(state == "ok" for state in parts.values())
        return JSONResponse(dict(parts), status_code=200 if well else 503)

    return answer


def _events(bolt: App, executor: Executor) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_LIMIT:
                return Response(status_code=413)
        if not _TIMESTAMP.fullmatch(request.headers.get("x-slack-request-timestamp", "0")):
            return Response(status_code=401)  # Bolt would fail on it, and log a traceback for anybody who likes
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return Response(status_code=400)
        bolt_request = BoltRequest(body=text, query=str(request.query_params), headers=dict(request.headers))
        result = await asyncio.get_running_loop().run_in_executor(executor, bolt.dispatch, bolt_request)
        headers = {name: values[0] for name, values in result.headers.items() if name.lower() != "content-length"}
        return Response(result.body, status_code=result.status, headers=headers)

    return answer


class WebServer:
    """uvicorn in a thread of its own, on a socket that is bound before it starts: port 0 takes a free one."""

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        try:
            self._socket = socket.create_server((host, port), backlog=1024)
        except OSError as error:
            raise Unavailable("HTTP port", f"{host}:{port}: {error.strerror}") from error
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=5)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="http", daemon=True)

    def start(self) -> None:
        """Begin to answer. The socket queues what comes before."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what has begun, then end."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(START_SECONDS)
        self._socket.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])
