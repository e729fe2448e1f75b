"""A counter-offer: other terms for a waiting request, which its requester may accept with one press.

Made by flows/make_offer, answered by flows/answer_offer, closed by flows/close_offer when the request moves on without
it. What is decided here and why:

- An offer asks for less, for a shorter time, later, or by another kind of loan; never for more. So accepting can give
  nobody anything that the requester did not ask for.
- One offer of a request is open at a time. A newer one replaces it: the requester answers the latest word, not a list.
- It is the offerer's own approval of its terms: they would press Approve on what they wrote, and people expect that
  "accepted" is done where one approval is enough. It counts only if they may still give it when it is accepted.
- Every earlier approval was of other terms and does not carry over; it stays stored with the terms it was of.
- Until it is accepted the request waits on as it was asked, with the approvals it has.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.drafts import AskField
from bot.core.durations import format_duration
from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.core.requests import Ask


class OfferState(StrEnum):
    """Only an open offer ever changes, once."""

    OPEN = "open"
    ACCEPTED = "accepted"
    KEPT = "kept"
    """The requester keeps what they asked for."""
    REPLACED = "replaced"
    """By a newer one."""
    VOID = "void"
    """The request moved on without it: approved as asked, denied, withdrawn, lapsed."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What of an ask an offer may change. The fields are the ask's."""

    amount: int
    kind: LoanKind
    lender: str | None
    start: datetime | None
    duration: timedelta | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Offer:
    """One offer. `id` is what the requester's buttons name."""

    id: int
    request: int
    terms: Terms
    instead: Terms
    """The request's own when it was made."""
    who: str
    at: datetime
    words: str = ""
    """Why, as the offerer wrote it."""
    picture: str | None = None
    """What the terms would mean, as in QuotaRequest: compared again when they are accepted."""
    notes: tuple[str, ...] = ()
    """For the card, once they are the request's."""
    state: OfferState = OfferState.OPEN
    settled_by: str | None = None
    """User id, or `bot`; None while it is open."""
    settled_at: datetime | None = None
    version: int = 0
    """For compare-and-set of the row."""


def terms_of(ask: Ask) -> Terms:
    """What of an ask may be changed."""
    return Terms(ask.amount, ask.kind, ask.lender, ask.start, ask.duration, ask.until)


def with_terms(ask: Ask, terms: Terms) -> Ask:
    """The ask on other terms: place, reason and requester stay."""
    return replace(
        ask,
        amount=terms.amount,
        kind=terms.kind,
        lender=terms.lender,
        start=terms.start,
        duration=terms.duration,
        until=terms.until,
    )


def lasts(terms: Terms, now: datetime) -> timedelta:
    """How long a loan on these terms is if it is approved now; not positive if its end has passed."""
    if terms.duration is not None:
        return terms.duration
    assert terms.until is not None
    return terms.until - max(now, terms.start or now)


def as_of(terms: Terms, now: datetime) -> Terms:
    """The same without a start that has passed: it would begin at approval."""
    return replace(terms, start=None) if terms.start is not None and terms.start <= now else terms


def taken_up(asked: Terms, offered: Terms, now: datetime) -> Terms:
    """Offered terms as they are if they are accepted now: a late answer moves no end beyond the one asked for."""
    terms = as_of(offered, now)
    if asked.until is None or terms.duration is None or max(now, terms.start or now) + terms.duration <= asked.until:
        return terms
    return replace(terms, duration=None, until=asked.until)


def check_less(asked: Terms, offered: Terms, now: datetime) -> None:
    """Raises Refused, on its field, for terms that give more than was asked, in amount or time."""
    if offered.amount > asked.amount:
        raise Refused(f"A change can only ask for less: {asked.amount:,} at most. {_MORE}", AskField.AMOUNT)
    longest = lasts(asked, now)
    if longest <= timedelta():
        raise Refused("The time that was asked for has passed.", AskField.UNTIL)
    if lasts(offered, now) > longest:
        raise Refused(f"A change can only be shorter: {format_duration(longest)} at most. {_MORE}", AskField.UNTIL)
    if max(now, offered.start or now) < max(now, asked.start or now):
        raise Refused(f"A change can only start later. {_MORE}", AskField.START_AT)


_MORE = "Let the requester ask for more."


def check_differs(asked: Terms, offered: Terms, now: datetime) -> None:
    """Raises Refused for terms that are those asked for."""
    if as_of(asked, now) == as_of(offered, now):
        raise Refused("Nothing is changed. To agree, press Approve on the card.", AskField.AMOUNT)


def described(flavor: str, terms: Terms) -> str:
    """In one clause, for the audit, the thread and answers: "4 a100, 2 days, transfer from nlp"."""
    length = f"until {terms.until:%Y-%m-%d %H:%M %z}" if terms.duration is None else format_duration(terms.duration)
    lends = f" from {terms.lender}" if terms.lender else ""
    starts = f", starting {terms.start:%Y-%m-%d %H:%M %z}" if terms.start else ""
    return f"{terms.amount:,} {flavor}, {length}, {terms.kind.value}{lends}{starts}"
