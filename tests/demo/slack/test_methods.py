"""The Web API through the real WebClient: what each method does, and each of its refusals by Slack's own code."""

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.demo.slack import DEFAULT_SCOPES, Setup
from bot.demo.slack.methods import METHODS

MODAL: dict[str, Any] = {"type": "modal", "title": {"type": "plain_text", "text": "Request"}, "blocks": []}


def refusal(call: Callable[[], object]) -> SlackApiError:
    with pytest.raises(SlackApiError) as caught:
        call()
    return caught.value


def error_of(call: Callable[[], object]) -> str:
    return str(refusal(call).response["error"])


def trigger(town, user: str | None = None) -> str:
    with town.slack.world.changed:
        return town.slack.world.triggers.issue(user or town.ada.id)


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
def test_tokens(town, token: str | None, method: str, code: str) -> None:
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
def test_a_missing_scope_is_named(make_town, method: str, scope: str, args: dict[str, str]) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {scope}, pacing=False))
    refused = refusal(lambda: town.client.api_call(method, json=args))
    assert refused.response["error"] == "missing_scope"
    assert refused.response["needed"] == scope
    assert scope not in refused.response["provided"].split(",")


@pytest.mark.parametrize(
    ("private", "scope"), [(False, "channels:history"), (True, "groups:history")], ids=["public", "private"]
)
def test_history_needs_the_scope_of_the_kind_of_channel(make_town, private: bool, scope: str) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {scope}, pacing=False))
    channel = town.slack.add_channel("other", is_private=private)
    refused = refusal(lambda: town.client.conversations_history(channel=channel.id))
    assert (refused.response["error"], refused.response["needed"]) == ("missing_scope", scope)


def test_a_post_is_seen_with_its_metadata_where_asked_for(town) -> None:
    metadata = {"event_type": "notice", "event_payload": {"id": "N1"}}
    posted = town.client.chat_postMessage(channel=town.room.id, text="8 a100", metadata=metadata)
    plain = town.client.conversations_history(channel=town.room.id)["messages"]
    full = town.client.conversations_history(channel=town.room.id, include_all_metadata=True)["messages"]
    assert posted["ts"] == plain[0]["ts"] == full[0]["ts"]
    assert "metadata" not in plain[0]
    assert full[0]["metadata"] == metadata
    assert (full[0]["bot_id"], full[0]["app_id"]) == (town.slack.world.setup.bot_id, town.slack.app_id)


def test_timestamps_are_unique_and_rise_while_the_clock_stands(town) -> None:
    stamps = [town.client.chat_postMessage(channel=town.room.id, text="x")["ts"] for _ in range(3)]
    assert stamps == ["1796212800.000000", "1796212800.000001", "1796212800.000002"]


def test_a_post_to_a_person_opens_the_dm_and_returns_its_id(town) -> None:
    posted = town.client.chat_postMessage(channel=town.ada.id, text="hello")
    assert posted["channel"].startswith("D")
    assert town.client.conversations_open(users=town.ada.id)["channel"]["id"] == posted["channel"]
    town.client.chat_update(channel=posted["channel"], ts=posted["ts"], text="changed")
    assert [m.text for m in town.slack.dms(town.ada.id)] == ["changed"]
    update = lambda: town.client.chat_update(channel=town.ada.id, ts=posted["ts"], text="x")  # noqa: E731
    assert error_of(update) == "channel_not_found"


def test_an_update_with_text_alone_removes_the_blocks(town) -> None:
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "8 a100"}}]
    posted = town.client.chat_postMessage(channel=town.room.id, text="8 a100", blocks=blocks)
    town.client.chat_update(channel=town.room.id, ts=posted["ts"], text="over")
    message = town.slack.messages(town.room.id)[0]
    assert (message.text, message.blocks) == ("over", ())
    assert message.edited_ts is not None


