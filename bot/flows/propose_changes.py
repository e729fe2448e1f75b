"""Store and tell what is proposed for queues that are written in Git: posted once, closed once, reminded of once.

Called by flows/converge_quota, in the transaction that stores the plan, and when nothing is left to be written.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.convergence.findings import field_path
from bot.core.convergence.planner import Plan
from bot.core.convergence.proposals import Proposal, ProposedField
from bot.core.convergence.settle_proposals import NewProposal
from bot.core.loans import Loan
from bot.core.notices import Notice, NoticeDraft, Priority
from bot.core.requests import AuditEntry
from bot.flows.deliver_notices import NotSaid
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.amounts import number
from bot.views.kinds import NoticeKind
from bot.views.proposals import ProposalFacts, ProposedChange, ProposedLoan

REMIND_AFTER = timedelta(hours=4)
"""How long a proposal may wait before the platform channel is reminded of it."""


def store_proposals(uow: UnitOfWork, world: World, plan: Plan) -> None:
    """What the plan says of proposals. Raises Stale."""
    now, to = world.clock(), world.policies.policy.approvals.platform_channel
    for record in plan.proposals.booked:
        uow.fields.put(record)
    for proposal, how in plan.proposals.ended:
        uow.proposals.end(proposal.id, how, now)
        uow.notices.refresh(_key(proposal), now, {"ended": how.value})
        _audit(uow, now, how.value, proposal.fields)
    for new in plan.proposals.new:
        proposal = _made(new, world.new_id(), now)
        uow.proposals.add(proposal)
        facts = {"proposal": proposal.id, "tool": new.queue.managed_by, "annotated": bool(new.queue.annotations)}
        uow.notices.owe_once(NoticeDraft(_key(proposal), NoticeKind.PROPOSAL, to, facts, Priority.APPROVAL), now)
        _audit(uow, now, "proposed", proposal.fields)


def remind_of_proposals(world: World, epoch: int, proposals: Sequence[Proposal]) -> None:
    """In the thread of what waits too long, once."""
    now = world.clock()
    old = [one for one in proposals if now - one.created_at >= REMIND_AFTER]
    if not old:
        return
    with world.store.read() as uow:  # nearly always all were reminded of long ago: that needs no write
        old = [one for one in old if uow.notices.get(_reminder(one)) is None]
    for proposal in old:
        with world.store.begin() as uow:
            uow.leadership.check(epoch)
            posted = uow.notices.get(_key(proposal))
            if posted is None:
                continue
            facts = {"proposal": proposal.id}
            draft = NoticeDraft(
                _reminder(proposal),
                NoticeKind.PROPOSAL_WAITS,
                posted.draft.to,
                facts,
                Priority.APPROVAL,
                thread_of=_key(proposal),
            )
            is_new = uow.notices.owe_once(draft, now)
            uow.commit()
        if is_new:
            world.wake_delivery()


def _key(proposal: Proposal) -> str:
    return f"proposal:{proposal.id}"


def _reminder(proposal: Proposal) -> str:
    return f"proposal-waits:{proposal.id}"


def _made(new: NewProposal, proposal_id: str, now: datetime) -> Proposal:
    queue = new.queue
    return Proposal(proposal_id, queue.cluster, queue.name, queue.uid, new.fields, now)


def _audit(uow: UnitOfWork, now: datetime, what: str, fields: Sequence[ProposedField]) -> None:
    for part in fields:
        uow.audit.add(AuditEntry(now, "bot", what, field_path(part.key), f"{part.before.wrote} -> {part.after.wrote}"))


def proposal_facts(world: World, notice: Notice) -> ProposalFacts:
    """A proposal as it stands. Raises NotSaid if it is not there, and for a reminder of one that waits no more."""
    facts = notice.draft.facts
    with world.store.read() as uow:
        proposal = uow.proposals.get(facts["proposal"])
        if proposal is None:
            raise NotSaid("there is no such proposal any more")
        numbers = sorted({int(leg.removeprefix("L")) for part in proposal.fields for leg in _moved(part)})
        loans = [loan for number in numbers if (loan := uow.loans.get(number)) is not None]
    if notice.draft.kind == NoticeKind.PROPOSAL_WAITS and proposal.ended is not None:
        raise NotSaid("the proposal waits no more")
    return ProposalFacts(
        queue=proposal.queue,
        changes=tuple(_change(part) for part in proposal.fields),
        loans=tuple(_loan(loan, proposal) for loan in loans),
        since=proposal.created_at,
        cluster=proposal.cluster if len(world.clusters) > 1 else None,
        tool=facts.get("tool"),
        annotated=bool(facts.get("annotated")),
        ended=proposal.ended,
        ended_at=proposal.ended_at,
    )


def proposed_number(part: ProposedField) -> tuple[str, str, str]:
    """One number in words: which, what it was, what it is to be."""
    limit = " borrowingLimit" if part.key.name is FieldName.BORROWING_LIMIT else ""
    return f"{part.key.flavor}{limit}", number(part.before.wrote), number(part.after.wrote)


def _moved(part: ProposedField) -> set[str]:
    """Loans whose part in the number changes."""
    before, after = part.before.legs, part.after.legs
    return {leg for leg in {*before, *after} if before.get(leg, 0) != after.get(leg, 0)}


def _change(part: ProposedField) -> ProposedChange:
    key, before, after = part.key, part.before, part.after
    limits = (None, None) if key.name is FieldName.BORROWING_LIMIT else (before.lending_wrote, after.lending_wrote)
    return ProposedChange(key.flavor, key.resource, key.name, before.wrote, after.wrote, *limits)


def _loan(loan: Loan, proposal: Proposal) -> ProposedLoan:
    borrows = loan.borrower == proposal.queue
    return ProposedLoan(loan.id, _size(loan, proposal), borrows, loan.end, over=loan.ended_at is not None)


def _size(loan: Loan, proposal: Proposal) -> int:
    """What the proposal adds to the loan's part of the number (signed)."""
    return sum(
        part.after.legs.get(loan.leg_id, 0) - part.before.legs.get(loan.leg_id, 0)
        for part in proposal.fields
        if _is_of(loan, part.key)
    )


def _is_of(loan: Loan, key: FieldKey) -> bool:
    return (loan.flavor, loan.resource) == (key.flavor, key.resource)
