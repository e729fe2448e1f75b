"""Who hears of a loan by direct message. Asked by flows/remind_loans and flows/offer_idle."""

from collections.abc import Sequence

from bot.core.errors import Rejected, Unavailable
from bot.core.membership import Unknown, is_group, people_of
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.flows.gather import has_left, look_up_groups
from bot.flows.world import World


def who_hears(world: World, request: QuotaRequest) -> Sequence[str]:
    """The requester; once they have left the team, or Slack, its leads, or its channel if it has none.

    Of a team that the policy has no more it is the platform channel.
    """
    policy, asked = world.policies.policy, request.ask
    if _has_account(world, asked.requester) and not has_left(world, policy, request):
        return (asked.requester,)
    team = policy.team(asked.team)
    return _leads(world, policy, asked.team) or (team.channel if team else policy.approvals.platform_channel,)


def _has_account(world: World, user: str) -> bool:
    """Only a plain no of Slack's counts: while it is silent somebody is as there as before."""
    try:
        return world.chat.person(user).full_member
    except Unavailable:
        return True
    except Rejected:
        return False


def _leads(world: World, policy: Policy, team: str) -> Sequence[str]:
    listed = people_of(policy, f"leads:{team}")
    leads = {one for one in listed if not is_group(one)}
    for members in look_up_groups(world, (one for one in listed if is_group(one))).values():
        leads |= set() if isinstance(members, Unknown) else members
    return sorted(leads)