def test_replies_stay_out_of_the_history_and_in_their_thread(town) -> None:
    parent = town.client.chat_postMessage(channel=town.room.id, text="card")
    reply = town.client.chat_postMessage(channel=town.room.id, text="approved", thread_ts=parent["ts"])
    nested = town.client.chat_postMessage(channel=town.room.id, text="again", thread_ts=reply["ts"])
    history = town.client.conversations_history(channel=town.room.id)["messages"]
    assert [m["text"] for m in history] == ["card"]
    assert (history[0]["reply_count"], history[0]["latest_reply"]) == (2, nested["ts"])
    replies = town.client.conversations_replies(channel=town.room.id, ts=parent["ts"])["messages"]
    assert [m["text"] for m in replies] == ["card", "approved", "again"]
    assert replies[1]["thread_ts"] == parent["ts"]


def test_an_answer_to_a_message_that_is_gone_is_an_ordinary_post(town) -> None:
    room = town.room.id
    parent = town.client.chat_postMessage(channel=room, text="card")["ts"]
    town.client.chat_postMessage(channel=room, text="approved", thread_ts=parent)
    town.client.chat_delete(channel=room, ts=parent)
    assert [m.text for m in town.slack.messages(room)] == ["approved"]
    assert error_of(lambda: town.client.conversations_replies(channel=room, ts=parent)) == "thread_not_found"
    late = town.client.chat_postMessage(channel=room, text="late", thread_ts=parent)
    assert "thread_ts" not in late["message"]
    history = town.client.conversations_history(channel=room)["messages"]
    assert [m["text"] for m in history] == ["late"]


def test_history_comes_newest_first_in_pages_and_between_two_instants(town) -> None:
    stamps = []
    for number in range(5):
        stamps.append(town.client.chat_postMessage(channel=town.room.id, text=str(number))["ts"])
        town.clock.advance(minutes=1)

    def texts(**args: Any) -> list[str]:
        answer = town.client.conversations_history(channel=town.room.id, **args)
        return [m["text"] for m in answer["messages"]]

    assert texts() == ["4", "3", "2", "1", "0"]
    assert texts(oldest=stamps[1], latest=stamps[3]) == ["2"]
    assert texts(oldest=stamps[1], latest=stamps[3], inclusive=True) == ["3", "2", "1"]
    assert texts(latest=stamps[2], inclusive=True, limit=1) == ["2"]
    first = town.client.conversations_history(channel=town.room.id, limit=2)
    assert first["has_more"]
    assert texts(limit=2, cursor=first["response_metadata"]["next_cursor"]) == ["2", "1"]
    assert [len(page["messages"]) for page in town.client.conversations_history(channel=town.room.id, limit=2)] == [
        2,
        2,
        1,
    ]


def test_the_content_of_a_message_is_refused_by_code(town) -> None:
    def code(**content: Any) -> str:
        return error_of(lambda: town.client.api_call("chat.postMessage", json={"channel": town.room.id, **content}))

    assert code() == "no_text"
    assert code(text="  ") == "no_text"
    assert code(text="x" * 40_001) == "msg_too_long"
    assert code(text="x", blocks="nonsense") == "invalid_blocks_format"
    assert code(text="x", blocks=["nonsense"]) == "invalid_blocks_format"
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2700}}
    assert code(text="x", blocks=[section] * 5) == "msg_blocks_too_long"
    assert code(text="x", metadata="nonsense") == "invalid_metadata_format"
    assert code(text="x", metadata={"event_type": "x"}) == "invalid_metadata_schema"
    assert town.slack.messages(town.room.id) == ()


