"""The form behind Change: a waiting request's terms, of which an approver offers less, shorter, later or another kind.

The loading view opens first, because a trigger lives 3 s; chat/offers then replaces it. A change of a field sends
nothing: the figures stand on the card that the form was opened from.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.core.durations import format_duration, parse_duration
from bot.core.loans import LoanKind
from bot.core.messages import Block, Message, Modal
from bot.core.offers import Offer
from bot.core.people import Person
from bot.core.requests import QuotaRequest
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit
from bot.views.ids import LENDER_BOT, Field, View, option_value
from bot.views.inputs import Option, instant, select, whole_number, words
from bot.views.kit import alert, line, rich
from bot.views.loan_words import terms_line, what
from bot.views.parts import REASON_LIMIT, Line, Theirs, named
from bot.views.request_form import DURATIONS, KIND_OPTIONS, FormError, LenderChoice, lends

AS_ASKED = "asked"
"""Option value of `Field.CHANGE_UNTIL`: the length or end that was asked for. The others are durations."""
LABELS = {
    Field.CHANGE_AMOUNT: "How many",
    Field.CHANGE_KIND: "How",
    Field.CHANGE_LENDER: "Lender",
    Field.CHANGE_UNTIL: "How long",
    Field.CHANGE_UNTIL_AT: "Or until",
    Field.CHANGE_START_AT: "Start",
    Field.CHANGE_WORDS: "Why",
}


@dataclass(frozen=True, slots=True)
class ChangeValues:
    """What stands in the fields."""

    amount: int | None
    kind: str
    """A LoanKind's value."""
    lender: str = LENDER_BOT
    """`LENDER_BOT` or a queue's name; counts for a transfer only."""
    until: str = AS_ASKED
    """`AS_ASKED` or a duration as typed (`1d`)."""
    until_at: datetime | None = None
    """Goes before `until`."""
    start_at: datetime | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """One form as it should be drawn now."""

    request: QuotaRequest
    requester: Person
    values: ChangeValues
    longest: timedelta
    """How long the request would last if it were approved now."""
    kinds: tuple[LoanKind, ...]
    lenders: tuple[LenderChoice, ...] = ()
    unit: Unit = GPU
    error: FormError | None = None


class ChangeMark(NamedTuple):
    """What a form carries unseen: the request, its revision, and the most that may be offered of it."""

    request: int
    revision: int
    most: int
    longest: timedelta

    def __str__(self) -> str:
        return f"{self.request}:{self.revision}:{self.most}:{self.longest // timedelta(seconds=1)}"


_MARK = re.compile(r"(\d{1,18}):(\d{1,9}):(\d{1,18}):(\d{1,10})", re.ASCII)


def mark_of(metadata: str) -> ChangeMark | None:
    """What a form carried; None if it is none of ours."""
    found = _MARK.fullmatch(metadata)
    if not found:
        return None
    number, revision, most, seconds = (int(one) for one in found.groups())
    return ChangeMark(number, revision, most, timedelta(seconds=seconds))


def loading(request: int) -> Modal:
    """Opens at once; the form replaces it."""
    return note(request, (rich(line("Reading the request. The form follows in a moment.")),))


def checking(request: int) -> Modal:
    """After Offer, while the cluster is asked."""
    return note(request, (rich(line("Checking with the cluster. You can close this; the card says what came of it.")),))


def offered(offer: Offer, request: QuotaRequest, requester: Person) -> Modal:
    """The offer is stored."""
    what_is = line("Offered: ", terms_line(request.ask.flavor, offer.terms), ".")
    then = line(named(requester), " hears by DM. Until they accept it the request waits on as it was asked.")
    return note(request.id, (rich(what_is, then),), close="Done")


def not_offered(request: int, why: Message) -> Modal:
    """Why there is no form, or no offer."""
    return note(request, why.blocks)


def note(request: int, blocks: tuple[Block, ...], close: str = "Close") -> Modal:
    """A state without fields."""
    return Modal(View.REQUEST_LOADING, _title(request), blocks, close=close)


def _title(request: int) -> str:
    return f"Change {format_request_id(request)}"


def change_form(facts: ChangeFacts) -> Modal:
    """The fields, filled with the request's own terms."""
    request = facts.request
    mark = ChangeMark(request.id, request.revision, request.ask.amount, facts.longest)
    problem = (alert(*_problem(facts.error)),) if facts.error else ()
    blocks = (*problem, rich(*_about(facts)), *_fields(facts))
    return Modal(View.CHANGE_FORM, _title(request.id), blocks, submit="Offer", metadata=str(mark))


def _problem(error: FormError) -> Line:
    label = f"{LABELS[error.field]}: " if error.field in LABELS else ""
    return line(label, Theirs(error.sentence, 180))


def _about(facts: ChangeFacts) -> tuple[Line, ...]:
    asked = line(what(facts.request.ask), ", asked by ", named(facts.requester))
    return asked, line("Offer less, shorter, later or another kind. It counts as your approval if it is accepted.")


def _fields(facts: ChangeFacts) -> tuple[Block, ...]:
    now, ask = facts.values, facts.request.ask
    kinds = [KIND_OPTIONS[kind] for kind in facts.kinds if kind in KIND_OPTIONS]
    amount = f"Whole {facts.unit.many}, 1 to {ask.amount:,}"
    later = "Empty: at approval" if ask.start is None else "Not before what was asked for"
    return (
        whole_number(Field.CHANGE_AMOUNT, LABELS[Field.CHANGE_AMOUNT], now.amount, ask.amount, amount),
        *((select(Field.CHANGE_KIND, LABELS[Field.CHANGE_KIND], kinds, now.kind),) if kinds else ()),
        *_lender(facts),
        select(Field.CHANGE_UNTIL, LABELS[Field.CHANGE_UNTIL], _lengths(facts), now.until),
        instant(
            *(Field.CHANGE_UNTIL_AT, LABELS[Field.CHANGE_UNTIL_AT], now.until_at, "Goes before the length above"),
            optional=True,
        ),
        instant(Field.CHANGE_START_AT, LABELS[Field.CHANGE_START_AT], now.start_at, later, optional=True),
        words(
            *(Field.CHANGE_WORDS, LABELS[Field.CHANGE_WORDS], now.words, REASON_LIMIT, "The requester sees this"),
            optional=True,
        ),
    )


def _lender(facts: ChangeFacts) -> tuple[Block, ...]:
    if not facts.lenders:
        return ()
    options = [Option(LENDER_BOT, "Let the bot choose")]
    options += [Option(option_value(one.queue), one.queue, lends(one)) for one in facts.lenders]
    hint = "Of a transfer; the lender's lead must approve"
    return (select(Field.CHANGE_LENDER, LABELS[Field.CHANGE_LENDER], options, facts.values.lender, hint),)


def _lengths(facts: ChangeFacts) -> list[Option]:
    """As asked, and what is shorter. A plain option cannot show the reader's zone, so an end is not spelt out."""
    asked = facts.request.ask.duration
    options = [Option(AS_ASKED, f"As asked: {format_duration(asked)}" if asked is not None else "As asked")]
    typed = [*DURATIONS, *((facts.values.until,) if facts.values.until not in (*DURATIONS, AS_ASKED) else ())]
    for one in typed:
        length = parse_duration(one)
        if isinstance(length, timedelta) and length < facts.longest:
            options.append(Option(one, format_duration(length)))
    return options
