"""Who somebody is to a team, a request and a step: pure answers from the policy and looked-up user groups.

The flows ask `groups_of_roles` or `groups_of_steps` which user groups they need, look them up at the click, and put the
result here. A look-up that failed is Unknown and never an empty group: what depends on it is refused in words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import Approval, ApprovalStep, QuotaRequest

OUTSIDER = "Guests and people of other organisations cannot request or decide. Ask a member of the team."
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A user group that could not be looked up."""

    why: str


Groups: TypeAlias = Mapping[str, frozenset[str] | Unknown]
"""User ids by user group id. A group that is not in it counts as Unknown."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What a person is. Teams are in the order of teams.yaml."""

    teams: tuple[str, ...]
    """Member or lead of these."""
    leads: tuple[str, ...]
    admin: bool
    unknown: tuple[str, ...] = ()
    """User groups that could not be looked up and might have made it more."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The press counts."""

    step: int
    """Index into the request's steps."""
    self_approved: bool = False


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The press does not count, and the sentence that says why."""

    sentence: str


def is_group(name: str) -> bool:
    """Whether an id in a policy file is a user group's (S…) and not a person's."""
    return name.startswith("S")


def groups_of_roles(policy: Policy) -> frozenset[str]:
    """User groups that must be looked up to tell anybody's roles."""
    teams = policy.teams.teams.values()
    people = [*policy.approvals.groups[policy.approvals.admins], *(one for team in teams for one in team.members)]
    return frozenset(filter(is_group, (*people, *(one for team in teams for one in team.leads))))


def groups_of_steps(policy: Policy, steps: Iterable[ApprovalStep]) -> frozenset[str]:
    """User groups that must be looked up to tell who may decide these steps."""
    return frozenset(one for step in steps for one in people_of_step(policy, step) if is_group(one))


def people_of_step(policy: Policy, step: ApprovalStep) -> tuple[str, ...]:
    """Ids of persons and user groups who may give a step: those it asks, and those it was escalated to."""
    return (*people_of(policy, step.who), *(people_of(policy, step.also) if step.also else ()))


def people_of(policy: Policy, who: str) -> tuple[str, ...]:
    """Ids of persons and user groups behind `group:NAME` or `leads:TEAM`. What is no longer there is nobody."""
    sort, _, name = who.partition(":")
    if sort == "group":
        return policy.approvals.groups.get(name, ())
    team = policy.team(name) if sort == "leads" else None
    return team.leads if team else ()


def roles_of(policy: Policy, person: Person, groups: Groups) -> Roles:
    """What a person is to each team. Guests and outsiders are nothing to anybody, whatever a list says."""
    if not person.full_member:
        return Roles((), (), admin=False)
    teams = policy.teams.teams
    leads = tuple(name for name, team in teams.items() if _has(team.leads, person.id, groups))
    members = tuple(name for name, team in teams.items() if name in leads or _has(team.members, person.id, groups))
    admin = _has(policy.approvals.groups[policy.approvals.admins], person.id, groups)
    unknown = tuple(sorted(group for group in groups_of_roles(policy) if _unknown(group, groups)))
    return Roles(members, leads, admin, unknown)


def may_request(roles: Roles, person: Person, team: str) -> str | None:
    """Why a person may not request for a team; None if they may. Admins may for any team."""
    if not person.full_member:
        return OUTSIDER
    if roles.admin or team in roles.teams:
        return None
    if roles.unknown:
        return lookup_failed(roles.unknown)
    if not roles.teams:
        return "You are in no team: ask an admin."
    return f"You can request for your own teams: {', '.join(roles.teams)}. For another one ask its lead."


def may_handle(roles: Roles, person: Person, request: QuotaRequest, requester_name: str) -> str | None:
    """Why a person may not accept, withdraw, extend or return a request; None if they may."""
    if not person.full_member:
        return OUTSIDER
    team = request.ask.team
    if person.id == request.ask.requester or team in roles.leads:
        return None
    if roles.unknown:
        return lookup_failed(roles.unknown)
    return f"Only {requester_name} can accept, withdraw, extend or return {request.name} (and the {team} lead)."


def may_approve(
    policy: Policy, person: Person, request: QuotaRequest, approvals: Sequence[Approval], groups: Groups
) -> Allowed | NotAllowed:
    """Whether an Approve counts, for which step, or the sentence for the one who pressed.

    The state of the request is not looked at: the flow does that first. Raises ValueError if no step is open.
    """
    step = open_step(request.steps, approvals)
    if step is None:
        raise ValueError(f"Q-{request.id} has all its approvals")
    barred = _barred(policy, person, request) or _gave_already(person, request, approvals)
    if barred:
        return NotAllowed(barred)
    who = people_of_step(policy, request.steps[step])
    if _has(who, person.id, groups):
        return Allowed(step, self_approved=person.id == request.ask.requester)
    dead_end = stuck(policy, request, approvals, groups)
    return NotAllowed(dead_end or _not_in_step(policy, person, request, step, groups))


def may_deny(policy: Policy, person: Person, request: QuotaRequest, groups: Groups) -> NotAllowed | None:
    """Why a Deny does not count; None if it does. Whoever is asked in any step may deny at any time."""
    barred = _barred(policy, person, request)
    if barred:
        return NotAllowed(barred)
    everybody = [one for step in request.steps for one in people_of_step(policy, step)]
    if _has(everybody, person.id, groups):
        return None
    unknown = _unknown_of(everybody, groups)
    return NotAllowed(lookup_failed(unknown) if unknown else not_an_approver(request))


