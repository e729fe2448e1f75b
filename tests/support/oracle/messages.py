"""P5 and P8: nothing is said twice or lost, and nobody's text is ever parsed by Slack."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.oracle.log import Event, Field

MARK = "zqx"
"""Stands in all text that people of a history write, in every kind of markup."""
HOSTILE = f"*{MARK}* _{MARK}_ ~{MARK}~ `{MARK}` :{MARK}: <!channel> <@U0{MARK}> <http://{MARK}.example|{MARK}> &lt;"
_DATE = re.compile(r"<!date\^\d+\^[^|>]*\|[^>]*>")
_BROKEN = (f"*{MARK}*", f"_{MARK}_", f"~{MARK}~", f"`{MARK}`", f":{MARK}:", "<", ">")
_AGAIN = ":again-"
"""In the key of a reminder about a question that nobody has answered."""
_REPEAT = "may be a repeat"


class MessageJudge:
    """Reads messages and notices."""

    def __init__(self) -> None:
        self._posts: dict[str, list[Event]] = defaultdict(list)
        self._notices: dict[str, Event] = {}
        self._keys: dict[str, str] = {}
        self._asked: dict[Field, str | None] = {}
        """By field, the uid of the object that is asked about now."""
        self._questions: Counter[Field] = Counter()
        """How often a question was opened."""
        self._claimed: dict[str, int] = {}
        self._slept: int = -1
        self._index = -1

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        self._index += 1
        if kind == "message":
            yield from self._message(event)
        elif kind == "slept":
            self._slept = self._index
        elif kind == "notice":
            self._notices[event["id"]] = event
            if event["state"] == "claimed":
                self._claimed.setdefault(event["id"], self._index)
            if self._keys.setdefault(event["key"], event["id"]) != event["id"]:
                yield "P5", f"{event['key']} is owed twice"
        elif kind == "record":
            uid = event["asked"][0] if event["asked"] else None
            if uid is not None and self._asked.get(event["field"]) != uid:
                self._questions[event["field"]] += 1
            self._asked[event["field"]] = uid
        elif kind == "rest":
            yield from self._at_rest()

    def _message(self, event: Event) -> Iterator[tuple[str, str]]:
        for fault in parsed(event["text"], event["blocks"]):
            yield "P8", f"{event['notice']} to {event['to']}: {fault}"
        if event["what"] != "post":
            return
        posts = self._posts[event["notice"]]
        posts.append(event)
        if len(posts) > 1 and not _says_repeat(event) and not self._excused(event["notice"]):
            key = self._notices.get(event["notice"], {}).get("key")
            yield (
                "P5",
                f"{key} was posted {len(posts)} times to {event['to']}, and does not say that it may be a repeat",
            )

    def _at_rest(self) -> Iterator[tuple[str, str]]:
        for notice in self._notices.values():
            if notice["state"] in ("owed", "claimed"):
                yield "P5", f"{notice['key']} is still {notice['state']} at rest"
            if notice["posted"] and not self._posts[notice["id"]]:
                yield "P5", f"{notice['key']} counts as posted and never was"
        told = [notice["key"] for notice in self._notices.values() if notice["kind"] == "outside_edit"]
        for field, times in self._questions.items():
            path = "/".join(("default", *field))
            here = [key for key in told if path in key and _AGAIN not in key]
            if not 1 <= len(here) <= times:
                yield "P3", f"{times} changes of {path} were told {len(here)} times"

    def _excused(self, notice: str) -> bool:
        """Slack cannot be asked to post only once: a process that claims, sleeps past its lease and then posts cannot
        know that another one has posted meanwhile."""
        return self._claimed.get(notice, self._index) < self._slept


def _says_repeat(event: Event) -> bool:
    return any(_REPEAT in text for _, text in _texts(event["blocks"]))


def parsed(text: str, blocks: Any) -> Iterator[str]:
    """Everything in a message that Slack would take for markup, a mention or a link of somebody's."""
    yield from _markup("text", text)
    for element in _elements(blocks):
        if element.get("type") == "mrkdwn" and isinstance(element.get("text"), str):
            yield from _markup("mrkdwn", element["text"])
        if element.get("type") in ("link", "emoji", "broadcast"):
            yield f"a {element['type']} element: {element}"
        if element.get("type") == "user" and MARK in str(element.get("user_id")):
            yield f"mentions {element['user_id']}"
        if element.get("type") == "plain_text" and element.get("emoji", True) and f":{MARK}:" in element["text"]:
            yield "emoji in plain text"


def _markup(where: str, words: str) -> Iterator[str]:
    rest = _DATE.sub("", words)
    for broken in _BROKEN:
        if broken in rest:
            yield f"{where} has {broken!r}: {rest[:120]!r}"


def _elements(value: Any) -> list[Mapping[str, Any]]:
    """Every object in it, at any depth."""
    found: list[Mapping[str, Any]] = []
    left = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, dict):
            found.append(inner)
            left += inner.values()
        elif isinstance(inner, (list, tuple)):
            left += inner
    return found


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    for element in _elements(value):
        if isinstance(element.get("text"), str):
            yield str(element.get("type")), element["text"]
