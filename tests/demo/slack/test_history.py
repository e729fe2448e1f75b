"""conversations.*: threads, pages, instants, kinds of channels, and the scope each of them needs."""

from typing import Any

import pytest

from bot.demo.slack import DEFAULT_SCOPES, Setup


@pytest.mark.parametrize(
    ("private", "scope"), [(False, "channels:history"), (True, "groups:history")], ids=["public", "private"]
)
def test_history_needs_the_scope_of_the_kind_of_channel(make_town, private: bool, scope: str, refusal) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {scope}, pacing=False))
    channel = town.slack.add_channel("other", is_private=private)
    refused = refusal(lambda: town.client.conversations_history(channel=channel.id))
    assert (refused.response["error"], refused.response["needed"]) == ("missing_scope", scope)


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


def test_an_answer_to_a_message_that_is_gone_is_an_ordinary_post(town, error_of) -> None:
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


def test_channels_are_listed_by_kind(town, error_of) -> None:
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
