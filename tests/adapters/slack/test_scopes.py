"""docs/slack-app.md asks for the scopes of adapters/slack/scopes.py, and each of them is needed."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.adapters.slack.scopes import NEEDS, bot_scopes
from bot.core.errors import Rejected, Unavailable
from bot.demo.slack.methods import METHODS
from tests.support.house import ROOT
from tests.support.slack_town import Town, words

PAGE = (ROOT / "docs/slack-app.md").read_text()
ROWS = re.findall(r"^\| `([a-z:.]+)` \| (.*?) \|", PAGE, re.MULTILINE)
SOCKET_MODE = {"connections:write"}
OF_THE_CLIENT = {"files_upload_v2": ("files.getUploadURLExternal", "files.completeUploadExternal")}
"""Methods of slack_sdk that make more than one call."""
BOT_SCOPES = {scope for scope, _ in ROWS} - SOCKET_MODE


def test_the_page_asks_for_the_scopes_of_the_code_and_for_no_more() -> None:
    assert bot_scopes().keys() == BOT_SCOPES


def test_the_page_names_every_call_that_needs_a_scope_beside_it() -> None:
    listed = {(scope, method) for scope, methods in ROWS for method in re.findall(r"`([a-zA-Z.]+)`", methods)}
    by_attribute = {method.replace(".", "_"): method for method in METHODS}
    needed = {
        (scope, method)
        for need in NEEDS
        for method in OF_THE_CLIENT.get(need.method) or (by_attribute[need.method],)
        for scope in need.scopes
    }
    assert listed == needed | {("connections:write", "apps.connections.open")}


def _look_for(town: Town, to: str) -> None:
    town.chat.find(to, "n1", town.clock() - timedelta(minutes=1))


USES: dict[str, Callable[[Town], object]] = {
    "chat:write": lambda town: town.chat.post(town.room, words("hello"), "n1"),
    "files:write": lambda town: town.chat.send_file(town.ada, "log.csv", "at,who"),
    "im:write": lambda town: _look_for(town, town.ada),
    "users:read": lambda town: town.chat.person(town.ada),
    "usergroups:read": lambda town: town.chat.group_members(town.slack.add_group("g", town.ada).id),
    "channels:history": lambda town: _look_for(town, town.room),
    "groups:history": lambda town: _look_for(town, town.slack.add_channel("p", town.ada, is_private=True).id),
    "im:history": lambda town: _look_for(town, town.ada),
}


@pytest.mark.parametrize("scope", sorted(BOT_SCOPES - {"commands"}))
def test_each_of_them_is_needed(make_town: Callable[..., Town], scope: str) -> None:
    USES[scope](make_town(scopes=frozenset(BOT_SCOPES)))
    with pytest.raises((Rejected, Unavailable), match=f"missing_scope needed: {scope}"):
        USES[scope](make_town(scopes=frozenset(BOT_SCOPES - {scope})))
