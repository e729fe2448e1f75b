"""The lender's lead asks for a loan back before its end: the borrower's people hear it, and nothing else happens.

Called by chat for `ask-back` and for the button in the lender's messages. What comes of it is flows/answer_ask_back.
"""

from dataclasses import dataclass

from bot.core.ask_backs import AskBack, Asker, why_not
from bot.core.errors import Refused, Stale
from bot.core.loans import Loan
from bot.core.notices import NoticeDraft
from bot.core.requests import AuditEntry, QuotaRequest
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line
from bot.flows.gather import person_of, request_of, roles_of_person
from bot.flows.refused_with import RefusedWith
from bot.flows.who_hears import requester_and_leads
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.refusals import being_changed
from bot.views.thread_lines import EventKind


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked back, for the answer to who asked."""

    loan: Loan
    request: QuotaRequest


def ask_back(world: World, number: int, words: str, user: str, arrival: str) -> Asked:
    """`words` are shown as they are. Raises Refused; both are in the audit."""
    with refusals_audited(world, user, "ask back", f"Q-{number}"):
        return _ask(world, number, words.strip(), user, arrival)


def _ask(world: World, number: int, words: str, user: str, arrival: str) -> Asked:
    person, policy = person_of(world, user), world.policies.policy
    asker = Asker(person, roles_of_person(world, policy, person))
    request = request_of(world, number)
    to = requester_and_leads(world, request)
    now = world.clock()
    with world.store.begin() as uow:
        loan = uow.loans.get(request.number)
        barred = why_not(policy, asker, request, loan, uow.ask_backs.of(request.number), now)
        if barred:
            raise Refused(barred)
        assert loan is not None, "why_not looked for it"
        try:
            ask = uow.ask_backs.add(AskBack(0, number, user, now, words))
        except Stale:
            raise RefusedWith(being_changed(number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, "ask back", f"Q-{number}", words or "ok"))
        owe_line(uow, policy, number, EventKind.ASKED_BACK, now, str(ask.id), who=user, words=words)
        for one in to:
            if one != user:
                uow.notices.owe_once(_draft(ask, one), now)
        uow.commit()
    world.wake_delivery()
    return Asked(loan, request)


def message_prefix(ask: AskBack) -> str:
    """What the keys of the borrower's messages about it begin with; none is the beginning of another."""
    return f"{NoticeKind.ASKED_BACK.value}:{ask.loan}:{ask.id}.:"


def _draft(ask: AskBack, to: str) -> NoticeDraft:
    return NoticeDraft(f"{message_prefix(ask)}{to}", NoticeKind.ASKED_BACK, to, {"ask_back": ask.id})
