"""What stands in a form's fields, read from Slack's view state. Pure; called by chat/form and chat/form_gate."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot.views.ids import Field
from bot.views.request_form import FormValues

State = Mapping[str, Mapping[str, Any]]


def text(values: State, field: Field) -> str:
    """What was typed or chosen; "" if nothing was."""
    element = (values.get(field.value) or {}).get(field.value) or {}
    chosen = element.get("selected_option") or {}
    return str(chosen.get("value") or element.get("value") or "")


def ticked(values: State, field: Field) -> bool:
    """Whether the one checkbox is ticked."""
    element = (values.get(field.value) or {}).get(field.value) or {}
    return bool(element.get("selected_options"))


def instant(values: State, field: Field) -> datetime | None:
    """The chosen date and time."""
    element = (values.get(field.value) or {}).get(field.value) or {}
    seconds = element.get("selected_date_time")
    return datetime.fromtimestamp(int(seconds), UTC) if seconds else None


def whole(values: State, field: Field) -> int | None:
    """A whole number from 1, else None."""
    typed = text(values, field)
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 12 and int(typed) > 0 else None


def form_values(values: State) -> FormValues:
    """The whole request form."""
    empty = FormValues()
    return FormValues(
        queue=text(values, Field.QUEUE) or None,
        flavor=text(values, Field.FLAVOR) or None,
        amount=whole(values, Field.AMOUNT),
        kind=text(values, Field.KIND) or empty.kind,
        until=text(values, Field.UNTIL) or empty.until,
        until_at=instant(values, Field.UNTIL_AT),
        lender=text(values, Field.LENDER) or empty.lender,
        start_at=instant(values, Field.START_AT),
        repeat=text(values, Field.REPEAT) or empty.repeat,
        repeat_until=instant(values, Field.REPEAT_UNTIL),
        reason=text(values, Field.REASON),
    )
