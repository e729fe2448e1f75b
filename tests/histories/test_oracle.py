"""The oracle itself: it knows nothing of the bot, it is content with a quiet log, and it sees each kind of mistake."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.oracle.check import violations
from tests.support.oracle.log import BOT

ORACLE = Path(__file__).parents[1] / "support" / "oracle"
GPU = "nvidia.com/gpu"


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield node.module or ""


def test_the_oracle_imports_only_itself_and_the_standard_library() -> None:
    paths = sorted(ORACLE.glob("*.py"))
    imported = {name for path in paths for name in _imports(path)}
    assert paths
    strangers = {name for name in imported if not name.startswith("tests.support.oracle.")}
    assert strangers <= {"collections", "collections.abc", "dataclasses", "json", "re", "typing"}


def version(queue: str, nominal: int, who: str = BOT, base: int = 8, tree: str = "pool", **legs: int) -> dict[str, Any]:
    """A version of a queue with one number; legs make an annotation."""
    facts = {"base": str(base), "legs": {leg: {"d": size} for leg, size in legs.items()}}
    note = {"uid": f"u-{queue}", "f": {f"a100|{GPU}|nominal": facts}}
    numbers = {("a100", GPU, "nominal"): nominal}
    common = {"queue": queue, "op": "put", "who": who, "uid": f"u-{queue}", "tree": tree, "lending": {}}
    return {"e": "version", "at": 1.0, "numbers": numbers, "note": json.dumps(note) if legs else None, **common}


def loan(state: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    facts = {"kind": "transfer", "lender": "a", "borrower": "b", "flavor": "a100", "resource": GPU, "amount": 2}
    common = {"start": 0.0, "end": 100.0, "suspended": None, "state": state}
    return {"e": "loan", "at": 1.0, "id": number, **facts, **common, **changes}


def record(queue: str, base: int, wrote: int, asked: int | None = None, **legs: int) -> dict[str, Any]:
    field = (queue, "a100", GPU, "nominal")
    question = None if asked is None else (f"u-{queue}", asked)
    facts = {"uid": f"u-{queue}", "base": base, "legs": legs, "wrote": wrote, "asked": question, "gone": False}
    return {"e": "record", "at": 1.0, "field": field, **facts}


def ask(amount: int = 2, **changes: Any) -> dict[str, Any]:
    return {"amount": amount, "kind": "transfer", "lender": "a", "start": None, "length": 99.0, "until": None} | changes


def request(state: str, by: str | None = None, requester: str = "U1", **changes: Any) -> dict[str, Any]:
    facts = {"requester": requester, "team": "b", "state": state, "by": by, "steps": (("group:admins", 1),)}
    more = {"terms": 0, "ask": ask(), "extends": None, "until": 0.0}
    return {"e": "request", "at": 1.0, "id": 1, **facts, **more, **changes}


def approval(who: str, **changes: Any) -> dict[str, Any]:
    return {"e": "approval", "at": 1.0, "request": 1, "step": 0, "who": who, "own": False, "terms": 0, **changes}


def offer(state: str = "open", by: str | None = None, number: int = 1, **changes: Any) -> dict[str, Any]:
    facts = {"id": number, "request": 1, "who": "A", "state": state, "by": by, "ask": ask(1)}
    return {"e": "offer", "at": 1.0, **facts, **changes}


def said(kind: str, /, **event: Any) -> dict[str, Any]:
    return {"e": kind, "at": 1.0, **event}


def message(words: str = "Q-1", /, notice: str = "N", **block: Any) -> dict[str, Any]:
    return said("message", what="post", to="U1", notice=notice, text=words, blocks=[block] if block else [])


def quota(number: int, who: str = BOT, base: int = 8, **legs: int) -> dict[str, Any]:
    """A version of the ResourceQuota beside b."""
    facts = {"base": str(base), "legs": {leg: {"d": size} for leg, size in legs.items()}}
    note = {"uid": "u-b/q", "f": {f"|{GPU}|hard": facts}}
    numbers = {"numbers": {("", GPU, "hard"): number}, "note": json.dumps(note) if legs else None}
    return {**version("b/q", number, who, tree="alone:b/q"), **numbers}


PEOPLE = said("people", who={"group:admins": {"A", "B"}, "admins": {"A", "B"}}, own=False, outside=("G",))
START = [version("a", 8, "admin"), version("b", 8, "admin"), PEOPLE]
REST = {"e": "rest", "at": 50.0, "over": False}
APPROVED = [request("waiting"), approval("A"), request("approved", "A"), loan("running")]
OUT = [*START, request("waiting", ask=ask(4)), offer()]
ACCEPTED = [*OUT, offer("accepted", "U1")]
CHANGED = request("waiting", ask=ask(1), terms=1)
LENT = [*START, *APPROVED, version("a", 6, L1=-2), version("b", 10, L1=2)]
BESIDE = [said("beside", queue="b", quota="b/q"), quota(8, "admin"), *LENT]
BACK = [version("b", 8), version("a", 8), loan("closed"), {**REST, "at": 150.0, "over": True}]
PRESS = said("press", who="C", what="approve", subject="Q-1", result="refused")
NOTED = said("audit", who="C", what="approve", subject="Q-1", outcome="no")
EDITED = version("b", 11, "kubectl", L1=2)
ASKED = [*LENT, EDITED, record("b", 8, 10, 11, L1=2)]
LONGER = {"id": 2, "extends": 1, "until": 200.0}
MORE = [request("waiting", **LONGER), approval("A", request=2), request("approved", "A", **LONGER)]
TOLD = said(
    "notice", id="E", key=f"edit:default/b/a100/{GPU}/nominal:u-b", kind="outside_edit", to="C", state="settled"
)
BASE = said("audit", who="A", what="answer", subject=f"default/b/a100/{GPU}/nominal", outcome="base: 11")

SEVERAL = [*START, request("waiting", ask=ask(8)), approval("A"), request("approved", "A", ask=ask(8))]
IN_FORCE = [*SEVERAL, loan("running", amount=8, end=9e9)]
PEOPLE_OF_B = said("people", who={**PEOPLE["who"], "leads:b": {"L"}}, own=False, outside=("G",))


def idle(
    state: str = "open", amount: int = 6, by: str | None = None, at: float = 1.0, **changes: Any
) -> dict[str, Any]:
    facts = {"id": 1, "loan": 1, "amount": amount, "of": 8, "state": state, "by": by}
    return {"e": "idle", **facts, **changes, "at": at}


def holds(reserved: int) -> dict[str, Any]:
    return said("use", queue="b", reserved={("a100", GPU): reserved})


LIES_IDLE = [*IN_FORCE, PEOPLE_OF_B, version("b", 16, "admin"), idle()]
LESS = loan("running", amount=2, end=9e9)
SPANS = ((5.0, 20.0), (30.0, 40.0))
SERIES = request("waiting", ask=ask(start=5.0, length=None, until=20.0), spans=SPANS)
GRANTED = [SERIES, approval("A"), {**SERIES, "state": "approved", "by": "A"}]


def time_of(span: tuple[float, float], number: int, **changes: Any) -> list[dict[str, Any]]:
    """One time of the series, and its loan."""
    start, until = span
    asked = ask(start=start, length=None, until=until)
    facts = {"id": number, "ask": asked, "series": 1, "by": "A", **changes}
    return [request("approved", **facts), loan("scheduled", number, start=start, end=until)]


EACH = [*START, *GRANTED, *time_of(SPANS[0], 2), *time_of(SPANS[1], 3)]
EARLY = {**REST, "at": 2.0}

KUEUES, NOBODYS = said("automation", queue="b", on=True), said("automation", queue="b", on=False)
PAUSED, GOES_ON = said("pause", on=True), said("pause", on=False)
SET_OUT = said("intent", field=("a", "a100", GPU, "nominal"), wrote=6, legs={"L1": -2})
MORE_OUT = {**SET_OUT, "wrote": 5, "legs": {"L1": -3}}
OTHER_SIDE = said("intent", field=("b", "a100", GPU, "nominal"), wrote=10, legs={"L1": 2})

CONTENT: dict[str, list[dict[str, Any]]] = {
    "a transfer in force": [*LENT, REST],
    "a transfer given back": [
        *LENT,
        version("b", 8),
        version("a", 8),
        loan("closed"),
        {**REST, "at": 150.0, "over": True},
    ],
    "a ResourceQuota that goes up and down": [*BESIDE, quota(10, L1=2), REST, *BACK[:2], quota(8), *BACK[2:]],
    "an extension": [*LENT, *MORE, loan("running", end=200.0), {**REST, "at": 150.0}],
    "an ordinary edit": [*START, version("a", 9, "kubectl"), REST],
    "an edit that is answered": [
        *ASKED,
        {**TOLD, "posted": True},
        message(notice="E"),
        BASE,
        record("b", 11, 11),
        version("b", 13, base=11, L1=2),
        REST,
    ],
    "a refused press": [*LENT, PRESS, NOTED],
    "an offer that is accepted": [
        *ACCEPTED,
        CHANGED,
        approval("A", terms=1),
        {**CHANGED, "state": "approved", "by": "A"},
        loan("scheduled", amount=1),
    ],
    "an offer that is turned down, and one that is void": [
        *OUT,
        offer("kept", "U1"),
        offer(number=2),
        offer("void", "B", number=2),
        approval("B"),
    ],
    "what has begun is finished while paused": [*START, *APPROVED, SET_OUT, PAUSED, OTHER_SIDE],
    "a loan is returned when Kueue has stopped": [*LENT, KUEUES, NOBODYS, version("b", 8)],
    "a loan begins after a pause": [*START, *APPROVED, PAUSED, GOES_ON, SET_OUT],
    "an idle loan is returned in part": [*LIES_IDLE, idle("returned", by="U1"), LESS],
    "an idle loan is kept by a lead, and asked about an hour later": [
        *LIES_IDLE,
        idle("kept", by="L"),
        idle(id=2, at=3602.0),
    ],
    "less is asked about": [*LIES_IDLE, holds(12), idle(amount=4), idle("returned", 4, "U1"), {**LESS, "amount": 4}],
    "a series": [*EACH, EARLY],
    "a repeat that says so": [message(), message(type="plain_text", text="This may be a repeat", emoji=False)],
}
BROKEN: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "the borrower is raised first": ("P1", [*START, *APPROVED, version("b", 10, L1=2)]),
    "the lender gets it back first": ("P1", [*LENT, version("a", 8)]),
    "more than was lent is returned": ("P2", [*LENT, version("b", 8), version("a", 9)]),
    "an old number comes back": ("P2", [*LENT, version("b", 9), REST]),
    "a loan is not put in force": ("P2", [*START, *APPROVED, REST]),
    "a ResourceQuota is not raised": ("P2", [*BESIDE, REST]),
    "a ResourceQuota is not lowered": ("P2", [*BESIDE, quota(10, L1=2), *BACK]),
    "a ResourceQuota in question is written": (
        "P3",
        [*BESIDE, quota(10, L1=2), quota(12, "kubectl", L1=2), quota(10, L1=2)],
    ),
    "a loan is extended by nobody": ("P2", [*LENT, loan("running", end=200.0)]),
    "a loan is extended by a request that waits": ("P2", [*LENT, MORE[0], loan("running", end=200.0)]),
    "a loan is extended further than asked": ("P2", [*LENT, *MORE, loan("running", end=300.0)]),
    "a loan ends sooner": ("P2", [*LENT, loan("running", end=90.0)]),
    "an extension comes to nothing": ("P2", [*LENT, *MORE, REST]),
    "what is over is extended": ("P2", [*LENT, loan("returning"), *MORE, loan("returning", end=200.0)]),
    "a stranger approves an extension": ("P4", [*LENT, MORE[0], approval("C", request=2)]),
    "a loan is never returned": ("P2", [*LENT, {**REST, "at": 150.0}]),
    "a loan is suspended for nothing": ("P2", [*LENT, loan("running", suspended="no reason"), REST]),
    "a loan is not closed": ("P2", [*LENT, version("b", 8), version("a", 8), loan("returning"), REST]),
    "the base moves by itself": ("P2", [*LENT, record("a", 9, 6, L1=-2)]),
    "an answer is misread": ("P2", [*ASKED, BASE, record("b", 9, 11)]),
    "a number in question is written": ("P3", [*ASKED, version("b", 10, L1=2)]),
    "it asks about its own write": ("P3", [*LENT, record("b", 8, 10, 10, L1=2)]),
    "an edit is told to nobody": ("P3", [*ASKED, REST]),
    "what Kueue itself writes is written": ("P3", [*LENT, KUEUES, version("b", 8)]),
    "a loan begins while paused": ("pause", [*START, *APPROVED, PAUSED, SET_OUT]),
    "more is lent while paused": ("pause", [*START, *APPROVED, SET_OUT, PAUSED, MORE_OUT]),
    "a stranger approves": ("P4", [*START, request("waiting"), approval("C")]),
    "a guest approves": ("P4", [*START, request("waiting"), approval("G")]),
    "the requester approves": ("P4", [*START, request("waiting", requester="A"), approval("A")]),
    "one person approves twice": ("P4", [*START, request("waiting"), approval("A"), approval("A")]),
    "nobody approved": ("P4", [*START, request("waiting"), request("approved", "A")]),
    "a decision is changed": ("P4", [*LENT, request("denied", "B")]),
    "a stranger denies": ("P4", [*START, request("waiting"), request("denied", "C")]),
    "a press is not in the audit": ("P4", [*LENT, PRESS, REST]),
    "a stranger answers": ("P4", [*ASKED, {**BASE, "who": "C"}, record("b", 11, 11)]),
    "a loan without a request": ("P4", [*START, request("waiting"), loan("running"), REST]),
    "a loan of more than was asked for": ("P4", [*START, *APPROVED[:-1], loan("running", amount=3)]),
    "a stranger offers": ("P4", [*START, request("waiting", ask=ask(4)), offer(who="C")]),
    "more is offered": ("P4", [*START, request("waiting"), offer(ask=ask(3))]),
    "a longer time is offered": ("P4", [*START, request("waiting"), offer(ask=ask(1, length=100.0))]),
    "an earlier start is offered": ("P4", [*START, request("waiting", ask=ask(start=60.0)), offer()]),
    "two offers are open": ("P4", [*OUT, offer(number=2)]),
    "a stranger accepts": ("P4", [*OUT, offer("accepted", "C")]),
    "the offerer accepts": ("P4", [*OUT, offer("accepted", "A")]),
    "a void offer is accepted": ("P4", [*OUT, offer("void", "B"), offer("accepted", "U1")]),
    "an offer is accepted after the decision": ("P4", [*OUT, request("denied", "B"), offer("accepted", "U1")]),
    "terms change without an offer": ("P4", [*START, request("waiting"), CHANGED]),
    "other terms than were accepted": ("P4", [*ACCEPTED, {**CHANGED, "ask": ask(2)}]),
    "an approval of the old terms counts": (
        "P4",
        [*OUT, approval("B"), offer("accepted", "U1"), CHANGED, {**CHANGED, "state": "approved", "by": "B"}],
    ),
    "an offer outlives its request": ("P4", [*OUT, request("denied", "B", ask=ask(4)), REST]),
    "an idle loan is asked about twice an hour": ("idle", [*LIES_IDLE, idle(id=2, at=1800.0)]),
    "an idle loan is asked about while paused": ("idle", [PEOPLE_OF_B, *IN_FORCE, PAUSED, idle()]),
    "more is asked about than is lent": ("idle", [PEOPLE_OF_B, *IN_FORCE, idle(amount=9)]),
    "a loan that is over is asked about": ("idle", [*IN_FORCE, loan("returning", amount=8, end=9e9), idle()]),
    "a loan is asked about before its end": ("idle", [*SEVERAL, loan("running", amount=8, end=500.0), idle()]),
    "an idle loan is answered twice": ("idle", [*LIES_IDLE, idle("kept", by="U1"), idle("returned", by="U1")]),
    "a stranger returns what is idle": ("P4", [*LIES_IDLE, idle("returned", by="C"), LESS]),
    "a stranger keeps what is idle": ("P4", [*LIES_IDLE, idle("kept", by="C")]),
    "what is used goes back": ("idle", [*LIES_IDLE, holds(12), idle("returned", by="U1"), LESS]),
    "more goes back than the button said": ("idle", [*LIES_IDLE, idle("returned", by="U1"), {**LESS, "amount": 1}]),
    "a return is answered and not stored": ("idle", [*LIES_IDLE, idle("returned", by="U1"), REST]),
    "a time of a series is left out": ("P4", [*START, *GRANTED, *time_of(SPANS[0], 2), EARLY]),
    "a time of a series is granted twice": ("P4", [*EACH, *time_of(SPANS[1], 4)]),
    "a time is of no series": ("P4", [*EACH, *time_of((50.0, 60.0), 4)]),
    "a time is approved by somebody else": ("P4", [*START, *GRANTED, *time_of(SPANS[0], 2, by="B")]),
    "a series is not approved": ("P4", [*START, SERIES, *time_of(SPANS[0], 2)]),
    "a time is of more than was asked for": (
        "P4",
        [*START, *GRANTED, *time_of(SPANS[0], 2, ask=ask(9, start=5.0, length=None, until=20.0))],
    ),
    "a time ends later than asked for": (
        "P4",
        [*START, *GRANTED, time_of(SPANS[0], 2)[0], loan("scheduled", 2, start=5.0, end=99.0)],
    ),
    "a message is posted twice": ("P5", [message(), message()]),
    "one key is owed twice": ("P5", [{**TOLD, "posted": False}, {**TOLD, "id": "F", "posted": False}]),
    "a message is never posted": ("P5", [*START, {**TOLD, "state": "owed", "posted": False}, REST]),
    "a name mentions the channel": ("P8", [message("<!channel>")]),
    "a reason is bold": ("P8", [message(type="mrkdwn", text="*zqx*")]),
    "a reason is a link": ("P8", [message(type="link", url="http://zqx.example")]),
    "a name is an emoji": ("P8", [message(type="plain_text", text=":zqx:")]),
    "a name pings somebody": ("P8", [message(type="user", user_id="U0zqx")]),
}


@pytest.mark.parametrize("name", CONTENT)
def test_nothing_is_said_of(name: str) -> None:
    assert violations(CONTENT[name]) == []


@pytest.mark.parametrize("name", BROKEN)
def test_it_sees_that(name: str) -> None:
    promise, log = BROKEN[name]
    assert promise in {found.promise for found in violations(log)}
