"""A counter-offer's presses: Change on a card and its form, Accept and Keep mine. Called by chat/directory.

The loading view opens first, always: who may change a request is looked up in Slack, which can take longer than the
trigger lives. What is refused after that is said in the view; a view that was closed meanwhile is answered by DM.
"""

from bot.chat.buttons import number_of
from bot.chat.desk import Arrived
from bot.chat.form_values import State, instant, text, whole
from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.messages import Message, Modal
from bot.flows.answer_offer import OfferPress, accept_offer, keep_request
from bot.flows.change_form import change_facts
from bot.flows.gather import person_or_id
from bot.flows.make_offer import Change, make_offer
from bot.flows.refused_with import RefusedWith
from bot.views.change_form import (
    AS_ASKED,
    ChangeMark,
    ChangeValues,
    change_form,
    loading,
    mark_of,
    not_offered,
    offered,
)
from bot.views.ids import LENDER_BOT, Field
from bot.views.refusals import refused
from bot.views.request_form import FormError
from bot.views.said import said


def on_change(arrived: Arrived) -> None:
    """The form, or why there is none. Raises Refused if neither could be shown."""
    number = number_of(arrived)
    try:
        view = arrived.world.chat.open_view(arrived.get("trigger_id"), loading(number))
    except (Rejected, Unavailable) as error:
        raise Refused("The form could not be opened in time. Press again.") from error
    try:
        shown = change_form(change_facts(arrived.world, number, arrived.user))
    except Refused as error:
        shown = not_offered(number, _words(error))
        if not _show(arrived, view, shown):
            raise
        return
    _show(arrived, view, shown)


def on_change_form(arrived: Arrived) -> None:
    """The form was sent and passed the gate: the view turns to what came of it. Raises Refused if it was closed."""
    mark = mark_of(arrived.get("metadata"))
    if mark is None:
        raise Refused("This form is not one of the bot's.")
    values = change_values(arrived.item.payload["values"])
    change = Change(mark.request, mark.revision, arrived.user, arrived.origin, values)
    try:
        offer = make_offer(arrived.world, change)
    except Refused as error:
        if not _come_back(arrived, mark, values, error):
            raise
        return
    with arrived.world.store.read() as uow:
        request = uow.requests.get(mark.request)
    assert request is not None, "an offer has a request"
    requester = person_or_id(arrived.world, request.ask.requester)
    _show(arrived, arrived.get("view_id"), offered(offer, request, requester))


def on_accept(arrived: Arrived) -> Message:
    """One press: the offered terms are the request's."""
    return said(accept_offer(arrived.world, _press(arrived)))


def on_keep(arrived: Arrived) -> Message:
    """The request stays as it was asked."""
    return said(keep_request(arrived.world, _press(arrived)))


def change_values(values: State) -> ChangeValues:
    """The whole form."""
    return ChangeValues(
        amount=whole(values, Field.CHANGE_AMOUNT),
        kind=text(values, Field.CHANGE_KIND),
        lender=text(values, Field.CHANGE_LENDER) or LENDER_BOT,
        until=text(values, Field.CHANGE_UNTIL) or AS_ASKED,
        until_at=instant(values, Field.CHANGE_UNTIL_AT),
        start_at=instant(values, Field.CHANGE_START_AT),
        words=text(values, Field.CHANGE_WORDS),
    )


def _press(arrived: Arrived) -> OfferPress:
    return OfferPress(number_of(arrived), arrived.user, arrived.origin)


def _come_back(arrived: Arrived, mark: ChangeMark, values: ChangeValues, error: Refused) -> bool:
    """What is about a field brings the form back, filled; what is about the request ends it. Whether it was shown."""
    shown = not_offered(mark.request, _words(error))
    if error.field is not None:
        problem = FormError(error.sentence, _field(error.field))
        try:
            shown = change_form(change_facts(arrived.world, mark.request, arrived.user, values, problem))
        except Refused as other:
            shown = not_offered(mark.request, _words(other))
    return _show(arrived, arrived.get("view_id"), shown)


def _field(name: str) -> Field | None:
    """Core names fields without the form's prefix."""
    try:
        return Field(f"gpuq_change_{name}")
    except ValueError:
        return None


def _words(error: Refused) -> Message:
    return error.message if isinstance(error, RefusedWith) else refused(error.sentence)


def _show(arrived: Arrived, view: str, modal: Modal) -> bool:
    """Whether it was shown: the view may have been closed meanwhile."""
    try:
        arrived.world.chat.update_view(view, modal)
    except (Rejected, Unavailable):
        return False
    return True
