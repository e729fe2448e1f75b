"""The Slack app that `gpu-quota-bot manifest` describes is the one that the code needs."""

import ast
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_sdk import WebClient
from typer.testing import CliRunner

from bot.adapters.slack.calls import web_client
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.directory import Directory
from bot.adapters.slack.scopes import COMMANDS, NEEDS, bot_scopes
from bot.adapters.system_clock import system_clock
from bot.chat.listeners import Listeners
from bot.cli.commands import app
from bot.cli.manifest import manifest, manifest_text
from bot.core.errors import Rejected, Unavailable
from bot.core.messages import Home, Message, MessageRef
from bot.demo.run_stage import Stage
from bot.demo.script_loop import tell_loop
from bot.demo.slack import Setup, SlackSim
from bot.settings import EVENTS_PATH

ROOT = Path(__file__).parent.parent
WEB_API = {name for name in vars(WebClient) if not name.startswith("_")}
URL = "https://gpu-quota.example.com"
SCOPES = frozenset(bot_scopes())


def _called(text: str) -> set[str]:
    """Methods of WebClient that a module names; `api_call`, which could reach any, counts too."""
    names = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    return names & (WEB_API | {"api_call"})


def test_every_web_api_method_in_the_code_has_its_scopes_and_reason_and_no_other_has() -> None:
    modules = (ROOT / "bot/adapters/slack").glob("*.py")
    called = set().union(*(_called(path.read_text()) for path in modules))
    assert called == {need.method for need in NEEDS}
    assert len(NEEDS) == len(called)
    assert all(need.why for need in NEEDS)


def test_nothing_but_the_adapter_calls_slack() -> None:
    others = [path for path in (ROOT / "bot").rglob("*.py") if path.parent.name != "slack" and "demo" not in path.parts]
    assert {path.name: found for path in others if (found := _called(path.read_text()))} == {}


@pytest.mark.parametrize("text", ["self._client.users_list()", "call(client.pins_add)", "web.api_call('x.y')"])
def test_a_call_without_an_entry_would_be_found(text: str) -> None:
    assert len(_called(text) - {need.method for need in NEEDS}) == 1


def _steps(slack: SlackSim) -> Iterator[Callable[[], Any]]:
    """Everything that the adapter can be asked, in a public and a private channel and a direct message."""
    ada = slack.add_person("ada").id
    group = slack.add_group("leads", ada).id
    places = [slack.add_channel("open", ada).id, slack.add_channel("closed", ada, is_private=True).id, ada]
    client = web_client(slack.bot_token, slack.api_url)
    chat, hello = SlackChat(client, Directory(client, system_clock)), Message("hello", ())
    since = datetime(2020, 1, 1, tzinfo=UTC)
    yield lambda: chat.person(ada)
    yield lambda: chat.group_members(group)
    yield lambda: chat.send_file(ada, "log.csv", "at,who")
    yield lambda: chat.publish_home(ada, Home((), since), None)
    for place in places:
        yield partial(chat.post, place, hello, "n1")
        yield partial(chat.find, place, "n1", since)
    posted = slack.messages(places[0])
    ref = MessageRef(places[0], posted[0].ts if posted else "1.1")
    yield partial(chat.update, ref, hello)
    yield partial(chat.permalink, ref)
    yield partial(chat.find, ref.channel, "n2", since, thread=ref)


def _refusals(scopes: frozenset[str]) -> set[str]:
    """What Slack said was missing."""
    found: set[str] = set()
    with SlackSim(Setup(scopes=scopes, pacing=False)) as slack:
        for step in _steps(slack):
            try:
                step()
            except (Rejected, Unavailable) as error:
                found |= set(re.findall(r"missing_scope needed: [a-z:]*[a-z]", str(error)))
    return found


def test_with_exactly_these_scopes_every_call_is_allowed() -> None:
    assert _refusals(SCOPES) == set()


@pytest.mark.parametrize("scope", sorted(SCOPES - {COMMANDS}))
def test_without_any_one_of_them_slack_refuses_a_call_and_names_it(scope: str) -> None:
    assert _refusals(SCOPES - {scope}) == {f"missing_scope needed: {scope}"}


@pytest.mark.one_database("which scopes Slack asks for does not depend on it")
def test_the_loop_is_played_with_exactly_these_scopes() -> None:
    with Stage(setup=Setup(scopes=SCOPES)) as stage:
        tell_loop(stage, lambda _line: None)
        calls = stage.slack.calls()
    assert {"chat.postMessage", "chat.update", "users.info"} <= {one.method for one in calls}
    assert [one for one in calls if one.error == "missing_scope"] == []


