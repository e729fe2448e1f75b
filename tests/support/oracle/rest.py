"""P2 at rest: base plus the loans that run, the base alone when all are over. Loans are judged by their instants."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from tests.support.oracle.ghost import Ghost, notes
from tests.support.oracle.log import NOMINAL, Event, Field

_ORDER = ("scheduled", "running", "returning", "closed")


class Loans:
    """What is stored of the loans, and which of them had a reason to be suspended."""

    def __init__(self) -> None:
        self.known: dict[str, Event] = {}
        self._excused: set[str] = set()
        self._extended: dict[str, float] = {}
        """The end that the latest approved extension gave."""
        self.beside: dict[str, str] = {}
        """Queue -> the ResourceQuota of its team."""

    def noted(self, event: Event) -> None:
        """What will be asked of the loans: where their ResourceQuota is, and how long they last."""
        if event["e"] == "beside":
            self.beside[event["queue"]] = event["quota"]
        else:
            self.decided(event)

    def decided(self, event: Event) -> None:
        """An approved extension moves its loan's end; it is in the log before the loan that is stored with it."""
        if event["extends"] is not None and event["state"] == "approved":
            self._extended[f"L{event['extends']}"] = event["until"]

    def stored(self, event: Event) -> Iterator[tuple[str, str]]:
        """A loan never goes back and never grows; its end is moved by approved extensions alone, and never nearer."""
        leg = f"L{event['id']}"
        before = self.known.get(leg)
        self.known[leg] = event
        if before is None:
            return
        if _ORDER.index(event["state"]) < _ORDER.index(before["state"]):
            yield "P2", f"loan {leg} went from {before['state']} back to {event['state']}"
        if event["amount"] > before["amount"]:
            yield "P2", f"loan {leg} grew to {event['amount']}"
        if event["end"] != self._extended.get(leg, before["end"]) or event["end"] < before["end"]:
            yield "P2", f"loan {leg} ended at {before['end']} and ends at {event['end']} now"
        if event["end"] != before["end"] and before["state"] not in ("scheduled", "running"):
            yield "P2", f"loan {leg} was {before['state']} and was extended"

    def not_extended(self) -> Iterator[tuple[str, str]]:
        """Approved extensions that came to nothing."""
        for leg, until in self._extended.items():
            if self.known[leg]["end"] != until:
                yield "P2", f"loan {leg} was extended to {until} and ends at {self.known[leg]['end']}"

    def side_by_side(self, leg: str, ghosts: Mapping[Field, Ghost], tree: Mapping[str, str]) -> bool:
        """Whether both numbers of a loan are there, in one tree; those of none and of an extra loan are."""
        loan = self.known.get(leg)
        if loan is None or loan["kind"] == "extra":
            return True
        sides = loan["lender"], loan["borrower"]
        numbers = [ghosts.get((side, loan["flavor"], loan["resource"], NOMINAL)) for side in sides]
        if any(number is None or number.live is None for number in numbers):
            return False
        return tree.get(sides[0]) == tree.get(sides[1])

    def wanted(self, legs: Mapping[str, int], at: float) -> bool:
        """Whether any of these still wants something."""
        return any(leg not in self.known or self.amount(self.known[leg], at) for leg in legs)

    def amount(self, loan: Event, at: float) -> int:
        """What it should move now, by the stored instants."""
        runs = loan["state"] in ("scheduled", "running") and loan["start"] <= at < loan["end"]
        return int(loan["amount"]) if runs and not loan["suspended"] else 0

    def obstacles(self, ghosts: Mapping[Field, Ghost], tree: Mapping[str, str]) -> None:
        """Remember which loans could not be at this moment."""
        for leg, loan in self.known.items():
            fields = _fields(loan)
            missing = any(key not in ghosts or ghosts[key].live is None for key, _ in fields)
            apart = len({tree.get(key[0]) for key, _ in fields}) > 1
            if missing or apart:
                self._excused.add(leg)

    def suspended_for_nothing(self) -> list[str]:
        """Loans that the bot suspended although nothing was ever in their way."""
        return [leg for leg, loan in self.known.items() if loan["suspended"] and leg not in self._excused]


