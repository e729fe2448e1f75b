"""Slack's Web API, response URLs and file uploads over HTTP. Built and stopped by `SlackSim`.

A call goes through: decoding, armed faults, token, scope, pace, the method itself (with the world's lock held), the
journal. The bot's client sees Slack's statuses, headers and error codes.
"""

import json
import logging
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from bot.demo.slack import response_url
from bot.demo.slack.entities import Json
from bot.demo.slack.errors import RateLimitedError, SlackError
from bot.demo.slack.faults import Fault, Kind
from bot.demo.slack.http_server import HttpAnswer, HttpRequest, HttpServer
from bot.demo.slack.journal import ApiCall
from bot.demo.slack.methods import METHODS
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.world import World

_LOG = logging.getLogger(__name__)
_CUT = HttpAnswer(status=0, cut=True)


class WebApi:
    def __init__(self, world: World) -> None:
        self._world = world
        self._stopping = threading.Event()
        self._server = HttpServer(self._answer, "slack-sim-api")
        world.site = f"http://127.0.0.1:{self._server.port}"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        """Cut off whatever is still being answered."""
        self._stopping.set()
        self._world.faults.clear()
        self._server.stop()

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        first, _, rest = request.path.strip("/").partition("/")
        match first:
            case "api":
                return self._with_faults(rest, request)
            case "response":
                return self._with_faults("response_url", request)
            case "upload":
                return self._with_faults("upload", request)
            case "files":
                return self._download(rest, request)
        return HttpAnswer(status=404, body=b"not found", content_type="text/plain")

    def _with_faults(self, method: str, request: HttpRequest) -> HttpAnswer:
        fault = self._world.faults.take(method, web_api=request.path.startswith("/api/"))
        if fault is None:
            return self._handle(method, request)
        instead = self._before(method, request, fault)
        if instead is not None:
            return instead
        return self._after(fault, self._handle(method, request, delivered=fault.kind is not Kind.DROP_AFTER))

    def _before(self, method: str, request: HttpRequest, fault: Fault) -> HttpAnswer | None:
        """What a fault answers in place of handling the call, or None."""
        match fault.kind:
            case Kind.HELD:
                fault.arrived.set()
                fault.released.wait()
                return _CUT if self._stopping.is_set() else None
            case Kind.CODE:
                answer = _refused(200, fault.code)
            case Kind.HTTP_500:
                answer = HttpAnswer(status=500, body=b"Internal Server Error", content_type="text/plain")
            case Kind.RATE_LIMITED:
                answer = _refused(429, "ratelimited", {"Retry-After": str(int(fault.seconds))})
            case Kind.DROP_BEFORE:
                answer = _CUT
            case _:
                return None
        self._record(method, _seen(request), answer.status, None, delivered=not answer.cut)
        return answer

    def _after(self, fault: Fault, answer: HttpAnswer) -> HttpAnswer:
        """What a fault makes of the answer of a call that was handled."""
        match fault.kind:
            case Kind.SLOW:
                self._stopping.wait(fault.seconds)
            case Kind.DROP_AFTER:
                return _CUT
            case Kind.NOT_JSON:
                return HttpAnswer(body=b"<html>We will be back soon</html>", content_type="text/html")
        return answer

    def _handle(self, method: str, request: HttpRequest, *, delivered: bool = True) -> HttpAnswer:
        """Run the call and write it down in one step, so that whoever sees its effect finds it in the journal."""
        with self._world.changed:
            if method == "upload":
                return self._upload(request)
            status, answer, headers = self._result(method, request)
            self._record(method, _seen(request), status, answer, delivered=delivered)
        if method == "response_url" and status == 200:
            return HttpAnswer(body=b"ok", content_type="text/html")
        return HttpAnswer(status=status, body=json.dumps(answer).encode(), headers=headers)

    def _result(self, method: str, request: HttpRequest) -> tuple[int, Json, dict[str, str]]:
        """Status, body and headers of the answer."""
        run = self._respond if method == "response_url" else self._call
        try:
            return 200, {"ok": True, **run(method, request, decode(request))}, {}
        except RateLimitedError as refused:
            return 429, {"ok": False, "error": refused.code}, {"Retry-After": str(refused.retry_after)}
        except SlackError as refused:
            status = response_url.status(refused.code) if method == "response_url" else 200
            return status, {"ok": False, "error": refused.code, **refused.extra}, {}
        except Exception:
            _LOG.exception("the simulator failed in %s", method)
            return 500, {"ok": False, "error": "internal_error"}, {}

    def _call(self, name: str, request: HttpRequest, args: Mapping[str, Any]) -> Json:
        world = self._world
        method = METHODS.get(name)
        if method is None:
            raise SlackError("unknown_method", req_method=name)
        _authenticate(method, _token(request, args), world)
        call = Call(world, {key: value for key, value in args.items() if key != "token"})
        if not method.app_level:
            call.need_scope(*method.scopes)
        world.pacer.take(name, _pace_key(method, call), method.pace)
        return method.handler(call)

    def _respond(self, _: str, request: HttpRequest, args: Mapping[str, Any]) -> Json:
        key = request.path.rsplit("/", 1)[-1]
        return response_url.respond(key, Call(self._world, args))

    def _upload(self, request: HttpRequest) -> HttpAnswer:
        file_id = request.path.rsplit("/", 1)[-1]
        try:
            self._world.uploads.receive(file_id, request.body)
        except SlackError as refused:
            self._record("upload", {"file_id": file_id}, 400, {"ok": False, "error": refused.code})
            return HttpAnswer(status=400, body=refused.code.encode(), content_type="text/plain")
        self._record("upload", {"file_id": file_id}, 200, {"ok": True})
        return HttpAnswer(body=f"OK - {len(request.body)}".encode(), content_type="text/plain")

    def _download(self, file_id: str, request: HttpRequest) -> HttpAnswer:
        with self._world.changed:
            file = self._world.uploads.shared.get(file_id)
        if file is None or _token(request, {}) != self._world.setup.bot_token:
            return HttpAnswer(status=404, body=b"not found", content_type="text/plain")
        return HttpAnswer(body=file.content, content_type="application/octet-stream")

    def _record(
        self, method: str, args: Mapping[str, Any], status: int, answer: Json | None, *, delivered: bool = True
    ) -> None:
        seen = {name: value for name, value in args.items() if name != "token"}
        now = self._world.clocks.now()
        self._world.journal.add_call(
            ApiCall(method=method, args=seen, status=status, answer=answer, at=now, delivered=delivered)
        )


