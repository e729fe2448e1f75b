"""The schemas take what Slack takes, and refuse what it does not at the very place where it is wrong.

Every row breaks one limit of a message, a modal or an App Home that is sound (good.json): a place gets another value.
The simulated Slack, which was written by itself, says the same of each.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from bot.core.messages import Message, Modal
from bot.demo.slack.limits import check_message, check_metadata, check_view
from tests.support.fakes.chat import FakeSlack
from tests.support.slack_schema import ANY_TEXT, Kind, all_keys, broken, schemas
from tests.support.slack_watch import WATCH

GOOD: dict[Kind, Any] = json.loads((Path(__file__).parent / "good.json").read_text())
KINDS: tuple[Kind, ...] = ("message", "modal", "home")
GONE = object()
"""For a place: not there."""

TEXT = {"type": "plain_text", "text": "x"}
BUTTON = {"type": "button", "text": TEXT}
OPTION = {"text": TEXT, "value": "v"}
CELL = {"type": "raw_text", "text": "x"}
TABLE = {"type": "table", "rows": [[CELL]]}
DIVIDER = {"type": "divider"}
SECTION = {"type": "rich_text_section", "elements": []}


class Row(NamedTuple):
    """`place` of a sound `kind` becomes `value`; it is refused at `refused_at`, which is the same place if empty."""

    kind: Kind
    place: str
    value: Any
    refused_at: str = ""
    simulated: Literal["same", "elsewhere", "taken"] = "same"
    """Where the simulated Slack refuses it. It takes what Slack only documents."""

    def __str__(self) -> str:
        at = f", at {self.refused_at}" if self.refused_at else ""
        return f"{self.kind} {self.place}: {'gone' if self.value is GONE else json.dumps(self.value)[:24]}{at}"


def x(length: int) -> str:
    return "x" * length


BROKEN = [
    # a message
    Row("message", "/text", GONE, "/", "taken"),
    Row("message", "/text", "", "/text", "taken"),
    Row("message", "/text", x(4_001), "/text", "taken"),
    Row("message", "/blocks", [DIVIDER] * 51),
    Row("message", "/blocks", [TABLE, TABLE], "/blocks"),
    Row("message", "/blocks/6", TABLE, "/blocks"),
    Row("message", "/blocks/6", {}, "/blocks/6"),
    Row("message", "/blocks/6/type", "dividers"),
    Row("message", "/blocks/6", {"type": "alert", "text": TEXT}, "/blocks/6/type"),
    Row("message", "/blocks/6/block_id", x(256)),
    Row("message", "/blocks/6/block_id", ""),
    Row("message", "/blocks/6/text", "x", "/blocks/6"),
    Row("message", "/colour", "red", "/", "taken"),
    Row("message", "/metadata/event_type", GONE, "/metadata"),
    Row("message", "/metadata/event_type", x(256)),
    Row("message", "/metadata/event_payload/id", None, "", "taken"),
    Row("message", "/metadata/event_payload/parts/0/of", [1], "", "taken"),
    # header, section, context
    Row("message", "/blocks/0/text/text", x(151)),
    Row("message", "/blocks/0/text/text", ""),
    Row("message", "/blocks/0/text/type", "mrkdwn"),
    Row("message", "/blocks/0/level", 5),
    Row("message", "/blocks/1/text/text", x(3_001)),
    Row("message", "/blocks/1/text/emoji", True, "/blocks/1/text"),
    Row("message", "/blocks/1/fields", [TEXT] * 11),
    Row("message", "/blocks/1/fields/1/text", x(2_001)),
    Row("message", "/blocks/1", {"type": "section"}, "/blocks/1"),
    Row("message", "/blocks/1/accessory/options", [OPTION] * 6),
    Row("message", "/blocks/1/accessory", {"type": "plain_text_input"}, "/blocks/1/accessory/type"),
    Row("message", "/blocks/3/elements", [TEXT] * 11),
    Row("message", "/blocks/3/elements", []),
    Row("message", "/blocks/3/elements/1/text", x(3_001)),
    # rich text
    Row("message", "/blocks/2/elements", GONE, "/blocks/2"),
    Row("message", "/blocks/2/elements/0/type", "rich_text"),
    Row("message", "/blocks/2/elements/0/elements/0/text", ""),
    Row("message", "/blocks/2/elements/0/elements/0/style/bold", "yes"),
    Row("message", "/blocks/2/elements/0/elements/0/style/blink", True, "/blocks/2/elements/0/elements/0/style"),
    Row("message", "/blocks/2/elements/0/elements/0/emoji", False, "/blocks/2/elements/0/elements/0"),
    Row("message", "/blocks/2/elements/0/elements/1/user_id", "ada", "", "taken"),
    Row("message", "/blocks/2/elements/0/elements/2/usergroup_id", "", ""),
    Row("message", "/blocks/2/elements/0/elements/3/channel_id", "#gpu", "", "taken"),
    Row("message", "/blocks/2/elements/0/elements/4/timestamp", "14:20"),
    Row("message", "/blocks/2/elements/0/elements/4/format", GONE, "/blocks/2/elements/0/elements/4"),
    Row("message", "/blocks/2/elements/0/elements/5/url", x(3_001)),
    Row("message", "/blocks/2/elements/0/elements/6/type", "mention"),
    Row("message", "/blocks/2/elements/1/style", "dashes"),
    Row("message", "/blocks/2/elements/1/indent", 9),
    Row("message", "/blocks/2/elements/1/elements/0/type", "rich_text_list"),
    Row(
        "message",
        "/blocks/2/elements/2/elements/0",
        {"type": "user", "user_id": "U1"},
        "/blocks/2/elements/2/elements/0/type",
    ),
    # buttons and what they ask
    Row("message", "/blocks/4/elements", [BUTTON] * 26),
    Row("message", "/blocks/4/elements", []),
    Row("message", "/blocks/4/elements/0/text/text", x(76)),
    Row("message", "/blocks/4/elements/0/text/type", "mrkdwn"),
    Row("message", "/blocks/4/elements/0/text", GONE, "/blocks/4/elements/0"),
    Row("message", "/blocks/4/elements/0/value", x(2_001)),
    Row("message", "/blocks/4/elements/0/action_id", x(256)),
    Row("message", "/blocks/4/elements/0/style", "warning"),
    Row("message", "/blocks/4/elements/0/colour", "red", "/blocks/4/elements/0"),
    Row("message", "/blocks/4/elements/0/confirm/title/text", x(101)),
    Row("message", "/blocks/4/elements/0/confirm/text/text", x(301)),
    Row("message", "/blocks/4/elements/0/confirm/confirm/text", x(31)),
    Row("message", "/blocks/4/elements/0/confirm/deny/text", x(31)),
    Row("message", "/blocks/4/elements/0/confirm/deny", GONE, "/blocks/4/elements/0/confirm"),
    Row("message", "/blocks/4/elements/1/url", x(3_001)),
    Row("message", "/blocks/4/elements/1/accessibility_label", x(76)),
    Row("message", "/blocks/4/elements/2/placeholder/text", x(151)),
    Row("message", "/blocks/4/elements/2/option_groups/0/label/text", x(76)),
    Row("message", "/blocks/4/elements/2/options", [OPTION], "/blocks/4/elements/2"),
    Row("message", "/blocks/4/elements/2", {"type": "plain_text_input"}, "/blocks/4/elements/2/type"),
    # a table
    Row("message", "/blocks/5/rows", [[CELL]] * 101),
    Row("message", "/blocks/5/rows/1", [CELL] * 21),
    Row("message", "/blocks/5/rows/1/0/text", ""),
    Row("message", "/blocks/5/rows/1/0/type", "number"),
    Row("message", "/blocks/5/rows/1/1/elements/0/elements/0/timestamp", "14:20"),
    Row("message", "/blocks/5/column_settings/1/align", "middle"),
    Row("message", "/blocks/5/column_settings", [{}] * 21),
    # a modal
    Row("modal", "/title/text", x(25)),
    Row("modal", "/title", GONE, "/"),
    Row("modal", "/submit/text", x(25)),
    Row("modal", "/submit", GONE, "/"),
    Row("modal", "/close/text", x(25)),
    Row("modal", "/close/type", "mrkdwn"),
    Row("modal", "/private_metadata", x(3_001)),
    Row("modal", "/callback_id", x(256)),
    Row("modal", "/external_id", x(256)),
    Row("modal", "/colour", "red", "/"),
    Row("modal", "/type", "dialog"),
    Row("modal", "/blocks", [DIVIDER] * 101),
    Row("modal", "/blocks/0/text/text", x(201)),
    Row("modal", "/blocks/0/level", "fatal"),
    Row("modal", "/blocks/0", TABLE, "/blocks/0/type"),
    Row("modal", "/blocks/1/label", GONE, "/blocks/1"),
    Row("modal", "/blocks/1/label/text", x(2_001)),
    Row("modal", "/blocks/1/hint/text", x(2_001)),
    Row("modal", "/blocks/1/element", BUTTON, "/blocks/1/element/type"),
    Row("modal", "/blocks/1/element/options", [], "/blocks/1/element/options", "elsewhere"),
    Row("modal", "/blocks/1/element/options", [OPTION] * 101, "/blocks/1/element/options"),
    Row("modal", "/blocks/1/element/options/0/text/text", x(76)),
    Row("modal", "/blocks/1/element/options/0/text/type", "mrkdwn"),
    Row("modal", "/blocks/1/element/options/0/value", x(151)),
    Row("modal", "/blocks/1/element/options/0/description/text", x(76)),
    Row("modal", "/blocks/1/element/options/0/url", "u", "/blocks/1/element/options/0", "elsewhere"),
    Row("modal", "/blocks/1/element/options", GONE, "/blocks/1/element"),
    Row("modal", "/blocks/2/element/is_decimal_allowed", GONE, "/blocks/2/element"),
    Row("modal", "/blocks/2/element/min_value", 1),
    Row("modal", "/blocks/2/element/initial_value", "eight", "", "taken"),
    Row("modal", "/blocks/2/element/dispatch_action_config/trigger_actions_on/0", "on_blur", "", "taken"),
    Row("modal", "/blocks/3/element/max_length", 3_001),
    Row("modal", "/blocks/3/element/initial_value", x(3_001)),
    Row("modal", "/blocks/3/element/placeholder/text", x(151)),
    Row("modal", "/blocks/4/element/initial_date_time", 14),
    Row("modal", "/blocks/4/element/placeholder", TEXT, "/blocks/4/element"),
    Row("modal", "/blocks/5/element/options", [OPTION] * 11),
    Row("modal", "/blocks/5/element/initial_options", []),
    Row("modal", "/blocks/6/element/options", [OPTION] * 11),
    Row("modal", "/blocks/7/element/min_query_length", -1),
    Row("modal", "/blocks/8/element/initial_user", "ada", "", "taken"),
    # an App Home
    Row("home", "/blocks", [DIVIDER] * 101),
    Row("home", "/blocks", GONE, "/"),
    Row("home", "/blocks/0/type", "alert"),
    Row("home", "/private_metadata", x(3_001)),
    Row("home", "/external_id", x(256)),
    Row("home", "/submit", TEXT, "/", "taken"),
]


def with_change(row: Row) -> dict[str, Any]:
    """The sound one with the one place changed."""
    sent = deepcopy(GOOD[row.kind])
    *way, last = [int(step) if step.isdigit() else step for step in row.place.split("/")[1:]]
    holder: Any = sent
    for step in way:
        holder = holder[step]
    if row.value is GONE:
        del holder[last]
    else:
        holder[last] = row.value
    return dict(sent)


def expected(row: Row) -> str:
    return {"": row.place, "/": ""}.get(row.refused_at, row.refused_at)


def of_the_simulator(kind: Kind, sent: dict[str, Any]) -> Iterator[str]:
    """The pointers at which the simulated Slack refuses it."""
    problems = check_view(sent, kind) if kind != "message" else check_message(sent.get("blocks"))
    if kind == "message" and "metadata" in sent:
        problems += check_metadata(sent["metadata"])
    for problem in problems:
        pointer = re.search(r"\[json-pointer:(.*)\]", problem)
        yield pointer[1].removeprefix("/view") if pointer else problem


@pytest.mark.parametrize("name", schemas())
def test_the_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(schemas()[name])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sound_is_taken(kind: Kind) -> None:
    """And it has every block and every element that the schemas know, so each can be broken below."""
    assert broken(kind, GOOD[kind]) == []
    assert list(of_the_simulator(kind, GOOD[kind])) == []


def test_the_sound_ones_show_everything_that_the_schemas_know() -> None:
    known = schemas()
    kinds = {*known["blocks"]["$defs"]["is"], *known["elements"]["$defs"]["is"]}
    assert kinds <= set(re.findall(r'"type": "(\w+)"', json.dumps(GOOD)))


@pytest.mark.parametrize("row", BROKEN, ids=str)
def test_what_is_broken_is_refused_where_it_is_broken(row: Row) -> None:
    assert {one.path for one in broken(row.kind, with_change(row))} == {expected(row)}


@pytest.mark.parametrize("row", BROKEN, ids=str)
def test_the_simulated_slack_says_the_same(row: Row) -> None:
    found = set(of_the_simulator(row.kind, with_change(row)))
    assert {"same": found == {expected(row)}, "elsewhere": bool(found), "taken": not found}[row.simulated], found


def test_of_any_text_the_schemas_say_only_how_long_it_may_be() -> None:
    """So texts of the same length are taken or refused alike, and what was found sound is not looked at again."""
    rules = [one for key, one in all_keys(schemas()) if key in ANY_TEXT and isinstance(one, dict)]
    of_strings = [one for one in rules if one.get("type") == "string"]
    assert len(of_strings) > 5
    assert {rule for one in of_strings for rule in one} <= {"type", "minLength", "maxLength", "$comment"}
    others = {rule for one in rules if one not in of_strings for rule in one}
    assert not others & {"pattern", "const", "enum", "format"}


def test_the_fake_slack_is_watched() -> None:
    """Whatever it shows, in whatever test."""
    slack = FakeSlack(lambda: pytest.fail("not asked")).session()
    too_long = Message("x" * 4_001)
    slack.respond("url", too_long)
    slack.open_view("trigger", Modal("id", "x" * 25, ()))
    slack.update_view("view", Modal("id", "x" * 25, ()))
    assert [one.path for one in WATCH.taken()] == ["/text", "/title/text", "/title/text"]
