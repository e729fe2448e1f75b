"""The oracle on queues that are written in Git: content with what is proposed and merged, and it sees each mistake."""

from typing import Any

import pytest

from tests.support.oracle.check import violations
from tests.support.oracle.log import BOT

GPU = "nvidia.com/gpu"
FIELD = ("b", "a100", GPU, "nominal")
LEGS = {"L1": 2}


def said(kind: str, /, **event: Any) -> dict[str, Any]:
    return {"e": kind, "at": 1.0, **event}


def version(queue: str, nominal: int, who: str = "argocd") -> dict[str, Any]:
    facts = {"queue": queue, "op": "put", "who": who, "uid": f"u-{queue}", "tree": "pool", "lending": {}, "note": None}
    return said("version", numbers={("a100", GPU, "nominal"): nominal}, **facts)


def note(wrote: int, asked: int | None = None, base: int = 8, **legs: int) -> dict[str, Any]:
    question = None if asked is None else ("u-b", asked)
    facts = {"uid": "u-b", "base": base, "legs": legs, "wrote": wrote, "asked": question, "gone": False}
    return said("record", field=FIELD, **facts)


def proposal(before: tuple[Any, ...], after: tuple[Any, ...], ended: str | None = None, name: str = "P") -> Any:
    return said("proposal", id=name, queue="b", uid="u-b", fields={FIELD: (before, after)}, ended=ended)


def loan(state: str = "running", **changes: Any) -> dict[str, Any]:
    facts = {"kind": "extra", "lender": None, "borrower": "b", "flavor": "a100", "resource": GPU, "amount": 2}
    common = {"id": 1, "start": 0.0, "end": 100.0, "suspended": None, "in_force": False, "state": state}
    return said("loan", **{**facts, **common, **changes})


NONE, LENT = (8, {}, 8), (8, LEGS, 10)
BEGUN = [said("nodes", capacity={"a100": 99}), said("git", queue="b"), version("b", 8), loan(), note(8)]
ASKED_FOR = [*BEGUN, proposal(NONE, LENT)]
MERGED = [*ASKED_FOR, version("b", 10), note(10, L1=2), proposal(NONE, LENT, "merged"), loan(in_force=True)]
BACK = proposal(LENT, NONE, name="Q")
OVER = [*MERGED, loan("returning"), BACK, version("b", 8), note(8), {**BACK, "ended": "merged"}, loan("closed")]
REST = said("rest", over=True) | {"at": 150.0}
LATE = [*ASKED_FOR, loan("closed"), proposal(NONE, LENT, "withdrawn"), version("b", 10)]
GIVER = [said("git", queue="b"), version("a", 8), version("b", 8), loan(kind="transfer", lender="a"), note(8)]


@pytest.mark.parametrize(
    "log",
    [
        [*OVER, REST],
        [*ASKED_FOR, version("b", 9), note(10, 9, L1=2), version("b", 10), note(10, L1=2)],
        [*ASKED_FOR, version("b", 9), version("b", 8), note(8)],
        [*ASKED_FOR, version("b", 10), version("b", 8), note(8)],
        [*LATE, note(10, L1=2), BACK, version("b", 8), note(8), {**BACK, "ended": "merged"}, REST],
    ],
    ids=["there and back", "half and right", "set right unseen", "merged and undone unseen", "late and back"],
)
def test_it_is_content_with_what_is_proposed_and_merged(log: list[Any]) -> None:
    assert violations(log) == []


@pytest.mark.parametrize(
    ("promise", "words", "log"),
    [
        ("P3", "which is written in Git", [*BEGUN, version("b", 10, BOT)]),
        ("P2", "notes", [*ASKED_FOR, note(10, L1=2)]),
        ("P2", "notes", [*LATE, note(10, base=10)]),
        ("P2", "counts as in force", [*ASKED_FOR, loan(in_force=True)]),
        ("P2", "is to be", [*BEGUN, proposal(NONE, (9, LEGS, 11))]),
        ("P2", "is to be changed from", [*BEGUN, proposal(LENT, NONE)]),
        ("P2", "is merged, and knows", [*ASKED_FOR, proposal(NONE, LENT, "merged")]),
        ("P2", "still proposed at rest", [*MERGED, BACK, REST]),
        ("P3", "which is explained", [*ASKED_FOR, version("b", 10), note(10, 10, L1=2)]),
        ("P5", "two proposals are open", [*ASKED_FOR, proposal(NONE, LENT, name="Q")]),
        ("P1", "what is proposed for b leaves loan L1", [*GIVER, proposal(NONE, LENT)]),
        (
            "P1",
            "what the bot books",
            [version("a", 8), *MERGED, loan(kind="transfer", lender="a", id=2), note(10, L2=2)],
        ),
        ("pause", "while quota changes are paused", [*BEGUN, said("pause", on=True), proposal(NONE, LENT)]),
    ],
)
def test_it_sees(promise: str, words: str, log: list[Any]) -> None:
    found = [str(one) for one in violations(log)]
    assert any(one.startswith(promise) and words in one for one in found), found
