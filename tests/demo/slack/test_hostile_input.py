"""Whatever is sent, the simulator answers with one of Slack's codes and never falls over."""

import copy
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.demo.slack import SlackError, check_message, check_view
from bot.demo.slack.limit_blocks import BLOCKS
from bot.demo.slack.limit_elements import ELEMENTS, INLINE, RICH_TEXT_PARTS
from bot.demo.slack.methods import METHODS
from bot.demo.slack.methods.call import Call

TYPES = st.sampled_from([*BLOCKS, *ELEMENTS, *INLINE, *RICH_TEXT_PARTS, "plain_text", "mrkdwn", "modal", "home", "bar"])
FIELDS = st.sampled_from(["text", "elements", "element", "options", "accessory", "fields", "rows", "confirm", "value"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda kind, rest: {**rest, "type": kind}, TYPES, st.dictionaries(FIELDS, inner, max_size=3))
    ),
    max_leaves=20,
)
NAMES = {
    *("channel", "ts", "text", "blocks", "attachments", "metadata", "thread_ts", "user", "users", "view", "view_id"),
    *("user_id", "hash", "trigger_id", "limit", "cursor", "oldest", "latest", "types", "email", "usergroup", "files"),
    *("length", "filename", "channel_id", "message_ts", "external_id", "include_users"),
}
ARGUMENTS = st.sampled_from(sorted(NAMES))
WORDS = {"type": "plain_text", "text": "x"}
OPTION = {"text": WORDS, "value": "1"}
SELECT = {"type": "static_select", "action_id": "s", "options": [OPTION], "initial_option": OPTION}
BUTTON = {
    "type": "button",
    "action_id": "b",
    "text": WORDS,
    "confirm": {"title": WORDS, "text": WORDS, "confirm": WORDS, "deny": WORDS},
}
LINE = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x", "style": {"bold": True}}]}
SOUND = [
    {"type": "actions", "elements": [BUTTON, SELECT]},
    {"type": "section", "text": WORDS, "fields": [WORDS], "accessory": BUTTON},
    {"type": "input", "label": WORDS, "element": SELECT},
    {"type": "rich_text", "elements": [LINE, {"type": "rich_text_list", "style": "bullet", "elements": [LINE]}]},
    {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]], "column_settings": [{"align": "left"}]},
    {"type": "card", "title": WORDS, "actions": [BUTTON]},
    {
        "type": "data_visualization",
        "title": "t",
        "chart": {
            "type": "bar",
            "series": [{"name": "s", "data": [{"label": "a", "value": 1}]}],
            "axis_config": {"categories": ["a"]},
        },
    },
    {
        "type": "data_visualization",
        "title": "t",
        "chart": {"type": "pie", "segments": [{"label": "a", "value": 1}]},
    },
]


@st.composite
def nearly_sound(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Blocks that Slack takes, with one thing in them replaced or left out."""
    blocks = copy.deepcopy(SOUND)
    node: Any = blocks[draw(st.integers(0, len(blocks) - 1))]
    while True:
        key = draw(st.sampled_from(sorted(node)) if isinstance(node, dict) else st.integers(0, len(node) - 1))
        if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
            break
        node = node[key]
    if draw(st.booleans()):
        node[key] = draw(JSON)
    else:
        del node[key]
    return blocks


@given(JSON)
def test_any_blocks_are_judged(blocks: Any) -> None:
    assert all("[json-pointer:/blocks" in problem for problem in check_message(blocks))


@given(JSON, st.sampled_from(["modal", "home"]))
def test_any_view_is_judged(view: Any, kind: str) -> None:
    assert all("[json-pointer:/view" in problem for problem in check_view(view, kind))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
@given(method=st.sampled_from(sorted(METHODS)), args=st.dictionaries(ARGUMENTS, JSON, max_size=5), place=st.booleans())
def test_any_arguments_get_an_answer_or_a_code(town, method: str, args: dict[str, Any], place: bool) -> None:
    if place:
        args |= {"channel": town.room.id, "user": town.ada.id, "user_id": town.ada.id}
    with town.slack.world.changed:
        try:
            answer = METHODS[method].handler(Call(town.slack.world, args))
        except SlackError as refused:
            answer = {"error": refused.code}
    assert isinstance(answer, dict)


def test_the_sound_ones_are_sound(town) -> None:
    assert check_message(SOUND) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=600, deadline=None)
@given(blocks=nearly_sound())
def test_what_is_taken_can_be_posted_updated_read_and_judged_again(town, blocks: list[dict[str, Any]]) -> None:
    before = len(town.slack.messages(town.room.id))
    call = Call(town.slack.world, {"channel": town.room.id, "text": "x", "blocks": blocks})
    with town.slack.world.changed, suppress(SlackError):
        METHODS["chat.postMessage"].handler(call)
    posted = town.slack.messages(town.room.id)[before:]
    assert bool(posted) is (check_message(blocks) == [])
    for message in posted:
        assert check_message(list(message.blocks)) == []
        assert town.slack.render_text(message)
