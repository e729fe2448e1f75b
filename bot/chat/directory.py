"""Who handles an arrival: the one list of actions and forms. Asked by chat/desk."""

from collections.abc import Callable, Mapping

from bot.chat import ask_backs, buttons, form, home, idle, offers
from bot.chat.desk import Arrived, Handler
from bot.chat.typed import typed
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Message
from bot.views.ids import Action, Event, Field, View


def _silent(handler: Callable[[Arrived], None]) -> Handler:
    """A handler that shows what it has to say itself."""

    def handle(arrived: Arrived) -> Message | None:
        handler(arrived)
        return None

    return handle


ACTIONS: Mapping[str, Handler] = {
    Action.CARD_APPROVE: buttons.on_approve,
    Action.CARD_CHANGE: _silent(offers.on_change),
    Action.CARD_DENY: _silent(buttons.on_deny),
    Action.CARD_DETAILS: _silent(buttons.on_details),
    Action.CARD_OPEN: _silent(home.on_open_card),
    Action.OFFER_ACCEPT: offers.on_accept,
    Action.OFFER_KEEP: offers.on_keep,
    Action.REQUEST_WITHDRAW: buttons.on_withdraw,
    Action.REQUEST_AGAIN: _silent(form.open_again),
    Action.LOAN_EXTEND: _silent(buttons.on_extend),
    Action.LOAN_RETURN: _silent(buttons.on_return),
    Action.LOAN_RETURN_IDLE: idle.on_return,
    Action.LOAN_KEEP: idle.on_keep,
    Action.LOAN_ASK_BACK: ask_backs.on_ask_back,
    Action.ASK_BACK_KEEP: ask_backs.on_keep,
    Action.LOAN_END: buttons.on_end,
    Action.DRIFT_BASE: buttons.on_edit_answer,
    Action.DRIFT_INCLUDED: buttons.on_edit_answer,
    Action.DRIFT_RESTORE: buttons.on_edit_answer,
    Action.OPEN_REQUEST: _silent(form.open_empty),
    Action.HOME_REFRESH: _silent(home.on_refresh),
    Action.SHOW: buttons.on_show,
    Action.FORM_MORE: _silent(form.follow),
    **{field.value: _silent(form.follow) for field in Field},
}
SUBMISSIONS: Mapping[str, Handler] = {
    View.REQUEST_FORM: _silent(form.submit),
    View.CHANGE_FORM: _silent(offers.on_change_form),
    View.DENY_FORM: _silent(buttons.on_deny_form),
    View.EXTEND_FORM: _silent(buttons.on_extend_form),
    View.OVERCOMMIT_FORM: buttons.on_overcommit_form,
    View.RETURN_FORM: _silent(buttons.on_return_form),
}

EVENTS: Mapping[str, Handler] = {Event.HOME_OPENED: _silent(home.on_opened)}
_BY_NAME = {Arrival.ACTION: ACTIONS, Arrival.SUBMISSION: SUBMISSIONS, Arrival.EVENT: EVENTS}


def handler_of(item: InboxItem) -> Handler:
    """Raises KeyError for a name the bot never sent."""
    if item.arrival is Arrival.COMMAND:
        return typed
    return _BY_NAME[item.arrival][item.name]
