"""docs/slack-app.md asks for the scopes that the code uses, and for no others."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.errors import Rejected
from bot.demo.run_stage import Stage
from bot.demo.script_loop import tell_loop
from bot.demo.slack import Clocks, Setup, SlackSim
from bot.demo.slack.methods import METHODS
from tests.support.house import ROOT
from tests.support.slack_town import Town, words

PAGE = (ROOT / "docs/slack-app.md").read_text()
ROWS = re.findall(r"^\| `([a-z:.]+)` \| (.*?) \|", PAGE, re.MULTILINE)
SOCKET_MODE = {"connections:write"}
BOT_SCOPES = {scope for scope, _ in ROWS} - SOCKET_MODE
HISTORY = {"channels:history", "groups:history", "im:history"}
"""Which of them a call needs depends on the channel, so no method names them."""
NO_SCOPE = {"auth.test", "views.open", "views.update"}


def _called() -> set[str]:
    """The Web API methods that the adapter calls."""
    sources = [path.read_text() for path in Path(ROOT / "bot/adapters/slack").glob("*.py")]
    names = {name for source in sources for name in re.findall(r"client\.([a-z]+_\w+)", source)}
    found = {method for method in METHODS if method.replace(".", "_") in names}
    assert len(found) == len(names), names
    return found


def test_every_method_that_is_called_is_on_the_page_with_its_scope() -> None:
    listed = {method for _, methods in ROWS for method in re.findall(r"`([a-zA-Z.]+)`", methods)}
    assert listed == (_called() - NO_SCOPE) | {"apps.connections.open"}


def test_the_page_asks_for_what_the_methods_need_and_for_no_more() -> None:
    needed = {METHODS[name].scopes[0] for name in _called() if METHODS[name].scopes}
    assert needed | HISTORY | {"commands"} == BOT_SCOPES


class _Exactly(Stage):
    """The demo's world with the scopes of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.slack = SlackSim(Setup(scopes=frozenset(BOT_SCOPES)), Clocks(now=self.clock))


def test_the_whole_loop_can_be_played_with_them() -> None:
    with _Exactly() as stage:
        tell_loop(stage, lambda _: None)
        refused = [call.method for call in stage.slack.calls() if call.error == "missing_scope"]
    assert refused == []


def _look_for(town: Town, to: str) -> None:
    town.chat.find(to, "n1", town.clock() - timedelta(minutes=1))


USES: dict[str, Callable[[Town], object]] = {
    "chat:write": lambda town: town.chat.post(town.room, words("hello"), "n1"),
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
    with pytest.raises(Rejected, match=f"missing_scope needed: {scope}"):
        USES[scope](make_town(scopes=frozenset(BOT_SCOPES - {scope})))
