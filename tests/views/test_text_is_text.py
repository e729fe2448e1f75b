"""P8, text is text: whatever other people write, nothing of it mentions, links or formats in Slack.

The walk knows only Slack's syntax: where a string may stand so that Slack does not parse it, and what must be true of a
string that Slack does parse.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.messages import Message, Modal
from bot.views.parts import Clock, Code, Moment, Part, Reason, Theirs, clean, clip, escape, inert, sentence, words
from tests.support.slack_limits import faults
from tests.support.view_facts import Names, at
from tests.support.view_gallery import everything

HOSTILE = [
    "<!channel>",
    "<!here|here>",
    "<!subteam^S123ABC>",
    "<@U123ABC>",
    "<#C123ABC>",
    "<https://evil.example|Approve>",
    "https://evil.example/approve",
    "<!date^1796476800^{date}|now>",
    "*bold* _italic_ ~struck~ `code`",
    "```\nfence\n```",
    "&lt;!channel&gt;",
    "&amp;lt;!channel&amp;gt;",
    ":smile: :rotating_light:",
    "> quote",
    "line one\nline two\r\nline three\u2028line four",
    "\u202egnp.exe\u202c \u2066isolated\u2069 \u200f\u200e\u061c",
    "zero\u200bwidth\ufeff\u00adhidden",
    "bell\x07 escape\x1b[31m null\x00 tab\t",
    "\ud800 lone surrogate",
    "tag \U000e0041\U000e0042",
    "@channel @here @everyone",
    "approved by @admin",
    "=HYPERLINK(1)",
    " ",
    "​",
    "&" * 300,
    "<" * 20_480,
    "é" * 500,
    "👩‍💻" * 100,
]
MARKUP = st.sampled_from(
    ["<", ">", "&", "!", "@", "#", "|", "^", "*", "_", "~", "`", ":", "/", "\n", " ", "\u202e", "\u200b", "\x00", "x",
     "channel", "U123", "https://evil.example", "&lt;", "smile", "{date}"]
)  # fmt: skip
HOSTILE_TEXT = st.one_of(st.sampled_from(HOSTILE), st.lists(MARKUP, max_size=40).map("".join), st.text(max_size=80))

DATE_TOKEN = re.compile(r"<!date\^\d+\^(\{date_short_pretty\} )?\{time\}\|\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d>")
ENTITY = re.compile(r"&(amp|lt|gt);")
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
UNPARSED = {"raw_text", "plain_text"}
OPAQUE_KEYS = {
    "type", "action_id", "block_id", "value", "style", "align", "level", "user_id", "usergroup_id", "channel_id",
    "format", "fallback", "timestamp", "initial_value", "min_value", "max_value", "initial_date_time",
}  # fmt: skip
"""Keys of ids and settings, and of what stands in a person's own input."""


def parsed_as_mrkdwn_faults(text: str) -> Iterator[str]:
    """What would be wrong with a string that Slack parses as mrkdwn."""
    rest = DATE_TOKEN.sub("", text)
    if "<" in rest or ">" in rest or "&" in ENTITY.sub("", rest):
        yield f"not escaped: {rest!r:.100}"
    if re.search(r"(?<!\w)[*~`]|[*~`](?!\w)|(?<![^\W_])_|_(?![^\W_])", rest):
        yield f"formats: {rest!r:.100}"
    if re.search(r":[\w+'-]+:|://", rest):
        yield f"emoji or address: {rest!r:.100}"


