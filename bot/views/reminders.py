"""Reminders of an end: to the requester, or to the team's leads if the requester is gone. One message may be about
several loans. Rendered by the deliverer for the kinds of notice that name them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.core.durations import format_duration
from bot.core.impact import AtRisk
from bot.core.loans import Loan
from bot.core.messages import Block, Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit, devices, of_flavor
from bot.views.impact_lines import named_work
from bot.views.kit import Symbol, actions, headline, line, rich
from bot.views.parts import Clock, Code, Line, Moment, Theirs, sentence
from bot.views.request_card import extend_button, return_button

_MOST = 5


@dataclass(frozen=True, slots=True)
class Above:
    """What is in use above the quota that stays after the end."""

    devices: int
    work: tuple[AtRisk, ...] = ()
    """Likely those, in the order Kueue would take them."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One loan that ends."""

    loan: Loan
    above: Above | None = None
    """None: there are no live figures."""
    unit: Unit = GPU
    grace: timedelta | None = None
    """How long after the end the work is evicted; None if it runs on."""


def day_before(endings: Sequence[Ending]) -> Message:
    """A day ahead: time to finish, to extend, or to give back."""
    if len(endings) > 1:
        return _several(endings, "")
    one = endings[0]
    first = line(_amount(one), _ends(one), Moment(one.loan.end), f" ({format_request_id(one.loan.id)})")
    after = "After the end it runs on, without protection"
    if one.grace is not None:
        after = f"After the end and a grace of {format_duration(one.grace)} it is evicted"
    return _single(one, first, _above(one, "In use above base now: "), after)


def hour_before(endings: Sequence[Ending]) -> Message:
    """An hour ahead: the last moment to save something."""
    if len(endings) > 1:
        return _several(endings, " soon")
    one = endings[0]
    first = line(_amount(one), f"{_ends(one)}soon, ", Moment(one.loan.end), f" ({format_request_id(one.loan.id)})")
    return _single(one, first, _above(one, "Still above base: "), "Save a checkpoint, or extend")


def _amount(one: Ending) -> Line:
    return of_flavor(one.loan.amount, one.loan.flavor)


def _ends(one: Ending) -> str:
    return " ends " if one.loan.amount == 1 else " end "


def _single(one: Ending, first: Line, above: Line, advice: str) -> Message:
    lines = [above, line(advice)] if one.above and one.above.devices else [above]
    return Message(sentence(first), (headline(Symbol.WAITS, first), rich(*lines), *_buttons(one)))


def _above(one: Ending, words: str) -> Line:
    if one.above is None:
        return line("What runs above base is not known: no live figures")
    if not one.above.devices:
        return line("Nothing runs above base now")
    work = line(", ", named_work(one.above.work)) if one.above.work else ()
    return line(words, devices(one.above.devices, one.unit), work)


def _several(endings: Sequence[Ending], soon: str) -> Message:
    first = line(f"{len(endings):,} loans end{soon}, the first ", Moment(endings[0].loan.end))
    blocks: list[Block] = [headline(Symbol.WAITS, first)]
    for one in endings[:_MOST]:
        ends = line(_amount(one), " for ", Theirs(one.loan.borrower), _ends(one), Clock(one.loan.end))
        blocks.append(rich(line(ends, f" ({format_request_id(one.loan.id)})"), _above(one, "In use above base now: ")))
        blocks += _buttons(one)
    left = len(endings) - _MOST
    if left > 0:
        blocks.append(rich(line(f"and {left:,} more: ", Code("/gpu-quota list"))))
    return Message(sentence(first), tuple(blocks))


def _buttons(one: Ending) -> tuple[Block, ...]:
    return actions(extend_button(one.loan.id), return_button(one.loan.id))
