"""Direct messages about a counter-offer: what is offered instead of what, and later what came of it.

Rendered by the deliverer. The message of an offer is one for its whole life: once the offer is settled its buttons are
gone, and it says how.
"""

from datetime import datetime

from bot.core.loans import LoanKind
from bot.core.messages import Message
from bot.core.offers import OfferState, Terms, terms_of
from bot.core.requests import RequestState
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import joined, number, of_flavor
from bot.views.facts import CardFacts, Offered
from bot.views.kit import Symbol, actions, headline, line, rich
from bot.views.loan_state import told
from bot.views.loan_words import how_long, terms_line
from bot.views.parts import Clock, Line, Mention, Moment, Part, Reason, Theirs, named, sentence
from bot.views.request_card import offer_buttons, withdraw_button


def counter_offer(facts: CardFacts, offered: Offered) -> Message:
    """To the requester: the difference, number first; who and why; the answers."""
    request, offer = facts.request, offered.offer
    name = f" ({format_request_id(request.id)})"
    if offer.state is not OfferState.OPEN or request.state is not RequestState.WAITING:
        return _settled(facts, offered, name)
    first = line(difference(request.ask.flavor, offer.terms, offer.instead), name)
    why = line(": ", Reason(offer.words)) if offer.words else line(" offers this")
    lines = [line(Mention(offered.by), why)]
    if offer.terms.kind is LoanKind.BORROW and offer.instead.kind is not LoanKind.BORROW:
        lines.append(line("Borrowed quota: Kueue may reclaim it"))
    lines.append(line("Nothing happens until you choose"))
    buttons = actions(*offer_buttons(offer), withdraw_button(request.id, request.name))
    return Message(sentence(first), (headline(Symbol.WAITS, first), rich(*lines), *buttons))


def _settled(facts: CardFacts, offered: Offered, name: str) -> Message:
    terms = terms_line(facts.request.ask.flavor, offered.offer.terms)
    at = line(" ", Clock(offered.offer.settled_at)) if offered.offer.settled_at else ()
    symbol = Symbol.IN_FORCE if offered.offer.state is OfferState.ACCEPTED else Symbol.OVER
    what, why = _outcome(facts, offered)
    by = line(Mention(offered.settled_by), f" {why}") if offered.settled_by else line(_BY_ITSELF[facts.request.state])
    first = line(f"Offer {what}: ", terms, name)
    return Message(sentence(first), (headline(symbol, first), rich(line(by, at))))


def _outcome(facts: CardFacts, offered: Offered) -> tuple[str, str]:
    """What the offer is now, and what its person did."""
    match offered.offer.state:
        case OfferState.ACCEPTED:
            return "accepted", "accepted it"
        case OfferState.KEPT:
            return "turned down", "keeps what was asked for"
        case OfferState.REPLACED:
            return "replaced", "made a newer one"
        case _:
            return "void", _VOID.get(facts.request.state, "approved what was asked for")


_VOID = {RequestState.DENIED: "denied the request", RequestState.WITHDRAWN: "withdrew the request"}
_BY_ITSELF = {
    RequestState.WAITING: "What was asked for is being decided",
    RequestState.APPROVED: "The request was approved",
    RequestState.DENIED: "The policy denied the request",
    RequestState.WITHDRAWN: "The request was withdrawn",
    RequestState.LAPSED: "The request lapsed: nobody decided in time",
}
"""Without a person, or before it is known who it was."""


def offer_void(facts: CardFacts, offered: Offered) -> Message:
    """To the requester: somebody approved what was asked for, so the offer is no longer open; more approvals follow."""
    ask = facts.request.ask
    asked = terms_line(ask.flavor, offered.offer.instead)
    first = line(asked, f": approved as asked, the offer is void ({format_request_id(facts.request.id)})")
    who = [line("By ", Mention(offered.settled_by))] if offered.settled_by else []
    was = line("The offer was ", terms_line(ask.flavor, offered.offer.terms), ", by ", named(offered.by))
    return Message(sentence(first), (headline(Symbol.WAITS, first), rich(*who, was)))


def offer_answered(facts: CardFacts, offered: Offered) -> Message:
    """To the offerer: what the requester answered, and how the request stands now."""
    offer, ask = offered.offer, facts.request.ask
    accepted = offer.state is OfferState.ACCEPTED
    what = "accepted" if accepted else "turned down"
    first = line(terms_line(ask.flavor, offer.terms), f": {what} ({format_request_id(facts.request.id)})")
    by = line("By ", Mention(offered.settled_by)) if offered.settled_by else ()
    stands = [line("Asked for: ", terms_line(ask.flavor, terms_of(ask)))] if not accepted else []
    lines = [one for one in (by, *stands, told(facts).state) if one]
    return Message(sentence(first), (headline(Symbol.IN_FORCE if accepted else Symbol.OVER, first), rich(*lines)))


def difference(flavor: str, new: Terms, old: Terms) -> Line:
    """Only what differs: "4 a100 for 2 days instead of 8 for 3 days"."""
    now, was = [line(of_flavor(new.amount, flavor))], []
    if new.amount != old.amount:
        was.append(line(number(old.amount)))
    for after, before in ((_length(new), _length(old)), (_kind(new), _kind(old)), (_start(new), _start(old))):
        if after != before:
            now.append(after)
            was.append(before)
    return line(joined(now, " ", " "), " instead of ", joined(was, " ", " "))


def _length(terms: Terms) -> Line:
    return line("for " if terms.duration is not None else "", how_long(terms))


def _kind(terms: Terms) -> Line:
    lender: tuple[Part, ...] = (" from ", Theirs(terms.lender)) if terms.lender else ()
    return line(f"by {terms.kind.value}", *lender)


def _start(terms: Terms) -> Line:
    start: datetime | None = terms.start
    return line("starting ", Moment(start)) if start else line("starting at approval")
