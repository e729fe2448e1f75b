"""Who hears of a loan on the borrower's side: the requester while they are there, and the team's leads.

Used by flows/remind_loans, flows/offer_idle and flows/ask_back.
"""

from collections.abc import Sequence

from bot.core.errors import Rejected, Unavailable
from bot.core.membership import Unknown, is_group, people_of
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.flows.gather import has_left, look_up_groups
from bot.flows.world import World


def who_hears(world: World, request: QuotaRequest) -> Sequence[str]:
    """The requester; once they have left the team, or Slack, its leads, or its channel if it has none."""
    if is_there(world, request):
        return (request.ask.requester,)
    return leads_or_channel(world, world.policies.policy, request.ask.team)


def requester_and_leads(world: World, request: QuotaRequest) -> Sequence[str]:
    """All of them; the team's channel if there is nobody."""
    policy, team = world.policies.policy, request.ask.team
    requester = (request.ask.requester,) if is_there(world, request) else ()
    leads = leads_of(world, policy, team)
    return tuple(dict.fromkeys((*requester, *leads))) or leads_or_channel(world, policy, team)


def is_there(world: World, request: QuotaRequest) -> bool:
    """Whether the requester has an account and has not left the team."""
    return _has_account(world, request.ask.requester) and not has_left(world, world.policies.policy, request)


def leads_or_channel(world: World, policy: Policy, name: str) -> Sequence[str]:
    """A team's leads, or its channel if it has none; the platform channel for a team that the policy has no more."""
    team = policy.team(name)
    return leads_of(world, policy, name) or (team.channel if team else policy.approvals.platform_channel,)


def leads_of(world: World, policy: Policy, team: str) -> Sequence[str]:
    """User ids, as far as Slack says them."""
    listed = people_of(policy, f"leads:{team}")
    leads = {one for one in listed if not is_group(one)}
    for members in look_up_groups(world, (one for one in listed if is_group(one))).values():
        leads |= set() if isinstance(members, Unknown) else members
    return sorted(leads)


def _has_account(world: World, user: str) -> bool:
    """Only a plain no of Slack's counts: while it is silent somebody is as there as before."""
    try:
        return world.chat.person(user).full_member
    except Unavailable:
        return True
    except Rejected:
        return False
