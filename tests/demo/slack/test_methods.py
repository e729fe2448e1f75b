"""What all methods share: tokens, scopes, bodies, the journal, and the list of them."""

import json
import urllib.request

import pytest
from slack_sdk import WebClient

from bot.demo.slack import DEFAULT_SCOPES, Setup
from bot.demo.slack.methods import METHODS


def test_who_am_i(town) -> None:
    answer = town.client.auth_test()
    assert (answer["user_id"], answer["team_id"], answer["ok"]) == (town.slack.bot_user_id, town.slack.team_id, True)


@pytest.mark.parametrize(
    ("token", "method", "code"),
    [
        (None, "auth.test", "not_authed"),
        ("xoxb-somebody-else", "auth.test", "invalid_auth"),
        ("xapp-1-simulated-app-token", "auth.test", "not_allowed_token_type"),
        ("xoxb-simulated-bot-token", "apps.connections.open", "not_allowed_token_type"),
        ("xoxb-simulated-bot-token", "chat.sing", "unknown_method"),
    ],
)
def test_tokens(town, token: str | None, method: str, code: str, error_of) -> None:
    client = WebClient(token=token, base_url=town.slack.api_url)
    assert error_of(lambda: client.api_call(method)) == code


SCOPED = [
    ("chat.postMessage", "chat:write", {"channel": "C", "text": "x"}),
    ("chat.update", "chat:write", {}),
    ("conversations.open", "im:write", {}),
    ("conversations.list", "channels:read", {}),
    ("users.info", "users:read", {}),
    ("users.lookupByEmail", "users:read.email", {}),
    ("usergroups.list", "usergroups:read", {}),
    ("usergroups.users.list", "usergroups:read", {}),
    ("files.getUploadURLExternal", "files:write", {}),
]


@pytest.mark.parametrize(("method", "scope", "args"), SCOPED, ids=[row[0] for row in SCOPED])
def test_a_missing_scope_is_named(make_town, method: str, scope: str, args: dict[str, str], refusal) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {scope}, pacing=False))
    refused = refusal(lambda: town.client.api_call(method, json=args))
    assert refused.response["error"] == "missing_scope"
    assert refused.response["needed"] == scope
    assert scope not in refused.response["provided"].split(",")


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"\xff\xfe", "application/x-www-form-urlencoded", "invalid_form_data"),
    ],
)
def test_bodies_that_cannot_be_read(town, body: bytes, kind: str, code: str) -> None:
    headers = {"Content-Type": kind, "Authorization": f"Bearer {town.slack.bot_token}"}
    request = urllib.request.Request(town.slack.api_url + "chat.postMessage", body, headers)
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["error"] == code


def test_forms_work_like_json(town) -> None:
    blocks = json.dumps([{"type": "divider"}])
    args = {"channel": town.room.id, "text": "x", "blocks": blocks}
    assert town.client.api_call("chat.postMessage", params=args)["ok"]
    assert town.slack.messages(town.room.id)[0].blocks[0]["type"] == "divider"


def test_every_method_is_in_the_journal_with_its_answer(town, error_of) -> None:
    town.client.chat_postMessage(channel=town.room.id, text="x")
    error_of(lambda: town.client.chat_postMessage(channel="C404", text="x"))
    good, bad = town.slack.calls("chat.postMessage")
    assert (good.ok, good.args["text"], good.status) == (True, "x", 200)
    assert (bad.ok, bad.error) == (False, "channel_not_found")
    assert all("token" not in call.args for call in (good, bad))


def test_every_method_asked_for_is_there() -> None:
    assert set(METHODS) == {
        "api.test",
        "apps.connections.open",
        "auth.test",
        "chat.delete",
        "chat.getPermalink",
        "chat.postEphemeral",
        "chat.postMessage",
        "chat.update",
        "conversations.history",
        "conversations.info",
        "conversations.list",
        "conversations.open",
        "conversations.replies",
        "files.completeUploadExternal",
        "files.getUploadURLExternal",
        "usergroups.list",
        "usergroups.users.list",
        "users.info",
        "users.list",
        "users.lookupByEmail",
        "views.open",
        "views.publish",
        "views.push",
        "views.update",
    }
