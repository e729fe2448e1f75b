"""P4: one outcome per request, given by who may give it at the click, and every press in the audit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tests.support.oracle.log import ANSWERS, Event

_FRESH = 60.0
"""Seconds for which a group membership may be old."""
_PRESSES = (
    *("approve", "deny", "approve extension", "deny extension", "answer", "offer", "accept", "keep"),
    *("ask back", "keep loan"),
)


class DecisionJudge:
    """Reads requests, approvals, presses and audit."""

    def __init__(self) -> None:
        self._people: list[Event] = []
        self._requests: dict[int, Event] = {}
        self._approvals: dict[tuple[int, int], list[Event]] = defaultdict(list)
        """By request and terms."""
        self._offers: dict[int, Event] = {}
        self._loans: set[int] = set()
        self._lenders: dict[int, str | None] = {}
        self._made: dict[int, float] = {}
        """When each request was."""
        self._escalations: list[Event] = []
        self._asked_back: dict[int, Event] = {}
        self._pressed: Counter[tuple[str, str, str]] = Counter()
        self._noted: Counter[tuple[str, str, str]] = Counter()
        self._unknown: set[str] = set()
        """Who pressed last while a group could not be looked up."""
        self._denied_by: dict[int, str] = {}

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        read = {
            "request": self._request,
            "offer": self._offer,
            "escalation": self._escalation,
            "ask_back": self._ask_back,
            "loan": self._loan,
        }
        if kind in read:
            yield from read[kind](event)
        elif kind == "people":
            self._people.append(event)
        elif kind == "approval":
            self._approvals[event["request"], event["terms"]].append(event)
            yield from self._approval(event)
        elif kind == "press" and event["result"] != "lost":
            self._pressed[event["who"], event["what"], event["subject"]] += 1
        elif kind == "audit" and event["what"] in _PRESSES:
            self._noted[event["who"], event["what"], event["subject"]] += 1
            yield from self._acted(event)
        elif kind == "rest":
            yield from self._at_rest()
            if event.get("over"):
                yield from (("P5", f"Q-{one['loan']} is asked back") for one in self._asked_back.values() if _open(one))

    def _request(self, event: Event) -> Iterator[tuple[str, str]]:
        number, before = event["id"], self._requests.get(event["id"])
        self._requests[number] = event
        self._made.setdefault(number, event["at"])
        if before is not None and (before["ask"], before["terms"]) != (event["ask"], event["terms"]):
            yield from self._changed(before, event)
        if before is not None and before["state"] != "waiting" and before["state"] != event["state"]:
            yield "P4", f"Q-{number} was {before['state']} and became {event['state']}"
        by_rule = str(event["by"]).startswith("rule:")
        if before is not None and before["state"] == "waiting" and event["state"] == "denied" and not by_rule:
            if not self._may(event["by"], [who for who, _ in event["steps"]], event["at"], self._also(event)):
                yield "P4", f"Q-{number} was denied by {event['by']}, whom no step asks"
            if event["by"] == event["requester"] and not self._own():
                yield "P4", f"Q-{number} was denied by its own requester"
        if event["state"] == "approved" and not by_rule and event.get("series") is None:
            yield from self._complete(event)

    def _complete(self, event: Event) -> Iterator[tuple[str, str]]:
        """Called when the state is stored; approvals of the same commit come before it in the log."""
        given: Mapping[int, set[str]] = defaultdict(set)
        for approval in self._approvals[event["id"], event["terms"]]:
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
        given = self._approvals[number, event["terms"]]
        if any(one["who"] == who for one in given[:-1]):
            yield "P4", f"{who} approved Q-{number} twice"
        if event["terms"] != request["terms"]:
            yield "P4", f"{who} approved other terms of Q-{number} than it has"
        if request["state"] != "waiting" and len(given) > sum(n for _, n in request["steps"]):
            yield "P4", f"{who} approved Q-{number}, which was {request['state']}"
        if who == request["requester"] and not self._own():
            yield "P4", f"{who} approved their own Q-{number}"
        if who in self._people[-1]["outside"]:
            yield "P4", f"{who} of another organisation approved Q-{number}"
        steps = request["steps"]
        also = self._also(request, event["step"])
        if event["step"] >= len(steps) or not self._may(who, [steps[event["step"]][0]], event["at"], also):
            yield "P4", f"{who} approved step {event['step']} of Q-{number} ({steps}) and is not asked there"

    def _offer(self, event: Event) -> Iterator[tuple[str, str]]:
        """Made by who could approve now, answered by the requester's side, and settled once."""
        before, request = self._offers.get(event["id"]), self._requests[event["request"]]
        self._offers[event["id"]] = event
        number = event["request"]
        if before is None:
            if any(one is not event and _open(one) and one["request"] == number for one in self._offers.values()):
                yield "P4", f"Q-{number} has two open offers"
            if not self._may(event["who"], [who for who, _ in request["steps"]], event["at"], self._also(request)):
                yield "P4", f"{event['who']}, whom no step asks, made an offer for Q-{number}"
            if request["state"] != "waiting" or _more(event["ask"], request["ask"], event["at"]):
                yield "P4", f"{event['ask']} was offered for Q-{number}, {request['state']}, of {request['ask']}"
        elif not _open(before):
            yield "P4", f"offer {event['id']} was {before['state']} and became {event['state']}"
        elif event["state"] in ("accepted", "kept"):
            lead = self._may(event["by"], [f"leads:{request['team']}"], event["at"])
            if event["by"] == event["who"] or not (event["by"] == request["requester"] or lead):
                yield "P4", f"{event['by']} answered an offer by {event['who']} for Q-{number}"
            if request["state"] != "waiting":
                yield "P4", f"offer {event['id']} was {event['state']}, and Q-{number} was {request['state']}"

    def _changed(self, before: Event, event: Event) -> Iterator[tuple[str, str]]:
        """What is asked for changes by an accepted offer alone, and to what was offered."""
        number = event["id"]
        accepted = [one for one in self._offers.values() if one["request"] == number and one["state"] == "accepted"]
        offered = accepted[-1]["ask"] if accepted else None
        right = offered is not None and _same(offered, event["ask"], event["at"])
        if before["state"] != "waiting" or event["terms"] != before["terms"] + 1 or len(accepted) != event["terms"]:
            yield "P4", f"Q-{number} changed its terms with {len(accepted)} accepted offers"
        elif not right:
            yield "P4", f"Q-{number} asks for {event['ask']}, and {offered} was accepted"

    def _loan(self, event: Event) -> Iterator[tuple[str, str]]:
        """A loan begins as what was asked for when it was approved."""
        number, request = event["id"], self._requests.get(event["id"])
        asked = request["ask"] if request else {}
        terms = ("amount", "kind", "lender")
        if number not in self._loans and request and [event[one] for one in terms] != [asked[one] for one in terms]:
            yield "P4", f"Q-{number} asks for {asked}, and its loan is {event}"
        self._loans.add(number)
        self._lenders[number] = event["lender"]

    def _escalation(self, event: Event) -> Iterator[tuple[str, str]]:
        """Of an open request, once, never a lender's consent, and only when nobody answered or too few could."""
        number, request = event["request"], self._requests[event["request"]]
        same = ("request", "step", "terms", "asked", "to")
        if any(all(one[name] == event[name] for name in same) for one in self._escalations):
            yield "P4", f"Q-{number} was escalated twice: {event}"
        self._escalations.append(event)
        steps = request["steps"]
        if request["state"] != "waiting" or event["terms"] != request["terms"] or event["step"] >= len(steps):
            yield "P4", f"Q-{number}, {request['state']}, was escalated: {event}"
        elif event["asked"] == f"leads:{request['ask']['lender']}":
            yield "P4", f"the lender's consent to Q-{number} was escalated to {event['to']}"
        elif event["at"] - self._made[number] < self._people[-1]["after"] and self._enough(event, request):
            yield "P4", f"Q-{number} was escalated {event['at'] - self._made[number]} s after it was made"

    def _enough(self, event: Event, request: Event) -> bool:
        """Whether those whom a step asks could give it, whichever membership was looked at."""
        given = self._approvals[event["request"], event["terms"]]
        gave = {one["who"] for one in given} | {request["requester"]}
        missing = request["steps"][event["step"]][1] - sum(one["step"] == event["step"] for one in given)
        fresh = [one for one in self._people if one is self._people[-1] or one["at"] >= event["at"] - _FRESH]
        return all(len(set(one["who"].get(event["asked"], ())) - gave) >= missing for one in fresh)

    def _ask_back(self, event: Event) -> Iterator[tuple[str, str]]:
        """Asked by a lead of the lender, answered by the borrower's side, and settled once."""
        before, number = self._asked_back.get(event["id"]), event["loan"]
        self._asked_back[event["id"]] = event
        if before is not None and not _open(before):
            yield "P4", f"ask-back {event['id']} was {before['state']} and became {event['state']}"
        if before is None:
            if not self._may(event["who"], [f"leads:{self._lenders.get(number)}"], event["at"]):
                yield "P4", f"{event['who']}, no lead of {self._lenders.get(number)}, asked for Q-{number} back"
            if sum(_open(one) and one["loan"] == number for one in self._asked_back.values()) > 1:
                yield "P4", f"Q-{number} is asked back twice at once"
        elif event["state"] in ("kept", "returned"):
            request = self._requests[number]
            theirs = event["by"] == request["requester"]
            if not (theirs or self._may(event["by"], [f"leads:{request['team']}"], event["at"])):
                yield "P4", f"{event['by']} answered for the borrower of Q-{number}"

    def _also(self, request: Event, step: int | None = None) -> tuple[str, ...]:
        """To whom a request's steps, or one of them, were escalated on its terms."""
        steps = request["steps"]
        return tuple(
            one["to"]
            for one in self._escalations
            if (one["request"], one["terms"]) == (request["id"], request["terms"])
            and step in (None, one["step"])
            and one["step"] < len(steps)
            and steps[one["step"]][0] == one["asked"]
        )

    def _acted(self, event: Event) -> Iterator[tuple[str, str]]:
        """What changed something must have been done by somebody who may."""
        counted = event["what"] == "answer" and event["outcome"].partition(":")[0] in ANSWERS
        if counted and not self._may(event["who"], ["admins"], event["at"]):
            yield "P4", f"{event['who']}, who is no admin, answered for {event['subject']}"

    def _at_rest(self) -> Iterator[tuple[str, str]]:
        for press, times in self._pressed.items():
            if self._noted[press] < times:
                yield "P4", f"{press} was pressed {times} times and is in the audit {self._noted[press]} times"
        for offer in self._offers.values():
            if _open(offer) and self._requests[offer["request"]]["state"] != "waiting":
                yield "P4", f"offer {offer['id']} is open, and Q-{offer['request']} is decided"
        for number, request in self._requests.items():
            wanted = request["state"] == "approved" and request["extends"] is None and not request.get("spans")
            if wanted != (number in self._loans):
                yield "P4", f"Q-{number} is {request['state']}, and its loan is {number in self._loans}"

    def _may(self, who: str | None, steps: list[str], at: float, also: tuple[str, ...] = ()) -> bool:
        """By the membership of now, or one that was right at most a minute ago; `also` as long as policy names it."""
        for index, people in enumerate(self._people):
            until = self._people[index + 1]["at"] if index + 1 < len(self._people) else at
            if until < at - _FRESH or people["at"] > at:
                continue
            asked = [*steps, *(one for one in also if one == people.get("escalates"))]
            if any(who in people["who"].get(step, ()) for step in asked):
                return True
        return False

    def _own(self) -> bool:
        return bool(self._people and self._people[-1]["own"])


def _open(offer: Event) -> bool:
    return bool(offer["state"] == "open")


def _more(offered: Event, asked: Event, at: float) -> bool:
    """Whether terms give more than was asked for, in amount or time, or give it earlier."""
    if offered["amount"] > asked["amount"] or _begins(offered, at) < _begins(asked, at):
        return True
    return _lasts(offered, at) > _lasts(asked, at)


def _begins(ask: Event, at: float) -> float:
    return max(at, ask["start"] or at)


def _lasts(ask: Event, at: float) -> float:
    return float(ask["length"] if ask["length"] is not None else ask["until"] - _begins(ask, at))


def _same(offered: Event, asked: Event, at: float) -> bool:
    """A start that has passed meanwhile is one at approval."""
    fixed = ("amount", "kind", "lender", "length", "until")
    return [offered[one] for one in fixed] == [asked[one] for one in fixed] and _begins(offered, at) == _begins(
        asked, at
    )
