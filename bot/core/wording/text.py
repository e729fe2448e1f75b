"""Slack's text as the person typed it, and reasons cut to a stated length.

The chat layer hands the raw `text` of a slash command to `commands.parse_command`, which calls `unescape` first; views
call `clip_reason`.
"""

import re

REASON_CHARACTERS = 300
DASHES = "-‐‑‒–—―−"
"""The hyphen, and what phones and word processors make of it."""

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_LINKS = {"@": "@", "#": "#", "!": "@"}
_MARKUP = re.compile(r"<([@#!]?)([^<>|\s]+)(?:\|([^<>|]*))?>|&(?:amp|lt|gt);")


def unescape(text: str) -> str:
    """Slack's wire text as it stood in the message field, in one pass, so that `&amp;lt;` stays `&lt;`.

    A mention `<@U1|ann>` becomes `@ann`, `<#C1|gpu>` `#gpu`, and a name that Slack took for an address
    (`<http://nvidia.com/gpu|nvidia.com/gpu>`) is a name again. A mention without a name stays as it came.
    """
    return _MARKUP.sub(_as_typed, text)


def _as_typed(match: re.Match[str]) -> str:
    whole, mark, target, label = match.group(0), match.group(1), match.group(2), match.group(3)
    if target is None:
        return _ENTITIES[whole]
    if label:
        return _plain(label if not mark or label.startswith(_LINKS[mark]) else _LINKS[mark] + label)
    return whole if mark else _plain(target)


def _plain(text: str) -> str:
    return re.sub(r"&(?:amp|lt|gt);", lambda entity: _ENTITIES[entity.group(0)], text)


def clip_reason(reason: str, most: int = REASON_CHARACTERS) -> str:
    """The reason, cut after `most` characters with the length of the whole said."""
    if len(reason) <= most:
        return reason
    return f"{reason[:most].rstrip()}… (cut, {len(reason):,} characters)"
