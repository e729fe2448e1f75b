"""Messages of the gallery about people who were asked and have not answered. Used by tests/support/view_gallery."""

from collections.abc import Iterator
from dataclasses import replace

from bot.core.ask_backs import AskBack, AskBackState
from bot.core.loans import LoanKind
from bot.core.messages import Message
from bot.views import ask_back, escalation
from bot.views.parts import Group
from tests.support.view_facts import World, at


def asked_back(world: World) -> Iterator[tuple[str, Message]]:
    """A loan that its lender asks back, and what comes of it."""
    if world.kind is not LoanKind.TRANSFER:
        return
    names, loan = world.names, world.loan()
    ask = AskBack(7, 142, "ULEAD0NLP", at("09:00", 3), names.reason)
    facts = ask_back.AskedBack(ask, loan, world.lead, None, names.admin_step)
    yield "answer asked back", ask_back.asked(loan, world.request())
    yield "answer kept", ask_back.kept(loan)
    yield "dm asked back", ask_back.asked_back(facts)
    yield "dm asked back, no reason", ask_back.asked_back(replace(facts, ask=replace(ask, words="")))
    yield "dm asked back, over", ask_back.asked_back(replace(facts, loan=world.over()))
    for state in AskBackState:
        if state is AskBackState.OPEN:
            continue
        by = world.requester if state in {AskBackState.KEPT, AskBackState.RETURNED} else None
        given = 3 if state is AskBackState.RETURNED else None
        settled = replace(ask, state=state, settled_by=by and by.id, settled_at=at("10:00", 3), given=given)
        one = replace(facts, ask=settled, settled_by=by)
        yield f"dm asked back, {state}", ask_back.asked_back(one)
        if state is not AskBackState.OVER:
            yield f"dm to who asked back, {state}", ask_back.answered(one)
    everything = replace(ask, state=AskBackState.RETURNED, given=8)
    yield "dm to who asked back, all", ask_back.answered(replace(facts, ask=everything, loan=world.over()))


def unanswered(world: World) -> Iterator[tuple[str, Message]]:
    """Pings about a request that nobody answers, and that nobody is there."""
    card, names = world.card(), world.names
    label = names.admin_step
    people = escalation.Pinged(label, (world.admin, world.lead), (Group("S0ONCALL", label),))
    longer = replace(card, request=world.extension())
    for name, facts in (("", card), (", extension", longer)):
        yield f"thread reminded{name}", escalation.reminded(facts, people, at("14:05"))
        yield f"thread escalated{name}", escalation.escalated(facts, people, facts.steps[1], "8 h without an answer")
        for admins in (True, False):
            said = escalation.nobody_reachable(facts, names.lead_step, for_admins=admins)
            yield f"nobody reachable{name}, {admins}", said
    yield (
        "thread escalated to an empty group",
        escalation.escalated(card, escalation.Pinged(label), card.steps[0], escalation.NO_ONE_THERE),
    )
