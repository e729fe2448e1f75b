"""Whether enough people who could give a step can be reached at all. Asked by flows/chase_requests.

Out of reach is whom Slack knows as deactivated (or as no full member any more, or not at all), and whom the policy's
`away` names. Slack's status and do-not-disturb say nothing dependable about that, and are not asked. While Slack is
silent everybody counts as reachable. Nobody loses a right by it: who is away may decide all the same.
"""

from collections.abc import Sequence

from bot.core.errors import Rejected, Unavailable
from bot.core.escalations import candidates, missing
from bot.core.membership import groups_of_steps
from bot.core.policy import Policy
from bot.core.requests import Approval, QuotaRequest
from bot.flows.gather import look_up_groups
from bot.flows.world import World


def enough_reachable(
    world: World, policy: Policy, request: QuotaRequest, approvals: Sequence[Approval], step: int
) -> bool:
    """`request` is widened by who may give its steps now. Asks Slack for no more people than it takes."""
    groups = look_up_groups(world, groups_of_steps(policy, (request.steps[step],)))
    could = candidates(policy, request, approvals, step, groups)
    if could is None:
        return True
    now, wanted = world.clock(), missing(request, approvals, step)
    for user in sorted(could):
        if wanted <= 0:
            break
        wanted -= not policy.approvals.is_away(user, now) and _has_account(world, user)
    return wanted <= 0


def _has_account(world: World, user: str) -> bool:
    try:
        return world.chat.person(user).full_member
    except Unavailable:
        return True
    except Rejected:
        return False
