"""How much of earlier loans was used, in a line: on cards, behind Details, and in `explain`."""

from fractions import Fraction

from bot.core.past_use import PastUse
from bot.core.requests import Ask
from bot.views.amounts import counted
from bot.views.kit import line
from bot.views.parts import Line, Theirs


def past_lines(past: PastUse | None, ask: Ask) -> list[Line]:
    """ "3 loans of a100 by the requester in 90 days: asked 8, used 2.1 on average"; nothing if too little was seen."""
    if past is None:
        return []
    whose = line("the requester") if past.by_requester else line("team ", Theirs(ask.team))
    loans = line(f"{counted(past.loans, 'loan')} of ", Theirs(ask.flavor), " by ", whose, " in 90 days: ")
    return [line(loans, f"asked {_one(past.asked)}, used {_one(past.used)} on average")]


def _one(value: Fraction) -> str:
    """With one decimal unless it is whole."""
    tenths = round(value * 10)
    return f"{tenths / 10:,.1f}" if tenths % 10 else f"{tenths // 10:,}"
