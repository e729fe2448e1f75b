"""P1, P2 and P3: every number the bot writes, judged against the ghost and the loans."""

from collections import defaultdict
from collections.abc import Iterator

from tests.support.oracle.extra import ExtraJudge
from tests.support.oracle.ghost import Ghost, answered, notes
from tests.support.oracle.git import GitGhost, InForce, Part, is_booked, state_of, wrong_end, wrong_note, wrong_proposal
from tests.support.oracle.log import ANSWERS, BOT, NOMINAL, Event, Field
from tests.support.oracle.rest import Loans, wrong_numbers


class QuotaJudge:
    """Reads versions, records, answers and loans, and says what is wrong with each."""

    def __init__(self) -> None:
        self.ghosts: dict[Field, Ghost] = {}
        self.loans = Loans()
        self.tree: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        self._notes: dict[str, str | None] = {}
        self._extra = ExtraJudge(self.ghosts, self.loans)
        self._paused = False
        self._automated: set[str] = set()
        """Queues that Kueue itself writes now."""
        self._begun: dict[str, int] = {}
        """By loan: the most of it that the bot ever set out to write into a number."""
        self._in_git: set[str] = set()
        self._told = InForce(self.ghosts)

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        yield from self._extra.judge(event)
        read = {
            "version": self._version,
            "record": self._record,
            "intent": self._intent,
            "proposal": self._proposal,
            "loan": self._loan,
            "rest": self._at_rest,
        }
        if kind in read:
            yield from read[kind](event)
        elif kind in ("pause", "automation"):
            self._stopped(event)
        elif kind == "git":
            self._in_git.add(event["queue"])
        elif kind in ("request", "beside"):
            self.loans.noted(event)
        elif kind == "audit" and event["what"] == "answer":
            answer = event["outcome"].partition(":")[0]
            if answer in ANSWERS:
                self._answers[event["subject"]] = answer
        if kind in ("version", "loan"):
            self.loans.obstacles(self.ghosts, self.tree)

    def _loan(self, event: Event) -> Iterator[tuple[str, str]]:
        yield from self.loans.stored(event)
        yield from self._told.judge(event)

    def _at_rest(self, event: Event) -> Iterator[tuple[str, str]]:
        yield from wrong_numbers(self.ghosts, self.loans, self._notes, event)
        still = sorted(key for key, ghost in self.ghosts.items() if isinstance(ghost, GitGhost) and ghost.open)
        yield from (("P2", f"{key} is still proposed at rest") for key in still)

    def _stopped(self, event: Event) -> None:
        """Somebody, or Kueue for a queue, says that the bot is to write nothing, or that it may again."""
        if event["e"] == "pause":
            self._paused = event["on"]
        elif event["on"]:
            self._automated.add(event["queue"])
        else:
            self._automated.discard(event["queue"])

    def _intent(self, event: Event) -> Iterator[tuple[str, str]]:
        """While quota changes are paused nothing new is set out for, and no more of what is there."""
        if event["field"] in self.ghosts and not event["legs"]:
            self.ghosts[event["field"]].closing.add(event["wrote"])
        yield from self._set_out(event["field"], event["legs"])

    def _set_out(self, key: Field, legs: dict[str, int]) -> Iterator[tuple[str, str]]:
        for leg, size in legs.items():
            if self._paused and abs(size) > self._begun.get(leg, 0):
                yield (
                    "pause",
                    f"while quota changes are paused {abs(size)} of {leg} are to be written to {key}",
                )
            self._begun[leg] = max(self._begun.get(leg, 0), abs(size))

    def _version(self, event: Event) -> Iterator[tuple[str, str]]:
        queue = event["queue"]
        if event["op"] != "put":
            self._automated.discard(queue)
        elif event["who"] == BOT and queue in self._automated:
            yield "P3", f"the bot wrote {queue}, which Kueue itself writes"
        if event["op"] == "put" and event["who"] == BOT and queue in self._in_git:
            yield "P3", f"the bot wrote {queue}, which is written in Git"
        before, overdrawn = self._excess(), self._overdrawn()
        numbers = event["numbers"] if event["op"] == "put" else {}
        keys = {key for key in self.ghosts if key[0] == queue} | {(queue, *key) for key in numbers}
        for key in sorted(keys):
            yield from self._number(key, numbers.get(key[1:]), event)
        if event["op"] == "put":
            self.tree[queue], self._notes[queue] = event["tree"], event["note"]
        else:
            self.tree.pop(queue, None)
            self._notes.pop(queue, None)
        if event["who"] == BOT:
            for group, excess in self._excess().items():
                if group in before and excess > max(0, before[group]):
                    yield "P1", f"the bot's write of {queue} leaves {group} {excess} above what it is without loans"
            yield from self._given(overdrawn, f"the bot's write of {queue}")

    def _given(self, before: dict[str, int], what: str) -> Iterator[tuple[str, str]]:
        for leg, more in self._overdrawn().items():
            if more > max(0, before.get(leg, 0)):
                yield "P1", f"{what} leaves loan {leg} with {more} that its lender does not give"

    def _proposal(self, event: Event) -> Iterator[tuple[str, str]]:
        """Of each number: nothing from nowhere if it is merged at any time from now on, and nothing new in a pause."""
        before = self._overdrawn()
        for key, (was, will) in event["fields"].items():
            ghost = self.ghosts[key]
            assert isinstance(ghost, GitGhost), f"{key} is not in Git"
            part = Part(event["id"], event["uid"], state_of(*was), state_of(*will))
            if event["ended"] is None:
                yield from wrong_proposal(key, ghost, part)
                yield from self._set_out(key, will[1])
                ghost.open = part
            else:
                yield from wrong_end(key, ghost, part, event["ended"])
                ghost.open = None
                if event["ended"] != "merged":
                    ghost.taken_back.insert(0, part)
            ghost.seen.clear()
            ghost.resolve()
        yield from self._given(before, f"what is proposed for {event['queue']}")

    def _number(self, key: Field, number: int | None, event: Event) -> Iterator[tuple[str, str]]:
        ghost = self.ghosts.get(key)
        if ghost is None:
            if number is not None:
                made = GitGhost if key[0] in self._in_git else Ghost
                self.ghosts[key] = made(number, number, event["uid"], number, event["uid"])
                self.ghosts[key].catch_up()
                if event["who"] == BOT:
                    yield "P3", f"the bot set {key}, which was not there"
            return
        if number is None:
            if event["who"] == BOT and ghost.live is not None:
                yield "P3", f"the bot took {key} away"
            ghost.absent = ghost.absent or ghost.live is not None
            ghost.live = None
        elif event["who"] == BOT and not isinstance(ghost, GitGhost):
            yield from self._bot_wrote(key, ghost, number, event)
        else:
            ghost.others_wrote(number, event["uid"])

    def _bot_wrote(self, key: Field, ghost: Ghost, number: int, event: Event) -> Iterator[tuple[str, str]]:
        changed = number != ghost.live
        ghost.touched = False
        if changed and (ghost.in_question or ghost.asked is not None or ghost.guess):
            yield "P3", f"the bot wrote {number} to {key}, where {ghost.live} of somebody else waits for an answer"
        if ghost.in_question or ghost.guess or ghost.asked is not None:
            ghost.live = number
            return
        note = notes(event["note"], event["uid"]).get(key[1:])
        legs = dict(note.legs) if note else {}
        if not changed and legs == ghost.legs:
            return
        base = note.base if note else ghost.base
        if base != ghost.base:
            yield "P2", f"the bot takes {base} for the base of {key}; it is {ghost.base}"
        if ghost.base is None or number != ghost.base + sum(legs.values()):
            yield "P2", f"the bot wrote {number} to {key}, with base {ghost.base} and {legs}"
        ghost.legs, ghost.wrote, ghost.live, ghost.uid, ghost.outside = legs, number, number, event["uid"], []

    def _record(self, event: Event) -> Iterator[tuple[str, str]]:
        key, ghost = event["field"], self.ghosts.get(event["field"])
        if ghost is None:
            yield "P2", f"the bot stored {key}, which was never there"
            return
        kind = self._answers.pop("/".join(("default", *key)), None)
        if kind is not None:
            yield from self._answer(key, ghost, kind, event)
        elif isinstance(ghost, GitGhost):
            yield from wrong_note(key, ghost, event, self.loans)
        elif event["gone"]:
            yield from _gone(key, ghost)
        elif event["asked"] is not None:
            yield from _asked(key, ghost, event)
        elif event["uid"] is not None:
            yield from self._settled(key, ghost, event)
        ghost.asked, ghost.record, ghost.former = event["asked"], event, []
        if isinstance(ghost, GitGhost):
            booked, before = is_booked(ghost, event), self._overdrawn()
            ghost.noted(event)
            if booked:
                yield from self._given(before, f"what the bot books in {key}")

    def _answer(self, key: Field, ghost: Ghost, kind: str, event: Event) -> Iterator[tuple[str, str]]:
        before = ghost.record
        if before is None or before["asked"] is None:
            yield "P3", f"an answer about {key} counted, where nothing was asked"
            return
        y = before["asked"][1]
        if not ghost.guess and (before["base"], _held(before["legs"])) != (ghost.base, _held(ghost.legs)):
            yield "P2", f"{key} was asked about with {before['base']} {before['legs']}; it is {ghost.base} {ghost.legs}"
        base, legs = answered(kind, before["base"], before["wrote"], before["legs"], y)
        if (event["base"], event["legs"], event["wrote"]) != (base, legs, y):
            yield "P2", f"the answer {kind} on {key} at {y} gave {event['base']} {event['legs']}, not {base} {legs}"
        ghost.base, ghost.legs, ghost.wrote, ghost.uid = base, legs, y, before["asked"][0]
        ghost.guess, ghost.outside = False, []
        if (ghost.live, ghost.live_uid) != (ghost.wrote, ghost.uid):
            if ghost.live is not None:
                ghost.outside.append(ghost.live)  # it has changed again since it was asked about
            ghost.catch_up()

    def _settled(self, key: Field, ghost: Ghost, event: Event) -> Iterator[tuple[str, str]]:
        """No question, nothing gone: the number is the bot's, or has nothing of the bot's in it."""
        base, legs = event["base"], _held(event["legs"])
        if not legs and ghost.legs and base == ghost.base:
            unwanted = base in ghost.closing or not self.loans.wanted(ghost.legs, event["at"])
            if base in (*ghost.outside, ghost.live) and unwanted:
                ghost.legs, ghost.wrote, ghost.uid, ghost.guess = {}, base, event["uid"], False
                ghost.catch_up()
                return
        if base == ghost.base:
            return
        if not legs and not ghost.legs and base in (*ghost.outside, ghost.live, *ghost.former):
            return
        yield "P2", f"the bot moved the base of {key} from {ghost.base} to {base} ({ghost.legs} -> {legs}) by itself"

    def _excess(self) -> dict[tuple[str, str, str], int]:
        """By tree, flavor and resource: live numbers less what they are without loans, but for extra ones that may be.

        Where somebody else's number waits for an answer, nobody can say whose a device is, and the quota that another
        loan is about to give back may hide what it lacks: such trees are judged loan by loan. So are those where others
        left a loan with too much in a queue in Git: it takes as long as they do until that is lowered.
        """
        sums: dict[tuple[str, str, str], int] = defaultdict(int)
        unclear = set()
        lent = self._overdrawn() if self._in_git else {}
        over = {leg for leg, more in lent.items() if more > 0 and self._is_in_git(leg)}
        for (queue, flavor, resource, name), ghost in self.ghosts.items():
            if name != NOMINAL or ghost.live is None or queue not in self.tree:
                continue
            group = self.tree[queue], flavor, resource
            sums[group] += ghost.live - (ghost.live if ghost.base is None else ghost.base)
            sums[group] -= sum(size for leg, size in ghost.held.items() if leg in self._extra.ticked)
            if (
                ghost.unclear
                or over & ghost.legs.keys()
                or not all(self.loans.side_by_side(leg, self.ghosts, self.tree) for leg in ghost.legs)
            ):
                unclear.add(group)
        return {group: excess for group, excess in sums.items() if group not in unclear}

    def _overdrawn(self) -> dict[str, int]:
        """By transfer: what its borrower holds less what its lender gives. Nobody gives what an extra loan has."""
        sums: dict[str, int] = defaultdict(int)
        for key, ghost in self.ghosts.items():
            for leg, size in ghost.at_most.items() if key[3] == NOMINAL else ():
                if leg not in self._extra.ticked:
                    sums[leg] += size
        return sums

    def _is_in_git(self, leg: str) -> bool:
        """Whether a side of the loan is."""
        loan = self.loans.known.get(leg)
        return loan is not None and not self._in_git.isdisjoint((loan["lender"], loan["borrower"]))


