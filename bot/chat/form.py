"""The request form's life: open, follow the choices, submit. Called by chat/directory and the `request` command.

The loading view opens first, always: reading the cluster can take longer than the trigger lives.
"""

from bot.chat.desk import Arrived
from bot.chat.form_values import form_values
from bot.core.drafts import Question
from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.messages import Modal
from bot.core.requests import RequestState
from bot.flows.request_form import draft_of_form, form_facts, values_of_request
from bot.flows.submit_request import submit_request
from bot.views.ids import REPEAT_ONCE, Action, Field
from bot.views.request_form import FormError, FormValues, form, loading, not_sent, sent


def open_form(arrived: Arrived, values: FormValues) -> bool:
    """Whether it is open. The trigger may be over already."""
    world, draft = arrived.world, arrived.world.new_id()
    try:
        view = world.chat.open_view(arrived.get("trigger_id"), loading(draft))
    except (Rejected, Unavailable):
        return False
    more = values.start_at is not None or values.repeat != REPEAT_ONCE
    return _show(arrived, view, form(form_facts(world, arrived.user, draft, values, more=more)))


def open_empty(arrived: Arrived) -> None:
    """A Request button. Raises Refused if the form cannot be opened."""
    if not open_form(arrived, FormValues()):
        raise Refused("The form could not be opened in time. Try again, or type /gpu-quota request 8 a100 for 3d")


def open_again(arrived: Arrived) -> None:
    """ "Request again": the form, filled from that request."""
    with arrived.world.store.read() as uow:
        request = uow.requests.get(int(arrived.get("value")))
    if request is None or not open_form(arrived, values_of_request(request)):
        raise Refused("The form could not be opened in time. Try again, or type /gpu-quota request")


def follow(arrived: Arrived) -> None:
    """A choice was made: the live lines and the options that hang on it are drawn again."""
    values = form_values(arrived.item.payload["values"])
    state = arrived.item.payload["values"]
    more = arrived.item.name == Action.FORM_MORE or Field.LENDER.value in state
    world, draft = arrived.world, arrived.get("metadata")
    _show(arrived, arrived.get("view_id"), form(form_facts(world, arrived.user, draft, values, more=more)))


def submit(arrived: Arrived) -> None:
    """The form was sent and passed the gate: the view turns to what came of it.

    Raises Refused with what is wrong if the view was closed meanwhile; what is recorded also goes by DM.
    """
    world, draft, view = arrived.world, arrived.get("metadata"), arrived.get("view_id")
    values = form_values(arrived.item.payload["values"])
    try:
        submitted = submit_request(world, draft_of_form(arrived.user, values), f"form:{draft}", arrived.origin)
    except Refused as error:
        if not _come_back(arrived, values, FormError(error.sentence, _field(error.field))):
            raise
        return
    except Unavailable as error:
        _show(arrived, view, not_sent(f"{error.what} is not answering"))
        raise
    if isinstance(submitted, Question):
        if not _come_back(arrived, values, FormError(submitted.sentence, _field(submitted.field))):
            raise Refused(submitted.sentence)
        return
    waiting = submitted.request.state is RequestState.WAITING
    channel = world.policies.policy.approvals.approvals_channel if waiting else None
    _show(arrived, view, sent(submitted.request, channel))


def _come_back(arrived: Arrived, values: FormValues, problem: FormError) -> bool:
    """The form again, filled, with what is wrong. Whether it was shown."""
    facts = form_facts(arrived.world, arrived.user, arrived.get("metadata"), values, more=True, error=problem)
    return _show(arrived, arrived.get("view_id"), form(facts))


def _field(name: str | None) -> Field | None:
    """Core names fields without the form's prefix."""
    try:
        return Field(f"gpuq_form_{name}") if name else None
    except ValueError:
        return None


def _show(arrived: Arrived, view: str, modal: Modal) -> bool:
    """Whether it was shown: the view may have been closed meanwhile."""
    try:
        arrived.world.chat.update_view(view, modal)
    except (Rejected, Unavailable):
        return False
    return True
