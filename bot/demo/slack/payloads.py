"""The payloads Slack sends to an app: commands, clicks, submissions, shortcuts, events. Called with the lock held."""

import re

from bot.demo.slack import forms
from bot.demo.slack.entities import Channel, Json, Message, Person, View
from bot.demo.slack.stamps import to_ts
from bot.demo.slack.wire import message_json, view_json
from bot.demo.slack.world import World

_NAME = re.compile(r"(?<![\w&])([@#])([\w][\w.\-]*)")


def slash_command(world: World, person: Person, channel: Channel, command: str, text: str) -> Json:
    setup = world.setup
    payload: Json = {
        "token": "deprecated",
        "team_id": person.team_id,
        "team_domain": setup.team_domain,
        "channel_id": channel.id,
        "channel_name": "privategroup" if channel.is_private else channel.name,
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": typed(world, text),
        "api_app_id": setup.app_id,
        "is_enterprise_install": str(setup.is_enterprise_install).lower(),
        "response_url": _response_url(world, person, channel.id),
        "trigger_id": world.triggers.issue(person.id),
    }
    if _enterprise(world, person) is not None:
        payload |= {"enterprise_id": _enterprise(world, person), "enterprise_name": "Simulated Organisation"}
    return payload


def typed(world: World, text: str) -> str:
    """Typed text as Slack passes it on: escaped, and with names turned into mentions if the app asks for that."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _NAME.sub(lambda match: _mention(world, *match.groups()), text) if world.setup.should_escape else text


def block_actions(world: World, person: Person, where: Message | View, action: Json) -> Json:
    """A click. `where` is the message or view as the person sees it."""
    payload = _interaction(world, person, "block_actions") | {
        "trigger_id": world.triggers.issue(person.id),
        "actions": [action | {"action_ts": to_ts(world.clocks.now())}],
    }
    if isinstance(where, View):
        return payload | _in_view(world, where)
    channel = world.workspace.channel(where.channel)
    is_ephemeral = where.only_for is not None
    payload |= {
        "container": {
            "type": "message",
            "message_ts": where.ts,
            "channel_id": channel.id,
            "is_ephemeral": is_ephemeral,
        },
        "channel": {"id": channel.id, "name": channel.name},
        "state": {"values": forms.state(where.blocks, {})},
        "response_url": _response_url(world, person, channel.id, where),
    }
    if not is_ephemeral:
        payload["message"] = message_json(where, world)
    return payload


def view_submission(world: World, view: View) -> Json:
    person = world.workspace.person(view.user)
    return _interaction(world, person, "view_submission") | {
        "trigger_id": world.triggers.issue(person.id),
        "view": _seen(world, view),
        "response_urls": [],
    }


def view_closed(world: World, view: View, *, is_cleared: bool) -> Json:
    person = world.workspace.person(view.user)
    closed = _interaction(world, person, "view_closed")
    return closed | {"view": _seen(world, view), "is_cleared": is_cleared}


def block_suggestion(world: World, person: Person, where: Message | View, block: Json, element: Json) -> Json:
    """What an external select asks for while the person types; the caller adds the `value` typed."""
    payload = _interaction(world, person, "block_suggestion")
    payload |= {"action_id": element["action_id"], "block_id": block["block_id"]}
    if isinstance(where, View):
        return payload | _in_view(world, where)
    return payload | {"channel": {"id": where.channel}, "message": message_json(where, world)}


def shortcut(world: World, person: Person, callback_id: str) -> Json:
    return _interaction(world, person, "shortcut") | {
        "callback_id": callback_id,
        "trigger_id": world.triggers.issue(person.id),
        "action_ts": to_ts(world.clocks.now()),
    }


def message_shortcut(world: World, person: Person, message: Message, callback_id: str) -> Json:
    channel = world.workspace.channel(message.channel)
    return _interaction(world, person, "message_action") | {
        "callback_id": callback_id,
        "trigger_id": world.triggers.issue(person.id),
        "action_ts": to_ts(world.clocks.now()),
        "response_url": _response_url(world, person, channel.id),
        "message_ts": message.ts,
        "channel": {"id": channel.id, "name": channel.name},
        "message": message_json(message, world),
    }


def event(world: World, person: Person, content: Json) -> Json:
    """An Events API callback around `content`, the inner event."""
    setup = world.setup
    enterprise = _enterprise(world, person)
    now = world.clocks.now()
    return {
        "token": "deprecated",
        "team_id": person.team_id,
        **({"enterprise_id": enterprise} if enterprise else {}),
        "api_app_id": setup.app_id,
        "event": {**content, "event_ts": to_ts(now)},
        "type": "event_callback",
        "event_id": f"{world.ids.next('Ev')}{setup.run}",
        "event_time": int(now.timestamp()),
        "authorizations": [
            {
                "enterprise_id": enterprise,
                "team_id": setup.team_id,
                "user_id": setup.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": setup.is_enterprise_install,
            }
        ],
        "is_ext_shared_channel": False,
    }


def home_opened(world: World, person: Person) -> Json:
    content: Json = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": world.workspace.open_dm(person.id).id,
        "tab": "home",
    }
    home = world.surfaces.home(person.id)
    if home is not None:
        content["view"] = view_json(home, world)
    return event(world, person, content)


def _interaction(world: World, person: Person, kind: str) -> Json:
    setup, enterprise = world.setup, _enterprise(world, person)
    return {
        "type": kind,
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team_id},
        "team": {"id": person.team_id, "domain": setup.team_domain}
        | ({"enterprise_id": enterprise} if enterprise else {}),
        "enterprise": {"id": enterprise, "name": "Simulated Organisation"} if enterprise else None,
        "api_app_id": setup.app_id,
        "token": "deprecated",
        "is_enterprise_install": setup.is_enterprise_install,
    }


def _in_view(world: World, view: View) -> Json:
    return {"container": {"type": "view", "view_id": view.id}, "view": _seen(world, view)}


def _seen(world: World, view: View) -> Json:
    return view_json(view, world) | {"state": {"values": forms.state(view.blocks, view.state)}}


def _response_url(world: World, person: Person, channel: str, original: Message | None = None) -> str:
    return f"{world.site}/response/{world.response_urls.issue(person.id, channel, original)}"


def _enterprise(world: World, person: Person) -> str | None:
    return person.enterprise_id or world.setup.enterprise_id


def _mention(world: World, sign: str, name: str) -> str:
    workspace = world.workspace
    if sign == "#":
        channels = (c for c in workspace.channels.values() if c.name == name and not c.is_dm)
        return next((f"<#{c.id}|{c.name}>" for c in channels), f"#{name}")
    for person in workspace.people.values():
        if person.name == name:
            return f"<@{person.id}|{person.name}>"
    for group in workspace.groups.values():
        if group.handle == name:
            return f"<!subteam^{group.id}|@{group.handle}>"
    return f"@{name}"
