"""The unused part of a loan is offered for early return to its people. Run by the leader's timetable.

A question is stored with its messages in one transaction, so nobody is asked twice; when a loan was asked about last is
in the questions themselves. A cluster that cannot be read puts it off: what is offered is unused at this moment.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.core.cohorts import quota_tree
from bot.core.errors import Stale
from bot.core.idle_loans import IdleOffer, idle_part, is_quiet, may_be_asked
from bot.core.kueue import ClusterPicture, FlavorResource
from bot.core.loan_use import LoanUse
from bot.core.loans import Loan, LoanState
from bot.core.notices import NoticeDraft
from bot.core.requests import QuotaRequest
from bot.flows.live_use import live_use
from bot.flows.measure_use import STORED_EVERY
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.waiting_devices import waiting_devices, waiting_of
from bot.flows.who_hears import who_hears
from bot.flows.world import World
from bot.views.kinds import NoticeKind

STILL_SEEN = 2 * STORED_EVERY
"""What is stored of a loan that was not looked at for longer says nothing of now."""


def offer_idle(world: World, epoch: int) -> timedelta | None:
    """Whatever may be asked now. Raises NotLeader, Unavailable (database)."""
    now, rules = world.clock(), world.policies.policy.approvals.idle_loans
    pictures: dict[str, ClusterPicture | NotRead] = {}
    for loan, request, use, last in _idle(world, now):
        if loan.cluster not in pictures:
            pictures[loan.cluster] = read_queues(world, loan.cluster)
        picture = pictures[loan.cluster]
        used = None if isinstance(picture, NotRead) else live_use(world, loan, picture)
        if isinstance(picture, NotRead) or used is None:
            continue
        amount = idle_part(rules, use, loan, used)
        if amount:
            nth = last.nth + 1 if last else 1
            offer = IdleOffer(0, loan.id, nth, amount, loan.amount, use.lasted(amount), now)
            _ask(world, epoch, offer, loan, request, _waiting_elsewhere(world, picture, loan))
    return None


def _idle(world: World, now: datetime) -> Sequence[tuple[Loan, QuotaRequest, LoanUse, IdleOffer | None]]:
    """Loans that were unused for long enough as far as is stored, and were not asked about lately."""
    rules = world.policies.policy.approvals.idle_loans
    found: list[tuple[Loan, QuotaRequest, LoanUse, IdleOffer | None]] = []
    with world.store.read() as uow:
        if not rules.offer or uow.pauses.get() is not None:
            return ()
        loans = {loan.id: loan for loan in uow.loans.find(states={LoanState.RUNNING}) if may_be_asked(rules, loan, now)}
        for use in uow.uses.of(loans.keys()):
            if now - use.seen_at > STILL_SEEN or not use.idle_for(rules.after):
                continue
            last, request = uow.idle_offers.latest(use.loan), uow.requests.get(use.loan)
            if request is not None and not is_quiet(rules, last, now):
                found.append((loans[use.loan], request, use, last))
    return found


def _waiting_elsewhere(world: World, picture: ClusterPicture, loan: Loan) -> tuple[str, int] | None:
    """The cohort and how many devices its other queues wait for; None if there is none, or it is not known."""
    tree = quota_tree(picture, FlavorResource(loan.flavor, loan.resource))
    cohort = tree.cohort(loan.borrower)
    waiting = 0
    for name in tree.members(loan.borrower) if cohort else ():
        if name != loan.borrower and tree.entry in picture.queues[name].quotas:
            here = waiting_of(waiting_devices(world, picture.queues[name]), loan.resource)
            if here is None:
                return None
            waiting += here
    return (cohort, waiting) if cohort and waiting else None


def _ask(
    world: World, epoch: int, offer: IdleOffer, loan: Loan, request: QuotaRequest, waiting: tuple[str, int] | None
) -> None:
    people = who_hears(world, request)
    try:
        with world.store.begin() as uow:
            uow.leadership.check(epoch)
            stored = uow.loans.get(loan.id)
            if stored is None or stored.version != loan.version or uow.pauses.get() is not None:
                return  # looked at again at the next pass, as it is then
            made = uow.idle_offers.add(offer)
            for to in people:
                facts = {"offer": made.id, "waiting": list(waiting) if waiting else None}
                draft = NoticeDraft(f"{idle_prefix(made.id)}{to}", NoticeKind.IDLE_LOAN, to, facts)
                uow.notices.owe_once(draft, offer.at)
            uow.commit()
    except Stale:
        return
    world.wake_delivery()


def idle_prefix(offer: int) -> str:
    """What the keys of all messages about an offer begin with."""
    return f"{NoticeKind.IDLE_LOAN.value}:{offer}:"
