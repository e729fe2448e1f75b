"""files.*: the two ends of an upload; the bytes themselves come to `web_api` in between."""

from collections.abc import Mapping
from typing import Any

from bot.demo.slack.entities import Json, SharedFile
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.pacing import TIER_4
from bot.demo.slack.wire import file_json


def get_upload_url(call: Call) -> Json:
    try:
        length = int(call.required("length"))
    except ValueError:
        raise SlackError("invalid_arguments") from None
    if length <= 0:
        raise SlackError("invalid_arguments")
    file = call.world.uploads.announce(call.required("filename"), length)
    return {"upload_url": f"{call.world.site}/upload/v1/{file.id}", "file_id": file.id}


def complete_upload(call: Call) -> Json:
    world = call.world
    listed = call.structure("files", "invalid_arguments")
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise SlackError("invalid_arguments")
    channels = [c for c in (call.text("channel_id") or call.text("channels")).split(",") if c]
    for channel in channels:
        _may_share(call, channel)
    files = tuple(_completed(call, each, channels) for each in listed)
    for channel in channels:
        thread_ts = call.text("thread_ts") or None
        world.timeline.post(channel, world.bot.id, text=call.text("initial_comment"), files=files, thread_ts=thread_ts)
    return {"files": [file_json(file, world) for file in files]}


def _completed(call: Call, listed: Mapping[str, Any], channels: list[str]) -> SharedFile:
    channel = channels[0] if channels else None
    return call.world.uploads.complete(str(listed.get("id")), listed.get("title"), channel)


def _may_share(call: Call, channel_id: str) -> None:
    channel = call.world.workspace.seen_by_bot(channel_id)
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.world.bot.id not in channel.members:
        raise SlackError("not_in_channel")


METHODS: Mapping[str, Method] = {
    "files.getUploadURLExternal": Method(get_upload_url, ("files:write",), TIER_4),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), TIER_4),
}
