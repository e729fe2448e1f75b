"""What the request form shows for the choices made so far: options, live lines, limits. Reads only; called by chat."""

from dataclasses import replace
from datetime import timedelta

from bot.core.cohorts import quota_tree
from bot.core.drafts import Draft, Question
from bot.core.durations import parse_duration
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.lenders import Lenders
from bot.core.loans import LoanKind
from bot.core.membership import Roles, step_words
from bot.core.policy import Policy
from bot.core.requests import ApprovalStep, QuotaRequest
from bot.core.series import Every, Repeated, Series
from bot.core.verdict import Outcome, evaluate
from bot.flows.card_facts import unit_of
from bot.flows.gather import open_loans, person_of, request_facts, roles_of_person
from bot.flows.live_impact import live_overcommit
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.submit_request import complete, may_overcommit
from bot.flows.world import World
from bot.views.amounts import GPU
from bot.views.facts import Step
from bot.views.ids import KIND_BOT, LENDER_BOT, REPEAT_ONCE, UNTIL_DATE
from bot.views.request_form import (
    FlavorChoice,
    FormError,
    FormFacts,
    FormPicture,
    FormValues,
    LenderChoice,
    QueueChoice,
)

SEPARATOR = ":"
"""Between cluster and queue in an option's value, if there are several clusters."""


def draft_of_form(user: str, values: FormValues) -> Draft:
    """What stands in the fields, as a draft."""
    cluster, queue = _place(values.queue)
    length = parse_duration(values.until)
    dated = values.until == UNTIL_DATE
    return Draft(
        requester=user,
        cluster=cluster,
        queue=queue,
        flavor=values.flavor,
        amount=values.amount,
        kind=None if values.kind == KIND_BOT else LoanKind(values.kind),
        lender=None if values.lender == LENDER_BOT else values.lender,
        start=values.start_at,
        duration=length if isinstance(length, timedelta) and not dated else None,
        until=values.until_at if dated else None,
        series=_repeated(values),
        reason=values.reason,
    )


def _repeated(values: FormValues) -> Repeated | None:
    """What repeats; nothing as long as it is not said until when."""
    if values.repeat == REPEAT_ONCE or values.repeat_until is None:
        return None
    return Repeated(Every(values.repeat), values.repeat_until)


def repeating(values: FormValues, series: Series) -> FormValues:
    """The form's values with those of a series that was said."""
    first, last = series.spans[0], series.spans[-1]
    timed = replace(values, start_at=first.start, until=UNTIL_DATE, until_at=first.end)
    return replace(timed, repeat=series.every.value, repeat_until=last.start)


def values_of_request(request: QuotaRequest) -> FormValues:
    """An old request as the form's start, for "Request again"."""
    ask = request.ask
    length = ask.series.spans[0].end - ask.series.spans[0].start if ask.series else ask.duration
    hours = int(length / timedelta(hours=1)) if length else 0
    return FormValues(
        queue=ask.queue,
        flavor=ask.flavor,
        amount=ask.amount,
        kind=ask.kind.value,
        until=f"{hours // 24}d" if hours and hours % 24 == 0 else f"{hours}h" if hours else "3d",
        lender=ask.lender or LENDER_BOT,
        repeat=ask.series.every.value if ask.series else REPEAT_ONCE,
        reason=ask.reason,
    )


def form_facts(
    world: World, user: str, draft: str, values: FormValues, *, more: bool = False, error: FormError | None = None
) -> FormFacts:
    """Raises Refused if Slack does not say who it is."""
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person_of(world, user))
    queues = _queues(policy, roles)
    values = replace(values, queue=values.queue or (queues[0].queue if queues else None))
    cluster, queue = _place(values.queue)
    look = read_queues(world, cluster or next(iter(world.clusters)))
    picture = None if isinstance(look, NotRead) else look
    flavors = _flavors(policy, picture, queue)
    values = replace(values, flavor=_chosen(policy, picture, queue, flavors, values.flavor))
    limits = policy.approvals.limits
    entry = _entry(policy, picture, queue, values.flavor)
    return FormFacts(
        draft=draft,
        queues=queues,
        flavors=flavors,
        values=values,
        lenders=_lenders(world, policy, picture, entry) if more and entry else (),
        kinds=tuple(kind for kind in LoanKind if policy.approvals.allows(kind)),
        most=limits.most_per_request,
        longest=limits.longest,
        reason_needed=limits.reason_required,
        more=more,
        picture=_picture(world, policy, look, draft_of_form(user, values)),
        error=error,
        unit=unit_of(policy, picture.cluster, entry.resource) if picture and entry else GPU,
    )


def _place(value: str | None) -> tuple[str | None, str | None]:
    if value is None or SEPARATOR not in value:
        return None, value
    cluster, _, queue = value.partition(SEPARATOR)
    return cluster, queue