def open_step(steps: Sequence[ApprovalStep], approvals: Sequence[Approval]) -> int | None:
    """Index of the first step that lacks approvals of distinct people; None if none does."""
    for index, step in enumerate(steps):
        if len({approval.who for approval in approvals if approval.step == index}) < step.count:
            return index
    return None


def stuck(policy: Policy, request: QuotaRequest, approvals: Sequence[Approval], groups: Groups) -> str | None:
    """Why the open step can never be given as things are: nobody, or too few people, may. None if enough may.

    Nobody is counted who is the requester or gave an approval. As long as a group of the step is unknown enough may.
    For the one who pressed, and once for the platform channel.
    """
    index = open_step(request.steps, approvals)
    step = request.steps[index] if index is not None else None
    if step is None or _unknown_of(people_of_step(policy, step), groups):
        return None
    gave = {approval.who for approval in approvals}
    barred = gave if policy.approvals.self_approval else gave | {request.ask.requester}
    missing = step.count - len({approval.who for approval in approvals if approval.step == index})
    able = len(_certain(people_of_step(policy, step), groups) - barred)
    if able >= missing:
        return None
    fault = f"Only {able} of {missing} approvers are" if able else "No approver is"
    effect = f"{request.name} cannot be approved" if able else "nobody can approve"
    return f"{fault} configured for {request.ask.team}, so {effect}. Admins: set approvers in the policy."


def lookup_failed(groups: Sequence[str]) -> str:
    """For the one who pressed: nothing was decided because a user group could not be looked up."""
    which = "user group" if len(groups) == 1 else "user groups"
    return (
        f"Slack did not say who is in {which} {', '.join(groups)}, so it is not certain that you may do this. "
        "Not recorded as a decision. Try again in a minute."
    )


def step_words(step: ApprovalStep) -> str:
    """Who a step asks: "nlp lead", "gpu-admins", "2 of gpu-admins"."""
    sort, _, name = step.who.partition(":")
    if sort == "leads":
        return f"{step.count} {name} leads" if step.count > 1 else f"{name} lead"
    return f"{step.count} of {name}" if step.count > 1 else name


def not_an_approver(request: QuotaRequest) -> str:
    """For somebody that no step asks."""
    also = [_the(ApprovalStep(step.also)) for step in request.steps if step.also]
    whos = tuple(dict.fromkeys([*(_the(step) for step in request.steps), *also]))
    return f"Only {_joined(whos)} can decide {request.name}. Not recorded as a decision."


def visible_queues(policy: Policy, roles: Roles, cluster: str, queues: Iterable[str]) -> frozenset[str]:
    """Those of `queues` that a person may see; the others are to them as if they did not exist."""
    if roles.admin:
        return frozenset(queues)
    seen: set[str] = set(roles.teams)
    for sees in [policy.teams.teams[team].sees or policy.teams.sees for team in roles.teams] or [policy.teams.sees]:
        if sees == "all":
            return frozenset(queues)
        seen.update(() if sees == "own" else sees)
    return frozenset(queues) & {queue for team in seen for queue in policy.queues_of(team, cluster)}


def _barred(policy: Policy, person: Person, request: QuotaRequest) -> str | None:
    if not person.full_member:
        return OUTSIDER
    if person.id == request.ask.requester and not policy.approvals.self_approval:
        return f"{request.name} is yours: somebody else decides. You can withdraw it."
    return None


def _gave_already(person: Person, request: QuotaRequest, approvals: Sequence[Approval]) -> str | None:
    for number, approval in enumerate(approvals, start=1):
        if approval.who == person.id:
            of = sum(step.count for step in request.steps)
            nth = _ORDINALS[len(approvals)] if len(approvals) < len(_ORDINALS) else "next"
            return f"You gave approval {number} of {of}. Somebody else gives the {nth}."
    return None


def _not_in_step(policy: Policy, person: Person, request: QuotaRequest, step: int, groups: Groups) -> str:
    unknown = _unknown_of(people_of_step(policy, request.steps[step]), groups)
    if unknown:
        return lookup_failed(unknown)
    later = [one for next_step in request.steps[step + 1 :] for one in people_of_step(policy, next_step)]
    if _has(later, person.id, groups):
        return f"{_first(request.steps[step])} first. You are asked after that."
    return not_an_approver(request)


def _the(step: ApprovalStep) -> str:
    sort, _, name = step.who.partition(":")
    if sort == "leads":
        return f"the {name} leads" if step.count > 1 else f"the {name} lead"
    return name


def _first(step: ApprovalStep) -> str:
    sort, _, name = step.who.partition(":")
    if sort == "leads":
        return f"The {name} leads decide" if step.count > 1 else f"The {name} lead decides"
    return f"{name} decide"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _certain(people: Iterable[str], groups: Groups) -> set[str]:
    """Everybody who is surely meant by a list of persons and groups."""
    certain: set[str] = set()
    for one in people:
        if not is_group(one):
            certain.add(one)
            continue
        members = groups.get(one)
        if isinstance(members, frozenset):
            certain |= members
    return certain


def _has(people: Iterable[str], user: str, groups: Groups) -> bool:
    return user in _certain(people, groups)


def _unknown(group: str, groups: Groups) -> bool:
    return not isinstance(groups.get(group), frozenset)


def _unknown_of(people: Iterable[str], groups: Groups) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in people if is_group(one) and _unknown(one, groups)))
