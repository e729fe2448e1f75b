"""The oracle of evictions at a loan's end: content with a right one, and it sees each kind of mistake."""

from typing import Any

import pytest

from tests.support.oracle.evictions import EvictionJudge
from tests.support.oracle.log import BOT

DUE = 60.0


def row(state: str, at: float = 1.0, due: float | None = DUE, **works: str) -> dict[str, Any]:
    return {"e": "eviction", "at": at, "loan": 1, "state": state, "due": due, "works": works}


def work(active: bool, who: str = BOT, mark: str | None = None, uid: str = "u", holds: int = 2) -> dict[str, Any]:
    return {"e": "work", "at": DUE, "uid": uid, "who": who, "active": active, "mark": mark, "holds": holds}


LOAN = {"e": "loan", "at": 0.0, "id": 1, "amount": 2}
TOLD = {"e": "notice", "at": 1.0, "kind": "eviction_announced", "key": "eviction_announced:1:U1"}
RUNS = work(True, "kueue")
OUT = work(False, mark="L1:x")
REST = {"e": "rest", "at": 99.0, "over": True}
SET_OUT = row("announced", DUE, u="evicting")
ANNOUNCED = [LOAN, RUNS, row("due", due=None), TOLD, row("announced", u="announced")]
DONE = [*ANNOUNCED, SET_OUT, OUT, row("closed", DUE, u="evicted")]
OVER = [*ANNOUNCED, SET_OUT, OUT, row("over", DUE, u="evicted")]
BACK = [row("over", DUE, u="restoring"), work(True), row("closed", DUE, u="restored")]

CONTENT: dict[str, list[dict[str, Any]]] = {
    "an eviction": [*DONE, REST],
    "one that was undone": [*OVER, *BACK, REST],
    "one that was not needed": [*ANNOUNCED, row("closed", DUE, u="spared"), REST],
    "somebody sets it active again": [*DONE, work(True, "kubectl", "L1:x"), REST],
    "it is written after a pause": [*ANNOUNCED, {"e": "pause", "on": True}, {"e": "pause", "on": False}, SET_OUT],
    "a write that may land yet": [*ANNOUNCED, SET_OUT, REST],
}
BROKEN: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "nobody is told": ("evict", [LOAN, RUNS, row("announced", u="announced"), SET_OUT, OUT]),
    "what was not announced is evicted": (
        "evict",
        [*ANNOUNCED, work(True, "kueue", uid="v"), work(False, mark="L1:x", uid="v")],
    ),
    "it comes before the grace is over": ("evict", [*ANNOUNCED, row("announced", DUE - 1, u="evicting")]),
    "the grace is cut short": ("evict", [*ANNOUNCED, row("announced", 20.0, 20.0, u="evicting")]),
    "it is evicted twice": ("evict", [*DONE, work(True, "kubectl", "L1:x"), OUT]),
    "more is evicted than was on loan": (
        "evict",
        [
            *ANNOUNCED[:2],
            work(True, "kueue", uid="v"),
            TOLD,
            row("announced", u="announced", v="announced"),
            row("announced", DUE, u="evicting", v="evicting"),
            OUT,
            work(False, mark="L1:x", uid="v"),
        ],
    ),
    "more is announced afterwards": ("evict", [*ANNOUNCED, row("announced", u="announced", v="announced")]),
    "nothing says that it was the bot": ("evict", [*ANNOUNCED, SET_OUT, work(False)]),
    "it is written while paused": ("pause", [*ANNOUNCED, {"e": "pause", "on": True}, SET_OUT]),
    "somebody else's is undone": (
        "P3",
        [*DONE, work(True, "kubectl", "L1:x"), work(False, "kubectl", "L1:x"), work(True)],
    ),
    "it is forgotten": ("evict", [*ANNOUNCED, REST]),
    "it counts as done and is not": ("evict", [*ANNOUNCED, SET_OUT, row("closed", DUE, u="evicted"), REST]),
    "it counts as undone and is not": ("evict", [*OVER, BACK[0], BACK[2], REST]),
}


def _judged(log: list[dict[str, Any]]) -> list[tuple[str, str]]:
    judge = EvictionJudge()
    return [found for event in log for found in judge.judge(event)]


@pytest.mark.parametrize("name", CONTENT)
def test_nothing_is_said_of(name: str) -> None:
    assert _judged(CONTENT[name]) == []


@pytest.mark.parametrize("name", BROKEN)
def test_it_sees_that(name: str) -> None:
    promise, log = BROKEN[name]
    assert promise in {found for found, _ in _judged(log)}
