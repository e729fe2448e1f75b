"""What the one who acted is told at once when it worked. Every outcome that must be remembered also goes by DM."""

from datetime import timedelta

from bot.core.loans import Loan
from bot.core.messages import Message
from bot.core.requests import QuotaRequest, RequestState
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import of_flavor
from bot.views.kit import actions, answer, line, rich
from bot.views.loan_words import how_long, lasting, longer, what
from bot.views.parts import Channel, Line, Moment, Theirs, sentence
from bot.views.request_card import extend_button, return_button
from bot.views.series_words import series_stopped


def request_sent(request: QuotaRequest, channel: str | None, notes: tuple[str, ...] = ()) -> Message:
    """The request is recorded. `channel`: id of the approvals channel; None if a rule approved it or DMs carry it.

    `notes`: what was understood, such as "until Fri 4 Dec 18:00 (your zone, Europe/Zurich)".
    """
    return answer(sent_line(request, channel), *(line(Theirs(note, 200)) for note in notes))


def sent_line(request: QuotaRequest, channel: str | None) -> Line:
    """One sentence on where a new request went."""
    name = format_request_id(request.id)
    by = request.decided_by or ""
    if by.startswith("rule:"):
        return line(f"{name} is approved by rule ", Theirs(by.removeprefix("rule:")), ". You hear when it is in force.")
    where = line(" in ", Channel(channel)) if channel else ()
    asked = line(f"{name}: ", what(request.ask), ", ", how_long(request.ask))
    return line(asked, ". With the approvers", where, ". You hear by DM.")


def request_withdrawn(request: QuotaRequest) -> Message:
    """It is withdrawn; of a series that was approved, what has not begun."""
    if request.ask.series is not None and request.state is RequestState.APPROVED:
        return series_stopped(request)
    return answer(line(f"{request.name} is withdrawn: ", what(request.ask), "."))


def extension_sent(request: QuotaRequest, channel: str | None, notes: tuple[str, ...] = ()) -> Message:
    """More time is asked for. `channel` and `notes` as in `request_sent`."""
    return answer(_extension_line(request, channel), *(line(Theirs(note, 200)) for note in notes))


def _extension_line(request: QuotaRequest, channel: str | None) -> Line:
    ask, by = request.ask, request.decided_by or ""
    assert ask.start
    assert ask.until
    if by.startswith("rule:"):
        rule = Theirs(by.removeprefix("rule:"))
        return line(f"{request.subject} now ends ", Moment(ask.until), ": approved by rule ", rule, ".")
    where = line(" in ", Channel(channel)) if channel else ()
    asks = line(f"+{longer(request)} for {request.subject}, until ", Moment(ask.until))
    return line(asks, ". With the approvers", where, ". Without a decision it ends ", Moment(ask.start), ".")


def ask_how_long(loan: Loan) -> Message:
    """`extend` without a time: until when it lasts, and the button that asks for how much longer."""
    lasts = line(f"{format_request_id(loan.id)}: ", of_flavor(loan.amount, loan.flavor), " until ", Moment(loan.end))
    said = line(lasts, ". How much longer?")
    return Message(sentence(said), (rich(said), *actions(extend_button(loan.id))))


def confirm_return(loan: Loan) -> Message:
    """`return` without an amount: what would go back, and the button that asks how many."""
    said = line(f"{format_request_id(loan.id)}: ", of_flavor(loan.amount, loan.flavor), " can go back. ")
    said = line(said, "Work that runs is not stopped.")
    return Message(sentence(said), (rich(said), *actions(return_button(loan.id))))


def loan_ended(loan: Loan) -> Message:
    """An admin's end is recorded; quota follows within a minute."""
    lent = line(of_flavor(loan.amount, loan.flavor), " of ", Theirs(loan.borrower))
    return answer(line(f"{format_request_id(loan.id)} is ended: ", lent, " go back. Work that runs is not stopped."))


def loan_returned(loan: Loan, amount: int) -> Message:
    """The return is recorded; quota follows within a minute. `loan` is what is left of it."""
    given = line(of_flavor(amount, loan.flavor), f" of {format_request_id(loan.id)} go back. ")
    kept = f"{loan.amount:,} stay on loan." if loan.ended_at is None else "Work that runs is not stopped."
    return answer(line(given, kept))


def loan_kept(loan: Loan, quiet: timedelta) -> Message:
    """Nothing of an idle loan goes back."""
    return answer(line(f"{format_request_id(loan.id)} is kept. Not asked again for it for {lasting(quiet)}."))
