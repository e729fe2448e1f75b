"""Block Kit's rules for blocks: what each may hold, how long, and on which surface it may stand. Read by `limits`.

Left out, and so refused as unsupported: video, file, carousel, container, plan,
task_card, context_actions.
"""

from collections.abc import Mapping
from typing import Any

from bot.demo.slack.limit_elements import (
    ELEMENTS,
    IMAGE,
    IN_ACTIONS,
    IN_SECTION,
    INPUTS,
    RICH_TEXT,
    URL,
    plain,
    text,
)
from bot.demo.slack.schema import (
    Check,
    Fields,
    Problems,
    anything,
    array,
    at_least_one,
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

TABLE_ROWS, TABLE_COLUMNS, DATA_TABLE_ROWS = 100, 20, 201


def _block(kind: str, required: Fields, optional: Fields | None = None, also: Check | None = None) -> Check:
    fields = {"block_id": string(255, 1), **(optional or {})}
    return struct({"type": enum(kind), **required}, fields, also)


def _rectangular(value: Any, pointer: str, problems: Problems) -> None:
    if len({len(row) for row in value["rows"]}) > 1:
        complain(problems, "all rows must have the same number of cells", f"{pointer}/rows")


def _raw_header(value: Any, pointer: str, problems: Problems) -> None:
    _rectangular(value, pointer, problems)
    if any(cell["type"] == "rich_text" for cell in value["rows"][0]):
        complain(problems, "header cells must not be rich_text", f"{pointer}/rows/0")


def _positive(value: Any, pointer: str, problems: Problems) -> None:
    if value["value"] <= 0:
        complain(problems, "must be greater than 0", f"{pointer}/value")


def _series_match_categories(value: Any, pointer: str, problems: Problems) -> None:
    categories = value["axis_config"]["categories"]
    names = [series["name"] for series in value["series"]]
    if len(set(names)) != len(names):
        complain(problems, "series names must be unique", f"{pointer}/series")
    for index, series in enumerate(value["series"]):
        if [point["label"] for point in series["data"]] != list(categories):
            complain(problems, "data labels must match the categories in order", f"{pointer}/series/{index}/data")


_CELL = tagged(
    {
        "raw_text": struct({"type": enum("raw_text"), "text": string(None, 1)}),
        "raw_number": struct({"type": enum("raw_number"), "value": number}, {"text": string()}),
        "rich_text": RICH_TEXT,
    }
)
_ROW = array(_CELL, TABLE_COLUMNS)
_COLUMN = struct({}, {"align": enum("left", "center", "right"), "is_wrapped": boolean})

_POINT = struct({"label": string(20, 1), "value": number})
_SERIES = struct({"name": string(20, 1), "data": array(_POINT, 20)})
_AXES = struct({"categories": array(string(20, 1), 20)}, {"x_label": string(50), "y_label": string(50)})


def _axis_chart(kind: str) -> Check:
    return struct(
        {"type": enum(kind), "series": array(_SERIES, 12), "axis_config": _AXES}, None, _series_match_categories
    )


_SEGMENT = struct({"label": string(20, 1), "value": number}, None, _positive)
_CHART = tagged(
    {
        "pie": struct({"type": enum("pie"), "segments": array(_SEGMENT, 12)}),
        "bar": _axis_chart("bar"),
        "line": _axis_chart("line"),
        "area": _axis_chart("area"),
    }
)

_CARD: Fields = {
    "title": text(150),
    "subtitle": text(150),
    "body": text(200),
    "subtext": text(200),
    "hero_image": anything,
    "icon": anything,
    "actions": array(tagged(ELEMENTS, frozenset({"button"})), 3),
}
_SECTION: Fields = {
    "text": text(3000),
    "fields": array(text(2000), 10),
    "accessory": tagged(ELEMENTS, IN_SECTION),
    "expand": boolean,
}
_INPUT: Fields = {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean}
_CONTEXT = tagged({"image": IMAGE, "plain_text": text(3000), "mrkdwn": text(3000)})

BLOCKS: Mapping[str, Check] = {
    "actions": _block("actions", {"elements": array(tagged(ELEMENTS, IN_ACTIONS), 25)}),
    "alert": _block("alert", {"text": text(200)}, {"level": enum("default", "info", "warning", "error", "success")}),
    "card": _block("card", {}, _CARD, at_least_one("title", "body", "hero_image", "actions")),
    "context": _block("context", {"elements": array(_CONTEXT, 10)}),
    "data_table": _block(
        "data_table",
        {"rows": array(_ROW, DATA_TABLE_ROWS, 2), "caption": string(None, 1)},
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, TABLE_COLUMNS - 1)},
        _raw_header,
    ),
    "data_visualization": _block("data_visualization", {"title": string(50, 1), "chart": _CHART}),
    "divider": _block("divider", {}),
    "header": _block("header", {"text": plain(150)}, {"level": integer(1, 4)}),
    "image": _block(
        "image",
        {"alt_text": string(2000, 1)},
        {"image_url": URL, "slack_file": anything, "title": plain(2000)},
        exactly_one("image_url", "slack_file"),
    ),
    "input": _block("input", {"label": plain(2000), "element": tagged(ELEMENTS, INPUTS)}, _INPUT),
    "markdown": _block("markdown", {"text": string(12_000, 1)}),
    "rich_text": RICH_TEXT,
    "section": _block("section", {}, _SECTION, at_least_one("text", "fields")),
    "table": _block(
        "table", {"rows": array(_ROW, TABLE_ROWS)}, {"column_settings": array(_COLUMN, TABLE_COLUMNS)}, _rectangular
    ),
}

SURFACES: Mapping[str, frozenset[str]] = {
    "message": frozenset(BLOCKS) - {"alert"},
    "modal": frozenset(BLOCKS) - {"markdown", "table", "data_table", "data_visualization"},
    "home": frozenset(BLOCKS) - {"markdown", "alert"},
}
