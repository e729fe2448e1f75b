"""Which rule decides a request, why, who may approve and what is missing: of a stored one, or of one nobody has made.

Called by chat for `explain`. Reads only; what the rules come to is core/verdict, as for `policy explain`.
"""

from contextlib import suppress
from dataclasses import replace

from bot.core.drafts import Draft, Question
from bot.core.errors import Refused
from bot.core.explanation import StepStanding, may_hear, standing_of_steps
from bot.core.membership import groups_of_steps, stuck
from bot.core.requests import RequestState
from bot.core.verdict import evaluate, evaluate_again, explain
from bot.flows.card_facts import card_facts, stored
from bot.flows.gather import look_up_groups, person_of, person_or_id, request_facts, roles_of_person
from bot.flows.live_impact import live_overcommit
from bot.flows.overcommit_tick import judged_to_overcommit
from bot.flows.submit_request import complete, may_overcommit
from bot.flows.who_may_decide import with_escalations
from bot.flows.world import World
from bot.views.answers.explain import ExplainFacts, StepLine, WhatIf

MOST_NAMED = 5
"""People of one step that are looked up by name."""


def explain_number(world: World, number: int, user: str) -> ExplainFacts:
    """What people mean by a number: while more time with its loan waits, that, for it has no number of its own.

    Raises Refused. Who may not hear of the extension may still hear of the loan.
    """
    with world.store.read() as uow:
        found = stored(uow, number)
    extension = found.extension if found is not None else None
    if extension is not None:
        with suppress(Refused):
            return explain_stored(world, extension.id, user)
    return explain_stored(world, number, user)


def explain_stored(world: World, number: int, user: str) -> ExplainFacts:
    """By the rules of now and the facts of when it was made. Raises Refused."""
    person, policy = person_of(world, user), world.policies.policy
    with world.store.read() as uow:
        found = stored(uow, number)
        if found is None:
            raise Refused(f"There is no Q-{number}.")
        request = found.request
        may = with_escalations(uow, policy, request)
        facts = request_facts(uow, request.ask, world.clock(), policy, number, request.extends)
    facts = replace(facts, overcommits=judged_to_overcommit(request))
    groups = look_up_groups(world, groups_of_steps(policy, may.steps))
    barred = may_hear(policy, roles_of_person(world, policy, person), person, may, groups)
    if barred:
        raise Refused(barred)
    verdict = evaluate_again(policy, facts, request.judged_at or request.created_at, request.rule)
    waits = request.state is RequestState.WAITING
    steps = standing_of_steps(policy, may.steps, found.approvals, request.ask.requester, groups)
    return ExplainFacts(
        card_facts(world, found),
        explain(verdict),
        tuple(_named(world, step) for step in steps),
        dead_end=(stuck(policy, may, found.approvals, groups) or "") if waits else "",
        then=(request.rule or "none") if verdict.rule != request.rule else None,
    )


def explain_draft(world: World, draft: Draft) -> WhatIf:
    """As if it were asked now. Raises Refused, also for what is not clear."""
    proposed = complete(world, draft)
    if isinstance(proposed, Question):
        options = f" Say it in the line, like: {proposed.options[0]}" if proposed.options else ""
        raise Refused(proposed.sentence + options)
    proposal, picture, person, policy = proposed
    promised = live_overcommit(world, proposal.ask, picture)
    with world.store.read() as uow:
        facts = request_facts(uow, proposal.ask, world.clock(), policy)
    verdict = evaluate(policy, replace(facts, overcommits=may_overcommit(proposal.ask, promised)))
    groups = look_up_groups(world, groups_of_steps(policy, verdict.steps))
    steps = standing_of_steps(policy, verdict.steps, (), person.id, groups)
    queues = [name for name in (proposal.ask.queue, proposal.ask.lender) if name]
    managed = [(name, picture.queues[name].managed_by) for name in queues]
    return WhatIf(
        proposal.ask,
        explain(verdict),
        tuple(_named(world, step) for step in steps),
        proposal.notes,
        managed_by=tuple((name, tool) for name, tool in managed if tool),
        in_git=tuple(name for name in queues if policy.proposes(proposal.ask.cluster, name)),
    )


def _named(world: World, step: StepStanding) -> StepLine:
    gave = tuple(person_or_id(world, user) for user in step.gave)
    may = tuple(person_or_id(world, user) for user in step.may[:MOST_NAMED])
    return StepLine(step, gave, may)
