"""The request form in its states: loading, the fields with live lines, checking, sent, not sent.

The loading view opens first, always, because a trigger lives 3 s; chat then replaces it. What stands in the fields
comes in as `FormValues` and goes out as `view.state.values` under the same ids; reading those is chat's part.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.durations import format_duration
from bot.core.loans import LoanKind
from bot.core.messages import Block, Modal
from bot.core.overcommit import Overcommit
from bot.core.requests import QuotaRequest
from bot.views.amounts import GPU, Unit, counted, joined, of_flavor
from bot.views.answers.done import sent_line
from bot.views.facts import Step
from bot.views.ids import KIND_BOT, LENDER_BOT, REPEAT_ONCE, UNTIL_DATE, Action, Field, View, option_value
from bot.views.impact_lines import managed_lines, promised_line
from bot.views.inputs import MOST_OPTIONS, Option, instant, select, whole_number, words
from bot.views.kit import actions, alert, button, line, rich
from bot.views.parts import REASON_LIMIT, Clock, Code, Line, Reason, Theirs
from bot.views.repeat_fields import REPEAT_LABELS, repeat_fields

TITLE = "Request GPU quota"
DURATIONS = ("8h", "1d", "3d", "1w", "2w")
"""Option values of `Field.UNTIL` beside `UNTIL_DATE`, as the request line would say them."""
_LENGTHS = {"8h": "8 hours", "1d": "1 day", "3d": "3 days", "1w": "1 week", "2w": "2 weeks"}


@dataclass(frozen=True, slots=True)
class QueueChoice:
    """A queue that the person may ask for, with its team."""

    queue: str
    team: str


@dataclass(frozen=True, slots=True)
class FlavorChoice:
    """A flavor that the chosen queue lists."""

    name: str
    note: str = ""
    """From the configuration, such as "80 GB"."""


@dataclass(frozen=True, slots=True)
class LenderChoice:
    """A queue that may lend, and how much of the flavor it can lend now."""

    queue: str
    lends: int | None


@dataclass(frozen=True, slots=True)
class FormValues:
    """What stands in the fields. None: nothing chosen yet."""

    queue: str | None = None
    flavor: str | None = None
    amount: int | None = None
    kind: str = KIND_BOT
    """`KIND_BOT` or a LoanKind's value."""
    until: str = "3d"
    """A duration as typed (`3d`), or `UNTIL_DATE`."""
    until_at: datetime | None = None
    lender: str = LENDER_BOT
    """`LENDER_BOT` or a queue's name."""
    start_at: datetime | None = None
    repeat: str = REPEAT_ONCE
    """`REPEAT_ONCE` or the value of an `Every`."""
    repeat_until: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FormPicture:
    """What the choices so far would mean."""

    flavor: str
    where: str
    """Cohort, or the queue if it is in none."""
    queue: str
    free: int | None = None
    """Free by quota; None if there are no live figures."""
    read_at: datetime | None = None
    kind: LoanKind | None = None
    """What it would be; None while that is open."""
    steps: tuple[Step, ...] = ()
    rule: str | None = None
    """The rule that would approve it at once."""
    unlimited: bool = False
    """The queue may borrow without a limit already."""
    denied: str | None = None
    """Why policy says no."""
    managed_by: tuple[tuple[str, str], ...] = ()
    """(queue, tool) where GitOps owns a queue."""
    in_git: tuple[str, ...] = ()
    """Queues for which the bot only proposes changes."""
    trouble: str | None = None
    """Why there are no live figures: a clause such as "the API server is not answering"."""
    overcommit: Overcommit | None = None
    """Of an extra loan: what would be promised with it."""


@dataclass(frozen=True, slots=True)
class FormError:
    """Why a sent form came back."""

    sentence: str
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class FormFacts:
    """One form as it should be drawn now."""

    draft: str
    """Id of the draft: private_metadata."""
    queues: tuple[QueueChoice, ...]
    flavors: tuple[FlavorChoice, ...]
    values: FormValues
    lenders: tuple[LenderChoice, ...] = ()
    kinds: tuple[LoanKind, ...] = (LoanKind.BORROW, LoanKind.TRANSFER)
    most: int | None = None
    """The most per request that policy allows."""
    longest: timedelta | None = None
    reason_needed: bool = True
    more: bool = False
    """Lender, start and repeat are shown."""
    picture: FormPicture | None = None
    checking: bool = False
    """The live lines are being read."""
    error: FormError | None = None
    unit: Unit = GPU


