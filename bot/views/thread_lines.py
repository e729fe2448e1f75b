"""The lines in the thread of a card: one per event, plain, in the order in which they happened."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.core.messages import Message
from bot.core.people import Person
from bot.views.amounts import joined
from bot.views.facts import CardFacts, Step
from bot.views.kit import line, rich
from bot.views.loan_words import asked as asked_for
from bot.views.parts import Clock, Group, Line, Mention, Reason, Theirs, named, sentence


class EventKind(StrEnum):
    """What happened."""

    APPROVED = "approved"
    DENIED = "denied"
    OFFERED = "offered"
    ACCEPTED = "accepted"
    KEPT = "kept"
    WITHDRAWN = "withdrawn"
    STOPPED = "stopped"
    LAPSED = "lapsed"
    LOST_NAME = "lost name"
    WORSE = "worse"
    IN_FORCE = "in force"
    NOT_IN_FORCE = "not in force"
    SUSPENDED = "suspended"
    EXTENDED = "extended"
    RETURNED = "returned"
    ENDED = "ended"
    EVICTS = "evicts"
    EVICTED = "evicted"
    REACTIVATED = "reactivated"
    ASKED_BACK = "asked back"
    KEPT_LOAN = "kept loan"


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """One event of a request or its loan."""

    kind: EventKind
    at: datetime
    who: Person | None = None
    """None: a rule, or nobody."""
    note: str = ""
    """Our words in brackets: "nlp lends 8", "self-approved"."""
    words: str = ""
    """Somebody's reason."""


_WORDS = {
    EventKind.APPROVED: "approved",
    EventKind.DENIED: "denied",
    EventKind.OFFERED: "offers a change",
    EventKind.ACCEPTED: "accepted the change",
    EventKind.KEPT: "keeps what was asked for",
    EventKind.WITHDRAWN: "withdrew it",
    EventKind.STOPPED: "stopped the series",
    EventKind.LAPSED: "lapsed: nobody decided",
    EventKind.LOST_NAME: "lapsed",
    EventKind.WORSE: "pressed Approve; the picture had changed, so nothing was approved",
    EventKind.IN_FORCE: "in force",
    EventKind.NOT_IN_FORCE: "not in force",
    EventKind.SUSPENDED: "suspended",
    EventKind.EXTENDED: "extended",
    EventKind.RETURNED: "returned it",
    EventKind.ENDED: "ended",
    EventKind.EVICTS: "told its people which work is evicted",
    EventKind.EVICTED: "work above quota was evicted",
    EventKind.REACTIVATED: "what was evicted is active again",
    EventKind.ASKED_BACK: "asks for it back",
    EventKind.KEPT_LOAN: "keeps it",
}


def thread_line(event: ThreadEvent) -> Message:
    """One event: "14:12 lead-nlp approved (nlp lends 8)". By name: nobody needs a ping for what they did themselves."""
    who = line(named(event.who), " ") if event.who else ()
    note = line(" (", Theirs(event.note, 150), ")") if event.note else ()
    words = line(": ", Reason(event.words)) if event.words else ()
    said = line(who, _WORDS[event.kind], note, words)
    return Message(sentence(_opened(said)), (rich(line(Clock(event.at), " ", said)),))


def _opened(said: Line) -> Line:
    first = said[0]
    return (first[:1].upper() + first[1:], *said[1:]) if isinstance(first, str) else said


@dataclass(frozen=True, slots=True)
class Asked:
    """Whoever decides the next step: people or a user group. They are pinged, once per step."""

    step: Step
    people: tuple[Person, ...] = ()
    group: Group | None = None


def next_step(facts: CardFacts, asked: Asked) -> Message:
    """Pings whoever decides next: "@gpu-admins: your approval is next, 8 a100 for vision (Q-142)"."""
    pings = [line(Mention(person)) for person in asked.people]
    who = line(asked.group) if asked.group else joined(pings)
    lends = ", your queue lends" if asked.step.lends else ""
    name = f" ({facts.request.name})" if facts.request.extends is None else ""
    ask = line(": your approval is next, ", asked_for(facts.request), lends, name)
    text = line(Theirs(asked.step.label), ask)
    return Message(sentence(text), (rich(line(who or Theirs(asked.step.label), ask)),))
