"""HTTP mode: signed requests to the bot's request URL, as Slack sends them. Used by `SlackSim` when a URL is set."""

import hashlib
import hmac
import http.client
import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

from bot.demo.slack.delivery import Parcel, Receipt
from bot.demo.slack.entities import Json
from bot.demo.slack.world import World

_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"


class HttpMode:
    """Posts to `url` on the caller's thread and hangs up after the limit, as Slack does."""

    def __init__(self, world: World, url: str) -> None:
        self._world = world
        self._url = urlsplit(url)

    def carry(self, parcel: Parcel) -> Receipt:
        headers, body = parcel.signed or self._sign(parcel)
        sent_as = replace(parcel, signed=(headers, body))
        clock, limit = self._world.clocks.monotonic, self._world.setup.ack_limit
        started = clock()
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port, timeout=limit)
        try:
            connection.request("POST", self._url.path or "/", body, dict(headers))
            answer = connection.getresponse()
            content, status, kind = answer.read(), answer.status, answer.headers.get_content_type()
        except TimeoutError:
            return Receipt(acked=False, elapsed=clock() - started, error="operation_timeout", sent_as=sent_as)
        except (OSError, http.client.HTTPException):
            return Receipt(acked=False, elapsed=clock() - started, error="dispatch_failed", sent_as=sent_as)
        finally:
            connection.close()
        elapsed = clock() - started
        error = "operation_timeout" if elapsed > limit else None if status == 200 else "dispatch_failed"
        return Receipt(
            acked=error is None,
            elapsed=elapsed,
            error=error,
            status=status,
            answer=_read(content, kind),
            sent_as=sent_as,
        )

    def _sign(self, parcel: Parcel) -> tuple[Mapping[str, str], bytes]:
        tamper = parcel.tamper
        body, kind = _encode(parcel)
        timestamp = str(int(self._world.clocks.wall() - tamper.age))
        secret = self._world.setup.signing_secret if tamper.secret is None else tamper.secret
        headers = {
            "Content-Type": kind,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "Accept": "application/json,*/*",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(secret, timestamp, body),
        }
        if parcel.retry_attempt:
            headers["X-Slack-Retry-Num"] = str(parcel.retry_attempt)
            headers["X-Slack-Retry-Reason"] = parcel.retry_reason or "http_timeout"
        return headers, body + tamper.suffix


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Slack's `v0` signature of a request."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def _encode(parcel: Parcel) -> tuple[bytes, str]:
    match parcel.kind:
        case "slash_commands":
            return urlencode(parcel.payload).encode(), _FORM
        case "interactive":
            return urlencode({"payload": json.dumps(parcel.payload)}).encode(), _FORM
        case "events_api":
            return json.dumps(parcel.payload).encode(), _JSON


def _read(content: bytes, kind: str) -> Json | str | None:
    text = content.decode(errors="replace")
    if not text:
        return None
    if kind == _JSON:
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return found if isinstance(found, dict) else text
    return text
