"""All that one person sees in the workspace, as JSON: places, messages, the form in front, the Home tab.

Blocks go out as the bot sent them; the page draws them. Called by `routes` on every look.
"""

from collections.abc import Iterator
from typing import Any

from bot.demo.page.dates_in import dates_in
from bot.demo.page.reads import Reads
from bot.demo.page.scene import Role, Scene, Step
from bot.demo.page.shown import Shown
from bot.demo.slack import Channel, Message, View
from bot.demo.slack.dates import Eye, tell

Json = dict[str, Any]


def first_look(scene: Scene) -> Json:
    """What does not change while the demo runs: who one can be, what can be typed, the tour."""
    slack = scene.slack
    roles = [
        {
            "user": role.user,
            "name": _person(scene, role.user)["name"],
            "title": role.title,
            "start": role.start,
            "hint": role.hint,
            "examples": list(role.examples),
        }
        for role in scene.roles
    ]
    commands = [
        {"name": one.name, "syntax": one.syntax, "summary": one.summary, "examples": list(one.examples)}
        for one in scene.commands
    ]
    return {
        "roles": roles,
        "command": slack.world.setup.command,
        "commands": commands,
        "bot": slack.bot_user_id,
        "tour": [_step(step) for step in scene.tour],
    }


def _step(step: Step) -> Json:
    told = {name: getattr(step, name) for name in ("user", "place", "words", "line", "until", "look")}
    press, control = step.press, step.control
    return told | {
        "press": press._asdict() if press else None,
        "control": control._asdict() if control else None,
        "fill": {str(name): value for name, value in step.fill.items()},
        "quota": dict(step.quota),
    }


def look(scene: Scene, user: str, shown: Shown, reads: Reads) -> Json:
    """Raises LookupError for nobody one can be."""
    if user not in {role.user for role in scene.roles}:
        raise LookupError("nobody of that id can be played here")
    slack = scene.slack
    with slack.world.changed:
        person = slack.world.workspace.person(user)
        eye = Eye(scene.now(), person.tz, person.locale)
        places = list(_places(scene, user))
        messages = {place.id: _messages(scene, user, place, shown, eye) for place in places}
        return {
            "me": user,
            "zone": person.tz,
            "people": {each: _person(scene, each) for each in slack.world.workspace.people},
            "channels": {one.id: one.name for one in slack.world.workspace.channels.values()},
            "groups": {one.id: one.handle for one in slack.world.workspace.groups.values()},
            "places": [_place(scene, user, place, reads) for place in places],
            "waiting": {role.user: _new_for(scene, role, reads) for role in scene.roles},
            "messages": messages,
            "view": _view(slack.open_view(user), eye),
            "home": _home(slack.home(user), shown, eye),
        }


def _places(scene: Scene, user: str) -> Iterator[Channel]:
    """Channels by name, then the DM with the bot."""
    mine = [one for one in scene.slack.world.workspace.channels.values() if user in one.members and not one.is_archived]
    yield from sorted((one for one in mine if not one.is_dm), key=lambda one: one.name)
    yield from (one for one in mine if one.is_dm)


def _place(scene: Scene, user: str, place: Channel, reads: Reads) -> Json:
    return {
        "id": place.id,
        "name": scene.slack.world.bot.name if place.is_dm else place.name,
        "dm": place.is_dm,
        "unread": reads.unread(user, place.id, scene.slack.messages(place.id)),
        "pinged": _pings(scene, user, place.id, reads),
        "members": sum(1 for one in place.members if one != scene.slack.bot_user_id),
    }


def _pings(scene: Scene, user: str, channel: str, reads: Reads) -> int:
    upto = reads.upto(user, channel)
    pinged = (one.message for one in scene.slack.notifications(user))
    return sum(1 for message in pinged if message.channel == channel and message.ts > upto)


def _new_for(scene: Scene, role: Role, reads: Reads) -> int:
    """What waits for somebody one is not at the moment: their pings."""
    return sum(_pings(scene, role.user, place.id, reads) for place in _places(scene, role.user))


def _messages(scene: Scene, user: str, place: Channel, shown: Shown, eye: Eye) -> list[Json]:
    slack = scene.slack
    found = [*slack.messages(place.id), *(one for one in slack.ephemerals(user) if one.channel == place.id)]
    for message in found:
        shown.note(message)
    return [_message(message, eye) for message in sorted(found, key=lambda one: one.ts)]


def _message(message: Message, eye: Eye) -> Json:
    at = float(message.ts)
    return {
        "channel": message.channel,
        "ts": message.ts,
        "edited_ts": message.edited_ts,
        "author": message.author,
        "text": message.text,
        "blocks": list(message.blocks),
        "thread": message.thread_ts if message.is_reply else None,
        "broadcast": message.broadcast,
        "only_me": message.only_for is not None,
        "files": [file.title for file in message.files],
        "time": tell(at, "{time}", eye),
        "day": tell(at, "{date_long}", eye).rpartition(",")[0],
        "dates": dates_in([message.text, message.blocks], eye),
    }


def _view(view: View | None, eye: Eye) -> Json | None:
    if view is None:
        return None
    body = {name: view.body.get(name) for name in ("type", "title", "submit", "close")}
    state = {block: dict(values) for block, values in view.state.items()}
    dates = dates_in([list(view.blocks), state], eye)
    return body | {"id": view.id, "hash": view.hash, "blocks": list(view.blocks), "state": state, "dates": dates}


def _home(view: View | None, shown: Shown, eye: Eye) -> Json | None:
    if view is not None:
        shown.note(view)
    return _view(view, eye)


def _person(scene: Scene, user: str) -> Json:
    person = scene.slack.world.workspace.person(user)
    return {"name": person.name, "bot": person.is_bot}
