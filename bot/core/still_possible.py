"""Whether a request that was possible when it was made still is: names of the cluster and of the policy may be gone.

Asked at the click and when an offer is accepted (flows/still_possible), and by the timetable (flows/lost_names). What
was only renamed has another name here: nothing tells the two apart, so the sentences say what is not there any more.
"""

from dataclasses import dataclass

from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.lenders import automation_sentence
from bot.core.loans import LoanKind
from bot.core.policy import Policy
from bot.core.requests import Ask, QuotaRequest
from bot.core.resource_quotas import kind_of
from bot.core.trees import share_a_tree


@dataclass(frozen=True, slots=True)
class Gone:
    """A name that the policy has no more."""

    name: str
    """What is missing, the same for all that stand on it: "team vision"."""
    why: str
    """As a clause: "team vision is not in the policy any more"."""


def gone_from_policy(policy: Policy, ask: Ask) -> Gone | None:
    """What a request stands on that the policy does not name any more; None if it names all of it."""
    if policy.cluster(ask.cluster) is None:
        return _not_there(f"cluster {ask.cluster}")
    owner = policy.team_of(ask.cluster, ask.queue)
    if policy.team(ask.team) is None:
        return _not_there(f"team {ask.team}", f"; {ask.queue} belongs to {owner} now" if owner else "")
    if ask.queue not in policy.queues_of(ask.team, ask.cluster):
        now, queue = f"; it belongs to {owner} now" if owner else "", f"{kind_of(ask.queue)} {ask.queue}"
        return Gone(f"{queue} of team {ask.team}", f"{queue} is no queue of team {ask.team} any more{now}")
    return None


def _not_there(name: str, now: str = "") -> Gone:
    return Gone(name, f"{name} is not in the policy any more{now}")


def lenders_team_gone(policy: Policy, request: QuotaRequest) -> Gone | None:
    """The team whose leads consented to lend, if the policy does not name it any more."""
    ask = request.ask
    if ask.lender is None or policy.team_of(ask.cluster, ask.lender) is not None:
        return None
    asked = (step.who.removeprefix("leads:") for step in request.steps if step.who.startswith("leads:"))
    gone = next((team for team in asked if policy.team(team) is None), None)
    return _not_there(f"team {gone}") if gone else None


def gone_from_cluster(ask: Ask, picture: ClusterPicture) -> str | None:
    """Why the loan of a request could not be put in force on this cluster, as a sentence; None if it could."""
    found: list[QueueSnapshot] = []
    entry = FlavorResource(ask.flavor, ask.resource)
    for name in (ask.queue, ask.lender):
        if name is None:
            continue
        queue = picture.queues.get(name)
        why = f"There is no {kind_of(name)} {name} now." if queue is None else _unusable(queue, entry)
        if why or queue is None:
            return why
        found.append(queue)
    if len(found) == 2 and not share_a_tree(picture, found[0].name, found[1].name):
        return f"{found[1].name} and {found[0].name} are in different cohorts now, so no quota can move between them."
    if ask.kind is LoanKind.BORROW and found[0].quotas[entry].borrowing_limit is None:
        return f"{ask.queue} has no borrowingLimit now: no loan is needed, or it is in no cohort."
    return None


def _unusable(queue: QueueSnapshot, entry: FlavorResource) -> str | None:
    if queue.deleting:
        return f"ClusterQueue {queue.name} is being deleted."
    if entry not in queue.quotas:
        return f"{queue.name} does not list {entry.resource} of flavor {entry.flavor} any more."
    return automation_sentence(queue)
