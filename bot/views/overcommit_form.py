"""The form that asks an approver to say that more is promised than exists. Opened by Approve on an extra loan's card.

It shows what the card shows, so that what was ticked is the picture whose revision goes with the form.
"""

from bot.core.messages import Modal
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import devices
from bot.views.facts import CardFacts
from bot.views.ids import Field, View
from bot.views.impact_lines import promised_line
from bot.views.inputs import tick
from bot.views.kit import line, rich
from bot.views.loan_words import how_long, what
from bot.views.parts import Theirs


def overcommit_form(facts: CardFacts) -> Modal:
    """The request in one line, the numbers, and the tick. `metadata` is the request's number."""
    request, found = facts.request, facts.impact.overcommit if facts.impact else None
    asked = line(what(request.ask), ", ", how_long(request.ask), ", asked by ", Theirs(facts.requester.name))
    unknown = line("No live figures: what is promised and what the nodes have are not known")
    numbers = promised_line(found, request.ask.flavor) if found else unknown
    says = f"I know that more {facts.unit.many} may be promised than exist"
    if found and found.over:
        are = "is" if found.over == 1 else "are"
        says = f"I know that {devices(found.over, facts.unit)} more {are} promised than exist"
    box = tick(Field.OVERCOMMIT_TICK, "Over-commit", says, "Jobs may be admitted and find no node")
    title = f"Over-commit {format_request_id(request.id)}"
    return Modal(View.OVERCOMMIT_FORM, title, (rich(asked, numbers), box), "Approve", metadata=str(request.id))
