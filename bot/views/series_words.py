"""What messages say of a loan that repeats: how often, which time this is, what is still to come; and its one answer.

Used by the cards, the direct messages and the answers.
"""

from datetime import timedelta
from typing import Any

from bot.core.messages import Message
from bot.core.requests import QuotaRequest
from bot.core.series import Series, times
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import Unit, device_hours
from bot.views.facts import SeriesFacts
from bot.views.ids import Action
from bot.views.kit import Confirm, answer, button, line
from bot.views.parts import Line, Moment


def how_often(series: Series) -> Line:
    """ "every Fri 18:00 to Mon 08:00, 9 times, last ends Mon 1 Feb 08:00"."""
    return line(f"{series.words}, {times(len(series.spans))}, last ends ", Moment(series.spans[-1].end))


def worth_of_all(series: Series, amount: int, unit: Unit) -> Line:
    """From when, whose clock, and how much it comes to: while it can still be decided."""
    length = sum((span.end - span.start for span in series.spans), timedelta())
    first = line("First ", Moment(series.spans[0].start), f"; times of {series.zone}")
    return line(first, f", {device_hours(amount, length, unit)} in all")


def which_time(series: SeriesFacts) -> str:
    """ "3 of 9"."""
    return f"{series.place:,} of {series.times:,}"


def to_come(series: SeriesFacts) -> Line:
    """ "6 more to come, the next Fri 18 Dec 18:00, the last ends Mon 1 Feb 08:00"; that it is the last; or nothing."""
    if series.following is None:
        return line("The last one") if series.place == series.times else ()
    return line(
        f"{series.to_come:,} more, the next ", Moment(series.following), ", last ends ", Moment(series.last_end)
    )


def stop_button(request: int) -> dict[str, Any]:
    """Stop series, with its confirm."""
    text = line("What has not begun is called off. What is in force stays until its end.")
    sure = Confirm(line(f"Stop {format_request_id(request)}?"), text, "Stop", "Keep", danger=True)
    return button("Stop series", Action.REQUEST_WITHDRAW, str(request), confirm=sure)


def series_stopped(request: QuotaRequest) -> Message:
    """It is stopped by its requester or a lead."""
    return answer(line(f"{request.name} is stopped: what has not begun is called off. What is in force runs on."))
