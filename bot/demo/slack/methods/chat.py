"""chat.*: post, update, whisper, delete, permalink."""

from collections.abc import Mapping
from typing import Any

from bot.demo.slack import limits
from bot.demo.slack.entities import Channel, Json, Message
from bot.demo.slack.errors import SlackError, invalid
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.pacing import POSTING, TIER_3, TIER_4, tier
from bot.demo.slack.wire import message_json


def post_message(call: Call) -> Json:
    world = call.world
    channel = _destination(call)
    content = read_content(call, limits.MESSAGE_TEXT)
    message = world.timeline.post(
        channel.id,
        world.bot.id,
        thread_ts=call.text("thread_ts") or None,
        broadcast=call.flag("reply_broadcast"),
        metadata=_metadata(call),
        **content,
    )
    return _answer(call, message)


def update(call: Call) -> Json:
    world = call.world
    channel = world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    message = world.timeline.find(channel.id, call.required("ts", "message_not_found"))
    if message.author != world.bot.id:
        raise SlackError("cant_update_message")
    if channel.is_archived:
        raise SlackError("is_inactive")
    content = read_content(call, limits.UPDATE_TEXT)
    if "metadata" in call.args:
        content["metadata"] = _metadata(call)
    return _answer(call, world.timeline.edit(message, **content))


def post_ephemeral(call: Call) -> Json:
    world = call.world
    channel = world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    user = world.workspace.person(call.required("user", "user_not_found"))
    if channel.is_archived:
        raise SlackError("is_archived")
    if world.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    if user.id not in channel.members:
        raise SlackError("user_not_in_channel")
    message = world.timeline.whisper(user.id, channel.id, world.bot.id, **read_content(call, limits.MESSAGE_TEXT))
    return {"message_ts": message.ts}


def delete(call: Call) -> Json:
    world = call.world
    channel = world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    message = world.timeline.find(channel.id, call.required("ts", "message_not_found"))
    if message.author != world.bot.id:
        raise SlackError("cant_delete_message")
    world.timeline.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Json:
    world = call.world
    channel = world.workspace.seen_by_bot(call.required("channel", "channel_not_found"))
    message = world.timeline.find(channel.id, call.required("message_ts", "message_not_found"))
    link = f"https://{world.setup.team_domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def read_content(call: Call, longest: int) -> dict[str, Any]:
    """Text, blocks and attachments of a message, checked. Also for what comes to a response URL.

    Errors: `no_text`, `msg_too_long`, `invalid_blocks_format`, `invalid_blocks`, `msg_blocks_too_long`.
    """
    text = call.text("text")
    blocks = limits.without_nulls(call.structure("blocks", "invalid_blocks_format")) or []
    attachments = call.structure("attachments", "invalid_attachments") or []
    if not text.strip() and not blocks and not attachments:
        raise SlackError("no_text")
    if len(text) > longest:
        raise SlackError("msg_too_long")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SlackError("invalid_blocks_format")
    if problems := limits.check_message(blocks):
        raise invalid("invalid_blocks", problems)
    if limits.blocks_text(blocks) > limits.MESSAGE_BLOCKS_TEXT:
        raise SlackError("msg_blocks_too_long")
    if not isinstance(attachments, list) or not all(isinstance(each, dict) for each in attachments):
        raise SlackError("invalid_attachments")
    if len(attachments) > limits.MESSAGE_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    return {"text": text, "blocks": blocks, "attachments": tuple(attachments)}


def _destination(call: Call) -> Channel:
    """Where a post goes: a channel the bot may post in, or a person's DM, opened by the post itself."""
    workspace, scopes = call.world.workspace, call.world.setup.scopes
    target = call.required("channel", "channel_not_found")
    if target[0] in "UW" and target in workspace.people:
        return workspace.open_dm(target)
    channel = workspace.seen_by_bot(target)
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.world.bot.id not in channel.members and "chat:write.public" not in scopes:
        raise SlackError("not_in_channel")
    return channel


def _metadata(call: Call) -> Json | None:
    metadata = call.structure("metadata", "invalid_metadata_format")
    if metadata is None or metadata == {}:
        return None
    if problems := limits.check_metadata(metadata):
        raise invalid("invalid_metadata_schema", problems)
    found: Json = metadata
    return found


def _answer(call: Call, message: Message) -> Json:
    found = message_json(message, call.world, with_metadata=True)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": found}


METHODS: Mapping[str, Method] = {
    "chat.postMessage": Method(post_message, ("chat:write",), POSTING),
    "chat.update": Method(update, ("chat:write",), TIER_3),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), TIER_4),
    "chat.delete": Method(delete, ("chat:write",), TIER_3),
    "chat.getPermalink": Method(get_permalink, (), tier(600)),
}
