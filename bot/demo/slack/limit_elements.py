"""Block Kit's rules for text, options, confirm dialogs, elements and rich text. Read by `limit_blocks`."""

from typing import Any

from bot.demo.slack.schema import (
    Check,
    Fields,
    Problems,
    anything,
    array,
    boolean,
    complain,
    enum,
    exactly_one,
    integer,
    number,
    string,
    struct,
    tagged,
)

ACTION_ID = string(255, 1)
URL = string(3000, 1)
STYLE = enum("primary", "danger")

BUTTON_TEXT, BUTTON_VALUE = 75, 2000
OPTION_TEXT, OPTION_VALUE, OPTION_DESCRIPTION = 75, 150, 75
PLACEHOLDER = 150
INPUT_LENGTH = 3000


def plain(longest: int) -> Check:
    """A `plain_text` object."""
    text = {"type": enum("plain_text"), "text": string(longest, 1)}
    return struct(text, {"emoji": boolean})


def text(longest: int) -> Check:
    """A `plain_text` or `mrkdwn` object."""
    marked = {"type": enum("mrkdwn"), "text": string(longest, 1)}
    return tagged({"plain_text": plain(longest), "mrkdwn": struct(marked, {"verbatim": boolean})})


CONFIRM = struct(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": STYLE},
)


def option(words: Check) -> Check:
    return struct(
        {"text": words, "value": string(OPTION_VALUE, 1)},
        {"description": text(OPTION_DESCRIPTION), "url": URL},
    )


PLAIN_OPTION = option(plain(OPTION_TEXT))
TEXT_OPTION = option(text(OPTION_TEXT))
OPTION_GROUP = struct({"label": plain(75), "options": array(PLAIN_OPTION, 100)})


def _element(kind: str, required: Fields, optional: Fields, also: Check | None = None) -> Check:
    common = {"action_id": ACTION_ID, "confirm": CONFIRM, "focus_on_load": boolean}
    return struct({"type": enum(kind), **required}, {**common, **optional}, also)


def _select(kind: str, required: Fields, optional: Fields, also: Check | None = None) -> Check:
    return _element(kind, required, {"placeholder": plain(PLACEHOLDER), **optional}, also)


def _distinct_option_values(value: Any, pointer: str, problems: Problems) -> None:
    values = [each["value"] for each in value.get("options") or ()]
    if len(set(values)) != len(values):
        complain(problems, "options must have distinct values", f"{pointer}/options")


def _initial_among_options(value: Any, pointer: str, problems: Problems) -> None:
    options = list(value.get("options") or ())
    for group in value.get("option_groups") or ():
        options.extend(group["options"])
    chosen = list(value.get("initial_options") or ())
    if value.get("initial_option"):
        chosen.append(value["initial_option"])
    if any(each not in options for each in chosen):
        complain(problems, "initial option must match one of the options", pointer)


def _static(value: Any, pointer: str, problems: Problems) -> None:
    exactly_one("options", "option_groups")(value, pointer, problems)
    _distinct_option_values(value, pointer, problems)
    _initial_among_options(value, pointer, problems)


def _listed(value: Any, pointer: str, problems: Problems) -> None:
    _distinct_option_values(value, pointer, problems)
    _initial_among_options(value, pointer, problems)


_CHOICES: Fields = {"options": array(PLAIN_OPTION, 100), "option_groups": array(OPTION_GROUP, 100)}
_MANY: Fields = {"max_selected_items": integer(1)}
_RESPONSE_URL: Fields = {"response_url_enabled": boolean}
_TYPED: Fields = {"placeholder": plain(PLACEHOLDER), "dispatch_action_config": anything}
_ID = string(None, 1)

IMAGE = struct(
    {"type": enum("image"), "alt_text": string(2000, 1)},
    {"image_url": URL, "slack_file": anything},
    exactly_one("image_url", "slack_file"),
)