def test_invalid_blocks_name_the_limit_and_the_place(town) -> None:
    blocks = [{"type": "divider"}, {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]
    refused = refusal(lambda: town.client.chat_postMessage(channel=town.room.id, text="x", blocks=blocks))
    sentence = "must be less than 151 characters [json-pointer:/blocks/1/text/text]"
    assert refused.response["error"] == "invalid_blocks"
    assert refused.response["errors"] == [sentence]
    assert refused.response["response_metadata"]["messages"] == [f"[ERROR] {sentence}"]


def test_where_the_bot_may_not_post(town) -> None:
    elsewhere = town.slack.add_channel("elsewhere", town.ada.id, with_bot=False)
    secret = town.slack.add_channel("secret", town.ada.id, with_bot=False, is_private=True)
    town.slack.change_channel(town.room.id, is_archived=True)
    leaver = town.slack.add_person("leaver", deleted=True)

    def code(channel: str) -> str:
        return error_of(lambda: town.client.chat_postMessage(channel=channel, text="x"))

    assert code("C404") == "channel_not_found"
    assert code("gpu") == "channel_not_found"
    assert code("U404") == "channel_not_found"
    assert code(elsewhere.id) == "not_in_channel"
    assert code(secret.id) == "channel_not_found"
    assert code(town.room.id) == "is_archived"
    assert code(leaver.id) == "user_disabled"
    assert code(town.slack.bot_user_id) == "cannot_dm_bot"


def test_a_public_channel_is_open_with_the_public_scope(make_town) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES | {"chat:write.public"}, pacing=False))
    elsewhere = town.slack.add_channel("elsewhere", with_bot=False)
    assert town.client.chat_postMessage(channel=elsewhere.id, text="x")["ok"]


def test_messages_that_cannot_be_changed(town) -> None:
    theirs = town.slack.say(town.ada.id, town.room.id, "mine")
    whisper = town.client.chat_postEphemeral(channel=town.room.id, user=town.ada.id, text="x")["message_ts"]
    room = town.room.id
    assert error_of(lambda: town.client.chat_update(channel=room, ts=theirs.ts, text="x")) == "cant_update_message"
    assert error_of(lambda: town.client.chat_delete(channel=room, ts=theirs.ts)) == "cant_delete_message"
    assert error_of(lambda: town.client.chat_update(channel=room, ts=whisper, text="x")) == "message_not_found"
    assert error_of(lambda: town.client.chat_update(channel=room, ts="1.0", text="x")) == "message_not_found"
    mine = town.client.chat_postMessage(channel=room, text="x")["ts"]
    assert error_of(lambda: town.client.chat_update(channel=room, ts=mine, text="x" * 4001)) == "msg_too_long"
    town.client.chat_delete(channel=room, ts=mine)
    assert error_of(lambda: town.client.chat_delete(channel=room, ts=mine)) == "message_not_found"
    kept = town.client.chat_postMessage(channel=room, text="x")["ts"]
    town.slack.change_channel(room, is_archived=True)
    assert error_of(lambda: town.client.chat_update(channel=room, ts=kept, text="x")) == "is_inactive"


def test_an_update_keeps_the_metadata_unless_it_brings_its_own(town) -> None:
    first, second = ({"event_type": "notice", "event_payload": {"id": n}} for n in (1, 2))
    ts = town.client.chat_postMessage(channel=town.room.id, text="x", metadata=first)["ts"]

    def after(**more: Any) -> object:
        town.client.api_call("chat.update", json={"channel": town.room.id, "ts": ts, "text": "y", **more})
        return town.slack.messages(town.room.id)[0].metadata

    assert after() == first
    assert after(metadata=second) == second
    assert after(metadata={}) is None


def test_an_ephemeral_needs_its_reader_in_the_channel(town) -> None:
    def whisper(user: str) -> Callable[[], object]:
        return lambda: town.client.chat_postEphemeral(channel=town.room.id, user=user, text="x")

    assert error_of(whisper(town.guest.id)) == "user_not_in_channel"
    assert error_of(whisper("U404")) == "user_not_found"
    town.slack.change_channel(town.room.id, members=frozenset({town.ada.id}))
    assert error_of(whisper(town.ada.id)) == "not_in_channel"


def test_a_permalink_leads_to_a_message(town) -> None:
    posted = town.client.chat_postMessage(channel=town.room.id, text="x")
    link = town.client.chat_getPermalink(channel=town.room.id, message_ts=posted["ts"])["permalink"]
    assert link == f"https://simulated.slack.com/archives/{town.room.id}/p{posted['ts'].replace('.', '')}"


