"""Which queue lends in a transfer, and how much it can: the lender's half of completing a request.

Used by core/proposal, and by the form for "nlp lends at most 8 now".
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bot.core.drafts import AskField
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanKind, LoanState, at_once
from bot.core.placing import no_such_queue
from bot.core.policy.clusters import Cluster, Lender
from bot.core.trees import share_a_tree


@dataclass(frozen=True, slots=True)
class Wish:
    """What a lender is looked for."""

    borrower: QueueSnapshot
    entry: FlavorResource
    amount: int


@dataclass(frozen=True, slots=True)
class Lenders:
    """Everything that says who may lend how much."""

    picture: ClusterPicture
    cluster: Cluster
    loans: Sequence[Loan]
    """Open ones of this cluster."""
    visible: Collection[str]
    """Queues that the requester may see; others are not chosen and not named."""

    def most(self, queue: QueueSnapshot, entry: FlavorResource) -> int:
        """What a queue can lend now, by its nominalQuota, the policy, and what it has promised already."""
        rule, quota = self.cluster.lenders.get(queue.name), queue.quotas.get(entry)
        if rule is None or quota is None:
            return 0
        open_loans = [loan for loan in self.loans if _lends(loan, queue.name, entry)]
        promised = at_once([loan for loan in open_loans if not _in_force(loan)])
        most = quota.nominal - promised
        if _idle_only(rule):
            most -= queue.reserved.get(entry, 0)
        if rule.at_most is not None:
            most = min(most, rule.at_most - at_once(open_loans))
        return max(0, most)

    def idle(self, queue: QueueSnapshot, entry: FlavorResource) -> int:
        """What of that nobody's running work holds."""
        quota = queue.quotas[entry]
        return min(self.most(queue, entry), max(0, quota.nominal - queue.reserved.get(entry, 0)))


def check_lender(lenders: Lenders, name: str, wish: Wish) -> None:
    """Whether this queue can lend what is wished. Raises Refused."""
    found = lenders.picture.queues.get(name)
    if found is None or name not in lenders.visible:
        raise no_such_queue(name, lenders.visible, AskField.LENDER)
    reason = _why_not(lenders, found, wish) or _too_small(lenders, found, wish)
    if reason:
        raise Refused(reason, AskField.LENDER)


def choose_lender(lenders: Lenders, wish: Wish) -> str:
    """The queue that gives most easily: one that need not touch running work if there is one, with the most idle.

    Raises Refused with the largest lender's limit if none has enough.
    """
    possible = [queue for queue in _candidates(lenders) if _why_not(lenders, queue, wish) is None]
    enough = [queue for queue in possible if lenders.most(queue, wish.entry) >= wish.amount]
    if enough:
        return max(enough, key=lambda queue: lenders.idle(queue, wish.entry)).name
    if not possible:
        raise Refused(f"No queue here lends {wish.entry.flavor} to {wish.borrower.name}.", AskField.KIND)
    largest = max(possible, key=lambda queue: lenders.most(queue, wish.entry))
    raise Refused(_too_small(lenders, largest, wish) or "", AskField.AMOUNT)


def automation_sentence(queue: QueueSnapshot) -> str | None:
    """Why the bot does not touch a queue whose quota Kueue writes itself; None if it does not."""
    if queue.quota_automation is None:
        return None
    elsewhere = " Ask on the worker clusters' queues." if "MultiKueue" in queue.quota_automation else ""
    return (
        f"{queue.name}'s quota is written by Kueue itself ({queue.quota_automation}). "
        f"The bot does not change it.{elsewhere}"
    )


def fraction_sentence(queue: QueueSnapshot, entry: FlavorResource) -> str | None:
    """Why the bot does not touch an entry whose live numbers are not whole; None if they are."""
    if queue.quotas[entry].whole:
        return None
    return (
        f"{queue.name}'s quota of {entry.flavor} is not a whole number in the cluster. "
        "The bot does not change it. Ask the platform channel."
    )


def _candidates(lenders: Lenders) -> Iterator[QueueSnapshot]:
    for name in lenders.cluster.lenders:
        if name in lenders.visible and name in lenders.picture.queues:
            yield lenders.picture.queues[name]


def _why_not(lenders: Lenders, queue: QueueSnapshot, wish: Wish) -> str | None:
    """Why a queue cannot lend at all."""
    borrower, flavor = wish.borrower, wish.entry.flavor
    if queue.name == borrower.name:
        return f"{queue.name} cannot lend to itself."
    if queue.name not in lenders.cluster.lenders:
        others = [name for name in lenders.cluster.lenders if name in lenders.visible and name != borrower.name]
        instead = f"These do: {', '.join(others)}." if others else "No queue here does."
        return f"{queue.name} does not lend. {instead}"
    if queue.deleting:
        return f"{queue.name} is being deleted."
    if not share_a_tree(lenders.picture, queue.name, borrower.name):
        return f"{queue.name} and {borrower.name} are not in the same cohort, so no quota can move between them."
    if wish.entry not in queue.quotas:
        return f"{queue.name} does not list {flavor} with {wish.entry.resource}."
    return automation_sentence(queue) or fraction_sentence(queue, wish.entry)


def _too_small(lenders: Lenders, queue: QueueSnapshot, wish: Wish) -> str | None:
    most = lenders.most(queue, wish.entry)
    if most >= wish.amount:
        return None
    numbers = f"{queue.quotas[wish.entry].nominal:,}, of which {queue.reserved.get(wish.entry, 0):,} reserved"
    return f"{queue.name} can lend at most {most:,} {wish.entry.flavor} now ({numbers})."


def _idle_only(rule: Lender) -> bool:
    """Without anybody's consent nobody's running work is touched."""
    return rule.only_idle or rule.consent == "none"


def _lends(loan: Loan, queue: str, entry: FlavorResource) -> bool:
    lends = loan.kind is LoanKind.TRANSFER and loan.lender == queue
    return lends and loan.state is not LoanState.CLOSED and (loan.flavor, loan.resource) == entry


def _in_force(loan: Loan) -> bool:
    """Whether the loan is in the lender's live number already."""
    return loan.state is LoanState.RETURNING or loan.in_force_at is not None
