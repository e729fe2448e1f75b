"""Hostile text, and the walk that finds where it could act: it knows only Slack's syntax.

Where a string may stand so that Slack does not parse it, and what must be true of a string that Slack does parse. Used
by the tests of P8.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

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
    if key == "url":
        if not re.fullmatch(r"https://[\w.-]+\.slack\.com/archives/\w+/p\d+", value):
            yield f"a link that is not to a message: {value!r:.100}"
    elif key != "text":
        yield f"a string at {key} of {kind}"
    elif kind == "mrkdwn":
        if not DATE_TOKEN.fullmatch(value):
            yield f"mrkdwn that is more than a date: {value!r:.100}"
    elif kind in UNPARSED:
        if kind == "plain_text" and node.get("emoji") is not False:
            yield "plain_text with emoji"
    elif kind != "text":
        yield f"text in {kind}"
