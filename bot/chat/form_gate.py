"""What can be said about a submitted form at once: shape and limits, on their fields. Called before it is acknowledged.

Asks nobody: what needs the cluster, Slack or the database is checked by the worker, and then the form comes back.
"""

from collections.abc import Mapping
from typing import Any

from bot.chat.form_values import State, form_values, instant, text, ticked, whole
from bot.chat.listeners import FormGate
from bot.chat.offers import change_values
from bot.core.durations import format_duration
from bot.core.inbox import InboxItem
from bot.core.policy import Policy
from bot.flows.request_form import draft_of_form
from bot.flows.world import World
from bot.views.change_form import ChangeMark, mark_of
from bot.views.change_form import checking as change_checking
from bot.views.ids import REPEAT_ONCE, UNTIL_DATE, Field, View
from bot.views.modal_json import modal_json
from bot.views.request_form import FormValues, checking

Errors = dict[str, str]


def form_gate(world: World) -> FormGate:
    """The gate that listeners ask."""

    def gate(item: InboxItem) -> Mapping[str, Any]:
        values: State = item.payload["values"]
        if item.name == View.REQUEST_FORM:
            errors = _request(values, world.policies.policy, item)
            if not errors:
                view = modal_json(checking(str(item.payload["metadata"])))
                return {"response_action": "update", "view": view}
        elif item.name == View.EXTEND_FORM:
            until = instant(values, Field.EXTEND_UNTIL_AT)
            gone = until is not None and until <= item.received_at
            errors = {Field.EXTEND_UNTIL_AT.value: "This time has passed"} if gone else {}
        elif item.name == View.CHANGE_FORM:
            mark = mark_of(str(item.payload["metadata"]))
            errors = _change(values, mark, item) if mark else {}
            if mark and not errors:
                return {"response_action": "update", "view": modal_json(change_checking(mark.request))}
        elif item.name == View.RETURN_FORM:
            errors = {} if whole(values, Field.RETURN_AMOUNT) else {Field.RETURN_AMOUNT.value: "A whole number from 1"}
        elif item.name == View.OVERCOMMIT_FORM:
            tick = "Tick this, or deny the request"
            errors = {} if ticked(values, Field.OVERCOMMIT_TICK) else {Field.OVERCOMMIT_TICK.value: tick}
        else:
            words = text(values, Field.DENY_WORDS).strip()
            errors = {} if words else {Field.DENY_WORDS.value: "Say why in a few words"}
        return {"response_action": "errors", "errors": errors} if errors else {}

    return gate


def _request(values: State, policy: Policy, item: InboxItem) -> Errors:
    said, limits, now = form_values(values), policy.approvals.limits, item.received_at
    errors: Errors = {}
    if said.amount is None:
        errors[Field.AMOUNT] = "Whole numbers from 1, like 8"
    elif said.amount > limits.most_per_request:
        most = f"{limits.most_per_request:,} that policy allows per request"
        errors[Field.AMOUNT] = f"{said.amount:,} is more than the {most}"
    draft = draft_of_form("", said)
    if said.until == UNTIL_DATE and draft.until is None:
        errors[Field.UNTIL] = "Choose a date"
    elif draft.until is not None and draft.until <= now:
        errors[Field.UNTIL_AT] = "This time has passed"
    elif draft.duration is not None and draft.duration > limits.longest:
        errors[Field.UNTIL] = f"The longest is {limits.longest.days} days"
    if draft.start is not None and draft.start < now:
        errors[Field.START_AT] = "This time has passed"
    elif draft.start is not None and draft.until is not None and draft.start >= draft.until:
        errors[Field.START_AT] = "Start is after the end"
    if limits.reason_required and not said.reason.strip():
        errors[Field.REASON] = "Say why in a few words"
    if said.repeat != REPEAT_ONCE:
        errors |= _repeat(said)
    return {str(field): sentence for field, sentence in errors.items()}


def _repeat(said: FormValues) -> Errors:
    """What repeats has a first time and an end. The rest is a matter of the zone of who asks: the worker's."""
    errors: Errors = {}
    if said.start_at is None:
        errors[Field.START_AT] = "Say when the first one starts"
    if said.repeat_until is None:
        errors[Field.REPEAT_UNTIL] = "Say until when it repeats"
    elif said.start_at is not None and said.repeat_until < said.start_at:
        errors[Field.REPEAT_UNTIL] = "This is before the first one starts"
    return errors


def _change(values: State, mark: ChangeMark, item: InboxItem) -> Errors:
    """What was asked when the form was opened is the most that it takes; the worker looks at what is asked now."""
    said, now = change_values(values), item.received_at
    errors: Errors = {}
    if said.amount is None:
        errors[Field.CHANGE_AMOUNT] = "Whole numbers from 1, like 8"
    elif said.amount > mark.most:
        errors[Field.CHANGE_AMOUNT] = f"A change can only ask for less: {mark.most:,} at most"
    if said.start_at is not None and said.start_at < now:
        errors[Field.CHANGE_START_AT] = "This time has passed"
    if said.until_at is not None and said.until_at <= now:
        errors[Field.CHANGE_UNTIL_AT] = "This time has passed"
    elif said.until_at is not None and said.start_at is not None and said.start_at >= said.until_at:
        errors[Field.CHANGE_START_AT] = "Start is after the end"
    elif said.until_at is not None and said.until_at - max(now, said.start_at or now) > mark.longest:
        errors[Field.CHANGE_UNTIL_AT] = f"A change can only be shorter: {format_duration(mark.longest)} at most"
    return {str(field): sentence for field, sentence in errors.items()}