def _queues(policy: Policy, roles: Roles) -> tuple[QueueChoice, ...]:
    teams = tuple(policy.teams.teams) if roles.admin else roles.teams
    several = len(policy.clusters.clusters) > 1
    return tuple(
        QueueChoice(f"{cluster}{SEPARATOR}{queue}" if several else queue, team)
        for team in (*roles.teams, *(one for one in teams if one not in roles.teams))
        for cluster in policy.clusters.clusters
        for queue in policy.queues_of(team, cluster)
    )


def _flavors(policy: Policy, picture: ClusterPicture | None, queue: str | None) -> tuple[FlavorChoice, ...]:
    found = picture.queues.get(queue) if picture and queue else None
    cluster = policy.cluster(picture.cluster) if picture else None
    if found is None or cluster is None:
        return ()
    names = dict.fromkeys(entry.flavor for entry in found.quotas if entry.resource in cluster.accelerators)
    return tuple(FlavorChoice(name, cluster.flavors[name].note if name in cluster.flavors else "") for name in names)


def _chosen(
    policy: Policy,
    picture: ClusterPicture | None,
    queue: str | None,
    flavors: tuple[FlavorChoice, ...],
    flavor: str | None,
) -> str | None:
    names = [one.name for one in flavors]
    if flavor in names or not names:
        return flavor
    cluster = policy.cluster(picture.cluster) if picture else None
    default = cluster.default_flavors.get(queue or "", cluster.default_flavor) if cluster else None
    return default if default in names else names[0] if len(names) == 1 else None


def _entry(
    policy: Policy, picture: ClusterPicture | None, queue: str | None, flavor: str | None
) -> FlavorResource | None:
    found = picture.queues.get(queue) if picture and queue else None
    cluster = policy.cluster(picture.cluster) if picture else None
    for entry in found.quotas if found and cluster else ():
        if entry.flavor == flavor and cluster and entry.resource in cluster.accelerators:
            return entry
    return None


def _lenders(
    world: World, policy: Policy, picture: ClusterPicture | None, entry: FlavorResource
) -> tuple[LenderChoice, ...]:
    cluster = policy.cluster(picture.cluster) if picture else None
    if picture is None or cluster is None:
        return ()
    with world.store.read() as uow:
        known = Lenders(picture, cluster, open_loans(uow, picture.cluster), picture.queues)
    return tuple(
        LenderChoice(name, known.most(picture.queues[name], entry))
        for name in cluster.lenders
        if name in picture.queues
    )


def _picture(world: World, policy: Policy, picture: ClusterPicture | NotRead, draft: Draft) -> FormPicture | None:
    """The live lines; None until the choices are complete enough to say something."""
    if draft.queue is None or draft.flavor is None:
        return None
    if isinstance(picture, NotRead):
        return FormPicture(draft.flavor, draft.queue, draft.queue, trouble=picture.why)
    if draft.queue not in picture.queues:
        return FormPicture(draft.flavor, draft.queue, draft.queue, trouble=f"there is no ClusterQueue {draft.queue}")
    entry = _entry(policy, picture, draft.queue, draft.flavor)
    if entry is None:
        return None
    tree = quota_tree(picture, entry)
    now = FormPicture(
        flavor=draft.flavor,
        where=tree.cohort(draft.queue) or draft.queue,
        queue=draft.queue,
        free=tree.free(draft.queue),
        read_at=picture.read_at,
    )
    return _judged(world, draft, now) if draft.amount else now


def _judged(world: World, draft: Draft, now: FormPicture) -> FormPicture:
    """What policy would say, as far as the draft is complete."""
    if draft.series is not None and draft.start is None:
        return now  # it is not said yet when the first one starts
    try:
        completed = complete(world, draft)
    except Refused as error:
        return replace(now, denied=error.sentence)
    if isinstance(completed, Question):
        return now
    proposal, picture, _, policy = completed
    promised = live_overcommit(world, proposal.ask, picture)
    with world.store.read() as uow:
        facts = request_facts(uow, proposal.ask, world.clock(), policy)
    verdict = evaluate(policy, replace(facts, overcommits=may_overcommit(proposal.ask, promised)))
    queues = [name for name in (proposal.ask.queue, proposal.ask.lender) if name]
    managed = [(name, picture.queues[name].managed_by) for name in queues]
    return replace(
        now,
        kind=proposal.ask.kind,
        overcommit=promised,
        steps=tuple(_step(step) for step in verdict.steps),
        rule=verdict.rule if verdict.outcome is Outcome.AUTO else None,
        denied=verdict.words if verdict.outcome is Outcome.DENIED else None,
        managed_by=tuple((name, tool) for name, tool in managed if tool),
        in_git=tuple(name for name in queues if policy.proposes(proposal.ask.cluster, name)),
    )


def _step(step: ApprovalStep) -> Step:
    return Step(step_words(ApprovalStep(step.who)), step.count)
