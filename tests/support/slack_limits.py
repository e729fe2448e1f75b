"""Every fault of a message or a modal: Slack's limits (the schemas of tests/slack_schema, and what no schema can say,
because it is about several places at once), and the house's own rules.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.messages import Block, Home, Message, Modal
from bot.views.home import home_json
from tests.support.slack_schema import broken, broken_view

TEXT_LIMIT = 150
CHARACTERS_OF_BLOCKS, CHARACTERS_OF_A_TABLE, CHARACTERS_OF_A_PART = 13_200, 10_000, 3_000
IN_MESSAGES = frozenset({"rich_text", "context", "actions", "table"})
IN_MODALS = frozenset({"rich_text", "context", "actions", "input", "alert"})


def faults(shown: Message | Modal) -> list[str]:
    """Everything that Slack, or the house, would not take."""
    found = [f"{one.path}: {one.why}" for one in broken_view(shown)]
    if isinstance(shown, Message) and _length_of_texts(shown.blocks) > CHARACTERS_OF_BLOCKS:
        found.append("too many characters in all blocks")
    return found or [*_across(shown.blocks), *_of_the_house(shown)]


def home_faults(shown: Home) -> list[str]:
    """The same for a Home tab."""
    view = home_json(shown)
    found = [f"{one.path}: {one.why}" for one in broken("home", view)]
    own = (one for node in _nodes(view["blocks"]) for one in _of_the_house_anywhere(node))
    return found or [*_across(tuple(view["blocks"])), *own]


def _across(blocks: tuple[Block, ...]) -> Iterator[str]:
    """Slack's rules about several places at once."""
    yield from _twice("block_id", [block["block_id"] for block in blocks if "block_id" in block])
    for block in blocks:
        match block["type"]:
            case "actions":
                yield from _twice("action_id", [one["action_id"] for one in block["elements"] if "action_id" in one])
            case "table":
                if len({len(row) for row in block["rows"]}) != 1:
                    yield "rows of different lengths"
                if _length_of_texts(block["rows"]) > CHARACTERS_OF_A_TABLE:
                    yield "table characters"
            case "input":
                yield from _element(block["element"])


def _element(element: Mapping[str, Any]) -> Iterator[str]:
    options = element.get("options", [])
    yield from _twice("an option's value", [one["value"] for one in options])
    chosen = [element["initial_option"]] if "initial_option" in element else element.get("initial_options", [])
    if any(one not in options for one in chosen):
        yield "the initial option is none of the options"
    initial = element.get("initial_value")
    if element["type"] == "number_input" and initial is not None:
        if not float(element.get("min_value", "-inf")) <= float(initial) <= float(element.get("max_value", "inf")):
            yield f"initial value {initial} is out of range"
    elif initial is not None and len(initial) > element.get("max_length", CHARACTERS_OF_A_PART):
        yield "initial value is longer than the longest"


def _of_the_house(shown: Message | Modal) -> Iterator[str]:
    if isinstance(shown, Message) and len(shown.text) > TEXT_LIMIT:
        yield f"text of {len(shown.text)} characters"
    if not shown.blocks:
        yield "no blocks"
    allowed = IN_MESSAGES if isinstance(shown, Message) else IN_MODALS
    for block in shown.blocks:
        if block["type"] not in allowed:
            yield f"block {block['type']} is not allowed here"
        if block["type"] == "input" and block["element"]["action_id"] != block["block_id"]:
            yield "action_id and block_id of an input differ"
    for node in _nodes(shown.blocks):
        yield from _of_the_house_anywhere(node)


def _of_the_house_anywhere(node: Mapping[str, Any]) -> Iterator[str]:
    match node.get("type"):
        case "plain_text" if node.get("emoji") is not False:
            yield "plain_text in which :smile: would be a face"
        case "text" if len(node["text"]) > CHARACTERS_OF_A_PART:
            yield "a rich_text text that is too long"
        case "date" if "style" in node:
            yield "a date element has no style"
        case "button" if not {"action_id", "value"} <= node.keys():
            yield "a button that says nothing when it is pressed"
    if "rich_text" in str(node.get("type")) and not node["elements"]:
        yield f"empty {node['type']}"


def _twice(what: str, found: list[str]) -> Iterator[str]:
    if len(found) != len(set(found)):
        yield f"{what} twice: {found}"


def _length_of_texts(node: Any) -> int:
    return sum(len(one["text"]) for one in _nodes(node) if isinstance(one.get("text"), str))


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in it, at any depth."""
    if isinstance(node, Mapping):
        yield node
        node = list(node.values())
    if isinstance(node, list | tuple):
        for inner in node:
            yield from _nodes(inner)
