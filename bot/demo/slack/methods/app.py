"""api.test, auth.test and apps.connections.open."""

from collections.abc import Mapping

from bot.demo.slack.entities import Json
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.pacing import TIER_4, tier


def api_test(call: Call) -> Json:
    if call.text("error"):
        raise SlackError(call.text("error"), args=dict(call.args))
    return {"args": dict(call.args)}


def auth_test(call: Call) -> Json:
    setup = call.world.setup
    found: Json = {
        "url": f"https://{setup.team_domain}.slack.com/",
        "team": setup.team_domain,
        "user": setup.bot_name,
        "team_id": setup.team_id,
        "user_id": setup.bot_user_id,
        "bot_id": setup.bot_id,
        "is_enterprise_install": setup.is_enterprise_install,
    }
    if setup.enterprise_id is not None:
        found["enterprise_id"] = setup.enterprise_id
    return found


def open_connection(call: Call) -> Json:
    world = call.world
    ticket = world.tickets.issue()
    return {"url": f"{world.socket_site}/link/?ticket={ticket}&app_id={world.setup.app_id}"}


METHODS: Mapping[str, Method] = {
    "api.test": Method(api_test, pace=TIER_4, public=True),
    "auth.test": Method(auth_test, pace=tier(600)),
    "apps.connections.open": Method(open_connection, pace=tier(60), app_level=True),
}
