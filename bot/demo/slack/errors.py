"""Slack's way of saying no: an error code, and for some codes what goes with it.

Raised anywhere in the simulator and turned into `{"ok": false, "error": code, ...}` by `web_api`.
"""

from typing import Any


class SlackError(Exception):
    """A refusal with one of Slack's own codes.

    `extra` is merged into the answer, e.g. `{"needed": "chat:write", "provided": "users:read"}`.
    """

    def __init__(self, code: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra


class RateLimitedError(SlackError):
    """Too many calls: answered as HTTP 429 with `Retry-After` in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


def invalid(code: str, problems: list[str]) -> SlackError:
    """`invalid_blocks` or `invalid_arguments`, with each violated rule in `response_metadata.messages`."""
    messages = [f"[ERROR] {problem}" for problem in problems]
    return SlackError(code, errors=problems, response_metadata={"messages": messages})