def _fields(loan: Event) -> list[tuple[Field, int]]:
    """Fields and signs: the lender's first."""
    name = "borrowingLimit" if loan["kind"] == "borrow" else NOMINAL
    here = [((loan["borrower"], loan["flavor"], loan["resource"], name), 1)]
    if loan["kind"] == "transfer":
        here.insert(0, ((loan["lender"], loan["flavor"], loan["resource"], NOMINAL), -1))
    return here


def wrong_numbers(
    ghosts: Mapping[Field, Ghost], loans: Loans, annotations: Mapping[str, str | None], event: Event
) -> Iterator[tuple[str, str]]:
    """Everything that is not as it should be once nothing moves any more."""
    at = event["at"]
    yield from _wrong_loans(loans, at)
    yield from loans.not_extended()
    wanted = _wanted(loans, at)
    short = any((ghosts[key].base or 0) + sum(legs.values()) < 0 for key, legs in wanted.items() if key in ghosts)
    for key, ghost in ghosts.items():
        if ghost.live is not None:
            yield from _wrong_number(key, ghost, ghost.legs if short else wanted[key])
    if short:
        yield from _wrong_shortfall(ghosts, loans, at)
    for queue, text in annotations.items():
        uid = next((ghost.live_uid for key, ghost in ghosts.items() if key[0] == queue), "")
        noted = ((queue, *entry) for entry, note in notes(text, uid).items() if note.legs)
        if event["over"] and any(key in ghosts and ghosts[key].live is not None for key in noted):
            yield "P2", f"{queue} still carries loans in its annotation after the last one ended"


def _wanted(loans: Loans, at: float) -> dict[Field, dict[str, int]]:
    wanted: dict[Field, dict[str, int]] = defaultdict(dict)
    for leg, loan in loans.known.items():
        amount = loans.amount(loan, at)
        beside = loans.beside.get(loan["borrower"])
        here = [((beside, "", loan["resource"], "hard"), 1)] if beside else []
        for key, sign in (*_fields(loan), *here) if amount else ():
            wanted[key][leg] = sign * amount
    return wanted


def _wrong_number(key: Field, ghost: Ghost, legs: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if ghost.in_question or ghost.asked is not None:
        yield "P3", f"{key} still waits for an answer at rest"
    if ghost.base is None or ghost.live != ghost.base + sum(legs.values()):
        yield "P2", f"{key} is {ghost.live} at rest, with base {ghost.base} and loans {legs}"


def _wrong_loans(loans: Loans, at: float) -> Iterator[tuple[str, str]]:
    for leg, loan in loans.known.items():
        if loan["state"] == "scheduled" and loan["start"] <= at:
            yield "P2", f"loan {leg} never started"
        if loan["end"] <= at and loan["state"] != "closed":
            yield "P2", f"loan {leg} is over and still {loan['state']}"
        if loan["state"] == "returning":
            yield "P2", f"loan {leg} is returned and was never closed"
    for leg in loans.suspended_for_nothing():
        yield "P2", f"loan {leg} was suspended ({loans.known[leg]['suspended']}), and nothing was in its way"


def _wrong_shortfall(ghosts: Mapping[Field, Ghost], loans: Loans, at: float) -> Iterator[tuple[str, str]]:
    """A lender has not that much: each loan gets what its lender gives."""
    for leg, loan in loans.known.items():
        held = {sign: abs(ghosts[key].legs.get(leg, 0)) for key, sign in _fields(loan) if key in ghosts}
        amount = loans.amount(loan, at)
        if any(size > amount for size in held.values()) or len(set(held.values())) > 1:
            yield "P2", f"loan {leg} of {amount} moves {held}"
