"""conversations.*: history, replies, open, info, list."""

from collections.abc import Mapping, Sequence

from bot.demo.slack.entities import Channel, Json, Message
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call, Method, next_page
from bot.demo.slack.pacing import TIER_2, TIER_3
from bot.demo.slack.wire import channel_json, message_json, with_replies

_KINDS = ("public_channel", "private_channel", "im", "mpim")


def history(call: Call) -> Json:
    channel = _readable(call, "history")
    posts = [m for m in call.world.timeline.in_channel(channel.id) if not m.is_reply or m.broadcast]
    return _window(call, list(reversed(_between(call, posts))))


def replies(call: Call) -> Json:
    channel = _readable(call, "history")
    thread = call.world.timeline.thread(channel.id, call.required("ts", "thread_not_found"))
    if not thread:
        raise SlackError("thread_not_found")
    parent, answers = thread[0], thread[1:]
    return _window(call, [parent, *_between(call, answers)])


def open_dm(call: Call) -> Json:
    world = call.world
    if call.text("channel"):
        channel = world.workspace.channel(call.text("channel"))
        known = True
    else:
        users = [user for user in call.required("users", "users_list_not_supplied").split(",") if user]
        if len(users) != 1:
            raise SlackError("method_not_supported_for_channel_type")
        known = world.workspace.dm_of(users[0]) is not None
        channel = world.workspace.open_dm(users[0])
    found = channel_json(channel, world) if call.flag("return_im") else {"id": channel.id}
    return {"channel": found} | ({"no_op": True, "already_open": True} if known else {})


def info(call: Call) -> Json:
    channel = call.world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    call.need_scope(_scope(channel, "read"))
    return {"channel": channel_json(channel, call.world)}


def list_channels(call: Call) -> Json:
    call.need_team()
    kinds = [kind.strip() for kind in call.text("types", "public_channel").split(",")]
    if any(kind not in _KINDS for kind in kinds):
        raise SlackError("invalid_types")
    for kind in kinds:
        call.need_scope(_KIND_SCOPES[kind])
    world = call.world
    found = [
        channel
        for channel in world.workspace.channels.values()
        if _kind(channel) in kinds
        and (not channel.is_private or world.bot.id in channel.members)
        and not (channel.is_archived and call.flag("exclude_archived"))
    ]
    page, cursor = call.page(found)
    return {"channels": [channel_json(channel, world) for channel in page], **next_page(cursor)}


_KIND_SCOPES = {
    "public_channel": "channels:read",
    "private_channel": "groups:read",
    "im": "im:read",
    "mpim": "mpim:read",
}


def _kind(channel: Channel) -> str:
    if channel.is_dm:
        return "im"
    return "private_channel" if channel.is_private else "public_channel"


def _scope(channel: Channel, right: str) -> str:
    family = {"im": "im", "private_channel": "groups", "public_channel": "channels"}[_kind(channel)]
    return f"{family}:{right}"


def _readable(call: Call, right: str) -> Channel:
    channel = call.world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    call.need_scope(_scope(channel, right))
    if call.world.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _between(call: Call, messages: Sequence[Message]) -> list[Message]:
    oldest, latest = _instant(call, "oldest", 0.0), _instant(call, "latest", float("inf"))
    if call.flag("inclusive"):
        return [m for m in messages if oldest <= float(m.ts) <= latest]
    return [m for m in messages if oldest < float(m.ts) < latest]


def _instant(call: Call, name: str, default: float) -> float:
    value = call.text(name)
    if not value:
        return default
    try:
        return float(value)
    except ValueError:
        raise SlackError(f"invalid_ts_{name}") from None


def _window(call: Call, messages: Sequence[Message]) -> Json:
    page, cursor = call.page(messages, most=999)
    with_metadata = call.flag("include_all_metadata")
    found = []
    for message in page:
        shape = message_json(message, call.world, with_metadata=with_metadata)
        if not message.is_reply:
            shape = with_replies(shape, call.world.timeline.thread(message.channel, message.ts))
        found.append(shape)
    return {"messages": found, "has_more": bool(cursor), **(next_page(cursor) if cursor else {})}


METHODS: Mapping[str, Method] = {
    "conversations.history": Method(history, (), TIER_3),
    "conversations.replies": Method(replies, (), TIER_3),
    "conversations.open": Method(open_dm, ("im:write",), TIER_3),
    "conversations.info": Method(info, (), TIER_3),
    "conversations.list": Method(list_channels, (), TIER_2),
}
