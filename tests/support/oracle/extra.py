"""P1's one exception: an extra loan. It may be where the nodes have what it promises, or where that was ticked.

Asked by the quota judge, which takes the legs of such loans and of no others off what it finds too much.
"""

import re
from collections.abc import Iterator, Mapping

from tests.support.oracle.ghost import Ghost
from tests.support.oracle.log import NOMINAL, Event, Field
from tests.support.oracle.rest import Loans

_SLEEPERS = 3
"""Decisions after a sleep that may still be those of a process that had read what it goes by before it."""
_TICK = "over-commit ticked: "


class ExtraJudge:
    """Reads nodes, audit and loans. `ticked`: legs of extra loans that may be."""

    def __init__(self, ghosts: Mapping[Field, Ghost], loans: Loans) -> None:
        self.ticked: set[str] = set()
        self._ghosts = ghosts
        self._loans = loans
        self._capacity: Mapping[str, int] = {}
        self._notes: dict[str, str] = {}
        self._asleep = 0

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for a loan that promises more than there is, and nobody knew."""
        kind = event["e"]
        if kind == "nodes":
            self._capacity = event["capacity"]
        elif kind == "slept":
            self._asleep = _SLEEPERS
        elif kind in ("press", "request"):
            self._asleep = max(0, self._asleep - 1)
        elif kind == "audit" and event["what"] == "approve" and _TICK in event["outcome"]:
            self._notes[event["subject"]] = event["outcome"].partition(_TICK)[2]
        elif kind == "loan" and event["kind"] == "extra" and f"L{event['id']}" not in self._loans.known:
            yield from self._approved(event)

    def _approved(self, loan: Event) -> Iterator[tuple[str, str]]:
        over = self._promised(loan) - self._capacity.get(loan["flavor"], 0)
        note = self._notes.get(f"Q-{loan['id']}")
        if over <= 0 or self._asleep or (note is not None and _covers(note, over)):
            self.ticked.add(f"L{loan['id']}")
        else:
            yield "P1", f"Q-{loan['id']} promises {over} more than the nodes have; ticked was: {note}"

    def _promised(self, loan: Event) -> int:
        """At least so much is promised with it: where nobody can say whose a device is, the smaller number counts."""
        here = [
            min(ghost.live, ghost.live if ghost.base is None else ghost.base)
            if ghost.in_question or ghost.guess or ghost.asked
            else (ghost.live if ghost.base is None else ghost.base)
            for (_, flavor, resource, name), ghost in self._ghosts.items()
            if (flavor, resource, name) == (loan["flavor"], loan["resource"], NOMINAL) and ghost.live is not None
        ]
        others = [
            one
            for one in self._loans.known.values()
            if (one["kind"], one["flavor"], one["resource"]) == ("extra", loan["flavor"], loan["resource"])
            and one["state"] != "closed"
            and not one["suspended"]
        ]
        return sum(here) + _at_once(others) + int(loan["amount"])


def _at_once(loans: list[Event]) -> int:
    """The most of these at one moment; what is on its way back may be out for as long as it likes."""
    met = (
        sum(other["amount"] for other in loans if other["start"] <= one["start"] and _lasts_to(other, one["start"]))
        for one in loans
    )
    return max(met, default=0)


def _lasts_to(loan: Event, at: float) -> bool:
    return bool(at < loan["end"] or loan["state"] == "returning")


def _covers(note: str, over: int) -> bool:
    """Whether so much was ticked, or that it is not known."""
    found = re.search(r"([\d,]+) more than", note)
    return "not known" in note or (found is not None and int(found[1].replace(",", "")) >= over)
