"""The tick under an extra loan that may promise more than the nodes have: who needs it, what it says, what it holds.

Called by chat/buttons (whether Approve asks for it first) and by the flows that turn a request into a loan.
"""

from bot.core.errors import Refused, Stale
from bot.core.impact import Impact, from_json
from bot.core.kueue import FlavorResource
from bot.core.loans import LoanKind
from bot.core.overcommit import Overcommit, on_extra_loan
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.flows.gather import open_loans
from bot.flows.read_cluster import NotRead
from bot.ports.store import UnitOfWork

TICKED = "over-commit ticked: "
"""How the note of a tick begins, in the audit and in the thread."""


def shows_overcommit(request: QuotaRequest) -> bool:
    """Whether the picture on the card promises more than the nodes have, or does not know what they have.

    Not for more time with a loan, which promises nothing that was not ticked when the loan was approved.
    """
    if request.ask.kind is not LoanKind.EXTRA or request.extends is not None:
        return False
    picture = from_json(request.picture) if request.picture else None
    return picture is None or (picture.overcommit is not None and picture.overcommit.needs_tick)


def judged_to_overcommit(request: QuotaRequest) -> bool:
    """Whether no rule approves it by itself: a tick was for the time that was asked for then, not for more of it."""
    more_time = request.ask.kind is LoanKind.EXTRA and request.extends is not None
    return more_time or shows_overcommit(request)


def asks_for_tick(request: QuotaRequest, revision: int) -> bool:
    """Whether a press on this picture opens the form with the tick first. An old picture is refused without it."""
    return request.state is RequestState.WAITING and request.revision == revision and shows_overcommit(request)


def tick_note(ask: Ask, impact: Impact | NotRead, *, ticked: bool) -> str | None:
    """What an approval notes with its numbers; None if none is needed. Raises Refused if it is needed and not given."""
    if ask.kind is not LoanKind.EXTRA:
        return None
    found = Overcommit(0, None) if isinstance(impact, NotRead) else impact.overcommit
    if found is not None and not found.needs_tick:
        return None
    if not ticked:
        raise Refused("This promises more than the nodes have, or may: press Approve again and tick that you know it.")
    if found is None or isinstance(impact, NotRead):
        return f"{TICKED}what is promised and what the nodes have are not known"
    return TICKED + found.in_words(ask.flavor) + (f" ({found.why})" if found.why else "")


def hold_numbers(uow: UnitOfWork, ask: Ask, found: Overcommit | None) -> None:
    """In the transaction that decides: no other extra loan of the flavor came between. Raises Stale."""
    if found is None:
        return
    uow.alone(f"extra:{ask.cluster}")
    if on_extra_loan(open_loans(uow, ask.cluster), FlavorResource(ask.flavor, ask.resource)) > found.on_loan:
        raise Stale(f"another extra loan of {ask.flavor} came between")
