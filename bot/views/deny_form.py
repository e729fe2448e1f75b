"""The form that asks for the reason of a denial. Opened by Deny on a card."""

from bot.core.messages import Modal
from bot.core.requests import QuotaRequest
from bot.core.wording.request_ids import format_request_id
from bot.views.ids import Field, View
from bot.views.inputs import words
from bot.views.kit import line, rich
from bot.views.loan_words import how_long, what
from bot.views.parts import REASON_LIMIT, Theirs


def deny_form(request: QuotaRequest, requester_name: str) -> Modal:
    """The request in one line, and the reason. `metadata` is the request's number."""
    asked = line(what(request.ask), ", ", how_long(request.ask), ", asked by ", Theirs(requester_name))
    reason = words(Field.DENY_WORDS, "Reason", "", REASON_LIMIT, "The requester sees this")
    title = f"Deny {format_request_id(request.id)}"
    return Modal(View.DENY_FORM, title, (rich(asked), reason), "Deny", metadata=str(request.id))
