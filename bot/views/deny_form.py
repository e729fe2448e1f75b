"""The form that asks for the reason of a denial. Opened by Deny on a card."""

from bot.core.messages import Modal
from bot.core.requests import QuotaRequest
from bot.views.ids import Field, View
from bot.views.inputs import words
from bot.views.kit import line, rich
from bot.views.loan_words import asked, how_long
from bot.views.parts import REASON_LIMIT, Theirs


def deny_form(request: QuotaRequest, requester_name: str) -> Modal:
    """The request in one line, and the reason. `metadata` is the request's number."""
    length = line(", ", how_long(request.ask)) if request.extends is None else ()
    what = line(asked(request), length, ", asked by ", Theirs(requester_name))
    reason = words(Field.DENY_WORDS, "Reason", "", REASON_LIMIT, "The requester sees this")
    title = f"Deny {request.name}"
    return Modal(View.DENY_FORM, title, (rich(what), reason), "Deny", metadata=str(request.id))
