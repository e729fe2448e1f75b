"""What a person does in the page, done in the simulated Slack: say, type, press, fill in, send, close, read, open Home.

Each act is a pydantic model of what the page sends and a function; `routes` looks them up in `ACTS`. They raise
LookupError where the page shows something that is not there (any more).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, StringConstraints

from bot.demo.page.reads import Reads
from bot.demo.page.scene import Scene
from bot.demo.page.shown import Seen, SeenHome, Shown
from bot.demo.slack import Delivery, Message, View, forms
from bot.demo.slack.payloads import typed

Json = dict[str, Any]
Id = Annotated[str, StringConstraints(min_length=1, max_length=255)]
SOME_YEARS = range(2000, 2100)
Words = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]


class Act(BaseModel):
    """`person` is whom one is."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    person: Id


class Say(Act):
    channel: Id
    text: Words
    thread: Id | None = None


class Place(BaseModel):
    """Where a control was: a message or a Home tab as it was on the screen, or the form in front."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    channel: Id | None = None
    ts: Id | None = None
    edited_ts: Id | None = None
    view: Id | None = None
    hash: Id | None = None
    """Of a Home tab."""


class Press(Act):
    place: Place
    action_id: Id
    block_id: Id
    value: Words | None = None


class Choose(Act):
    """`values`: block_id -> what stands in the other fields of the form."""

    place: Place
    action_id: Id
    value: str | None = None
    values: dict[Id, str | None] = {}


class Send(Act):
    view: Id
    values: dict[Id, str | None] = {}


class Close(Act):
    view: Id


class Read(Act):
    channel: Id
    ts: Id


@dataclass(frozen=True, slots=True)
class Desk:
    """What the acts work on."""

    scene: Scene
    shown: Shown
    reads: Reads


def say(desk: Desk, act: Say) -> Json:
    """A line of the composer: a slash command, or words that the bot does not hear."""
    slack = desk.scene.slack
    if not act.text.startswith("/"):
        if act.person not in slack.world.workspace.channel(act.channel).members:
            raise LookupError("not in this channel")
        slack.say(act.person, act.channel, typed(slack.world, act.text), act.thread)
        return {}
    command = act.text.split()[0]
    if act.thread is not None:
        return {"shown": f"{command} is not supported in threads. Sorry!"}
    if command != slack.world.setup.command:
        return {"shown": f"{command} is not a valid command."}
    return _told(slack.type_command(act.person, act.channel, act.text))


def press(desk: Desk, act: Press) -> Json:
    where = _where(desk, act.person, act.place)
    slack = desk.scene.slack
    return _told(slack.press(act.person, where, act.action_id, value=act.value, block_id=act.block_id))


def choose(desk: Desk, act: Choose) -> Json:
    """Fill in a select or an input that the bot wants to hear of at once."""
    where = _where(desk, act.person, act.place)
    if isinstance(where, View):
        where = _keep(desk, where, act.values)
    _, element = next(forms.locate(where.blocks, act.action_id), ({}, None))
    if element is None:
        raise LookupError("no such field here")
    value = _value(desk, act.person, element, act.value)
    return _told(desk.scene.slack.choose(act.person, where, act.action_id, value))


def send(desk: Desk, act: Send) -> Json:
    view = _front(desk, act.person, act.view)
    return _told(desk.scene.slack.submit_view(act.person, _values(desk, view, act.values)))


def close(desk: Desk, act: Close) -> Json:
    _front(desk, act.person, act.view)
    return _told(desk.scene.slack.close_view(act.person))


def read(desk: Desk, act: Read) -> Json:
    desk.reads.mark(act.person, act.channel, act.ts)
    return {}


def home(desk: Desk, act: Act) -> Json:
    """Open the app's Home tab."""
    return _told(desk.scene.slack.open_home(act.person))


def reload(desk: Desk, act: Act) -> Json:
    """The page was loaded anew: what only this person saw is gone, as in Slack."""
    desk.scene.slack.reload(act.person)
    return {}


ACTS: Mapping[str, tuple[type[Act], Callable[[Desk, Any], Json]]] = {
    "say": (Say, say),
    "press": (Press, press),
    "choose": (Choose, choose),
    "send": (Send, send),
    "close": (Close, close),
    "read": (Read, read),
    "home": (Act, home),
    "reload": (Act, reload),
}


def _told(delivery: Delivery) -> Json:
    """What Slack itself shows of an act. An answer of the bot comes with the next look; only failures are said here."""
    failed = delivery.shown if delivery.error is not None else None
    return {"shown": failed, "field_errors": dict(delivery.field_errors)}


def _where(desk: Desk, person: str, place: Place) -> Message | View:
    if place.view is not None and place.hash is not None:
        return desk.shown.find(SeenHome(place.view, place.hash))
    if place.view is not None:
        return _front(desk, person, place.view)
    if place.channel is None or place.ts is None:
        raise LookupError("a message or a view must be named")
    return desk.shown.find(Seen(place.channel, place.ts, place.edited_ts))


def _front(desk: Desk, person: str, view_id: str) -> View:
    view = desk.scene.slack.open_view(person)
    if view is None or view.id != view_id:
        raise LookupError("this form is not open any more")
    return view


def _keep(desk: Desk, view: View, values: Mapping[str, str | None]) -> View:
    """What was typed into other fields goes along with a change, as Slack's clients send it."""
    world = desk.scene.slack.world
    with world.changed:
        state = forms.state(view.blocks, view.state)
        for name, value in _values(desk, view, values).items():
            block, element = next(forms.locate(view.blocks, name))
            state[block["block_id"]][element["action_id"]] = forms.filled(element, value)
        return world.surfaces.remember(view, state)


def _values(desk: Desk, view: View, values: Mapping[str, str | None]) -> Json:
    """The page's text per block -> the input's value. A field that is empty and was is left alone."""
    found: Json = {}
    for block_id, raw in values.items():
        _, element = next(forms.locate(view.blocks, block_id), ({}, None))
        if element is None:
            raise LookupError(f"this form has no {block_id}")
        value = _value(desk, view.user, element, raw)
        standing = forms.state(view.blocks, view.state)[block_id][element["action_id"]]
        if value not in (None, "") or any(kept for name, kept in standing.items() if name != "type"):
            found[block_id] = value
    return found


def _value(desk: Desk, person: str, element: Json, raw: str | None) -> Any:
    if element["type"] == "checkboxes":
        return [raw] if raw else []
    if element["type"] != "datetimepicker":
        return raw or None if "select" in element["type"] else raw or ""
    if not raw:
        return None
    zone = ZoneInfo(desk.scene.slack.world.workspace.person(person).tz)
    try:
        moment = datetime.fromisoformat(raw).replace(tzinfo=zone)
    except ValueError:
        raise LookupError("this is not a date and time") from None
    if moment.year not in SOME_YEARS:
        raise LookupError("this year is too far away")
    return int(moment.timestamp())
