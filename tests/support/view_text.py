"""A message as the person who gets it reads it: blocks to lines of plain text, for tests that compare words."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from bot.core.messages import Block, Home, Message, Modal

READER = timezone(timedelta(hours=1))
"""The reader's zone: Zurich in winter."""


def seen(shown: Message | Modal | Home) -> list[str]:
    """The lines from top to bottom; rows of buttons stand in brackets, inputs as `label [value]`."""
    return [line for block in shown.blocks for line in block_lines(block)]


def labels(shown: Message | Modal | Home) -> list[str]:
    """The labels of all buttons, in order."""
    return [one["text"]["text"] for one in buttons(shown)]


def buttons(shown: Message | Modal | Home) -> list[Mapping[str, Any]]:
    """All buttons, in order."""
    return [one for block in shown.blocks if block["type"] == "actions" for one in block["elements"]]


def block_lines(block: Block) -> Iterator[str]:
    """The lines of one block."""
    match block["type"]:
        case "header":
            yield f"# {block['text']['text']}"
        case "rich_text":
            for element in block["elements"]:
                yield from _rich(element)
        case "context":
            yield " ".join(_small(one) for one in block["elements"])
        case "actions":
            yield " ".join(f"[{one['text']['text']}]" for one in block["elements"])
        case "table":
            yield from ("  ".join(_cell(cell) for cell in row) for row in block["rows"])
        case "alert":
            yield f"(error) {block['text']['text']}"
        case "input":
            yield f"{block['label']['text']} [{_value(block['element'])}]"
            if "hint" in block:
                yield f"  {block['hint']['text']}"


def _rich(element: Mapping[str, Any]) -> Iterator[str]:
    if element["type"] == "rich_text_list":
        for at, item in enumerate(element["elements"], start=1):
            mark = f"{at}  " if element["style"] == "ordered" else "• "
            yield mark + "".join(_part(part) for part in item["elements"])
        return
    mark = "| " if element["type"] == "rich_text_preformatted" else ""
    for line in "".join(_part(part) for part in element["elements"]).split("\n"):
        yield mark + line


def _part(part: Mapping[str, Any]) -> str:
    match part["type"]:
        case "text":
            return str(part["text"])
        case "user":
            return "@" + str(part["user_id"]).removeprefix("U").lower().replace("0", "-")
        case "usergroup":
            return "@" + str(part["usergroup_id"]).removeprefix("S").lower().replace("0", "-")
        case "channel":
            return "#" + str(part["channel_id"]).removeprefix("C").lower().replace("0", "-")
        case "date":
            return shown_time(part["timestamp"], part["format"])
        case other:
            raise AssertionError(f"unknown element {other}")


def shown_time(timestamp: int, form: str) -> str:
    """A date element as Slack shows it to the reader: "Sat 5 Dec 14:20", or the time alone."""
    at = datetime.fromtimestamp(timestamp, UTC).astimezone(READER)
    return f"{at:%a} {at.day} {at:%b %H:%M}" if "date" in form else f"{at:%H:%M}"


def _small(element: Mapping[str, Any]) -> str:
    if element["type"] == "plain_text":
        return str(element["text"])
    _, timestamp, rest = element["text"].split("^", 2)
    return shown_time(int(timestamp), rest.split("|")[0])


def _cell(cell: Mapping[str, Any]) -> str:
    return str(cell["text"]) if cell["type"] == "raw_text" else "".join(_rich(cell["elements"][0]))


def _value(element: Mapping[str, Any]) -> str:
    if "initial_option" in element:
        return str(element["initial_option"]["text"]["text"])
    if "initial_date_time" in element:
        return shown_time(element["initial_date_time"], "date")
    return str(element.get("initial_value", ""))
