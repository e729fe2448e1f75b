"""One Web API call, with Slack's failures told apart. Used by adapters/slack/chat and adapters/slack/directory.

The official client's retry handlers are off: they would post a message twice when only the answer was lost.
"""

import http.client
import re
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.core.errors import Rejected, Unavailable

TIMEOUT_SECONDS = 10
SLACK = "Slack"
_PASSING = frozenset({"service_unavailable", "request_timeout", "team_added_to_org", "ratelimited"})
"""Error codes that say "not now"."""
_HALFWAY = frozenset({"internal_error", "fatal_error"})
"""Error codes of which Slack says that some of it may have been carried out."""
_SET_IT = "put the app's bot token into SLACK_BOT_TOKEN and restart"
_WORKSPACE = "an admin of the workspace must let the app in"
_NOT_LET_IN = {
    "not_authed": _SET_IT,
    "invalid_auth": _SET_IT,
    "token_expired": _SET_IT,
    "token_revoked": f"install the app again, then {_SET_IT}",
    "account_inactive": f"install the app again, then {_SET_IT}",
    "not_allowed_token_type": _SET_IT,
    "accesslimited": "let this network reach the workspace",
    "ekm_access_denied": _WORKSPACE,
    "enterprise_is_restricted": _WORKSPACE,
    "org_login_required": _WORKSPACE,
    "team_access_not_granted": _WORKSPACE,
    "two_factor_setup_required": _WORKSPACE,
}
"""Error codes about the token or the workspace, with what to do. They say nothing about what was asked."""
_NO_SCOPE = "missing_scope"
_CODE = re.compile(r"[a-z0-9_]+")


class AnswerLost(Exception):
    """The request was sent and no answer came: it may have been carried out."""


def web_client(token: str | None, base_url: str) -> WebClient:
    """A client that calls once and never by itself again. Without a token each call brings its own."""
    return WebClient(token=token, base_url=base_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])


def call(method: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """The answer's JSON.

    Raises Unavailable (not carried out; try later, which may be when somebody has let the bot in), Rejected (Slack's
    code; never so), AnswerLost (who knows).
    """
    with _told_apart():
        response = method(**arguments)
        data = response.data
        if not isinstance(data, dict):
            raise AnswerLost("not JSON")
        return data


def speak(method: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """`call`, for what posts or changes messages: a scope that is missing there is missing for every message.

    So it is Unavailable: it says nothing about this one. For any other method it is Rejected, and stops only that.
    """
    try:
        return call(method, **arguments)
    except Rejected as error:
        if error.code != _NO_SCOPE:
            raise
        why = f"{error.code} {error.detail}".rstrip()
        raise Unavailable(SLACK, f"{why}: add the scope to the app and install it again") from error


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        raise _api_failure(error) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionRefusedError):
            raise Unavailable(SLACK, "connection refused") from error
        raise AnswerLost(str(error.reason)) from error
    except (OSError, http.client.HTTPException, SlackClientError) as error:
        raise AnswerLost(type(error).__name__) from error


def _api_failure(error: SlackApiError) -> Exception:
    status = getattr(error.response, "status_code", 200)
    code = _code(error)
    if status == 429 or code == "ratelimited":
        return Unavailable(SLACK, "rate limit", _retry_after(error))
    if status >= 500:
        return AnswerLost(f"status {status}")
    if code in _HALFWAY or not _CODE.fullmatch(code):  # the client puts a page that is no JSON where the code should be
        return AnswerLost(code[:80])
    if code in _PASSING:
        return Unavailable(SLACK, code)
    if code in _NOT_LET_IN:
        return Unavailable(SLACK, f"{code}: {_NOT_LET_IN[code]}")
    return Rejected(SLACK, code, _detail(error))


def _code(error: SlackApiError) -> str:
    data = error.response.data if hasattr(error.response, "data") else error.response
    return str(data.get("error", "unknown")) if isinstance(data, dict) else "unknown"


def _detail(error: SlackApiError) -> str:
    data = error.response.data if hasattr(error.response, "data") else error.response
    if not isinstance(data, dict):
        return ""
    needed = data.get("needed")
    messages = (data.get("response_metadata") or {}).get("messages") or ()
    return f"needed: {needed}" if needed else "; ".join(map(str, messages))[:200]


def _retry_after(error: SlackApiError) -> timedelta:
    headers = getattr(error.response, "headers", None) or {}
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), "1")
    text = value[0] if isinstance(value, list) else value
    return timedelta(seconds=int(text)) if str(text).isdigit() else timedelta(seconds=1)
