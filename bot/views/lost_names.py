"""What the platform channel is told when a name is gone that loans or messages stand on, and how a message says that it
was meant for somebody else. Used by flows/render_notices.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.core.messages import Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import up_to
from bot.views.kit import Symbol, headline, line, rich
from bot.views.parts import VENDOR_LIMIT, Code, Part, Theirs, sentence


def name_gone(what: str, loans: Sequence[int], lapsed: Sequence[str]) -> Message:
    """`what` is a clause: "team vision is not in the policy any more". `lapsed` are names of requests: "Q-142"."""
    first = line(Theirs(what[:1].upper() + what[1:], VENDOR_LIMIT))
    names = up_to([line(format_request_id(one)) for one in loans])
    goes_on = line("On loan: ", names, ". They go on and end by themselves; what is for that team comes here")
    sooner = line("To end one now: ", Code(f"/gpu-quota end {format_request_id(loans[0])}")) if loans else ()
    closed = line("Lapsed: ", up_to([line(one) for one in lapsed]), ". Who asked was told to ask again")
    back = line(
        "If it was only renamed, nothing else is to be done; if by mistake, put it back into ", Code("policies/")
    )
    lines = [*((goes_on, sooner) if loans else ()), *((closed,) if lapsed else ()), back]
    return Message(sentence(first), (headline(Symbol.LOOK, first), rich(*lines)))


def in_place_of(message: Message, whom: Part, why: str) -> Message:
    """The same message with a last line that says for whom it was, without buttons, which were theirs to press."""
    blocks = tuple(block for block in message.blocks if block["type"] != "actions")
    said = rich(line("This is for ", whom, ", where it cannot be posted (", Theirs(why), ")"))
    return replace(message, blocks=(*blocks, said))