def walk(node: Any) -> Iterator[str]:
    """Faults of one block: strings where Slack would parse them, and characters that nobody can see."""
    if isinstance(node, Mapping):
        kind = node.get("type")
        for key, value in node.items():
            if isinstance(value, str) and key not in OPAQUE_KEYS:
                yield from _string(node, kind, key, value)
            elif not isinstance(value, str):
                yield from walk(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from walk(value)


def _string(node: Mapping[str, Any], kind: Any, key: str, value: str) -> Iterator[str]:
    seen = value.replace("\n", "") if kind == "text" else value
    bad = [
        character
        for character in seen
        if unicodedata.category(character) in INVISIBLE and character not in "\u200c\u200d"
    ]
    if bad:
        yield f"invisible {bad[:3]!r} in {kind}"
    if key != "text":
        yield f"a string at {key} of {kind}"
    elif kind == "mrkdwn":
        if not DATE_TOKEN.fullmatch(value):
            yield f"mrkdwn that is more than a date: {value!r:.100}"
    elif kind in UNPARSED:
        if kind == "plain_text" and node.get("emoji") is not False:
            yield "plain_text with emoji"
    elif kind != "text":
        yield f"text in {kind}"


def text_faults(shown: Message | Modal) -> list[str]:
    """Every way in which other people's text could act in what is shown."""
    found = [fault for block in shown.blocks for fault in walk(block)]
    if isinstance(shown, Message):
        found += parsed_as_mrkdwn_faults(shown.text)
        if any(unicodedata.category(one) in INVISIBLE and one not in "\u200c\u200d" for one in shown.text):
            found.append("invisible characters in text")
    return found


def bad_ones(text: str) -> dict[str, list[str]]:
    """All messages with `text` in every place where other people's text may stand, and what is wrong with them."""
    shown = everything(Names.all_of(text))
    return {name: found for name, one in shown.items() if (found := text_faults(one) + faults(one))}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text_in_everything_that_is_shown(text: str) -> None:
    assert bad_ones(text) == {}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=HOSTILE_TEXT)
def test_any_text_stays_text_in_everything_that_is_shown(text: str) -> None:
    assert bad_ones(text) == {}


@given(text=HOSTILE_TEXT)
def test_escaped_text_has_no_syntax_left(text: str) -> None:
    assert list(parsed_as_mrkdwn_faults(inert(clean(text)))) == []


@given(text=st.text(max_size=200))
def test_escape_is_undone_by_slack_and_nothing_else(text: str) -> None:
    back = escape(text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert back == text


@given(text=HOSTILE_TEXT)
def test_a_name_is_one_visible_line_of_sixty_characters_at_most(text: str) -> None:
    shown = words(Theirs(text))
    assert 1 <= len(shown) <= 60
    assert shown == shown.strip()
    assert not any(unicodedata.category(one) in INVISIBLE - {"Cf"} for one in shown)


def test_a_long_name_keeps_both_its_ends() -> None:
    assert clip("resnet-sweep-" + "x" * 100 + "-3f1c2", 20) == "resnet-swe…xxx-3f1c2"
    assert clip("short", 20) == "short"


def test_a_sentence_gives_up_names_before_words() -> None:
    text = sentence((Theirs("v" * 60), " asks ", Theirs("&" * 60), " for more, and this is what it takes to be said"))
    assert len(text) <= 150
    assert text.endswith(" for more, and this is what it takes to be said")


PARTS = st.one_of(
    st.sampled_from(["8 a100 for ", " -> ", ": ", "a clause of ours that is rather long, "]),
    HOSTILE_TEXT.map(Theirs),
    HOSTILE_TEXT.map(Reason),
    HOSTILE_TEXT.map(Code),
    st.sampled_from([Moment(at("14:20")), Clock(at("14:20"))]),
)


@given(parts=st.lists(PARTS, min_size=1, max_size=12))
def test_any_line_becomes_a_sentence_that_fits_and_does_nothing(parts: list[Part]) -> None:
    text = sentence(("It is ", *parts))
    assert len(text) <= 150
    assert list(parsed_as_mrkdwn_faults(text)) == []


def test_dates_become_plain_before_anything_is_lost() -> None:
    text = sentence(
        ("Was ", Clock(at("14:05")), ", is ", Clock(at("14:18")), ": look at all of it once more, then press again")
    )
    assert text == "Was 14:05 +0100, is 14:18 +0100: look at all of it once more, then press again"


def test_words_of_ours_that_are_too_long_end_at_a_word() -> None:
    text = sentence(("word " * 40,))
    assert text == "word " * 28 + "word…"


def test_the_walk_finds_what_it_is_for() -> None:
    """A check that cannot fail is no check."""
    bad = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "<!channel>"}},
        {"type": "header", "text": {"type": "plain_text", "text": ":smile:", "emoji": True}},
        {"type": "rich_text", "elements": [{"type": "link", "url": "https://evil.example", "text": "x"}]},
        {"type": "rich_text", "elements": [{"type": "text", "text": "a\u202eb"}]},
    ]
    assert all(list(walk(block)) for block in bad)
    assert all(list(parsed_as_mrkdwn_faults(text)) for text in ("<@U1>", "*b*", "a `c`", ":x:", "https://a", "&"))
    assert list(parsed_as_mrkdwn_faults("8 a100 for my_job, 16 -&gt; 24")) == []
