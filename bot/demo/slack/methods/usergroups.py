"""usergroups.*: list the groups, and who is in one."""

from collections.abc import Mapping

from bot.demo.slack.entities import Json
from bot.demo.slack.methods.call import Call, Method
from bot.demo.slack.pacing import TIER_2
from bot.demo.slack.wire import group_json


def list_groups(call: Call) -> Json:
    call.need_team()
    users, count, disabled = (call.flag(f"include_{what}") for what in ("users", "count", "disabled"))
    groups = [group for group in call.world.workspace.groups.values() if disabled or not group.is_disabled]
    return {"usergroups": [group_json(g, call.world, with_users=users, with_count=count) for g in groups]}


def list_members(call: Call) -> Json:
    call.need_team()
    workspace = call.world.workspace
    group = workspace.group(call.required("usergroup", "no_such_subteam"))
    if group.is_disabled and not call.flag("include_disabled"):
        return {"users": []}
    return {"users": [user for user in group.members if not workspace.person(user).deleted]}


METHODS: Mapping[str, Method] = {
    "usergroups.list": Method(list_groups, ("usergroups:read",), TIER_2),
    "usergroups.users.list": Method(list_members, ("usergroups:read",), TIER_2),
}
