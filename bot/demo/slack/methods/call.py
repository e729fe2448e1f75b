"""One call of a Web API method: its arguments, read the way Slack reads them, and what every method may ask for."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from bot.demo.slack.entities import Json
from bot.demo.slack.errors import SlackError
from bot.demo.slack.pacing import TIER_3, Pace
from bot.demo.slack.world import World

T = TypeVar("T")

_TRUE = frozenset({"1", "true", "True"})


@dataclass(frozen=True, slots=True)
class Call:
    """`args` as decoded from query, form or JSON; values may be strings or JSON values."""

    world: World
    args: Mapping[str, Any]

    def text(self, name: str, default: str = "") -> str:
        value = self.args.get(name)
        return default if value is None else str(value)

    def required(self, name: str, error: str = "invalid_arguments") -> str:
        """A string that must be there and not empty."""
        value = self.text(name)
        if not value:
            raise SlackError(error, response_metadata={"messages": [f"[ERROR] missing required field: {name}"]})
        return value

    def flag(self, name: str) -> bool:
        value = self.args.get(name)
        return value is True or value == 1 or str(value) in _TRUE

    def whole(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to `most`. Error: `invalid_limit`."""
        value = self.args.get(name)
        if value in (None, ""):
            return default
        try:
            number = int(str(value))
        except ValueError:
            raise SlackError("invalid_limit") from None
        if not 1 <= number <= most:
            raise SlackError("invalid_limit")
        return number

    def structure(self, name: str, error: str) -> Any:
        """A JSON value, also where it came as a string; None if absent. `error` when it is not JSON."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(error) from None

    def need_scope(self, *scopes: str) -> None:
        """Any one of `scopes` will do. Error: `missing_scope` with `needed` and `provided`."""
        provided = self.world.setup.scopes
        if scopes and provided.isdisjoint(scopes):
            raise SlackError("missing_scope", needed=scopes[0], provided=",".join(sorted(provided)))

    def need_team(self) -> None:
        """Methods that an organisation-wide token must tell the workspace."""
        if self.world.setup.is_enterprise_install and self.text("team_id") != self.world.setup.team_id:
            raise SlackError("team_access_not_granted" if self.text("team_id") else "missing_argument")

    def page(self, items: Sequence[T], default: int = 100, most: int = 1000) -> tuple[Sequence[T], str]:
        """The items of the page asked for with `limit` and `cursor`, and the cursor of the next one, or ''."""
        start = _position(self.text("cursor"))
        end = start + self.whole("limit", default, most)
        cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
        return items[start:end], cursor


def _position(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).removeprefix(b"next:"))
    except ValueError:
        raise SlackError("invalid_cursor") from None


Handler: TypeAlias = Callable[[Call], Json]


@dataclass(frozen=True, slots=True)
class Method:
    """A handler, run with the lock held; the scope it needs (any one of them), its pace, and whose token it takes."""

    handler: Handler
    scopes: tuple[str, ...] = ()
    pace: Pace = TIER_3
    app_level: bool = False
    public: bool = False


def next_page(cursor: str) -> Json:
    return {"response_metadata": {"next_cursor": cursor}}