class _App:
    """Takes down what the listeners register; Bolt's other kinds (options) are not here."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def command(self, name: str) -> Callable[[Any], None]:
        return lambda _listener: self.heard.append(("command", name))

    def shortcut(self, name: str) -> Callable[[Any], None]:
        return lambda _listener: self.heard.append(("shortcut", name))

    def event(self, name: str) -> Callable[[Any], None]:
        return lambda _listener: self.heard.append(("event", name))

    def action(self, _pattern: object) -> Callable[[Any], None]:
        return lambda _listener: None

    view = action


def test_it_declares_what_the_listeners_hear() -> None:
    heard = _App()
    Listeners(lambda _: True, lambda _: None, lambda _: {}, system_clock).register(heard)  # type: ignore[arg-type]
    features, settings = manifest(None)["features"], manifest(None)["settings"]
    declared = [("command", one["command"]) for one in features["slash_commands"]]
    declared += [("shortcut", one["callback_id"]) for one in features["shortcuts"]]
    declared += [("event", one) for one in settings["event_subscriptions"]["bot_events"]]
    assert declared == heard.heard
    assert features["slash_commands"][0]["should_escape"] is True
    assert features["app_home"]["home_tab_enabled"] is True
    assert settings["interactivity"]["is_enabled"] is True
    assert settings["token_rotation_enabled"] is False


def test_the_text_is_the_manifest_with_a_reason_behind_each_scope() -> None:
    text = manifest_text()
    assert yaml.safe_load(text) == manifest(None)
    assert yaml.safe_load(text)["oauth_config"]["scopes"] == {"bot": sorted(SCOPES)}
    assert all(f"- {scope}  # {why}\n" in text for scope, why in bot_scopes().items())


def test_socket_mode_names_no_url() -> None:
    assert manifest(None)["settings"]["socket_mode_enabled"] is True
    assert "url" not in manifest_text()


@pytest.mark.parametrize("http", [URL, f"{URL}/", URL + EVENTS_PATH])
def test_http_mode_sends_everything_to_the_events_path(http: str) -> None:
    made = yaml.safe_load(CliRunner().invoke(app, ["manifest", "--http", http]).stdout)
    assert made["settings"]["socket_mode_enabled"] is False
    assert made["settings"]["interactivity"]["request_url"] == URL + EVENTS_PATH
    assert made["settings"]["event_subscriptions"]["request_url"] == URL + EVENTS_PATH
    assert made["features"]["slash_commands"][0]["url"] == URL + EVENTS_PATH


@pytest.mark.parametrize(
    ("http", "words"),
    [
        ("http://gpu-quota.example.com", "Write it like https://"),
        ("gpu-quota.example.com", "Write it like https://"),
        ("", "Write it like https://"),
        ("https://", "Write it like https://"),
        ("https://user:word@gpu-quota.example.com", "Write it like https://"),
        ("https://gpu-quota.example.com:port", "Write it like https://"),
        ("https://gpu quota.example.com", "Write it like https://"),
        (f"{URL}/events", "answered at /slack/events only"),
        (f"{URL}?a=b", "answered at /slack/events only"),
        (f"{URL}#a", "answered at /slack/events only"),
    ],
)
def test_an_address_that_slack_could_not_use_is_refused_in_words(http: str, words: str) -> None:
    done = CliRunner().invoke(app, ["manifest", "--http", http])
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


LIMITS = {
    "display_information.name": 35,
    "display_information.description": 140,
    "features.bot_user.display_name": 80,
    "features.shortcuts.0.name": 24,
    "features.shortcuts.0.description": 150,
    "features.shortcuts.0.callback_id": 255,
    "features.slash_commands.0.command": 32,
    "features.slash_commands.0.description": 2000,
    "features.slash_commands.0.usage_hint": 1000,
}
"""Characters that Slack takes."""


@pytest.mark.parametrize("path", LIMITS)
def test_texts_fit_slacks_limits(path: str) -> None:
    value: Any = manifest(f"{URL}{EVENTS_PATH}")
    for key in path.split("."):
        value = value[int(key)] if key.isdigit() else value[key]
    assert 0 < len(value) <= LIMITS[path]


def test_the_page_for_people_who_click_names_the_same_scopes() -> None:
    page = ROOT / "docs/slack-app.md"
    if not page.exists():
        pytest.skip("there is no such page yet")
    text = page.read_text()
    assert [scope for scope in SCOPES if f"`{scope}`" not in text] == []
