"""Presses of buttons on cards, questions and loans, and the small forms behind them. Called by chat/directory.

Nothing is taken from the pressed message but ids: the request's, the question's, and the revision of the picture.
"""

from dataclasses import replace
from datetime import timedelta

from bot.chat.desk import Arrived
from bot.chat.form_values import instant, text, ticked, whole
from bot.core.convergence.facts import AnswerKind
from bot.core.durations import parse_duration
from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.messages import Message, Modal
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.card_facts import card_facts, stored
from bot.flows.details_facts import details_facts
from bot.flows.end_loan import end_loan
from bot.flows.extend_loan import MoreTime, extend_loan, loan_to_extend
from bot.flows.overcommit_tick import asks_for_tick
from bot.flows.record_decision import Press, approve, deny
from bot.flows.return_loan import return_loan
from bot.flows.show_queue import show_facts
from bot.flows.stop_series import end_series, repeats
from bot.flows.withdraw_request import withdraw_request
from bot.views.answers.done import loan_ended, request_withdrawn
from bot.views.answers.show import show
from bot.views.deny_form import deny_form
from bot.views.details import details
from bot.views.extend_form import extend_form
from bot.views.facts import CardFacts
from bot.views.ids import Action, Field, picture_of
from bot.views.overcommit_form import overcommit_form
from bot.views.return_form import return_form
from bot.views.said import said

_ANSWERS = {
    Action.DRIFT_BASE: AnswerKind.NEW_BASE,
    Action.DRIFT_INCLUDED: AnswerKind.INCLUDED,
    Action.DRIFT_RESTORE: AnswerKind.PUT_BACK,
}


def on_approve(arrived: Arrived) -> Message | None:
    """The card changes by itself; the answer is for the one who pressed. What may over-commit asks for a tick first."""
    press = _press(arrived)
    with arrived.world.store.read() as uow:
        request = uow.requests.get(press.number)
    if request is None or not asks_for_tick(request, press.revision):
        return said(approve(arrived.world, press))
    form = overcommit_form(_card(arrived))
    _open(arrived, replace(form, metadata=f"{press.number}:{press.revision}"))
    return None


def on_overcommit_form(arrived: Arrived) -> Message:
    """It was ticked, on the picture that the form was opened from."""
    number, _, revision = arrived.get("metadata").partition(":")
    given = ticked(arrived.item.payload["values"], Field.OVERCOMMIT_TICK)
    press = Press(int(number), int(revision or 0), arrived.user, arrived.origin, given)
    return said(approve(arrived.world, press))


def on_deny(arrived: Arrived) -> None:
    """Asks for the reason first."""
    facts = _card(arrived)
    form = deny_form(facts.request, facts.requester.name)
    _open(arrived, replace(form, metadata=f"{facts.request.id}:{_revision(arrived)}"))


def on_deny_form(arrived: Arrived) -> None:
    """The reason was given. The card says the rest: a form has no place of its own to be answered in."""
    number, _, revision = arrived.get("metadata").partition(":")
    press = Press(int(number), int(revision or 0), arrived.user, arrived.origin)
    deny(arrived.world, press, text(arrived.item.payload["values"], Field.DENY_WORDS))


def on_details(arrived: Arrived) -> None:
    """What the card has no room for."""
    _open(arrived, details(details_facts(arrived.world, number_of(arrived), arrived.user)))


def on_withdraw(arrived: Arrived) -> Message:
    """Confirmed by Slack's dialog already."""
    return request_withdrawn(withdraw_request(arrived.world, number_of(arrived), arrived.user, arrived.origin))


def on_return(arrived: Arrived) -> None:
    """Asks how many."""
    facts = _card(arrived)
    if facts.loan is None:
        raise Refused(f"There is no loan Q-{facts.request.id}.")
    _open(arrived, return_form(facts.loan, facts.standing.above if facts.standing else None, facts.unit, facts.grace))


def on_return_form(arrived: Arrived) -> None:
    """The amount was given. The card says the rest."""
    amount = whole(arrived.item.payload["values"], Field.RETURN_AMOUNT)
    return_loan(arrived.world, int(arrived.get("metadata")), amount, arrived.user, arrived.origin)


def on_extend(arrived: Arrived) -> None:
    """Asks how much longer."""
    loan = loan_to_extend(arrived.world, number_of(arrived))
    _open(arrived, extend_form(loan, arrived.world.policies.policy.approvals.limits.longest))


def on_extend_form(arrived: Arrived) -> None:
    """It was given, and passed the gate. The extension's card says the rest; a refusal goes by DM."""
    values, number = arrived.item.payload["values"], int(arrived.get("metadata"))
    until, by = instant(values, Field.EXTEND_UNTIL_AT), parse_duration(text(values, Field.EXTEND_BY))
    length = by if isinstance(by, timedelta) and until is None else None
    wish = MoreTime(number, length, until, text(values, Field.EXTEND_WORDS))
    extend_loan(arrived.world, wish, arrived.user, f"extend:{arrived.get('view_id')}", arrived.origin)


def on_end(arrived: Arrived) -> Message:
    """An admin ends a loan or a series, as with the typed `end Q`. Confirmed by Slack's dialog already."""
    number = number_of(arrived)
    if repeats(arrived.world, number):
        return said(end_series(arrived.world, number, "", arrived.user, arrived.origin))
    return loan_ended(end_loan(arrived.world, number_of(arrived), "", arrived.user, arrived.origin))


def on_edit_answer(arrived: Arrived) -> Message:
    """One of the three answers to an outside edit."""
    picture = picture_of(arrived.get("block_id"))
    kind = _ANSWERS[Action(arrived.item.name)]
    revision = picture.revision if picture else -1
    press = EditPress(arrived.get("value"), revision, kind, arrived.user, arrived.origin)
    return said(answer_edit(arrived.world, press))


def on_show(arrived: Arrived) -> Message:
    """A lender's lead looks at their queue."""
    facts = _card(arrived)
    queue = facts.request.ask.lender or facts.request.ask.queue
    return show(show_facts(arrived.world, arrived.user, queue, None))


def _press(arrived: Arrived) -> Press:
    return Press(number_of(arrived), _revision(arrived), arrived.user, arrived.origin)


def _revision(arrived: Arrived) -> int:
    picture = picture_of(arrived.get("block_id"))
    return picture.revision if picture else -1


def number_of(arrived: Arrived) -> int:
    """The row that a button names. Raises Refused."""
    value = arrived.get("value")
    if not (value.isascii() and value.isdigit() and len(value) < 18):
        raise Refused("This button is not one of the bot's.")
    return int(value)


def _card(arrived: Arrived) -> CardFacts:
    number = number_of(arrived)
    with arrived.world.store.read() as uow:
        found = stored(uow, number)
    if found is None:
        raise Refused(f"There is no Q-{number}.")
    return card_facts(arrived.world, found)


def _open(arrived: Arrived, modal: Modal) -> None:
    try:
        arrived.world.chat.open_view(arrived.get("trigger_id"), modal)
    except (Rejected, Unavailable) as error:
        raise Refused("The form could not be opened in time. Press again.") from error
