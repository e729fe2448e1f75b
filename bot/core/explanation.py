"""What `explain` says besides the verdict: who may hear it, and per step who approved, who may, and what is missing.

Called by flows/explain_request, with the user groups of the steps looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.membership import OUTSIDER, Groups, Roles, is_group, lookup_failed, people_of_step, step_words
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import Approval, ApprovalStep, QuotaRequest


@dataclass(frozen=True, slots=True)
class StepStanding:
    """One step of a request, or of one that nobody has made."""

    label: str
    """Who is asked: "nlp lead", "gpu-admins"."""
    count: int
    gave: tuple[str, ...] = ()
    """User ids, in the order given."""
    may: tuple[str, ...] = ()
    """User ids of those who could give what is missing. Empty and not `unknown`: nobody can."""
    unknown: bool = False
    """Whether a user group of the step could not be looked up: there may be more people than `may`."""

    @property
    def missing(self) -> int:
        """How many approvals this step still takes."""
        return max(0, self.count - len(self.gave))


def may_hear(policy: Policy, roles: Roles, person: Person, request: QuotaRequest, groups: Groups) -> str | None:
    """Why a person may not have a request explained; None if they may."""
    if not person.full_member:
        return OUTSIDER
    asked = [one for step in request.steps for one in people_of_step(policy, step)]
    certain, unknown = _people(asked, groups)
    if roles.admin or request.ask.team in roles.leads or person.id in {request.ask.requester, *certain}:
        return None
    if roles.unknown or unknown:
        return lookup_failed(tuple(dict.fromkeys((*roles.unknown, *unknown))))
    whose = f"the requester, the {request.ask.team} lead, those who are asked to decide and {policy.approvals.admins}"
    return f"{request.name} is explained to {whose} only."


def standing_of_steps(
    policy: Policy, steps: Sequence[ApprovalStep], approvals: Sequence[Approval], requester: str, groups: Groups
) -> tuple[StepStanding, ...]:
    """Each step in order. One person gives one approval, so whoever gave any is nobody's missing one."""
    gave = {approval.who for approval in approvals}
    barred = gave if policy.approvals.self_approval else gave | {requester}
    standings = []
    for index, step in enumerate(steps):
        certain, unknown = _people(people_of_step(policy, step), groups)
        given = tuple(approval.who for approval in approvals if approval.step == index)
        may = tuple(one for one in certain if one not in barred)
        standings.append(StepStanding(step_words(ApprovalStep(step.who)), step.count, given, may, bool(unknown)))
    return tuple(standings)


def _people(asked: Sequence[str], groups: Groups) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Everybody who is surely meant, in the policy's order, and the groups that are not known."""
    certain: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for one in asked:
        members = groups.get(one) if is_group(one) else frozenset({one})
        if isinstance(members, frozenset):
            certain.update(dict.fromkeys(sorted(members)))
        else:
            unknown[one] = None
    return tuple(certain), tuple(unknown)
