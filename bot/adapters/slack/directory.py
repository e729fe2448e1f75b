"""Who people are and who is in which user group, asked of Slack and kept for at most 60 s. Used by adapters/slack/chat.

Only answers are kept, never failures: a failed look-up must refuse, and the next one must ask again.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from slack_sdk import WebClient

from bot.adapters.slack.calls import AnswerLost, call
from bot.core.errors import Unavailable
from bot.core.people import Person
from bot.ports.clock import Clock

KEPT_FOR = timedelta(seconds=60)
Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, each for `KEPT_FOR` after the look-up began."""

    def __init__(self, look_up: Callable[[str], Value], clock: Clock) -> None:
        self._look_up = look_up
        self._clock = clock
        self._values: dict[str, tuple[datetime, Value]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> Value:
        """The kept value, or a fresh one. A clock that went backwards makes a value old."""
        now = self._clock()
        with self._lock:
            kept = self._values.get(key)
        if kept is not None and timedelta(0) <= now - kept[0] < KEPT_FOR:
            return kept[1]
        value = self._look_up(key)
        with self._lock:
            self._values[key] = (now, value)
        return value


class Directory:
    """People and user groups of the bot's workspace."""

    def __init__(self, client: WebClient, clock: Clock) -> None:
        self._client = client
        self._people = Kept(self._ask_person, clock)
        self._groups = Kept(self._ask_group, clock)
        self._home = Kept(self._ask_home, clock)

    def person(self, user: str) -> Person:
        """Raises Rejected (user_not_found), Unavailable."""
        return self._people.get(user)

    def group_members(self, group: str) -> frozenset[str]:
        """Raises Rejected (no_such_subteam, missing_scope), Unavailable."""
        return self._groups.get(group)

    def _ask_person(self, user: str) -> Person:
        found: dict[str, Any] = _asked(self._client.users_info, user=user)["user"]
        profile = found.get("profile") or {}
        return Person(
            id=user,
            name=profile.get("display_name") or found.get("real_name") or found.get("name") or user,
            timezone=found.get("tz") or "UTC",
            full_member=self._is_full_member(found),
        )

    def _is_full_member(self, found: dict[str, Any]) -> bool:
        """The account's own workspace or organisation counts, never the one a click came from."""
        flags = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")
        if any(found.get(flag) for flag in flags):
            return False
        home = self._home.get("")
        organisation = (found.get("enterprise_user") or {}).get("enterprise_id")
        same_organisation = organisation is not None and organisation == home.get("enterprise_id")
        return same_organisation or found.get("team_id") == home.get("team_id")

    def _ask_home(self, _key: str) -> dict[str, Any]:
        return _asked(self._client.auth_test)

    def _ask_group(self, group: str) -> frozenset[str]:
        return frozenset(_asked(self._client.usergroups_users_list, usergroup=group)["users"])


def _asked(method: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """A look-up whose answer was lost is just one that failed."""
    try:
        return call(method, **arguments)
    except AnswerLost as error:
        raise Unavailable("Slack", "no answer") from error
