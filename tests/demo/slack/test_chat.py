"""chat.*: what a post, an update and a whisper do, and each refusal by Slack's own code."""

from collections.abc import Callable
from typing import Any

from bot.demo.slack import DEFAULT_SCOPES, Setup


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


def test_a_post_to_a_person_opens_the_dm_and_returns_its_id(town, error_of) -> None:
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


def test_the_content_of_a_message_is_refused_by_code(town, error_of) -> None:
    def code(**content: Any) -> str:
        return error_of(lambda: town.client.api_call("chat.postMessage", json={"channel": town.room.id, **content}))

    assert code() == "no_text"
    assert code(text="  ") == "no_text"
    assert code(text="x" * 40_001) == "msg_too_long"
    assert code(text="x", blocks="nonsense") == "invalid_blocks_format"
    assert code(text="x", blocks=["nonsense"]) == "invalid_blocks_format"
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2700}}
    assert code(text="x", blocks=[section] * 5) == "msg_blocks_too_long"
    assert code(text="x", attachments=["nonsense"]) == "invalid_attachments"
    assert code(text="x", attachments=[{"text": "x"}] * 101) == "too_many_attachments"
    assert code(text="x", metadata="nonsense") == "invalid_metadata_format"
    assert code(text="x", metadata={"event_type": "x"}) == "invalid_metadata_schema"
    assert town.slack.messages(town.room.id) == ()


def test_invalid_blocks_name_the_limit_and_the_place(town, refusal) -> None:
    blocks = [{"type": "divider"}, {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]
    refused = refusal(lambda: town.client.chat_postMessage(channel=town.room.id, text="x", blocks=blocks))
    sentence = "must be less than 151 characters [json-pointer:/blocks/1/text/text]"
    assert refused.response["error"] == "invalid_blocks"
    assert refused.response["errors"] == [sentence]
    assert refused.response["response_metadata"]["messages"] == [f"[ERROR] {sentence}"]


def test_where_the_bot_may_not_post(town, error_of) -> None:
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


def test_messages_that_cannot_be_changed(town, error_of) -> None:
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


def test_an_ephemeral_needs_its_reader_in_the_channel(town, error_of) -> None:
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