def test_people(town) -> None:
    stranger = town.slack.add_person("eve", team_id="T0ELSEWHERE", is_stranger=True, email="eve@elsewhere.example")
    ada = town.client.users_info(user=town.ada.id, include_locale=True)["user"]
    assert (ada["tz"], ada["tz_offset"], ada["locale"]) == ("Europe/Berlin", 3600, "de-DE")
    assert ada["profile"]["email"] == "ada@example.com"
    guest = town.client.users_info(user=town.guest.id)["user"]
    assert guest["is_restricted"]
    assert "locale" not in guest
    eve = town.client.users_info(user=stranger.id)["user"]
    assert (eve["is_stranger"], eve["team_id"]) == (True, "T0ELSEWHERE")
    assert [len(page["members"]) for page in town.client.users_list(limit=2)] == [2, 2, 1]
    assert town.client.users_lookupByEmail(email="ADA@example.com")["user"]["id"] == town.ada.id
    assert error_of(lambda: town.client.users_info(user="U404")) == "user_not_found"
    assert error_of(lambda: town.client.users_lookupByEmail(email="no@example.com")) == "users_not_found"


def test_without_the_scope_no_email_is_told(make_town) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {"users:read.email"}, pacing=False))
    assert "email" not in town.client.users_info(user=town.ada.id)["user"]["profile"]


def test_user_groups(town) -> None:
    group = town.slack.add_group("gpu-admins", town.ada.id, town.bob.id)
    town.slack.change_person(town.bob.id, deleted=True)
    listed = town.client.usergroups_list(include_users=True)["usergroups"]
    assert [(g["id"], g["handle"]) for g in listed] == [(group.id, "gpu-admins")]
    assert town.client.usergroups_users_list(usergroup=group.id)["users"] == [town.ada.id]
    town.slack.change_group(group.id, is_disabled=True)
    assert town.client.usergroups_users_list(usergroup=group.id)["users"] == []
    assert error_of(lambda: town.client.usergroups_users_list(usergroup="S404")) == "no_such_subteam"


def test_an_organisation_wide_token_must_name_the_workspace(make_town) -> None:
    town = make_town(Setup(enterprise_id="E0ORG", is_enterprise_install=True, pacing=False))
    assert error_of(town.client.usergroups_list) == "missing_argument"
    assert error_of(lambda: town.client.usergroups_list(team_id="T0ELSEWHERE")) == "team_access_not_granted"
    assert town.client.usergroups_list(team_id=town.slack.team_id)["usergroups"] == []
    assert town.client.auth_test()["enterprise_id"] == "E0ORG"


def test_channels_are_listed_by_kind(town) -> None:
    town.slack.add_channel("ours", is_private=True)
    town.slack.add_channel("theirs", is_private=True, with_bot=False)
    town.slack.change_channel(town.slack.add_channel("old").id, is_archived=True)
    town.slack.open_dm(town.ada.id)

    def listed(**args: Any) -> list[str]:
        return [c.get("name", "dm") for c in town.client.conversations_list(**args)["channels"]]

    assert listed() == ["gpu", "old"]
    assert listed(exclude_archived=True) == ["gpu"]
    assert listed(types="private_channel,im") == ["ours", "dm"]
    assert error_of(lambda: town.client.conversations_list(types="secret")) == "invalid_types"
    info = town.client.conversations_info(channel=town.room.id)["channel"]
    assert (info["name"], info["is_member"], info["is_archived"]) == ("gpu", True, False)


def test_a_trigger_opens_one_view_and_only_for_three_seconds(town) -> None:
    used, late = trigger(town), trigger(town)
    assert town.client.views_open(trigger_id=used, view=MODAL)["view"]["id"].startswith("V")
    assert error_of(lambda: town.client.views_open(trigger_id=used, view=MODAL)) == "exchanged_trigger_id"
    assert error_of(lambda: town.client.views_open(trigger_id="1.2.3", view=MODAL)) == "invalid_trigger_id"
    town.clock.advance(seconds=3.001)
    assert error_of(lambda: town.client.views_open(trigger_id=late, view=MODAL)) == "expired_trigger_id"
    early = trigger(town)
    town.slack.expire_triggers()
    assert error_of(lambda: town.client.views_open(trigger_id=early, view=MODAL)) == "expired_trigger_id"


