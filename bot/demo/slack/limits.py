"""Is this message, modal or App Home one that Slack would take? Called by the methods that post or show something.

Each function returns the violated rules as sentences with JSON pointers; none means it is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bot.demo.slack.entities import Json
from bot.demo.slack.limit_blocks import BLOCKS, SURFACES
from bot.demo.slack.limit_elements import plain
from bot.demo.slack.schema import Problems, anything, array, boolean, complain, enum, string, struct, tagged
from bot.demo.slack.surfaces import interactive

MESSAGE_BLOCKS, VIEW_BLOCKS = 50, 100
MESSAGE_BLOCKS_TEXT = 13_200
MESSAGE_TEXT, UPDATE_TEXT = 40_000, 4_000
TABLES_PER_MESSAGE, CHARTS_PER_MESSAGE = 1, 2
TABLE_TEXT, DATA_TABLE_TEXT, MARKDOWN_TEXT = 10_000, 20_000, 12_000
VIEW_BYTES = 250_000
MESSAGE_ATTACHMENTS = 100

_BLOCKS_ON = {surface: tagged(BLOCKS, allowed) for surface, allowed in SURFACES.items()}
_COMMON = {"private_metadata": string(3000), "callback_id": string(255), "external_id": string(255)}
_MODAL = struct(
    {"type": enum("modal"), "title": plain(24), "blocks": array(_BLOCKS_ON["modal"], VIEW_BLOCKS, 0)},
    {
        **_COMMON,
        "submit": plain(24),
        "close": plain(24),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = struct(
    {"type": enum("home"), "blocks": array(_BLOCKS_ON["home"], VIEW_BLOCKS, 0)},
    {**_COMMON, "title": anything, "close": anything, "submit": anything},
)
_MESSAGE = array(_BLOCKS_ON["message"], MESSAGE_BLOCKS, 0)
_METADATA = struct({"event_type": string(255, 1), "event_payload": anything})


def without_nulls(node: Any) -> Any:
    """The same without fields that are null: to Slack they are not there."""
    if isinstance(node, dict):
        return {name: without_nulls(value) for name, value in node.items() if value is not None}
    return [without_nulls(item) for item in node] if isinstance(node, list | tuple) else node


def check_message(blocks: Any) -> list[str]:
    """Violations of a message's `blocks`."""
    blocks = without_nulls(blocks)
    problems: Problems = []
    _MESSAGE(blocks, "/blocks", problems)
    if not problems:
        _check_ids(blocks, "/blocks", problems)
        _check_totals(blocks, problems)
    return problems


def check_view(view: Any, kind: str) -> list[str]:
    """Violations of a view; `kind` is `modal` or `home`, whichever the method shows."""
    view = without_nulls(view)
    problems: Problems = []
    (_MODAL if kind == "modal" else _HOME)(view, "/view", problems)
    if not problems:
        _check_ids(view["blocks"], "/view/blocks", problems)
        if any(block["type"] == "input" for block in view["blocks"]) and kind == "modal" and not view.get("submit"):
            complain(problems, "must define `submit` to use an `input` block", "/view")
    return problems


def check_metadata(metadata: Any) -> list[str]:
    problems: Problems = []
    _METADATA(metadata, "/metadata", problems)
    return problems


def blocks_text(blocks: Sequence[Json]) -> int:
    """Characters of text in all blocks together, which Slack bounds without saying so (`msg_blocks_too_long`)."""
    return sum(len(words) for words in _words(blocks))


def _check_ids(blocks: Iterable[Json], pointer: str, problems: Problems) -> None:
    """block_ids are unique in the message or view, action_ids within their block."""
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if block_id in seen:
            complain(problems, f"`block_id` {block_id} already exists", f"{pointer}/{index}/block_id")
        if block_id:
            seen.add(block_id)
        actions = [element["action_id"] for element in interactive(block) if element.get("action_id")]
        for action_id in sorted({each for each in actions if actions.count(each) > 1}):
            complain(problems, f"`action_id` {action_id} already exists", f"{pointer}/{index}/elements")


def _check_totals(blocks: Sequence[Json], problems: Problems) -> None:
    kinds = [block["type"] for block in blocks]
    for kind, most in (("table", TABLES_PER_MESSAGE), ("data_visualization", CHARTS_PER_MESSAGE)):
        if kinds.count(kind) > most:
            complain(problems, f"no more than {most} {kind} blocks allowed", "/blocks")
    for kind, most in (("table", TABLE_TEXT), ("data_table", DATA_TABLE_TEXT), ("markdown", MARKDOWN_TEXT)):
        total = blocks_text([block for block in blocks if block["type"] == kind])
        if total > most:
            complain(problems, f"{kind} text must be less than {most + 1} characters in all", "/blocks")


def _words(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "text" and isinstance(value, str):
                yield value
            else:
                yield from _words(value)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from _words(item)
