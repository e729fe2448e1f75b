"""The structure of blocks: what Slack takes, what it refuses and in which words."""

from typing import Any

import pytest
import slackblocks

from bot.demo.slack import check_message, check_view
from tests.support.blocks import Block, acts, button, chart, data_table, field, mrkdwn, options, plain, select, table

TEXT = {"type": "text", "text": "hello"}
DATE = {"type": "date", "timestamp": 1796476800, "format": "{date_short_pretty} {time}", "fallback": "Sat"}


def rich(*parts: Block) -> Block:
    return {"type": "rich_text", "elements": list(parts)}


def words(kind: str, *elements: Block, **more: Any) -> Block:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


@pytest.mark.parametrize(
    "block",
    [
        rich(words("section", TEXT, DATE, {"type": "user", "user_id": "U1"}, {"type": "broadcast", "range": "here"})),
        rich(words("list", words("section", TEXT), style="bullet", indent=8)),
        rich(words("quote", TEXT), words("preformatted", TEXT, {"type": "link", "url": "https://example.com"})),
        rich(words("section", {**TEXT, "style": {"bold": True, "code": True}})),
        rich(words("section", {"type": "usergroup", "usergroup_id": "S1"}, {"type": "emoji", "name": "x"})),
        {"type": "alert", "text": plain(1)},
    ],
)
def test_what_slack_takes(block: Block) -> None:
    view = {"type": "modal", "title": plain(1), "blocks": [block]}
    assert check_view(view, "modal") == []


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (
            rich(words("preformatted", DATE)),
            "unsupported type: date [json-pointer:/blocks/0/elements/0/elements/0/type]",
        ),
        (rich(words("section", {"type": "text", "text": ""})), "must be more than 0 characters"),
        (rich(words("list", TEXT, style="bullet")), "unsupported type: text"),
        (rich(words("list", words("section", TEXT))), "missing required field: style"),
        (rich(words("list", words("section", TEXT), style="bullet", indent=9)), "less than or equal to 8"),
        (rich(words("section", {"type": "user"})), "missing required field: user_id"),
        (rich(words("section", {"type": "date", "timestamp": "now", "format": "{date}"})), "must provide a number"),
        (rich(TEXT), "unsupported type: text"),
        (acts(), "no less than 1 items allowed"),
        (acts({"type": "plain_text_input", "action_id": "a"}), "unsupported type: plain_text_input"),
        (acts(button(colour="red")), "invalid additional property: colour"),
        (acts(button(style="loud")), "must be a valid enum value: primary, danger"),
        (acts(button(text=mrkdwn(1))), "must be a valid enum value: plain_text"),
        (acts(button(action_id="a"), button(action_id="a")), "`action_id` a already exists"),
        (acts(select(option_groups=[{"label": plain(1), "options": options(1)}])), "exactly one of"),
        (acts(select(options=options(1) * 2)), "options must have distinct values"),
        (acts(select(initial_option={"text": plain(1), "value": "z"})), "initial option must match"),
        (acts({"type": "overflow", "options": []}), "no less than 1"),
        (field(button()), "unsupported type: button"),
        ({"type": "section"}, "must define either `text` or `fields`"),
        ({"type": "section", "text": plain(0)}, "must be more than 0 characters"),
        ({"type": "section", "text": "words"}, "missing required field: type"),
        ({"type": "header", "text": mrkdwn(1)}, "must be a valid enum value: plain_text"),
        ({"type": "image", "alt_text": "x"}, "exactly one of: image_url, slack_file"),
        ({"type": "hologram"}, "unsupported type: hologram"),
        ({"type": "alert", "text": plain(1)}, "unsupported type: alert"),
        (table(2) | {"rows": [[{"type": "raw_text", "text": "x"}] * n for n in (1, 2)]}, "same number of cells"),
        (table(1) | {"rows": [[{"type": "plain_text", "text": "x"}]]}, "unsupported type: plain_text"),
        (data_table(2) | {"page_size": 101}, "less than or equal to 100"),
        ({"text": plain(1)}, "missing required field: type"),
    ],
)
def test_what_slack_refuses(block: Block, sentence: str) -> None:
    assert any(sentence in problem for problem in check_message([block])), check_message([block])


def test_block_ids_are_unique_in_a_message() -> None:
    twice = [{"type": "divider", "block_id": "card:1:2"}] * 2
    assert check_message(twice) == ["`block_id` card:1:2 already exists [json-pointer:/blocks/1/block_id]"]


def test_action_ids_may_repeat_in_different_blocks() -> None:
    assert check_message([acts(button(action_id="return")), acts(button(action_id="return"))]) == []


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ([table(1), table(1)], "no more than 1 table blocks allowed"),
        ([chart(1)] * 3, "no more than 2 data_visualization blocks allowed"),
        ([{"type": "markdown", "text": "x" * 7000}] * 2, "markdown text must be less than 12001 characters in all"),
        (
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x" * 10_001}]]}],
            "table text must be less than 10001 characters in all",
        ),
    ],
)
def test_totals_of_a_message(blocks: list[Block], sentence: str) -> None:
    assert sentence in check_message(blocks)[0]


@pytest.mark.parametrize(
    ("view", "kind", "sentence"),
    [
        ({"type": "modal", "blocks": []}, "modal", "missing required field: title"),
        ({"type": "home", "blocks": []}, "modal", "must be a valid enum value: modal"),
        ({"type": "modal", "title": plain(1), "blocks": [table(1)]}, "modal", "unsupported type: table"),
        ({"type": "modal", "title": plain(1), "blocks": [chart(1)]}, "modal", "unsupported type: data_visualization"),
        ({"type": "modal", "title": plain(1), "blocks": [field(select())]}, "modal", "must define `submit`"),
        ({"type": "home", "blocks": [{"type": "alert", "text": plain(1)}]}, "home", "unsupported type: alert"),
        ({"type": "modal", "title": plain(1), "blocks": [], "colour": "red"}, "modal", "additional property: colour"),
    ],
)
def test_what_may_not_stand_in_a_view(view: Block, kind: str, sentence: str) -> None:
    assert any(sentence in problem for problem in check_view(view, kind))


BUILT = [
    slackblocks.SectionBlock("words", accessory=slackblocks.Button("Go", action_id="go", value="1")),
    slackblocks.HeaderBlock("Title"),
    slackblocks.DividerBlock(),
    slackblocks.ActionsBlock(elements=[slackblocks.Button("Approve", action_id="a", style="primary")]),
    slackblocks.ContextBlock(elements=[slackblocks.Text("note")]),
]


@pytest.mark.parametrize("block", BUILT, ids=lambda block: type(block).__name__)
def test_blocks_built_by_another_library_are_taken(block: slackblocks.Block) -> None:
    assert check_message([block._resolve()]) == []
