"""Queues that are written in Git: the bot proposes numbers, others make them, and the bot never writes.

What such a number is follows from three things alone: what the bot noted of it last, what it proposes or proposed for
it, and the number that stands there now. Others may change it any number of times between two looks of the bot, so all
that it could have seen since its last note counts. Asked by the quota judge.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.support.oracle.ghost import Ghost
from tests.support.oracle.log import NOMINAL, Event, Field
from tests.support.oracle.rest import Loans


@dataclass(frozen=True, slots=True)
class State:
    """A number, and whose it is."""

    base: int | None
    legs: Mapping[str, int]
    wrote: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """What a proposal says of one field."""

    proposal: str
    uid: str
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look could have found."""

    state: State
    explained: bool
    live: int | None
    uid: str


@dataclass(slots=True)
class GitGhost(Ghost):
    """One field of a queue in Git. `legs` are those that the live number has."""

    claim: State = State(None, {}, None)
    """What the bot noted last."""
    claim_uid: str | None = None
    open: Part | None = None
    taken_back: list[Part] = field(default_factory=list)
    """Parts of proposals that ended and were not merged."""
    late: bool = False
    """Somebody merged what was taken back, and the bot has not noted it yet."""
    unexplained: bool = False
    seen: list[Seen] = field(default_factory=list)
    """Since the bot's last note."""

    @property
    def in_question(self) -> bool:
        """Nobody knows what stands there."""
        return self.unexplained

    @property
    def unclear(self) -> bool:
        """Also what somebody has just made of it against the bot's word."""
        return self.unexplained or self.guess or self.late

    @property
    def at_most(self) -> Mapping[str, int]:
        """The legs when what is proposed is merged as well; what others do against the bot's word is not counted."""
        legs, part = dict(self.claim.legs if self.late else self.held), self._about()
        if part is None:
            return legs
        after = part.after.legs
        return {leg: max(legs.get(leg, 0), after.get(leg, 0)) for leg in {*legs, *after}}

    def others_wrote(self, number: int, uid: str) -> None:
        """Anybody."""
        self.touched = True
        if (number, uid) != (self.live, self.live_uid):
            self.outside.append(number)
        self.live, self.live_uid = number, uid
        self.resolve()

    def catch_up(self) -> None:
        """The number as it stands tells everything."""
        self.resolve()

    def noted(self, event: Event) -> None:
        """From now on this is what the bot knows."""
        self.claim = State(event["base"], dict(event["legs"]), event["wrote"])
        self.claim_uid, self.asked = event["uid"], event["asked"]
        self.guess, self.absent = self.asked is not None, False
        self.seen.clear()
        self.resolve()

    def resolve(self) -> None:
        """Whose the live number is."""
        if self.live is None:
            return
        self.late = self.unexplained = False
        part, late = self._about(), self._late()
        if part is not None and self.live == part.after.wrote:
            self._is(part.after)
        elif late is not None:
            self.late = True
            self._is(late.after)
        elif part is not None and self.live == part.before.wrote:
            self._is(part.before)
        elif part is not None:
            self.unexplained = True
            self._is(_at_worst(part))
        elif self._is_claimed():
            self._is(self.claim)
        elif self.claim.legs or self.asked is not None:
            self.unexplained = True
            self._is(self.claim)
        else:
            self._is(State(self.live, {}, self.live))

    def _about(self) -> Part | None:
        part = self.open
        if part is None or part.uid != self.live_uid:
            return None
        return part if self.asked is not None or part.before == _clean(self.claim) else None

    def _late(self) -> Part | None:
        if self.asked is not None or self.claim_uid != self.live_uid or self.live == self.claim.wrote:
            return None
        of_it = [part for part in self.taken_back if part.uid == self.live_uid and part.before == _clean(self.claim)]
        return next((part for part in of_it if part.after.wrote == self.live), None)

    def _is_claimed(self) -> bool:
        same = (self.claim_uid, self.claim.wrote) == (self.live_uid, self.live)
        return same and self.asked != (self.live_uid, self.live)

    def _is(self, state: State) -> None:
        self.base, self.legs, self.wrote, self.uid = state.base, _clean(state).legs, state.wrote, self.live_uid  # type: ignore[assignment]
        self.seen.append(Seen(_clean(state), not self.unexplained, self.live, self.live_uid))


def state_of(base: int | None, legs: Mapping[str, int], wrote: int | None) -> State:
    """Legs of nothing are none."""
    return State(base, {leg: size for leg, size in legs.items() if size}, wrote)


