"""What the platform channel is told when a name is gone or back that loans or messages stand on, and how a message says
that it was meant for somebody else. Used by flows/render_notices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.messages import Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import up_to
from bot.views.kit import Symbol, headline, line, rich
from bot.views.parts import VENDOR_LIMIT, Code, Line, Moment, Part, Theirs, sentence


@dataclass(frozen=True, slots=True)
class LostStanding:
    """What stands on a name that is or was gone, as numbers of requests."""

    loans: Sequence[int] = ()
    waiting: Sequence[int] = ()
    lapsed: Sequence[int] = ()
    until: datetime | None = None
    """When what waits lapses."""


def name_gone(what: str, standing: LostStanding) -> Message:
    """`what` is a clause: "team vision is not in the policy any more"."""
    first = line(Theirs(_capital(what), VENDOR_LIMIT))
    lines = []
    if standing.loans:
        names = _names(standing.loans)
        lines.append(line("On loan: ", names, ". They go on and end by themselves; what is for that team comes here"))
        lines.append(line("To end one now: ", Code(f"/gpu-quota end {format_request_id(standing.loans[0])}")))
    if standing.waiting and standing.until:
        held = line(". Held until ", Moment(standing.until), ", then lapsed unless the name is back")
        lines.append(line("Waiting: ", _names(standing.waiting), held))
    if standing.lapsed:
        lines.append(line("Lapsed: ", _names(standing.lapsed), ". Who asked was told to ask again"))
    lines.append(line("Gone by mistake: put it back into ", Code("policies/"), ". Renamed: nothing to do"))
    return Message(sentence(first), (headline(Symbol.LOOK, first), rich(*lines)))


def name_back(name: str, standing: LostStanding) -> Message:
    """`name` as "team vision"."""
    first = line(Theirs(_capital(name), VENDOR_LIMIT), " is in the policy again")
    lines = [
        line(words, _names(numbers), after)
        for words, numbers, after in (
            ("Waits on as before: ", standing.waiting, ""),
            ("On loan: ", standing.loans, ""),
            ("Lapsed meanwhile: ", standing.lapsed, ". Who asked was told to ask again"),
        )
        if numbers
    ]
    return Message(sentence(first), (headline(Symbol.IN_FORCE, first), rich(*lines)))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _names(numbers: Sequence[int]) -> Line:
    return up_to([line(format_request_id(one)) for one in numbers])


def in_place_of(message: Message, whom: Part, why: str) -> Message:
    """The same message with a last line that says for whom it was, without buttons, which were theirs to press."""
    blocks = tuple(block for block in message.blocks if block["type"] != "actions")
    said = rich(line("This is for ", whom, ", where it cannot be posted (", Theirs(why), ")"))
    return replace(message, blocks=(*blocks, said))
