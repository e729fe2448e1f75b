"""Slack's limits for messages and modals, and the house's own for `text`, as one walk that names every fault."""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.messages import Block, Message, Modal

TEXT_LIMIT = 150
MESSAGE_BLOCKS, MODAL_BLOCKS = 50, 100
CHARACTERS_OF_BLOCKS = 13_200
IN_MESSAGES = frozenset({"rich_text", "context", "actions", "table"})
IN_MODALS = frozenset({"rich_text", "context", "actions", "input", "alert"})


def faults(shown: Message | Modal) -> list[str]:
    """Everything that Slack, or the house, would not take."""
    return list(_message(shown) if isinstance(shown, Message) else _modal(shown))


def _length(what: str, text: Any, most: int, least: int = 1) -> Iterator[str]:
    if not isinstance(text, str) or not least <= len(text) <= most:
        yield f"{what}: {text!r:.80} is not {least} to {most} characters"


def _message(message: Message) -> Iterator[str]:
    yield from _length("text", message.text, TEXT_LIMIT)
    if not message.blocks:
        yield "no blocks"
    if len(message.blocks) > MESSAGE_BLOCKS:
        yield f"{len(message.blocks)} blocks"
    if sum(block["type"] == "table" for block in message.blocks) > 1:
        yield "more than one table"
    yield from _blocks(message.blocks, IN_MESSAGES)


def _modal(modal: Modal) -> Iterator[str]:
    yield from _length("title", modal.title, 24)
    yield from _length("close", modal.close, 24)
    yield from _length("metadata", modal.metadata, 3_000, 0)
    yield from _length("callback_id", modal.callback_id, 255)
    if modal.submit is not None:
        yield from _length("submit", modal.submit, 24)
    if not 1 <= len(modal.blocks) <= MODAL_BLOCKS:
        yield f"{len(modal.blocks)} blocks"
    if modal.submit is None and any(block["type"] == "input" for block in modal.blocks):
        yield "inputs without a submit button"
    yield from _blocks(modal.blocks, IN_MODALS)


def _blocks(blocks: tuple[Block, ...], allowed: frozenset[str]) -> Iterator[str]:
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(ids) != len(set(ids)):
        yield f"block_id twice: {ids}"
    for block_id in ids:
        yield from _length("block_id", block_id, 255)
    if sum(len(text) for block in blocks for text in _texts(block)) > CHARACTERS_OF_BLOCKS:
        yield "too many characters in all blocks"
    for block in blocks:
        if block["type"] not in allowed:
            yield f"block {block['type']} is not allowed here"
        yield from _CHECKS.get(block["type"], lambda _: iter(()))(block)


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value)


def _plain(what: str, made: Any, most: int) -> Iterator[str]:
    if made.get("type") != "plain_text" or made.get("emoji") is not False:
        yield f"{what} is no plain_text without emoji"
    yield from _length(what, made.get("text"), most)


def _rich_text(block: Block) -> Iterator[str]:
    if not block["elements"]:
        yield "empty rich_text"
    for element in block["elements"]:
        items = element["elements"] if element["type"] == "rich_text_list" else [element]
        if not items:
            yield "empty list"
        for item in items:
            if not item["elements"]:
                yield "empty rich_text section"
            for part in item["elements"]:
                if part["type"] == "text":
                    yield from _length("rich_text text", part["text"], 3_000)
                if part["type"] == "date" and "style" in part:
                    yield "a date element has no style"


def _context(block: Block) -> Iterator[str]:
    if not 1 <= len(block["elements"]) <= 10:
        yield f"{len(block['elements'])} context elements"
    for element in block["elements"]:
        if element["type"] == "mrkdwn":
            yield from _length("mrkdwn", element["text"], 3_000)
        else:
            yield from _plain("context", element, 3_000)


def _actions(block: Block) -> Iterator[str]:
    buttons = block["elements"]
    if not 1 <= len(buttons) <= 25:
        yield f"{len(buttons)} buttons"
    ids = [one["action_id"] for one in buttons]
    if len(ids) != len(set(ids)):
        yield f"action_id twice in one block: {ids}"
    for one in buttons:
        yield from _length("action_id", one["action_id"], 255)
        yield from _length("value", one["value"], 2_000)
        yield from _plain("button", one["text"], 75)
        if confirm := one.get("confirm"):
            for key, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
                yield from _plain(f"confirm {key}", confirm[key], most)


def _table(block: Block) -> Iterator[str]:
    rows = block["rows"]
    if not 1 <= len(rows) <= 100 or any(not 1 <= len(row) <= 20 for row in rows):
        yield "table size"
    if len({len(row) for row in rows}) != 1:
        yield "rows of different lengths"
    if sum(len(text) for text in _texts(rows)) > 10_000:
        yield "table characters"
    for row in rows:
        for cell in row:
            if cell["type"] == "raw_text":
                yield from _length("cell", cell["text"], 3_000)
            elif cell["type"] == "rich_text":
                yield from _rich_text(cell)
            else:
                yield f"cell of type {cell['type']}"


def _alert(block: Block) -> Iterator[str]:
    yield from _plain("alert", block["text"], 200)


def _input(block: Block) -> Iterator[str]:
    yield from _plain("label", block["label"], 2_000)
    if "hint" in block:
        yield from _plain("hint", block["hint"], 2_000)
    element = block["element"]
    if element["action_id"] != block["block_id"]:
        yield "action_id and block_id of an input differ"
    if element["type"] == "static_select":
        yield from _options(element)
    if element["type"] == "number_input" and "initial_value" in element:
        most = element.get("max_value")
        if int(element["initial_value"]) < 1 or (most and int(element["initial_value"]) > int(most)):
            yield f"initial value {element['initial_value']} is out of range"
    if element["type"] == "plain_text_input" and len(element.get("initial_value", "")) > element["max_length"]:
        yield "initial value is longer than the longest"


def _options(element: Mapping[str, Any]) -> Iterator[str]:
    options = element["options"]
    if not 1 <= len(options) <= 100:
        yield f"{len(options)} options"
    if len({one["value"] for one in options}) != len(options):
        yield "an option's value twice"
    for one in options:
        yield from _plain("option", one["text"], 75)
        yield from _length("option value", one["value"], 150)
        if "description" in one:
            yield from _plain("option description", one["description"], 75)
    if "initial_option" in element and element["initial_option"] not in options:
        yield "the initial option is none of the options"


_CHECKS = {
    "rich_text": _rich_text,
    "context": _context,
    "actions": _actions,
    "table": _table,
    "alert": _alert,
    "input": _input,
}
