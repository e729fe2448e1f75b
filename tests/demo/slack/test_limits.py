"""Block Kit's limits: for each, what is just allowed is taken and one more is refused with the limit named."""

from collections.abc import Callable
from typing import Any

import pytest
from slackblocks import _limits, _surfaces

from bot.demo.slack import check_message, check_view, limits
from bot.demo.slack.limit_blocks import SURFACES
from tests.support.blocks import Block, acts, button, chart, data_table, field, mrkdwn, options, plain, select, table


def confirm(**more: Block) -> Block:
    return button(confirm={"title": plain(1), "text": plain(1), "confirm": plain(1), "deny": plain(1), **more})


# (what, the limit, a block that has n of it, the limit in the slackblocks package if it lists it)
LENGTHS: list[tuple[str, int, Callable[[int], Block], str | None]] = [
    ("section text", 3000, lambda n: {"type": "section", "text": mrkdwn(n)}, "SECTION_TEXT_MAX_LENGTH"),
    ("header", 150, lambda n: {"type": "header", "text": plain(n)}, "HEADER_TEXT_MAX_LENGTH"),
    ("block_id", 255, lambda n: {"type": "divider", "block_id": "x" * n}, "BLOCK_ID_MAX_LENGTH"),
    ("action_id", 255, lambda n: acts(button(action_id="x" * n)), "ACTION_ID_MAX_LENGTH"),
    ("button text", 75, lambda n: acts(button(text=plain(n))), "BUTTON_TEXT_MAX_LENGTH"),
    ("button value", 2000, lambda n: acts(button(value="x" * n)), "BUTTON_VALUE_MAX_LENGTH"),
    ("button url", 3000, lambda n: acts(button(url="x" * n)), "BUTTON_URL_MAX_LENGTH"),
    ("confirm title", 100, lambda n: acts(confirm(title=plain(n))), "CONFIRMATION_TITLE_MAX_LENGTH"),
    ("confirm text", 300, lambda n: acts(confirm(text=plain(n))), "CONFIRMATION_TEXT_MAX_LENGTH"),
    ("confirm yes", 30, lambda n: acts(confirm(confirm=plain(n))), "CONFIRMATION_CONFIRM_MAX_LENGTH"),
    ("confirm no", 30, lambda n: acts(confirm(deny=plain(n))), "CONFIRMATION_DENY_MAX_LENGTH"),
    ("placeholder", 150, lambda n: acts(select(placeholder=plain(n))), "SELECT_PLACEHOLDER_MAX_LENGTH"),
    (
        "option text",
        75,
        lambda n: acts(select(options=[{"text": plain(n), "value": "v"}])),
        "OPTION_TEXT_MAX_LENGTH",
    ),
    (
        "option value",
        150,
        lambda n: acts(select(options=[{"text": plain(1), "value": "v" * n}])),
        "OPTION_VALUE_MAX_LENGTH",
    ),
    (
        "option description",
        75,
        lambda n: acts(select(options=[{"text": plain(1), "value": "v", "description": plain(n)}])),
        "OPTION_DESCRIPTION_MAX_LENGTH",
    ),
    (
        "image alt text",
        2000,
        lambda n: {"type": "image", "image_url": "u", "alt_text": "x" * n},
        "IMAGE_ALT_TEXT_MAX_LENGTH",
    ),
    ("input label", 2000, lambda n: field(select()) | {"label": plain(n)}, "INPUT_LABEL_MAX_LENGTH"),
    ("input hint", 2000, lambda n: field(select(), hint=plain(n)), "INPUT_HINT_MAX_LENGTH"),
    ("markdown", 12_000, lambda n: {"type": "markdown", "text": "x" * n}, "MARKDOWN_TEXT_MAX_LENGTH"),
    (
        "field text",
        2000,
        lambda n: {"type": "section", "fields": [mrkdwn(n)]},
        "SECTION_FIELDS_ITEM_MAX_LENGTH",
    ),
    (
        "chart title",
        50,
        lambda n: chart(1) | {"title": "x" * n},
        "DATA_VISUALIZATION_TITLE_MAX_LENGTH",
    ),
    (
        "typed text",
        3000,
        lambda n: field({"type": "plain_text_input", "initial_value": "x" * n}),
        "PLAIN_TEXT_INPUT_MAX_LENGTH_MAX",
    ),
]