def _held(legs: dict[str, int]) -> dict[str, int]:
    return {leg: size for leg, size in legs.items() if size}


def _gone(key: Field, ghost: Ghost) -> Iterator[tuple[str, str]]:
    if not ghost.absent and ghost.live is not None:
        yield "P2", f"the bot says {key} is gone; it never was"
    ghost.absent, ghost.legs, ghost.base, ghost.wrote, ghost.guess = ghost.live is None, {}, None, None, False
    ghost.catch_up()


def _asked(key: Field, ghost: Ghost, event: Event) -> Iterator[tuple[str, str]]:
    if ghost.asked == event["asked"]:
        return
    # A lost answer and a stripped annotation are enough for a doubt: the write may have been undone meanwhile.
    if not ghost.outside and not (event["uid"] is None and ghost.touched):
        yield "P3", f"the bot asks about {key} at {event['asked'][1]}, where nobody else wrote"
    if event["uid"] is None:
        if event["base"] not in (ghost.base, *ghost.former):
            yield "P2", f"the bot is in doubt about {key} and takes {event['base']} for its base, not {ghost.base}"
        ghost.guess, ghost.base, ghost.wrote = True, event["base"], event["wrote"]
        ghost.legs = dict(event["legs"])
    elif event["base"] != ghost.base:
        yield "P2", f"the bot asks about {key} with base {event['base']}; it is {ghost.base}"