def decode(request: HttpRequest) -> Json:
    """The arguments of a request: query, then form or JSON body.

    Errors: `invalid_json`, `json_not_object`, `invalid_form_data`.
    """
    args: Json = dict(parse_qsl(request.query, keep_blank_values=True))
    if not request.body:
        return args
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            body = json.loads(request.body)
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return args | body
    try:
        return args | dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    except UnicodeDecodeError:
        raise SlackError("invalid_form_data") from None


def _seen(request: HttpRequest) -> Json:
    try:
        return decode(request)
    except SlackError:
        return {}


def _token(request: HttpRequest, args: Mapping[str, Any]) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    in_json = request.headers.get("content-type", "").startswith("application/json")
    return "" if in_json else str(args.get("token") or "")


def _authenticate(method: Method, token: str, world: World) -> None:
    if method.public:
        return
    if not token:
        raise SlackError("not_authed")
    if token not in (world.setup.bot_token, world.setup.app_token):
        raise SlackError("invalid_auth")
    if (token == world.setup.app_token) != method.app_level:
        raise SlackError("not_allowed_token_type")


def _pace_key(method: Method, call: Call) -> str:
    """What shares an allowance. A post to a person and one to that person's DM are the same channel."""
    if method.pace.by is None:
        return ""
    target = call.text(method.pace.by)
    dm = call.world.workspace.dm_of(target)
    return target if dm is None else dm.id


def _refused(status: int, code: str, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    body = json.dumps({"ok": False, "error": code}).encode()
    return HttpAnswer(status=status, body=body, headers=headers or {})
