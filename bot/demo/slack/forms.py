"""What a person fills in: values of inputs in Slack's shape, and the checks Slack's own clients make before they send.

Used by `acting` and `payloads`; pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bot.demo.slack.entities import Json
from bot.demo.slack.surfaces import interactive

State: TypeAlias = dict[str, dict[str, Json]]

_PLAIN = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "channels_select": ("selected_channel", "initial_channel"),
}
_ONE_OPTION = frozenset({"static_select", "external_select", "radio_buttons", "overflow"})
_MANY_OPTIONS = frozenset({"multi_static_select", "multi_external_select", "checkboxes"})
_TYPED = frozenset({"plain_text_input", "number_input", "email_text_input", "url_text_input"})
REQUIRED = "Please complete this required field."


def holds_value(element: Json) -> bool:
    """Whether the element keeps something filled in (buttons and overflow menus do not)."""
    return element["type"] in _PLAIN or element["type"] in (_ONE_OPTION | _MANY_OPTIONS) - {"overflow"}


def initial(element: Json) -> Json:
    """An input's value before anybody touched it."""
    kind = element["type"]
    if kind in _PLAIN:
        name, start = _PLAIN[kind]
        return {"type": kind, name: element.get(start)}
    if kind in _MANY_OPTIONS:
        return {"type": kind, "selected_options": element.get("initial_options", [])}
    return {"type": kind, "selected_option": element.get("initial_option")}


def filled(element: Json, value: Any) -> Json:
    """An input's value when a person enters `value`: text, a date, or options by value, text or as a whole.

    Raises LookupError for an option that is not offered.
    """
    kind = element["type"]
    if kind in _PLAIN:
        return {"type": kind, _PLAIN[kind][0]: str(value) if kind in _TYPED else value}
    if kind in _MANY_OPTIONS:
        return {"type": kind, "selected_options": [option(element, each) for each in value]}
    return {"type": kind, "selected_option": None if value is None else option(element, value)}


def option(element: Json, value: Any) -> Json:
    """The option of a select, overflow or the like that `value` names."""
    if isinstance(value, Mapping):
        return dict(value)
    offered: list[Json] = list(element.get("options") or ())
    for group in element.get("option_groups") or ():
        offered.extend(group["options"])
    for each in offered:
        if value in (each["value"], each["text"]["text"]):
            return each
    raise LookupError(f"{element.get('action_id')} offers no {value!r}, only {[o['value'] for o in offered]}")


def state(blocks: Iterable[Json], chosen: Mapping[str, Mapping[str, Json]]) -> State:
    """The whole state of a surface: what was chosen, else what stood there from the beginning."""
    found: State = {}
    for block in blocks:
        for element in interactive(block):
            if holds_value(element):
                known = chosen.get(block["block_id"], {}).get(element["action_id"])
                found.setdefault(block["block_id"], {})[element["action_id"]] = known or initial(element)
    return found


def locate(blocks: Sequence[Json], action_id: str, block_id: str | None = None) -> Iterator[tuple[Json, Json]]:
    """Every (block, element) with this action_id; an input may also be named by its block_id."""
    for block in blocks:
        for element in interactive(block):
            named = element["action_id"] == action_id or (block["type"] == "input" and block["block_id"] == action_id)
            if named and block_id in (None, block["block_id"]):
                yield block, element


def complaints(blocks: Iterable[Json], values: State) -> dict[str, str]:
    """What Slack's client says on which field (block_id) instead of sending the form."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            complaint = _complaint(block, element, values[block["block_id"]][element["action_id"]])
            if complaint:
                found[block["block_id"]] = complaint
    return found


def _complaint(block: Json, element: Json, value: Json) -> str | None:
    given = next(content for name, content in value.items() if name != "type")
    if given in (None, "", []):
        return None if block.get("optional") else REQUIRED
    match element["type"]:
        case "number_input":
            return _number_complaint(element, given)
        case "plain_text_input":
            return _length_complaint(element, given)
        case "email_text_input":
            return None if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", given) else "Please enter a valid email address."
        case "url_text_input":
            return None if re.match(r"https?://\S+$", given) else "Please enter a valid URL."
    return None


def _number_complaint(element: Json, given: str) -> str | None:
    pattern = r"-?\d+(\.\d+)?" if element["is_decimal_allowed"] else r"-?\d+"
    if not re.fullmatch(pattern, given):
        return "Please enter a valid number."
    if "min_value" in element and float(given) < float(element["min_value"]):
        return f"Please enter a number of at least {element['min_value']}."
    if "max_value" in element and float(given) > float(element["max_value"]):
        return f"Please enter a number of at most {element['max_value']}."
    return None


def _length_complaint(element: Json, given: str) -> str | None:
    if len(given) < element.get("min_length", 0):
        return f"Please enter at least {element['min_length']} characters."
    if len(given) > element.get("max_length", 3000):
        return f"Please enter at most {element.get('max_length', 3000)} characters."
    return None
