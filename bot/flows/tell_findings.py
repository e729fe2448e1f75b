"""What the planner noticed, as notices: questions about outside edits, troubles of queues, suspended and short loans.

Called by flows/converge_quota in the transaction that stores the plan. The planner repeats a finding as long as it
holds; each is owed once per key.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.core.convergence.facts import FieldKey
from bot.core.convergence.findings import QUESTIONS, Finding, FindingKind, field_path
from bot.core.convergence.landed import Refusal
from bot.core.convergence.planner import Plan
from bot.core.kueue import ClusterPicture
from bot.core.loans import LoanState
from bot.core.notices import Notice, NoticeDraft, Priority
from bot.core.policy import Policy
from bot.core.standing import Blocker
from bot.flows.edit_facts import loans_on
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

_QUEUE_TROUBLES = {
    FindingKind.STRIPPED: NoticeKind.ANNOTATION_STRIPPED,
    FindingKind.OTHER_INSTALL: NoticeKind.OTHER_INSTALL,
    FindingKind.NOT_WHOLE: NoticeKind.NOT_WHOLE,
    FindingKind.LENDING_LIMIT: NoticeKind.LENDING_LIMIT_MOVED,
    FindingKind.NO_ROOM_BESIDE: NoticeKind.RESOURCE_QUOTA_MISSING,
    FindingKind.NO_EFFECT: NoticeKind.RESOURCE_QUOTA_KEYS,
}


def tell_findings(uow: UnitOfWork, policy: Policy, plan: Plan, picture: ClusterPicture, now: datetime) -> None:
    """Owe what is new. What is only for the log is left to the audit."""
    for finding in plan.findings:
        if finding.kind in QUESTIONS and finding.field is not None:
            _owe_question(uow, policy, finding, finding.field, picture, now)
        elif finding.kind is FindingKind.WITHDRAWN and finding.field is not None:
            _owe_withdrawn(uow, finding, finding.field, now)
        elif finding.kind in _QUEUE_TROUBLES:
            _owe_trouble(uow, policy, _QUEUE_TROUBLES[finding.kind], finding, now)
        elif finding.kind is FindingKind.SUSPENDED:
            _owe_loan(uow, policy, NoticeKind.LOAN_SUSPENDED, finding, now)
        elif finding.kind is FindingKind.SHORT:
            _owe_loan(uow, policy, NoticeKind.LOAN_SHORT, finding, now)


def tell_refusal(world: World, epoch: int, cluster: str, blocker: Blocker, refusal: Refusal) -> None:
    """The API server or Kueue refused a write: to the platform channel, once for each text."""
    kind = NoticeKind.MISSING_RIGHT if blocker is Blocker.NO_RIGHT else NoticeKind.WRITE_REFUSED
    now = world.clock()
    facts = {"queue": refusal.queue, "cluster": cluster, "words": refusal.words, "since": now.isoformat()}
    key = f"{kind.value}:{cluster}/{refusal.queue}:{refusal.words}"
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        to = world.policies.policy.approvals.platform_channel
        uow.notices.owe_once(NoticeDraft(key, kind, to, facts), now)
        uow.commit()
    world.wake_delivery()


def _owe_question(
    uow: UnitOfWork, policy: Policy, finding: Finding, key: FieldKey, picture: ClusterPicture, now: datetime
) -> None:
    """One message for one number of one object as long as the question is open, however often the number changes.

    It is asked again when a loan on it is over, and then weekly: by a message of its own, since an edit pings nobody.
    """
    record = uow.fields.records(key.cluster).get(key)
    if record is None or record.question is None:
        return
    queue = picture.find(key.queue)
    over = [loan for loan in loans_on(uow, key, record) if loan.state is LoanState.RETURNING]
    facts: dict[str, Any] = {
        "field": list(key),
        "kind": finding.kind.value,
        "uid": record.question.uid,
        "live": record.question.live,
        "since": record.question.since.isoformat(),
        "manager": record.question.manager,
        "managed_by": queue.managed_by if queue else None,
        "cohort": queue.cohort if queue else None,
        "over": [loan.id for loan in over],
    }
    open_one = _open_question(uow, key, record.question.uid)
    name = open_one.draft.facts["question"] if open_one else f"{_prefix(key, record.question.uid)}{now.isoformat()}"
    names = [name]
    if over:
        weeks = (now - min(loan.ended_at or loan.end for loan in over)) // timedelta(weeks=1)
        names.append(f"{name}:again-{weeks}")
    last = uow.notices.latest(f"{name}:again-")
    if last is not None and last.draft.key not in names:
        names.append(last.draft.key)  # a reminder has buttons too: it must not stand there with an old number
    for one in names:
        known = uow.notices.get(one)
        if known is None or _differs(known.draft.facts, facts):
            own = {**facts, "question": name}
            platform = policy.approvals.platform_channel
            uow.notices.owe(NoticeDraft(one, NoticeKind.OUTSIDE_EDIT, platform, own, Priority.APPROVAL), now)


def _prefix(key: FieldKey, uid: str) -> str:
    return f"edit:{field_path(key)}:{uid}:"


def _open_question(uow: UnitOfWork, key: FieldKey, uid: str) -> Notice | None:
    """The newest message about this number, if nobody has answered it and it has not gone away."""
    newest = uow.notices.latest(_prefix(key, uid))
    if newest is None or newest.draft.facts.get("answered") or newest.draft.facts.get("back_since"):
        return None
    return newest


def _differs(known: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return any(known.get(name) != value for name, value in facts.items())


def _owe_withdrawn(uow: UnitOfWork, finding: Finding, key: FieldKey, now: datetime) -> None:
    """The number is the bot's again, and nobody had to answer: the open question says so."""
    newest = uow.notices.latest(f"edit:{field_path(key)}:")
    if newest is not None and _open_question(uow, key, newest.draft.facts["uid"]) is not None:
        uow.notices.refresh(newest.draft.facts["question"], now, {"back_since": now.isoformat(), "live": finding.live})


def _owe_trouble(uow: UnitOfWork, policy: Policy, kind: NoticeKind, finding: Finding, now: datetime) -> None:
    facts = {
        "queue": finding.queue,
        "cluster": finding.field.cluster if finding.field else None,
        "flavor": finding.field.flavor if finding.field else None,
        "words": finding.words or finding.manager or "",
        "live": finding.live,
        "wrote": finding.wrote,
        "since": now.isoformat(),
    }
    uow.notices.owe_once(NoticeDraft(finding.key, kind, policy.approvals.platform_channel, facts), now)


def _owe_loan(uow: UnitOfWork, policy: Policy, kind: NoticeKind, finding: Finding, now: datetime) -> None:
    """To the platform channel, the requester, and both queues' teams."""
    loan = uow.loans.get(finding.loan) if finding.loan is not None else None
    if loan is None:
        return
    request = uow.requests.get(loan.id)
    teams = {policy.team_of(loan.cluster, queue) for queue in (loan.borrower, loan.lender) if queue}
    channels = {found.channel for name in teams if name and (found := policy.team(name))}
    facts = {"request": loan.id, "words": finding.words, "since": now.isoformat()}
    for to in {policy.approvals.platform_channel, *channels, *({request.ask.requester} if request else ())}:
        uow.notices.owe_once(NoticeDraft(f"{finding.key}:{to}", kind, to, facts), now)