COUNTS: list[tuple[str, int, Callable[[int], Block], str | None]] = [
    ("actions", 25, lambda n: acts(*[button()] * n), "ACTIONS_ELEMENTS_MAX_ITEMS"),
    ("context", 10, lambda n: {"type": "context", "elements": [mrkdwn(1)] * n}, "CONTEXT_ELEMENTS_MAX_ITEMS"),
    ("fields", 10, lambda n: {"type": "section", "fields": [mrkdwn(1)] * n}, "SECTION_FIELDS_MAX_ITEMS"),
    ("options", 100, lambda n: acts(select(options=options(n))), "SELECT_OPTIONS_MAX_ITEMS"),
    (
        "option groups",
        100,
        lambda n: acts({"type": "static_select", "option_groups": [{"label": plain(1), "options": options(1)}] * n}),
        "SELECT_OPTION_GROUPS_MAX_ITEMS",
    ),
    ("overflow", 5, lambda n: acts({"type": "overflow", "options": options(n)}), "OVERFLOW_OPTIONS_MAX_ITEMS"),
    (
        "checkboxes",
        10,
        lambda n: acts({"type": "checkboxes", "options": options(n)}),
        "CHECKBOXES_OPTIONS_MAX_ITEMS",
    ),
    (
        "radio buttons",
        10,
        lambda n: acts({"type": "radio_buttons", "options": options(n)}),
        "RADIO_BUTTONS_OPTIONS_MAX_ITEMS",
    ),
    ("table rows", 100, table, "TABLE_ROWS_MAX_ITEMS"),
    ("table columns", 20, lambda n: table(1, n), "TABLE_COLUMNS_MAX_ITEMS"),
    ("data table rows", 201, data_table, "DATA_TABLE_ROWS_MAX_ITEMS"),
    ("chart points", 20, chart, "DATA_VISUALIZATION_DATA_MAX_ITEMS"),
    ("card actions", 3, lambda n: {"type": "card", "actions": [button()] * n}, "CARD_ACTIONS_MAX_ITEMS"),
]

VIEW_LENGTHS: list[tuple[str, int, Callable[[int], Block], str]] = [
    ("title", 24, lambda n: {"title": plain(n)}, "VIEW_TITLE_MAX_LENGTH"),
    ("submit", 24, lambda n: {"submit": plain(n)}, "VIEW_SUBMIT_MAX_LENGTH"),
    ("close", 24, lambda n: {"close": plain(n)}, "VIEW_CLOSE_MAX_LENGTH"),
    ("private_metadata", 3000, lambda n: {"private_metadata": "x" * n}, "VIEW_PRIVATE_METADATA_MAX_LENGTH"),
    ("callback_id", 255, lambda n: {"callback_id": "x" * n}, "VIEW_CALLBACK_ID_MAX_LENGTH"),
    ("external_id", 255, lambda n: {"external_id": "x" * n}, "VIEW_EXTERNAL_ID_MAX_LENGTH"),
]


def names(rows: list[Any]) -> list[str]:
    return [row[0] for row in rows]


@pytest.mark.parametrize(("what", "limit", "make", "peer"), LENGTHS, ids=names(LENGTHS))
def test_length_limits(what: str, limit: int, make: Callable[[int], Block], peer: str | None) -> None:
    assert check_message([make(limit)]) == []
    refused = check_message([make(limit + 1)])
    assert len(refused) == 1
    assert refused[0].startswith(f"must be less than {limit + 1} characters [json-pointer:/blocks/0")


@pytest.mark.parametrize(("what", "limit", "make", "peer"), COUNTS, ids=names(COUNTS))
def test_count_limits(what: str, limit: int, make: Callable[[int], Block], peer: str | None) -> None:
    assert check_message([make(limit)]) == []
    refused = check_message([make(limit + 1)])
    assert f"no more than {limit} items allowed" in refused[0]


@pytest.mark.parametrize(("what", "limit", "part", "peer"), VIEW_LENGTHS, ids=names(VIEW_LENGTHS))
def test_view_limits(what: str, limit: int, part: Callable[[int], Block], peer: str) -> None:
    modal = {"type": "modal", "title": plain(1), "blocks": []}
    assert check_view(modal | part(limit), "modal") == []
    assert f"less than {limit + 1} characters" in check_view(modal | part(limit + 1), "modal")[0]


@pytest.mark.parametrize(
    ("what", "limit", "make", "peer"), LENGTHS + COUNTS + VIEW_LENGTHS, ids=names(LENGTHS + COUNTS + VIEW_LENGTHS)
)
def test_the_limits_are_those_of_another_registry(what: str, limit: int, make: object, peer: str) -> None:
    assert getattr(_limits, peer) == limit


def test_the_surfaces_are_those_of_another_registry() -> None:
    """What slackblocks allows and we know, we allow, and nothing else."""
    known = frozenset().union(*SURFACES.values())
    for surface, allowed in SURFACES.items():
        assert allowed == _surfaces._BLOCK_TYPES_BY_SURFACE[surface] & known, surface


@pytest.mark.parametrize(
    ("most", "kind"), [(limits.MESSAGE_BLOCKS, "message"), (limits.VIEW_BLOCKS, "modal"), (limits.VIEW_BLOCKS, "home")]
)
def test_blocks_per_surface(most: int, kind: str) -> None:
    def check(count: int) -> list[str]:
        blocks = [{"type": "divider"}] * count
        if kind == "message":
            return check_message(blocks)
        return check_view({"type": kind, "title": plain(1), "blocks": blocks}, kind)

    assert check(most) == []
    assert f"no more than {most} items allowed" in check(most + 1)[0]