ELEMENTS: dict[str, Check] = {
    "image": IMAGE,
    "button": _element(
        "button",
        {"text": plain(BUTTON_TEXT)},
        {"url": URL, "value": string(BUTTON_VALUE), "style": STYLE, "accessibility_label": string(75)},
    ),
    "overflow": _element("overflow", {"options": array(PLAIN_OPTION, 5)}, {}, _distinct_option_values),
    "static_select": _select("static_select", {}, {**_CHOICES, "initial_option": PLAIN_OPTION}, _static),
    "multi_static_select": _select(
        "multi_static_select", {}, {**_CHOICES, **_MANY, "initial_options": array(PLAIN_OPTION, 100)}, _static
    ),
    "external_select": _select("external_select", {}, {"min_query_length": integer(0), "initial_option": PLAIN_OPTION}),
    "multi_external_select": _select(
        "multi_external_select",
        {},
        {"min_query_length": integer(0), "initial_options": array(PLAIN_OPTION, 100), **_MANY},
    ),
    "users_select": _select("users_select", {}, {"initial_user": _ID}),
    "multi_users_select": _select("multi_users_select", {}, {"initial_users": array(_ID), **_MANY}),
    "conversations_select": _select(
        "conversations_select",
        {},
        {
            "initial_conversation": _ID,
            "default_to_current_conversation": boolean,
            "filter": anything,
            **_RESPONSE_URL,
        },
    ),
    "channels_select": _select("channels_select", {}, {"initial_channel": _ID, **_RESPONSE_URL}),
    "checkboxes": _element(
        "checkboxes",
        {"options": array(TEXT_OPTION, 10)},
        {"initial_options": array(TEXT_OPTION, 10)},
        _listed,
    ),
    "radio_buttons": _element(
        "radio_buttons", {"options": array(TEXT_OPTION, 10)}, {"initial_option": TEXT_OPTION}, _listed
    ),
    "datepicker": _select("datepicker", {}, {"initial_date": string(10, 10)}),
    "timepicker": _select("timepicker", {}, {"initial_time": string(5, 5), "timezone": _ID}),
    "datetimepicker": _element("datetimepicker", {}, {"initial_date_time": integer(1_000_000_000, 9_999_999_999)}),
    "plain_text_input": _element(
        "plain_text_input",
        {},
        {
            **_TYPED,
            "initial_value": string(INPUT_LENGTH),
            "multiline": boolean,
            "min_length": integer(0, INPUT_LENGTH),
            "max_length": integer(1, INPUT_LENGTH),
        },
    ),
    "number_input": _element(
        "number_input",
        {"is_decimal_allowed": boolean},
        {**_TYPED, "initial_value": string(), "min_value": string(), "max_value": string()},
    ),
    "email_text_input": _element("email_text_input", {}, {**_TYPED, "initial_value": string()}),
    "url_text_input": _element("url_text_input", {}, {**_TYPED, "initial_value": string()}),
}

INPUTS = frozenset(ELEMENTS) - {"image", "button", "overflow"}
IN_ACTIONS = frozenset(ELEMENTS) - {"image", "plain_text_input", "number_input", "email_text_input", "url_text_input"}
IN_SECTION = IN_ACTIONS | {"image"}

_TEXT_STYLE = struct(
    {}, dict.fromkeys(("bold", "italic", "strike", "code", "underline", "highlight", "client_highlight"), boolean)
)
_MENTION_STYLE = struct(
    {}, dict.fromkeys(("bold", "italic", "strike", "highlight", "client_highlight", "unlink"), boolean)
)


def _inline(kind: str, required: Fields, optional: Fields | None = None) -> Check:
    return struct({"type": enum(kind), **required}, optional)


INLINE: dict[str, Check] = {
    "text": _inline("text", {"text": string(None, 1)}, {"style": _TEXT_STYLE}),
    "link": _inline("link", {"url": URL}, {"text": string(), "unsafe": boolean, "style": _TEXT_STYLE}),
    "user": _inline("user", {"user_id": _ID}, {"style": _MENTION_STYLE}),
    "usergroup": _inline("usergroup", {"usergroup_id": _ID}, {"style": _MENTION_STYLE}),
    "channel": _inline("channel", {"channel_id": _ID}, {"style": _MENTION_STYLE}),
    "team": _inline("team", {"team_id": _ID}, {"style": _MENTION_STYLE}),
    "broadcast": _inline("broadcast", {"range": enum("here", "channel", "everyone")}, {"style": _MENTION_STYLE}),
    "emoji": _inline("emoji", {"name": _ID}, {"unicode": string(), "style": _MENTION_STYLE}),
    "color": _inline("color", {"value": _ID}, {"style": _TEXT_STYLE}),
    "date": _inline(
        "date",
        {"timestamp": number, "format": string(None, 1)},
        {"url": URL, "fallback": string(), "style": _TEXT_STYLE},
    ),
}

_WORDS = array(tagged(INLINE), None, 0)
_VERBATIM = array(tagged(INLINE, frozenset({"text", "link"})), None, 0)
_BORDER: Fields = {"border": integer(0, 1)}
_SECTION = struct({"type": enum("rich_text_section"), "elements": _WORDS})

RICH_TEXT_PARTS: dict[str, Check] = {
    "rich_text_section": _SECTION,
    "rich_text_quote": struct({"type": enum("rich_text_quote"), "elements": _WORDS}, _BORDER),
    "rich_text_preformatted": struct(
        {"type": enum("rich_text_preformatted"), "elements": _VERBATIM}, {**_BORDER, "language": string()}
    ),
    "rich_text_list": struct(
        {
            "type": enum("rich_text_list"),
            "style": enum("bullet", "ordered"),
            "elements": array(tagged({"rich_text_section": _SECTION})),
        },
        {"indent": integer(0, 8), "offset": integer(0), **_BORDER},
    ),
}

RICH_TEXT = struct(
    {"type": enum("rich_text"), "elements": array(tagged(RICH_TEXT_PARTS), None, 0)},
    {"block_id": string(255, 1)},
)