def _clean(state: State) -> State:
    return state_of(state.base, state.legs, state.wrote)


def _at_worst(part: Part) -> State:
    before, after = part.before.legs, part.after.legs
    legs = {leg: max(before.get(leg, 0), after.get(leg, 0)) for leg in {*before, *after}}
    base = part.before.base
    return State(base, legs, None if base is None else base + sum(legs.values()))


def is_booked(ghost: GitGhost, event: Event) -> bool:
    """Whether the number stays and other loans are in it: the bot's own doing, without anybody's."""
    state = state_of(event["base"], event["legs"], event["wrote"])
    found = [one for one in ghost.seen if one.explained and one.state != state]
    same = any((one.state.base, one.state.wrote) == (state.base, state.wrote) for one in found)
    return same and state.base is not None and state.base + sum(state.legs.values()) == state.wrote


def wrong_note(key: Field, ghost: GitGhost, event: Event, loans: Loans) -> Iterator[tuple[str, str]]:
    """What the bot notes of a queue in Git is what it could have seen there."""
    if event["gone"]:
        if not ghost.absent and ghost.live is not None:
            yield "P2", f"the bot says {key} is gone; it never was"
        return
    if event["asked"] is not None:
        yield from _asks_for_nothing(key, ghost, event)
        return
    state = state_of(event["base"], event["legs"], event["wrote"])
    explained = [one.state for one in ghost.seen if one.explained]
    if state in (*explained, _clean(ghost.claim)) or is_booked(ghost, event):
        return
    given_back = any(one.live == one.state.base == state.base for one in ghost.seen if not one.explained)
    legs = {leg for one in ghost.seen for leg in one.state.legs} | ghost.claim.legs.keys()
    if given_back and not state.legs and not loans.wanted(dict.fromkeys(legs, 0), event["at"]):
        return
    yield "P2", f"the bot notes {state} of {key}, which is in Git and was {explained}"


def _asks_for_nothing(key: Field, ghost: GitGhost, event: Event) -> Iterator[tuple[str, str]]:
    if event["asked"] == ghost.asked:
        return
    unknown = [one for one in ghost.seen if not one.explained and (one.uid, one.live) == event["asked"]]
    if not unknown:
        yield "P3", f"the bot asks about {key} at {event['asked'][1]}, which is explained"
    elif event["base"] not in {one.state.base for one in unknown}:
        yield "P2", f"the bot asks about {key} with base {event['base']}; it is {ghost.base}"


def wrong_proposal(key: Field, ghost: GitGhost, part: Part) -> Iterator[tuple[str, str]]:
    """What is proposed begins with what the bot knows, leaves the base alone, and is one thing at a time."""
    if ghost.open is not None:
        yield "P5", f"two proposals are open for {key}"
    stands = [(one.before, one.after) for one in ghost.taken_back if ghost.asked is not None]
    if part.before != _clean(ghost.claim) and (part.before, part.after) not in stands:
        yield "P2", f"{key} is to be changed from {part.before}, and is {ghost.claim}"
    after = part.after
    if after.base != part.before.base or after.base is None or after.wrote != after.base + sum(after.legs.values()):
        yield "P2", f"{key} is to be {after}, from {part.before}"


def wrong_end(key: Field, ghost: GitGhost, part: Part, how: str) -> Iterator[tuple[str, str]]:
    """Merged is what is in the number."""
    if how == "merged" and _clean(ghost.claim) != part.after:
        yield "P2", f"the bot says that {part.after} of {key} is merged, and knows {ghost.claim}"


class InForce:
    """A loan counts as in force when its borrower's number, as the bot noted it, has all of it."""

    def __init__(self, ghosts: Mapping[Field, Ghost]) -> None:
        self._ghosts = ghosts
        self._told: set[int] = set()

    def judge(self, loan: Event) -> Iterator[tuple[str, str]]:
        """When it is said first."""
        name = "borrowingLimit" if loan["kind"] == "borrow" else NOMINAL
        ghost = self._ghosts.get((loan["borrower"], loan["flavor"], loan["resource"], name))
        if not loan.get("in_force") or loan["id"] in self._told or not isinstance(ghost, GitGhost):
            return
        self._told.add(loan["id"])
        held = ghost.claim.legs.get(f"L{loan['id']}", 0)
        if held < loan["amount"]:
            yield "P2", f"loan L{loan['id']} of {loan['amount']} counts as in force, and {held} of it is in Git"
