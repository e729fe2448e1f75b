"""Try a proposed loan with the API's dry run before anybody is asked to approve it. Called by flows/submit_request.

Schema rules, webhooks and rights all take part in a dry run, so what they would refuse after the approval is known
before. Nothing is stored.
"""

from collections.abc import Iterator

from bot.core.convergence.changes import PatchOutcome, PatchResult, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.loans import LoanKind
from bot.core.requests import Ask
from bot.core.resource_quotas import hard_field, is_resource_quota, kind_of
from bot.flows.try_beside import try_beside
from bot.flows.world import World

_NOT_TRIED = frozenset({PatchOutcome.CONFLICT, PatchOutcome.UNKNOWN, PatchOutcome.KUEUE_DOWN})


def try_change(world: World, ask: Ask, picture: ClusterPicture) -> tuple[str, ...]:
    """Notes for the card; empty if all is well. Raises Refused if Kueue says no to the numbers."""
    notes: list[str] = []
    for change in _changes(ask, picture):
        if world.policies.policy.proposes(ask.cluster, change.queue.name):
            continue  # somebody else writes it: the bot needs no right to, and tries nothing
        result = world.clusters[ask.cluster].patch(change, dry_run=True)
        if result.outcome is PatchOutcome.REFUSED:
            who = "The API server" if is_resource_quota(change.queue.name) else "Kueue"
            raise Refused(f"{who} does not accept this for {change.queue.name}: {result.words}")
        notes += _notes(change, result)
    beside = world.policies.policy.resource_quota_beside(ask.cluster, ask.queue)
    return (*notes, *(try_beside(world, ask, beside) if beside else ()))


def _notes(change: QueueChange, result: PatchResult) -> Iterator[str]:
    if result.outcome is PatchOutcome.FORBIDDEN:
        name = change.queue.name
        yield f"The bot may not write {kind_of(name)} {name}. Admins: allow patch on it"
    elif result.outcome in _NOT_TRIED:
        yield f"Not tried with the cluster yet ({change.queue.name}): {result.words or result.outcome.value}"


def _changes(ask: Ask, picture: ClusterPicture) -> Iterator[QueueChange]:
    """The numbers as they would be if only this loan were added to what is live now."""
    entry = FlavorResource(ask.flavor, ask.resource)
    borrower = picture.queues[ask.queue]
    quota = borrower.quotas[entry]
    if is_resource_quota(ask.queue):
        yield QueueChange(borrower, {hard_field(ask.cluster, ask.queue, ask.resource): quota.nominal + ask.amount})
        return
    if ask.kind is LoanKind.BORROW:
        limit = (quota.borrowing_limit or 0) + ask.amount
        yield QueueChange(borrower, {_key(ask, ask.queue, FieldName.BORROWING_LIMIT): limit})
        return
    if ask.lender is not None:
        lender = picture.queues[ask.lender]
        left = max(0, lender.quotas[entry].nominal - ask.amount)
        lending = lender.quotas[entry].lending_limit
        limits = {} if lending is None or lending <= left else {entry: left}
        yield QueueChange(lender, {_key(ask, ask.lender, FieldName.NOMINAL): left}, limits)
    yield QueueChange(borrower, {_key(ask, ask.queue, FieldName.NOMINAL): quota.nominal + ask.amount})


def _key(ask: Ask, queue: str, name: FieldName) -> FieldKey:
    return FieldKey(ask.cluster, queue, ask.flavor, ask.resource, name)
