"""A line that was not understood: what is wrong, a caret under it, and a line that works."""

from bot.core.messages import Message
from bot.core.wording.faults import UsageFault
from bot.views.kit import line, pre, rich
from bot.views.parts import Code, Theirs, sentence

_MOST = 400


def usage_fault(fault: UsageFault) -> Message:
    """The sentence, the window with its caret, and the corrected line."""
    said = line(Theirs(fault.sentence, _MOST))
    tries = [line("Try: ", Code(one)) for one in fault.choices or (fault.try_line,) if one]
    window = (pre(f"{fault.window}\n{fault.caret}"),) if fault.window.strip() else ()
    return Message(sentence(said), (rich(said), *window, *((rich(*tries),) if tries else ())))