LABELS = {
    Field.QUEUE: "For",
    Field.FLAVOR: "GPU type",
    Field.AMOUNT: "How many",
    Field.KIND: "How",
    Field.UNTIL: "Until",
    Field.UNTIL_AT: "End",
    Field.REASON: "Reason",
    Field.LENDER: "Lender",
    Field.START_AT: "Start",
    **REPEAT_LABELS,
}
KIND_OPTIONS = {
    LoanKind.BORROW: Option("borrow", "Borrow", "If free; Kueue may take it back"),
    LoanKind.TRANSFER: Option("transfer", "Transfer", "Guaranteed, another team lends"),
    LoanKind.EXTRA: Option("extra", "Extra", "Nobody lends: for spare or new nodes, or a queue in no cohort"),
}


def loading(draft: str) -> Modal:
    """Opens at once; the form replaces it."""
    return _note(draft, line("Reading the cluster. The form follows in a moment."))


def checking(draft: str) -> Modal:
    """After Request, while the cluster is asked."""
    return _note(draft, line("Checking with the cluster. You can close this; the answer also comes by DM."))


def sent(request: QuotaRequest, channel: str | None) -> Modal:
    """The request is recorded. `channel`: id of the approvals channel; None if a rule approved it."""
    return _note("", sent_line(request, channel), close="Done")


def not_sent(why: str) -> Modal:
    """Nothing was recorded. `why` is a clause such as "the database is not answering"."""
    return _note("", line(f"Not sent: {why}. Nothing was recorded. Try again in a few minutes."))


def _note(draft: str, said: Line, close: str = "Close") -> Modal:
    return Modal(View.REQUEST_LOADING, TITLE, (rich(said),), close=close, metadata=draft)


def form(facts: FormFacts) -> Modal:
    """The fields, filled with what is known, above the live lines."""
    if not facts.queues:
        return _note(facts.draft, line("You can request for your own teams, and you are in none. Ask an admin."))
    problem = (alert(*_problem(facts.error)),) if facts.error else ()
    blocks = (*problem, *_fields(facts), *_live(facts), *_more(facts))
    return Modal(View.REQUEST_FORM, TITLE, blocks, submit="Request", metadata=facts.draft)


def _problem(error: FormError) -> Line:
    label = f"{LABELS[error.field]}: " if error.field in LABELS else ""
    return line(label, Theirs(error.sentence, 180))


def _fields(facts: FormFacts) -> tuple[Block, ...]:
    now = facts.values
    queues = [Option(option_value(one.queue), _queue_label(one)) for one in facts.queues]
    flavors = [Option(option_value(one.name), _flavor_label(one)) for one in facts.flavors]
    kinds = [
        Option(KIND_BOT, "Let the bot choose"),
        *(KIND_OPTIONS[kind] for kind in facts.kinds if kind in KIND_OPTIONS),
    ]
    reason = words(
        *(Field.REASON, LABELS[Field.REASON], now.reason, REASON_LIMIT, "Approvers see this"),
        optional=not facts.reason_needed,
    )
    return (
        select(Field.QUEUE, LABELS[Field.QUEUE], queues, now.queue, _queue_hint(facts)),
        *((select(Field.FLAVOR, LABELS[Field.FLAVOR], flavors, now.flavor),) if flavors else ()),
        whole_number(Field.AMOUNT, LABELS[Field.AMOUNT], now.amount, facts.most, _amount_hint(facts)),
        select(Field.KIND, LABELS[Field.KIND], kinds, now.kind),
        *_until(facts),
        reason,
    )


def _queue_label(choice: QueueChoice) -> str:
    return f"{clipped(choice.team)} (queue {clipped(choice.queue)})"


def clipped(name: str) -> str:
    """A name short enough for two of them to fit an option."""
    return name if len(name) <= 30 else f"{name[:15]}…{name[-14:]}"


