"""Inputs of modals as Block Kit: selects, numbers, dates and words. Used by the forms only.

An input's block_id and action_id are the same `Field`, and stay the same when a form is drawn again, so that what was
typed stays too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.messages import Block
from bot.views.ids import DISPATCHING, Field, option_value
from bot.views.kit import plain_text
from bot.views.parts import clean, clip

MOST_OPTIONS = 100
_OPTION_TEXT = 75
_HINT = 2_000


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select. `value` is what `option_value` makes of a name."""

    value: str
    label: str
    description: str = ""


def select(field: Field, label: str, options: Sequence[Option], chosen: str | None, hint: str = "") -> Block:
    """A select of at most 100 options, of which `chosen` (a value) is set if it is among them."""
    made = {one.value: _option(one) for one in options[:MOST_OPTIONS]}
    element: dict[str, Any] = {"type": "static_select", "options": list(made.values())}
    if chosen is not None and option_value(chosen) in made:
        element["initial_option"] = made[option_value(chosen)]
    return _input(field, label, element, hint=hint)


def _option(option: Option) -> dict[str, Any]:
    made: dict[str, Any] = {"text": plain_text(clip(clean(option.label), _OPTION_TEXT)), "value": option.value}
    if option.description:
        made["description"] = plain_text(clip(clean(option.description), _OPTION_TEXT))
    return made


def whole_number(field: Field, label: str, value: int | None, most: int | None, hint: str) -> Block:
    """A number from 1 to `most`, without decimals.

    A `value` above `most` stays in the field to be seen, so Slack is not told `most` then.
    """
    element: dict[str, Any] = {"type": "number_input", "is_decimal_allowed": False, "min_value": "1"}
    if most is not None and (value or 0) <= most:
        element["max_value"] = str(most)
    if value is not None:
        element["initial_value"] = str(value)
    if field in DISPATCHING:
        element["dispatch_action_config"] = {"trigger_actions_on": ["on_enter_pressed"]}
    return _input(field, label, element, hint=hint)


def instant(field: Field, label: str, value: datetime | None, hint: str = "", *, optional: bool = False) -> Block:
    """A date with a time, in the reader's zone."""
    element: dict[str, Any] = {"type": "datetimepicker"}
    if value is not None:
        element["initial_date_time"] = int(value.timestamp())
    return _input(field, label, element, hint=hint, optional=optional)


def words(field: Field, label: str, value: str, most: int, hint: str, *, optional: bool = False) -> Block:
    """Some lines of the person's own words."""
    element: dict[str, Any] = {"type": "plain_text_input", "multiline": True, "max_length": most}
    if value:
        element["initial_value"] = value[:most]
    return _input(field, label, element, hint=hint, optional=optional)


def tick(field: Field, label: str, says: str, description: str = "") -> Block:
    """One checkbox that must be ticked, and is not at first."""
    return _input(field, label, {"type": "checkboxes", "options": [_option(Option("yes", says, description))]}, hint="")


def _input(field: Field, label: str, element: dict[str, Any], *, hint: str, optional: bool = False) -> Block:
    block: dict[str, Any] = {
        "type": "input",
        "block_id": str(field),
        "label": plain_text(label),
        "element": {**element, "action_id": str(field)},
        "optional": optional,
    }
    if field in DISPATCHING:
        block["dispatch_action"] = True
    return {**block, "hint": plain_text(clip(hint, _HINT))} if hint else block
