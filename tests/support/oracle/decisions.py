"""P4: one outcome per request, given by who may give it at the click, and every press in the audit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tests.support.oracle.log import ANSWERS, Event

_FRESH = 60.0
"""Seconds for which a group membership may be old."""
_PRESSES = ("approve", "deny", "approve extension", "deny extension", "answer")


class DecisionJudge:
    """Reads requests, approvals, presses and audit."""

    def __init__(self) -> None:
        self._people: list[Event] = []
        self._requests: dict[int, Event] = {}
        self._approvals: dict[int, list[Event]] = defaultdict(list)
        self._loans: set[int] = set()
        self._pressed: Counter[tuple[str, str, str]] = Counter()
        self._noted: Counter[tuple[str, str, str]] = Counter()
        self._unknown: set[str] = set()
        """Who pressed last while a group could not be looked up."""
        self._denied_by: dict[int, str] = {}

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        if kind == "people":
            self._people.append(event)
        elif kind == "request":
            yield from self._request(event)
        elif kind == "approval":
            self._approvals[event["request"]].append(event)
            yield from self._approval(event)
        elif kind == "loan":
            self._loans.add(event["id"])
        elif kind == "press" and event["result"] != "lost":
            self._pressed[event["who"], event["what"], event["subject"]] += 1
        elif kind == "audit" and event["what"] in _PRESSES:
            self._noted[event["who"], event["what"], event["subject"]] += 1
            yield from self._acted(event)
        elif kind == "rest":
            yield from self._at_rest()

    def _request(self, event: Event) -> Iterator[tuple[str, str]]:
        number, before = event["id"], self._requests.get(event["id"])
        self._requests[number] = event
        if before is not None and before["state"] != "waiting" and before["state"] != event["state"]:
            yield "P4", f"Q-{number} was {before['state']} and became {event['state']}"
        by_rule = str(event["by"]).startswith("rule:")
        if before is not None and before["state"] == "waiting" and event["state"] == "denied" and not by_rule:
            if not self._may(event["by"], [who for who, _ in event["steps"]], event["at"]):
                yield "P4", f"Q-{number} was denied by {event['by']}, whom no step asks"
            if event["by"] == event["requester"] and not self._own():
                yield "P4", f"Q-{number} was denied by its own requester"
        if event["state"] == "approved" and not by_rule:
            yield from self._complete(event)

    def _complete(self, event: Event) -> Iterator[tuple[str, str]]:
        """Called when the state is stored; approvals of the same commit come before it in the log."""
        given: Mapping[int, set[str]] = defaultdict(set)
        for approval in self._approvals[event["id"]]:
            given[approval["step"]].add(approval["who"])
        for step, (who, count) in enumerate(event["steps"]):
            if len(given[step]) < count:
                yield "P4", f"Q-{event['id']} was approved with {len(given[step])} of {count} by {who}"

    def _approval(self, event: Event) -> Iterator[tuple[str, str]]:
        request = self._requests.get(event["request"])
        if request is None:
            yield "P4", f"an approval of Q-{event['request']}, which nobody made"
            return
        number, who = event["request"], event["who"]
        before = [one for one in self._approvals[number][:-1] if one["who"] == who]
        if before:
            yield "P4", f"{who} approved Q-{number} twice"
        if request["state"] != "waiting" and len(self._approvals[number]) > sum(n for _, n in request["steps"]):
            yield "P4", f"{who} approved Q-{number}, which was {request['state']}"
        if who == request["requester"] and not self._own():
            yield "P4", f"{who} approved their own Q-{number}"
        if who in self._people[-1]["outside"]:
            yield "P4", f"{who} of another organisation approved Q-{number}"
        steps = request["steps"]
        if event["step"] >= len(steps) or not self._may(who, [steps[event["step"]][0]], event["at"]):
            yield "P4", f"{who} approved step {event['step']} of Q-{number} ({steps}) and is not asked there"

    def _acted(self, event: Event) -> Iterator[tuple[str, str]]:
        """What changed something must have been done by somebody who may."""
        counted = event["what"] == "answer" and event["outcome"].partition(":")[0] in ANSWERS
        if counted and not self._may(event["who"], ["admins"], event["at"]):
            yield "P4", f"{event['who']}, who is no admin, answered for {event['subject']}"

    def _at_rest(self) -> Iterator[tuple[str, str]]:
        for press, times in self._pressed.items():
            if self._noted[press] < times:
                yield "P4", f"{press} was pressed {times} times and is in the audit {self._noted[press]} times"
        for number, request in self._requests.items():
            wanted = request["state"] == "approved" and request["extends"] is None
            if wanted != (number in self._loans):
                yield "P4", f"Q-{number} is {request['state']}, and its loan is {number in self._loans}"

    def _may(self, who: str | None, steps: list[str], at: float) -> bool:
        """By the membership of now, or one that was right at most a minute ago."""
        for index, people in enumerate(self._people):
            until = self._people[index + 1]["at"] if index + 1 < len(self._people) else at
            if until < at - _FRESH or people["at"] > at:
                continue
            if any(who in people["who"].get(step, ()) for step in steps):
                return True
        return False

    def _own(self) -> bool:
        return bool(self._people and self._people[-1]["own"])
