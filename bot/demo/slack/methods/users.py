"""users.*: info, list, lookupByEmail."""

from collections.abc import Mapping

from bot.demo.slack.entities import Json
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call, Method, next_page
from bot.demo.slack.pacing import TIER_2, TIER_3, TIER_4
from bot.demo.slack.wire import person_json


def info(call: Call) -> Json:
    person = call.world.workspace.person(call.required("user", "user_not_found"))
    shape = person_json(person, call.world, with_email=_sees_email(call), with_locale=call.flag("include_locale"))
    return {"user": shape}


def list_people(call: Call) -> Json:
    call.need_team()
    page, cursor = call.page(list(call.world.workspace.people.values()))
    locale = call.flag("include_locale")
    members = [person_json(p, call.world, with_email=_sees_email(call), with_locale=locale) for p in page]
    return {"members": members, **next_page(cursor)}


def lookup_by_email(call: Call) -> Json:
    email = call.required("email", "users_not_found").lower()
    for person in call.world.workspace.people.values():
        if person.email is not None and person.email.lower() == email and not person.deleted:
            return {"user": person_json(person, call.world, with_email=True)}
    raise SlackError("users_not_found")


def _sees_email(call: Call) -> bool:
    return "users:read.email" in call.world.setup.scopes


METHODS: Mapping[str, Method] = {
    "users.info": Method(info, ("users:read",), TIER_4),
    "users.list": Method(list_people, ("users:read",), TIER_2),
    "users.lookupByEmail": Method(lookup_by_email, ("users:read.email",), TIER_3),
}
