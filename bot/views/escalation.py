"""A request that nobody answers: the pings in the thread of its card, and that nobody who may decide can be reached.

Rendered by the deliverer (flows/render_escalation); the sentences are for the one who has just asked.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.messages import Message
from bot.core.people import Person
from bot.views.amounts import joined
from bot.views.facts import CardFacts, Step
from bot.views.kit import Symbol, actions, headline, line, rich
from bot.views.loan_words import asked as asked_for
from bot.views.parts import Code, Group, Line, Mention, Moment, Theirs, sentence
from bot.views.request_card import withdraw_button

NO_ONE_THERE = "nobody who was asked can be reached"
"""Why a step is escalated at once."""
_WHY = "away, deactivated or nobody"


@dataclass(frozen=True, slots=True)
class Pinged:
    """Whoever is pinged: people, or user groups of Slack's."""

    label: str
    """What the policy calls them: "gpu-admins", "nlp lead"."""
    people: tuple[Person, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def parts(self) -> Line:
        """As they are pinged; by their name if the policy lists nobody."""
        everybody = [line(one) for one in self.groups] + [line(Mention(one)) for one in self.people]
        return joined(everybody) if everybody else line(Theirs(self.label))


def reminded(facts: CardFacts, pinged: Pinged, since: datetime) -> Message:
    """Nobody answered for a while: whoever decides next is pinged once more."""
    waits = line(": still waiting for your approval since ", Moment(since), ", ", _what(facts))
    return Message(sentence(line(Theirs(pinged.label), waits)), (rich(line(pinged.parts, waits)),))


def escalated(facts: CardFacts, pinged: Pinged, asked: Step, why: str) -> Message:
    """Others may decide too from now on."""
    first = line(". Asked first: ", Theirs(asked.label), f" ({why})")
    instead = line(": you may decide this too, ", _what(facts), first)
    return Message(sentence(line(Theirs(pinged.label), instead)), (rich(line(pinged.parts, instead)),))


def nobody_reachable(facts: CardFacts, asked: str, *, for_admins: bool) -> Message:
    """To the requester, and to the platform channel: as things are nobody decides it."""
    request = facts.request
    first = line(asked_for(request), ": nobody who may decide can be reached", f" ({request.name})")
    who = line("Asked: ", Theirs(asked), f" ({_WHY})")
    lapses = line("It waits, and lapses ", Moment(request.lapses_at))
    if for_admins:
        admins = line("Admins: set approvers, ", Code("escalate_to"), " or ", Code("away"), " in the policy")
        return _message(first, [who, lapses, admins])
    return Message(
        sentence(first),
        (
            headline(Symbol.LOOK, first),
            rich(who, lapses, line("The admins hear it too")),
            *actions(withdraw_button(request.id, request.name)),
        ),
    )


def asked_too(asked: str, too: str) -> str:
    """For the requester, at once: who else can decide."""
    return f"{asked} cannot be reached now ({_WHY}). {too} can decide too, and is asked as well."


def nobody_there(asked: str) -> str:
    """For the requester, at once: as things are nobody decides."""
    return f"Nobody who may decide can be reached now: {asked} ({_WHY}). The admins hear it."


def _what(facts: CardFacts) -> Line:
    name = f" ({facts.request.name})" if facts.request.extends is None else ""
    return line(asked_for(facts.request), name)


def _message(first: Line, lines: list[Line]) -> Message:
    return Message(sentence(first), (headline(Symbol.LOOK, first), rich(*lines)))