def test_three_modals_lie_on_top_of_each_other_and_no_more(town) -> None:
    assert error_of(lambda: town.client.views_push(trigger_id=trigger(town), view=MODAL)) == "not_found"
    town.client.views_open(trigger_id=trigger(town), view=MODAL)
    for _ in range(2):
        town.client.views_push(trigger_id=trigger(town), view=MODAL)
    assert error_of(lambda: town.client.views_push(trigger_id=trigger(town), view=MODAL)) == "push_limit_reached"


def test_a_view_is_updated_by_either_id_and_by_hash(town) -> None:
    view = MODAL | {"external_id": "draft-1"}
    opened = town.client.views_open(trigger_id=trigger(town), view=view)["view"]
    again = town.client.views_update(external_id="draft-1", hash=opened["hash"], view=view)["view"]
    assert again["id"] == opened["id"]
    stale = {"view_id": opened["id"], "hash": opened["hash"], "view": view}
    assert error_of(lambda: town.client.views_update(**stale)) == "hash_conflict"
    assert error_of(lambda: town.client.views_update(view_id="V404", view=view)) == "not_found"
    other = trigger(town, town.bob.id)
    assert error_of(lambda: town.client.views_open(trigger_id=other, view=view)) == "duplicate_external_id"
    town.slack.close_view(town.ada.id)
    assert error_of(lambda: town.client.views_update(view_id=opened["id"], view=view)) == "not_found"


def test_a_view_that_breaks_the_limits_is_invalid_arguments_and_keeps_the_trigger(town) -> None:
    once = trigger(town)
    wrong = MODAL | {"title": {"type": "plain_text", "text": "x" * 25}}
    refused = refusal(lambda: town.client.views_open(trigger_id=once, view=wrong))
    assert refused.response["error"] == "invalid_arguments"
    messages = ["[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"]
    assert refused.response["response_metadata"]["messages"] == messages
    assert town.client.views_open(trigger_id=once, view=MODAL)["ok"]


def test_a_home_is_published_with_its_hash(town) -> None:
    home = {"type": "home", "blocks": []}
    first = town.client.views_publish(user_id=town.ada.id, view=home)["view"]
    second = town.client.views_publish(user_id=town.ada.id, view=home, hash=first["hash"])["view"]
    assert second["id"] == first["id"]
    stale = lambda: town.client.views_publish(user_id=town.ada.id, view=home, hash=first["hash"])  # noqa: E731
    assert error_of(stale) == "hash_conflict"
    assert error_of(lambda: town.client.views_publish(user_id="U404", view=home)) == "invalid_arguments"


def test_a_file_goes_through_the_three_steps(town) -> None:
    town.client.files_upload_v2(
        channel=town.room.id, filename="bill.csv", content="team,hours\n", title="Bill", initial_comment="The week"
    )
    message = town.slack.messages(town.room.id)[0]
    assert message.text == "The week"
    assert [(f.title, f.content) for f in message.files] == [("Bill", b"team,hours\n")]
    assert [call.method for call in town.slack.calls()] == [
        "files.getUploadURLExternal",
        "upload",
        "files.completeUploadExternal",
    ]


def test_files_that_do_not_arrive(town) -> None:
    half = town.client.files_getUploadURLExternal(filename="a.csv", length=10)
    listed = [{"id": half["file_id"], "title": "a"}]

    def complete(channel: str) -> Callable[[], object]:
        return lambda: town.client.files_completeUploadExternal(files=listed, channel_id=channel)

    assert error_of(complete(town.room.id)) == "file_not_found"
    assert error_of(complete("gpu")) == "channel_not_found"
    assert error_of(complete(town.ada.id)) == "channel_not_found"
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(half["upload_url"], data=b"short")
    assert caught.value.read() == b"invalid_length"
    caught.value.close()


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


def test_every_method_is_in_the_journal_with_its_answer(town) -> None:
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
