"""Row <-> core value, and nothing else. Used by the repositories. (Those of convergence are in field_rows.py, of
offers in offers.py.)

`to_X` reads a row, `of_X` gives the columns to write. `version` and numbers that the database assigns are left out of
`of_X`: the repositories set them.
"""

from typing import Any

from sqlalchemy import RowMapping

from bot.core.inbox import Arrival, InboxItem
from bot.core.loans import Loan, LoanEnd, LoanKind, LoanState
from bot.core.messages import MessageRef
from bot.core.notices import Notice, NoticeDraft, NoticeState, Priority
from bot.core.requests import Approval, ApprovalStep, Ask, AuditEntry, QuotaRequest, RequestState
from bot.core.series import from_json as series_from_json
from bot.core.series import to_json as series_to_json

Columns = dict[str, Any]


def of_request(request: QuotaRequest) -> Columns:
    ask = request.ask
    return {
        "cluster": ask.cluster,
        "team": ask.team,
        "queue": ask.queue,
        "flavor": ask.flavor,
        "resource": ask.resource,
        "amount": ask.amount,
        "kind": ask.kind.value,
        "lender": ask.lender,
        "start": ask.start,
        "duration": ask.duration,
        "until": ask.until,
        "reason": ask.reason,
        "requester": ask.requester,
        "state": request.state.value,
        "created_at": request.created_at,
        "lapses_at": request.lapses_at,
        "origin": request.origin,
        "revision": request.revision,
        "rule": request.rule,
        "steps": [{"who": step.who, "count": step.count} for step in request.steps],
        "picture": request.picture,
        "decided_by": request.decided_by,
        "decided_at": request.decided_at,
        "words": request.words,
        "extends": request.extends,
        "repeats": ask.series and series_to_json(ask.series),
        "series": request.series,
        "terms": request.terms,
        "judged_at": request.judged_at,
    }


def to_request(row: RowMapping) -> QuotaRequest:
    ask = Ask(
        cluster=row["cluster"],
        team=row["team"],
        queue=row["queue"],
        flavor=row["flavor"],
        resource=row["resource"],
        amount=row["amount"],
        kind=LoanKind(row["kind"]),
        lender=row["lender"],
        start=row["start"],
        duration=row["duration"],
        until=row["until"],
        reason=row["reason"],
        requester=row["requester"],
        series=None if row["repeats"] is None else series_from_json(row["repeats"]),
    )
    return QuotaRequest(
        id=row["id"],
        ask=ask,
        state=RequestState(row["state"]),
        created_at=row["created_at"],
        lapses_at=row["lapses_at"],
        origin=row["origin"],
        revision=row["revision"],
        rule=row["rule"],
        steps=tuple(ApprovalStep(step["who"], step["count"]) for step in row["steps"]),
        picture=row["picture"],
        decided_by=row["decided_by"],
        decided_at=row["decided_at"],
        words=row["words"],
        extends=row["extends"],
        series=row["series"],
        terms=row["terms"],
        judged_at=row["judged_at"],
        version=row["version"],
    )


def of_approval(approval: Approval) -> Columns:
    return {
        "request": approval.request,
        "step": approval.step,
        "who": approval.who,
        "at": approval.at,
        "self_approved": approval.self_approved,
        "terms": approval.terms,
    }


def to_approval(row: RowMapping) -> Approval:
    return Approval(row["request"], row["step"], row["who"], row["at"], row["self_approved"], row["terms"])


def of_audit(entry: AuditEntry) -> Columns:
    return {
        "at": entry.at,
        "who": entry.who,
        "what": entry.what,
        "subject": entry.subject,
        "outcome": entry.outcome,
    }


def to_audit(row: RowMapping) -> AuditEntry:
    return AuditEntry(row["at"], row["who"], row["what"], row["subject"], row["outcome"])


def of_loan(loan: Loan) -> Columns:
    return {
        "id": loan.id,
        "cluster": loan.cluster,
        "kind": loan.kind.value,
        "lender": loan.lender,
        "borrower": loan.borrower,
        "flavor": loan.flavor,
        "resource": loan.resource,
        "amount": loan.amount,
        "start": loan.start,
        "end": loan.end,
        "state": loan.state.value,
        "suspended": loan.suspended,
        "end_reason": loan.end_reason and loan.end_reason.value,
        "ended_at": loan.ended_at,
        "in_force_at": loan.in_force_at,
    }


def to_loan(row: RowMapping) -> Loan:
    return Loan(
        id=row["id"],
        cluster=row["cluster"],
        kind=LoanKind(row["kind"]),
        lender=row["lender"],
        borrower=row["borrower"],
        flavor=row["flavor"],
        resource=row["resource"],
        amount=row["amount"],
        start=row["start"],
        end=row["end"],
        state=LoanState(row["state"]),
        suspended=row["suspended"],
        end_reason=None if row["end_reason"] is None else LoanEnd(row["end_reason"]),
        ended_at=row["ended_at"],
        in_force_at=row["in_force_at"],
        version=row["version"],
    )


def of_inbox(item: InboxItem) -> Columns:
    return {
        "key": item.key,
        "arrival": item.arrival.value,
        "name": item.name,
        "payload": dict(item.payload),
        "received_at": item.received_at,
        "attempts": item.attempts,
    }


def to_inbox(row: RowMapping) -> InboxItem:
    return InboxItem(
        key=row["key"],
        arrival=Arrival(row["arrival"]),
        name=row["name"],
        payload=row["payload"],
        received_at=row["received_at"],
        attempts=row["attempts"],
    )


def of_draft(draft: NoticeDraft) -> Columns:
    return {
        "key": draft.key,
        "kind": draft.kind,
        "recipient": draft.to,
        "facts": dict(draft.facts),
        "priority": draft.priority.value,
        "thread_of": draft.thread_of,
    }


def of_delivery(notice: Notice) -> Columns:
    """What a delivery may change of a notice."""
    return {
        "state": notice.state.value,
        "shown": notice.shown,
        "channel": notice.ref and notice.ref.channel,
        "ts": notice.ref and notice.ref.ts,
        "not_before": notice.not_before,
        "attempts": notice.attempts,
        "doubtful": notice.doubtful,
        "failure": notice.failure,
    }


def to_notice(row: RowMapping) -> Notice:
    draft = NoticeDraft(
        key=row["key"],
        kind=row["kind"],
        to=row["recipient"],
        facts=row["facts"],
        priority=Priority(row["priority"]),
        thread_of=row["thread_of"],
    )
    return Notice(
        id=row["id"],
        draft=draft,
        created_at=row["created_at"],
        state=NoticeState(row["state"]),
        wanted=row["wanted"],
        shown=row["shown"],
        ref=None if row["channel"] is None else MessageRef(row["channel"], row["ts"]),
        claimed_epoch=row["claimed_epoch"],
        claimed_at=row["claimed_at"],
        not_before=row["not_before"],
        attempts=row["attempts"],
        doubtful=row["doubtful"],
        failure=row["failure"],
    )
