"""The pieces that a line of a message is made of, and what each becomes in Slack.

Every view builds lines of parts; `bot.views.kit` puts lines into blocks. This is the one place where other people's
text (reasons, names of queues, flavors, workloads, teams and managers, vendors' errors) meets Slack's syntax: in blocks
it becomes a rich_text `text` element, which Slack never parses, and in `text` it is escaped.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from bot.core.people import Person
from bot.core.wording.text import clip_reason

NAME_LIMIT: Final = 60
REASON_LIMIT: Final = 300
VENDOR_LIMIT: Final = 200
SENTENCE_LIMIT: Final = 150
"""Characters of a message's `text`."""

_FITS = (*((limit, True) for limit in (150, 60, 24)), *((limit, False) for limit in (150, 60, 24, 12, 6, 1)))
"""How `text` is made to fit, tried in this order: the most that other people's words get, and whether dates are tokens
(which are long) or plain. The bot's own words stay."""


@dataclass(frozen=True, slots=True)
class Theirs:
    """A name or other words that somebody else wrote, cut in the middle after `limit` characters."""

    text: str
    limit: int = NAME_LIMIT


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason that somebody wrote, cut at the end with its whole length said."""

    text: str
    limit: int = REASON_LIMIT


@dataclass(frozen=True, slots=True)
class Mention:
    """A person as a `user` element: it may ping when the message is posted. In `text` it is the display name."""

    person: Person


@dataclass(frozen=True, slots=True)
class Group:
    """A Slack user group as a `usergroup` element: it may ping when the message is posted."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Channel:
    """A Slack channel as a `channel` element, which shows its present name. In `text` it is said in words."""

    id: str
    words: str = "the approvals channel"


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant with its day, shown in the reader's zone. The fallback is in the zone of `at`, with its offset."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """An instant close to the message's own time: the time of day alone, in the reader's zone."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Code:
    """A word of Kueue's or of the command line, in code style."""

    text: str


Part: TypeAlias = str | Theirs | Reason | Mention | Group | Channel | Moment | Clock | Code
"""A plain `str` is the bot's own words."""
Line: TypeAlias = tuple[Part, ...]


def named(person: Person) -> Theirs:
    """A person where nobody should be pinged."""
    return Theirs(person.name or person.id)


def clean(text: str) -> str:
    """One line without control, direction and other invisible characters; never empty.

    Joiners stay: scripts and emoji need them.
    """
    return " ".join(visible(text).split()) or "(empty)"


def visible(text: str) -> str:
    """The same without folding spaces: for preformatted text, line by line."""
    return text if text.isprintable() else "".join(_seen(character) for character in text)


def _seen(character: str) -> str:
    if character in "\u200c\u200d":
        return character
    category = unicodedata.category(character)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    return "" if category in {"Cf", "Cs", "Cn", "Co"} else character


def clip(text: str, limit: int) -> str:
    """A name cut in the middle: both ends of a name tell more than its middle."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def escape(text: str) -> str:
    """Slack's three escapes, which keep mentions, channels, dates and links from being parsed in mrkdwn."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_LOOKALIKES = str.maketrans({"*": "∗", "`": "ˋ", "~": "∼"})
_SHORTCODE = re.compile(r":(?!\s)")  # at the end too: what stands next may start with a digit and a colon
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")


def inert(text: str) -> str:
    """Other people's text for mrkdwn: escaped, and what Slack cannot escape replaced by a character that looks like it.

    `text` is read aloud and shown in notifications only; the blocks show the characters as they are.
    """
    text = _SHORTCODE.sub("∶", text.translate(_LOOKALIKES))
    return escape(_EDGE_UNDERSCORE.sub("＿", text))


def fallback(at: datetime) -> str:
    """An instant for readers without the date element: ISO like, with the offset."""
    offset = f"{at:%z}"
    return f"{at:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


_MOMENT_FORMAT = "{date_short_pretty} {time}"
_CLOCK_FORMAT = "{time}"


def elements(parts: Line, *, bold: bool = False) -> list[dict[str, Any]]:
    """The rich_text elements of one line."""
    style: dict[str, Any] = {"style": {"bold": True}} if bold else {}
    return [_element(part, style) for part in parts if part != ""]


def _element(part: Part, style: dict[str, Any]) -> dict[str, Any]:
    match part:
        case Mention(person):
            return {"type": "user", "user_id": person.id, **style}
        case Group(id=group):
            return {"type": "usergroup", "usergroup_id": group, **style}
        case Channel(id=channel):
            return {"type": "channel", "channel_id": channel, **style}
        case Moment(at):
            return _date(at, _MOMENT_FORMAT)
        case Clock(at):
            return _date(at, _CLOCK_FORMAT)
        case Code(text):
            return {"type": "text", "text": clip(clean(text), REASON_LIMIT), "style": {"code": True}}
        case _:
            return {"type": "text", "text": words(part), **style}


def _date(at: datetime, form: str) -> dict[str, Any]:
    return {"type": "date", "timestamp": int(at.timestamp()), "format": form, "fallback": fallback(at)}


def words(part: Part) -> str:
    """One part as plain characters, for plain_text, raw_text and preformatted text, where Slack parses nothing."""
    match part:
        case str():
            return part
        case Theirs(text, limit):
            return clip(clean(text), limit)
        case Reason(text, limit):
            return clip_reason(clean(text), limit)
        case Mention(person):
            return words(named(person))
        case Group(name=name):
            return clip(clean(name), NAME_LIMIT)
        case Channel(words=said):
            return said
        case Code(text):
            return clip(clean(text), REASON_LIMIT)
        case Moment(at) | Clock(at):
            return fallback(at)


def plain(parts: Line) -> str:
    """A whole line as plain characters. Dates show their fallback: prefer lengths of time where this is read."""
    return "".join(words(part) for part in parts)


def sentence(parts: Line) -> str:
    """A line as `text`: escaped mrkdwn of at most 150 characters. Names give way first when it is too long."""
    for limit, tokens in _FITS:
        text = "".join(_in_text(part, limit, tokens) for part in parts)
        if len(text) <= SENTENCE_LIMIT:
            return text
    return f"{text[: SENTENCE_LIMIT - 1].rpartition(' ')[0]}…"


def _in_text(part: Part, limit: int, tokens: bool) -> str:
    match part:
        case str():
            return escape(part)
        case Moment(at):
            return date_token(at) if tokens else f"{at:%Y-%m-%d %H:%M %z}"
        case Clock(at):
            return date_token(at, _CLOCK_FORMAT) if tokens else f"{at:%H:%M %z}"
        case _:
            return inert(clip(words(part), limit))


def date_token(at: datetime, form: str = _MOMENT_FORMAT) -> str:
    """An instant for mrkdwn, localised by Slack for each reader."""
    return f"<!date^{int(at.timestamp())}^{form}|{fallback(at)}>"
