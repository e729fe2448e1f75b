"""How things look in Slack's JSON: messages, users, channels, groups, views, files. Used by methods and payloads."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from bot.demo.slack.entities import Channel, Json, Message, Person, SharedFile, UserGroup, View
from bot.demo.slack.stamps import to_ts
from bot.demo.slack.world import World


def message_json(message: Message, world: World, *, with_metadata: bool = False) -> Json:
    setup = world.setup
    found: Json = {
        "type": "message",
        "user": message.author,
        "ts": message.ts,
        "text": message.text,
        "team": setup.team_id,
    }
    if message.author == setup.bot_user_id:
        found |= {"bot_id": setup.bot_id, "app_id": setup.app_id}
    if message.blocks:
        found["blocks"] = list(message.blocks)
    if message.attachments:
        found["attachments"] = list(message.attachments)
    if message.thread_ts is not None:
        found["thread_ts"] = message.thread_ts
        thread = world.timeline.thread(message.channel, message.thread_ts)
        if thread:
            found["parent_user_id"] = thread[0].author
    if message.edited_ts is not None:
        found["edited"] = {"user": message.author, "ts": message.edited_ts}
    if message.files:
        found["files"] = [file_json(file, world) for file in message.files]
    if message.metadata is not None and with_metadata:
        found["metadata"] = message.metadata
    return found


def with_replies(found: Json, thread: Sequence[Message]) -> Json:
    """A parent's JSON with what Slack adds once there are replies."""
    replies = thread[1:]
    if not replies:
        return found
    users = sorted({reply.author for reply in replies})
    return found | {
        "thread_ts": thread[0].ts,
        "reply_count": len(replies),
        "reply_users": users,
        "reply_users_count": len(users),
        "latest_reply": replies[-1].ts,
    }


def person_json(person: Person, world: World, *, with_email: bool, with_locale: bool = False) -> Json:
    offset = world.clocks.now().astimezone(ZoneInfo(person.tz)).utcoffset()
    profile: Json = {"real_name": person.real_name, "display_name": person.name, "team": person.team_id}
    if with_email and person.email is not None:
        profile["email"] = person.email
    found: Json = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "real_name": person.real_name,
        "deleted": person.deleted,
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": int(offset.total_seconds()) if offset is not None else 0,
        "profile": profile,
        "is_bot": person.is_bot,
        "is_restricted": person.is_restricted,
        "is_ultra_restricted": person.is_ultra_restricted,
        "is_admin": False,
        "is_owner": False,
        "is_app_user": False,
    }
    if person.is_stranger:
        found["is_stranger"] = True
    if person.enterprise_id is not None:
        found["enterprise_user"] = {"id": person.id, "enterprise_id": person.enterprise_id}
    if with_locale:
        found["locale"] = person.locale
    return found


def channel_json(channel: Channel, world: World) -> Json:
    if channel.is_dm:
        return {"id": channel.id, "is_im": True, "user": channel.dm_with, "is_archived": channel.is_archived}
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "is_member": world.bot.id in channel.members,
        "num_members": len(channel.members),
        "context_team_id": world.setup.team_id,
    }


def group_json(group: UserGroup, world: World, *, with_users: bool, with_count: bool) -> Json:
    found: Json = {
        "id": group.id,
        "team_id": world.setup.team_id,
        "is_usergroup": True,
        "handle": group.handle,
        "name": group.name,
        "description": "",
        "date_delete": 1 if group.is_disabled else 0,
    }
    if with_users:
        found["users"] = list(group.members)
    if with_count:
        found["user_count"] = len(group.members)
    return found


def view_json(view: View, world: World) -> Json:
    body = {"private_metadata": "", "callback_id": "", "external_id": "", "clear_on_close": False} | view.body
    return {
        "close": None,
        "submit": None,
        "notify_on_close": False,
        **body,
        "id": view.id,
        "team_id": world.setup.team_id,
        "state": {"values": {block: dict(actions) for block, actions in view.state.items()}},
        "hash": view.hash,
        "previous_view_id": view.previous_id,
        "root_view_id": view.root_id,
        "app_id": world.setup.app_id,
        "app_installed_team_id": world.setup.team_id,
        "bot_id": world.setup.bot_id,
    }


def file_json(file: SharedFile, world: World) -> Json:
    return {
        "id": file.id,
        "created": int(float(to_ts(world.clocks.now()))),
        "name": file.name,
        "title": file.title,
        "size": file.length,
        "mode": "hosted",
        "url_private": f"{world.site}/files/{file.id}",
        "permalink": f"{world.site}/files/{file.id}",
    }
