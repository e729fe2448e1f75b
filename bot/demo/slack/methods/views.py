"""views.*: open, push, update, publish."""

import json
from collections.abc import Mapping

from bot.demo.slack import limits
from bot.demo.slack.entities import Json, View
from bot.demo.slack.errors import SlackError, invalid
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.pacing import TIER_4
from bot.demo.slack.wire import view_json


def open_view(call: Call) -> Json:
    body = _body(call, "modal")
    user = call.world.triggers.exchange(call.required("trigger_id"))
    return _answer(call, call.world.surfaces.open(user, body))


def push(call: Call) -> Json:
    body = _body(call, "modal")
    user = call.world.triggers.exchange(call.required("trigger_id"))
    return _answer(call, call.world.surfaces.push(user, body))


def update(call: Call) -> Json:
    body = _body(call, "modal")
    view_id, external_id = call.text("view_id") or None, call.text("external_id") or None
    if view_id is None and external_id is None:
        call.required("view_id")
    surfaces = call.world.surfaces
    view = surfaces.find(view_id, external_id)
    return _answer(call, surfaces.update(view, body, call.text("hash") or None))


def publish(call: Call) -> Json:
    body = _body(call, "home")
    if not call.world.setup.home_tab:
        raise SlackError("not_enabled")
    person = call.world.workspace.people.get(call.required("user_id"))
    if person is None or person.deleted or person.is_bot:
        raise invalid("invalid_arguments", ["invalid `user_id` [json-pointer:/user_id]"])
    return _answer(call, call.world.surfaces.publish(person.id, body, call.text("hash") or None))


def read_view(view: object, kind: str) -> Json:
    """A view as sent, checked. Errors: `invalid_arguments` with the rules it violates, `view_too_large`."""
    if not isinstance(view, dict):
        raise invalid("invalid_arguments", ["must provide an object [json-pointer:/view]"])
    if len(json.dumps(view)) > limits.VIEW_BYTES:
        raise SlackError("view_too_large")
    if problems := limits.check_view(view, kind):
        raise invalid("invalid_arguments", problems)
    sound: Json = limits.without_nulls(view)
    return sound


def _body(call: Call, kind: str) -> Json:
    return read_view(call.structure("view", "invalid_arguments"), kind)


def _answer(call: Call, view: View) -> Json:
    return {"view": view_json(view, call.world)}


METHODS: Mapping[str, Method] = {
    "views.open": Method(open_view, (), TIER_4),
    "views.push": Method(push, (), TIER_4),
    "views.update": Method(update, (), TIER_4),
    "views.publish": Method(publish, (), TIER_4),
}
