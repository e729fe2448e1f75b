"""What the modal behind Details shows: the rule and why, the cohort's queues, what else the team has. Reads only."""

from collections.abc import Iterable
from dataclasses import replace

from bot.core.cohorts import quota_tree
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.membership import visible_queues
from bot.core.requests import Ask
from bot.core.verdict import evaluate, explain
from bot.flows.card_facts import card_facts, stored
from bot.flows.gather import person_of, request_facts, roles_of_person
from bot.flows.overcommit_tick import judged_to_overcommit
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.waiting_devices import waiting_devices, waiting_of
from bot.flows.world import World
from bot.views.details import DetailsFacts, QueueFigures


def details_facts(world: World, number: int, user: str) -> DetailsFacts:
    """Raises Refused. Queues that the person may not see are left out."""
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person_of(world, user))
    with world.store.read() as uow:
        found = stored(uow, number)
        if found is None:
            raise Refused(f"There is no Q-{number}.")
        ask = found.request.ask
        facts = request_facts(uow, ask, world.clock(), policy, number, found.request.extends)
    facts = replace(facts, overcommits=judged_to_overcommit(found.request))
    read = read_queues(world, ask.cluster)
    picture = None if isinstance(read, NotRead) else read
    seen = visible_queues(policy, roles, ask.cluster, picture.queues) if picture else frozenset()
    others = [
        f"Q-{loan.id}: {loan.amount} {loan.flavor} on loan" for loan in facts.loans if loan.id != found.request.number
    ]
    others += [f"{one.name}: {one.ask.amount} {one.ask.flavor} asked" for one in facts.requests if one.id != number]
    return DetailsFacts(
        card=card_facts(world, found),
        why=explain(evaluate(policy, facts)),
        queues=tuple(_figures(world, picture, ask, seen)) if picture else (),
        others=tuple(others),
        on_loan=facts.others_on_loan,
        most_on_loan=policy.approvals.limits.most_on_loan_per_team,
    )


def _figures(world: World, picture: ClusterPicture, ask: Ask, seen: Iterable[str]) -> list[QueueFigures]:
    entry = FlavorResource(ask.flavor, ask.resource)
    tree = quota_tree(picture, entry)
    names = [name for name in tree.members(ask.queue) if name in set(seen) and entry in picture.queues[name].quotas]
    figures = []
    for name in names:
        queue = picture.queues[name]
        nominal, reserved = queue.quotas[entry].nominal, queue.reserved.get(entry, 0)
        waiting = waiting_of(waiting_devices(world, queue), ask.resource)
        figures.append(QueueFigures(name, nominal, reserved, max(0, reserved - nominal), waiting))
    return figures
