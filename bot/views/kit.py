"""Blocks from lines of parts: the only module that spells Block Kit. Every view builds its messages with it.

Other people's text can only get in as a part (see bot.views.parts), so it cannot mention, link or format.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.core.messages import Block, Message
from bot.views.parts import Clock, Line, Moment, Part, clip, date_token, elements, plain, sentence, visible

CODE_LIMIT = 2_900
"""Characters of one preformatted part."""
_BUTTON_LABEL, _CONFIRM_TITLE, _CONFIRM_TEXT, _CONFIRM_BUTTON = 75, 100, 300, 30


class Symbol(StrEnum):
    """The one symbol of a message: first on line 1, never the only carrier of meaning."""

    WAITS = "⏳"
    IN_FORCE = "✅"
    DENIED = "⛔"
    LOOK = "⚠️"
    OVER = "⚪"
    BACK = "↩️"


def line(*parts: Part | Line) -> Line:
    """Parts and lines as one line, without empty words."""
    flat: list[Part] = []
    for part in parts:
        flat.extend(part) if isinstance(part, tuple) else flat.append(part)
    return tuple(part for part in flat if part != "")


def rich(*lines: Line, bold_first: bool = False) -> Block:
    """Lines under each other in one rich_text block."""
    body: list[dict[str, Any]] = []
    for index, one in enumerate(lines):
        if index:
            body.append({"type": "text", "text": "\n"})
        body.extend(elements(one, bold=bold_first and not index))
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": body}]}


def headline(symbol: Symbol | None, *parts: Part | Line) -> Block:
    """Line 1 of a message, bold, after its symbol."""
    return rich(line(f"{symbol} " if symbol else "", *parts), bold_first=True)


def heading(words: str) -> Block:
    """The title of a part of a Home tab: our words only."""
    return {"type": "header", "text": plain_text(words)}


def bullets(lines: Sequence[Line], *, ordered: bool = False) -> Block:
    """A list; `ordered` numbers it."""
    items = [{"type": "rich_text_section", "elements": elements(one)} for one in lines]
    style = "ordered" if ordered else "bullet"
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_list", "style": style, "indent": 0, "elements": items}],
    }


def pre(text: str) -> Block:
    """Preformatted text: line breaks and spaces are kept, everything else that cannot be seen is not."""
    kept = "\n".join(visible(one).rstrip() for one in text.splitlines())
    body = [{"type": "text", "text": clip(kept, CODE_LIMIT) or " "}]
    return {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": body}]}


def context(*parts: Part | Line) -> Block:
    """Small print. Dates are mrkdwn, all the rest plain_text, so nobody's text is parsed."""
    runs: list[dict[str, Any]] = []
    words: list[Part] = []
    for part in line(*parts):
        if isinstance(part, Moment | Clock):
            runs += _plain_run(words)
            words = []
            form = "{time}" if isinstance(part, Clock) else "{date_short_pretty} {time}"
            runs.append({"type": "mrkdwn", "text": date_token(part.at, form), "verbatim": True})
        else:
            words.append(part)
    return {"type": "context", "elements": runs + _plain_run(words)}


def _plain_run(words: list[Part]) -> list[dict[str, Any]]:
    text = plain(tuple(words)).strip()
    return [plain_text(clip(text, 2_000))] if text else []


def plain_text(text: str) -> dict[str, Any]:
    """A plain_text object in which `:smile:` stays as typed."""
    return {"type": "plain_text", "text": text, "emoji": False}


def actions(*buttons: dict[str, Any], block_id: str | None = None) -> tuple[Block, ...]:
    """A row of buttons; nothing if there are none. `block_id` tells an old picture from the current one."""
    if not buttons:
        return ()
    block = {"type": "actions", "elements": list(buttons)}
    return ({**block, "block_id": block_id} if block_id else block,)


@dataclass(frozen=True, slots=True)
class Confirm:
    """What Slack asks before a press counts. Plain text: say lengths of time, not instants."""

    title: Line
    text: Line
    yes: str
    no: str = "Not now"
    danger: bool = False


def button(
    label: str, action: str, value: str, *, primary: bool = False, confirm: Confirm | None = None
) -> dict[str, Any]:
    """A button. `value` is an opaque id and nothing else."""
    made: dict[str, Any] = {"type": "button", "action_id": str(action), "value": value}
    made["text"] = plain_text(clip(label, _BUTTON_LABEL))
    if primary:
        made["style"] = "primary"
    if confirm:
        made["confirm"] = _confirm(confirm)
    return made


def link_button(label: str, action: str, value: str, url: str) -> dict[str, Any]:
    """A button that opens a page of Slack's. The press is delivered all the same, and acknowledged."""
    return {**button(label, action, value), "url": url}


def _confirm(asked: Confirm) -> dict[str, Any]:
    made: dict[str, Any] = {
        "title": plain_text(clip(plain(asked.title), _CONFIRM_TITLE)),
        "text": plain_text(clip(plain(asked.text), _CONFIRM_TEXT)),
        "confirm": plain_text(clip(asked.yes, _CONFIRM_BUTTON)),
        "deny": plain_text(clip(asked.no, _CONFIRM_BUTTON)),
    }
    return {**made, "style": "danger"} if asked.danger else made


def table(header: Sequence[str], rows: Iterable[Sequence[Line]], *, right: Iterable[int] = ()) -> Block:
    """A table; `right` are the columns of numbers. Cells with dates are rich_text, all others raw_text.

    One per message, none in modals; `bot.views.degrade` turns it into preformatted text where Slack does not know it.
    """
    numbers = frozenset(right)
    body = [[_cell(line(title)) for title in header], *([_cell(one) for one in row] for row in rows)]
    settings = [{"align": "right" if at in numbers else "left"} for at in range(len(header))]
    return {"type": "table", "rows": body, "column_settings": settings}


def _cell(parts: Line) -> dict[str, Any]:
    if any(isinstance(part, Moment | Clock) for part in parts):
        return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements(parts)}]}
    return {"type": "raw_text", "text": plain(parts) or "-"}


def alert(*parts: Part | Line, level: str = "error") -> Block:
    """A coloured line at the top of a modal; `bot.views.degrade` turns it into rich_text where it is not known."""
    return {"type": "alert", "level": level, "text": plain_text(clip(plain(line(*parts)), 200))}


def message(first: Line, *blocks: Block) -> Message:
    """A message whose `text` is line 1 as a sentence."""
    return Message(sentence(first), blocks)


def answer(*lines: Line) -> Message:
    """A short answer of plain lines; `text` is the first."""
    return Message(sentence(lines[0]), (rich(*lines),))
