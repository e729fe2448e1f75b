"""Small blocks of any size, good or bad. Used by tests of the simulated Slack's rules for them."""

from typing import Any

Block = dict[str, Any]


def plain(length: int) -> Block:
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length: int) -> Block:
    return {"type": "mrkdwn", "text": "x" * length}


def button(**more: Any) -> Block:
    return {"type": "button", "text": plain(1), **more}


def acts(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def options(count: int) -> list[Block]:
    return [{"text": plain(1), "value": str(n)} for n in range(count)]


def select(**more: Any) -> Block:
    return {"type": "static_select", **({"options": options(1)} | more)}


def field(element: Block, **more: Any) -> Block:
    return {"type": "input", "label": plain(1), "element": element, **more}


def table(rows: int, columns: int = 1) -> Block:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * columns] * rows}


def data_table(rows: int) -> Block:
    return {"type": "data_table", "caption": "c", "rows": [[{"type": "raw_text", "text": "x"}]] * rows}


def chart(points: int) -> Block:
    names = [str(n) for n in range(points)]
    data = [{"label": name, "value": 1} for name in names]
    axis = {"type": "bar", "series": [{"name": "s", "data": data}], "axis_config": {"categories": names}}
    return {"type": "data_visualization", "title": "t", "chart": axis}
