"""Idle loans: asked about in time and not too often, answered by their people, and what goes back was unused."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.oracle.log import Event

AGAIN = 3600.0
"""Seconds for which a loan is not asked about again, in a history's policy."""
_STORING = 1.0
"""Seconds that may pass from the look at the clock until something is stored."""
NOT_IN_LAST = 600.0
"""Seconds before its end in which it is not asked about, in a history's policy."""


class IdleJudge:
    """Reads loans, questions about them, and what the queues hold."""

    def __init__(self) -> None:
        self._loans: dict[int, Event] = {}
        self._requests: dict[int, Event] = {}
        self._offers: dict[int, Event] = {}
        self._spoken: dict[int, float] = {}
        """By loan, when it was asked about or answered last."""
        self._numbers: dict[str, Mapping[Any, int]] = {}
        self._reserved: dict[str, Mapping[Any, int]] = {}
        self._leads: Mapping[str, Any] = {}
        self._paused = False
        self._due: dict[int, int] = {}
        """By loan, what it must have after a return that was just stored."""

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        if kind == "people":
            self._leads = event["who"]
        elif kind == "version":
            self._numbers[event["queue"]] = event["numbers"]
        elif kind == "use":
            self._reserved[event["queue"]] = event["reserved"]
        elif kind == "pause":
            self._paused = event["on"]
        elif kind == "request":
            self._requests[event["id"]] = event
        elif kind == "loan":
            yield from self._loan(event)
        elif kind == "idle":
            before = self._offers.get(event["id"])
            yield from self._asked(event) if before is None else self._answered(before, event)
            self._offers[event["id"]] = event
        elif kind == "rest" and self._due:
            yield "idle", f"returns of {sorted(self._due)} were answered and never stored"

    def _asked(self, event: Event) -> Iterator[tuple[str, str]]:
        number, at = event["loan"], event["at"]
        loan = self._loans[number]
        if number in self._spoken and at - self._spoken[number] < AGAIN - _STORING:
            yield "idle", f"Q-{number} was asked about at {self._spoken[number]} and at {at}"
        self._spoken[number] = at
        if (
            self._paused
            or loan["suspended"]
            or loan["state"] != "running"
            or at >= loan["end"] - NOT_IN_LAST + _STORING
        ):
            yield "idle", f"Q-{number} was asked about at {at}, paused {self._paused}: {loan}"
        if not 0 < event["amount"] <= event["of"] == loan["amount"]:
            yield "idle", f"Q-{number} of {loan['amount']} was asked about as {event['amount']} of {event['of']}"

    def _answered(self, before: Event, event: Event) -> Iterator[tuple[str, str]]:
        number, loan = event["loan"], self._loans[event["loan"]]
        self._spoken[number] = event["at"]
        if before["state"] != "open" or (event["state"] == "open" and event["amount"] == before["amount"]):
            yield "idle", f"the question about Q-{number} was {before} and is {event}"
        if event["state"] not in ("returned", "kept"):
            return
        request = self._requests[number]
        if event["by"] != request["requester"] and event["by"] not in self._leads[f"leads:{request['team']}"]:
            yield "P4", f"{event['by']} answered for Q-{number}"
        if event["state"] == "returned":
            self._due[number] = loan["amount"] - event["amount"]
            yield from self._in_use(loan, event["amount"])

    def _in_use(self, loan: Event, amount: int) -> Iterator[tuple[str, str]]:
        """What goes back was free in the number that it is in."""
        place, numbers = (loan["flavor"], loan["resource"]), self._numbers[loan["borrower"]]
        room = numbers.get((*place, "nominal"), 0)
        if loan["kind"] == "borrow":
            room += numbers.get((*place, "borrowingLimit"), 0)
        reserved = self._reserved.get(loan["borrower"], {}).get(place, 0)
        if reserved + amount > room:
            yield "idle", f"{amount} of {loan} went back, and {reserved} of {room} were in use"

    def _loan(self, event: Event) -> Iterator[tuple[str, str]]:
        left = self._due.pop(event["id"], None)
        if left is not None and (event["amount"] if event["state"] == "running" else 0) != left:
            yield "idle", f"a return was to leave {left} of {event}"
        self._loans[event["id"]] = event