def _flavor_label(choice: FlavorChoice) -> str:
    return f"{choice.name}, {choice.note}" if choice.note else choice.name


def _queue_hint(facts: FormFacts) -> str:
    if len(facts.queues) > MOST_OPTIONS:
        return f"The first {MOST_OPTIONS} of {len(facts.queues):,}. For others type: request 8 in QUEUE"
    return "Where the quota goes"


def _amount_hint(facts: FormFacts) -> str:
    whole = f"Whole {facts.unit.many}"
    return f"{whole}, from 1" if facts.most is None else f"{whole}, 1 to {facts.most:,}"


def _until(facts: FormFacts) -> tuple[Block, ...]:
    now = facts.values
    lengths = list(DURATIONS)
    if now.until not in (*lengths, UNTIL_DATE):
        lengths.append(now.until)
    options = [Option(one, f"{_LENGTHS.get(one, one)} after approval") for one in lengths]
    options.append(Option(UNTIL_DATE, "A date I choose"))
    longest = f", at most {format_duration(facts.longest)}" if facts.longest else ""
    chosen = select(Field.UNTIL, LABELS[Field.UNTIL], options, now.until, f"The clock starts at approval{longest}")
    if now.until != UNTIL_DATE:
        return (chosen,)
    return (chosen, instant(Field.UNTIL_AT, LABELS[Field.UNTIL_AT], now.until_at))


def _live(facts: FormFacts) -> tuple[Block, ...]:
    if facts.checking:
        return (rich(line("Checking…")),)
    return (rich(*picture_lines(facts.picture)),) if facts.picture else ()


def picture_lines(picture: FormPicture) -> list[Line]:
    """What the choices would mean, in the two or three lines above the buttons."""
    queue = Theirs(picture.queue)
    if picture.denied:
        return [line("Policy says no: ", Theirs(picture.denied, 200))]
    if picture.unlimited:
        limit = Code("borrowingLimit")
        none = line(queue, " may borrow without a limit already (no ", limit, "): no loan is needed.")
        return [none, *_free_line(picture)]
    warnings = managed_lines(picture.managed_by, picture.in_git)
    promised = [promised_line(picture.overcommit, picture.flavor)] if picture.overcommit else []
    return [*_free_line(picture), *promised, *_decided_line(picture), *warnings]


def _free_line(picture: FormPicture) -> list[Line]:
    if picture.free is None:
        why = picture.trouble or "the cluster is not answering"
        return [line("No live figures: ", Reason(why), ". You can still ask.")]
    read = line(" (read ", Clock(picture.read_at), ")") if picture.read_at else ()
    certain = ". A transfer makes it certain" if not picture.free and picture.kind is LoanKind.BORROW else ""
    amount = of_flavor(picture.free, picture.flavor)
    return [line(amount, " free by quota in ", Theirs(picture.where), " at this moment", read, f"{certain}.")]


def _decided_line(picture: FormPicture) -> list[Line]:
    kind = f"{picture.kind.value.capitalize()}: " if picture.kind else ""
    if picture.rule:
        return [line(kind, "approved at once by rule ", Theirs(picture.rule), ".")]
    if not picture.steps:
        return []
    needed = sum(step.count for step in picture.steps)
    who = joined([line(Theirs(step.label)) for step in picture.steps])
    return [line(kind, f"{counted(needed, 'approval')}, from ", who, ".")]


def _more(facts: FormFacts) -> tuple[Block, ...]:
    if not facts.more:
        return actions(button("More options", Action.FORM_MORE, facts.draft))
    lenders = [Option(LENDER_BOT, "Let the bot choose")]
    lenders += [Option(option_value(one.queue), one.queue, lends(one)) for one in facts.lenders]
    now = facts.values
    return (
        select(Field.LENDER, LABELS[Field.LENDER], lenders, now.lender, "The lender's lead must approve"),
        instant(Field.START_AT, LABELS[Field.START_AT], now.start_at, "Empty: at approval", optional=True),
        *repeat_fields(now.repeat, now.repeat_until),
    )


def lends(choice: LenderChoice) -> str:
    """How much it can lend now."""
    return "how much it can lend is not known" if choice.lends is None else f"lends at most {choice.lends:,} now"
