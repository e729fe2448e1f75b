"""The app's Home tab: what waits for its reader first, then their loans and what their teams use. For flows/home_facts.

Approve and Deny are not here: the card has the picture that is decided on, so a row links to it. What a row of one's
own can do are the buttons of one's own copy of the card.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.ask_backs import AskBack
from bot.core.loans import Loan
from bot.core.messages import Block, Home
from bot.core.pause import Pause
from bot.core.people import Person
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import counted, number, of_flavor, up_to
from bot.views.answers.status import TeamStatus, team_use
from bot.views.facts import CardFacts
from bot.views.ids import NEW, Action
from bot.views.kit import actions, button, context, heading, line, link_button, rich
from bot.views.loan_state import CardState, is_over, state_of, told, waiting_count
from bot.views.loan_words import asked, how_long, terms_line, what
from bot.views.parts import Code, Line, Moment, Reason, Theirs, named
from bot.views.pause import paused_line
from bot.views.request_card import ask_back_button, requester_buttons, return_button

MOST_EACH = 10
"""Rows of one list: two blocks each, and a Home tab has 100 at most."""
MOST_TEAMS = 5


@dataclass(frozen=True, slots=True)
class ToDecide:
    """A request of somebody else's that the reader may decide now."""

    facts: CardFacts
    link: str | None = None
    """Of the card; None if it is not posted, or Slack did not say."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A loan of the reader's that its lender asks back."""

    ask: AskBack
    loan: Loan
    by: Person


@dataclass(frozen=True, slots=True)
class OpenEdit:
    """A number that somebody changed outside the bot, and that no admin has explained yet."""

    queue: str
    flavor: str
    live: int | None
    expected: int | None
    since: datetime
    link: str | None = None


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """What there is for one person. A list without a count of what is left is whole: the view cuts it."""

    read_at: datetime
    decide: Sequence[ToDecide] = ()
    """The oldest first."""
    decide_left: int = 0
    """How many more there are."""
    edits: Sequence[OpenEdit] = ()
    """For admins."""
    asked_back: Sequence[AskedFor] = ()
    own: Sequence[CardFacts] = ()
    """The reader's requests that wait and loans that are not over, the newest first."""
    team_loans: Sequence[CardFacts] = ()
    """What teams that the reader leads have on loan, but for the reader's own; the newest first."""
    team_left: int = 0
    lent: Sequence[Loan] = ()
    """Of teams that the reader leads, the next end first."""
    teams: Sequence[TeamStatus] = ()
    leads: bool = False
    admin: bool = False
    in_no_team: bool = False
    """An admin may request all the same."""
    trouble: Sequence[str] = ()
    """What is not well, a clause each."""
    pause: Pause | None = None
    observe: bool = False


def home(facts: HomeFacts) -> Home:
    """Parts that have nothing to say are left out, but for those that teach."""
    may_request = facts.admin or not facts.in_no_team
    request = [button("Request quota", Action.OPEN_REQUEST, NEW, primary=True)] if may_request else []
    foot = actions(*request, button("Refresh", Action.HOME_REFRESH, NEW))
    loans = (*_own(facts), *_team_loans(facts), *_lent(facts))
    return Home((*_waits(facts), *loans, *_teams(facts), *_not_well(facts), *foot), facts.read_at)


def closed_home(sentence: str, read_at: datetime) -> Home:
    """For those who may neither request nor decide: why, and nothing else."""
    return Home((rich(line(sentence)),), read_at)


def home_json(shown: Home) -> dict[str, Any]:
    """The `view` of views.publish: how old it is stands first."""
    return {"type": "home", "blocks": [context("As of ", Moment(shown.read_at)), *shown.blocks]}


def _waits(facts: HomeFacts) -> list[Block]:
    offered = [one for one in facts.own if state_of(one) is CardState.OFFERED]
    rows = [
        *(_ask_back(one) for one in facts.asked_back),
        *(_offer(one) for one in offered),
        *(_edit(one) for one in facts.edits),
        *(_decide(one) for one in facts.decide),
    ]
    if rows:
        return [heading("Waiting for you"), *_cut(rows, "list waiting", facts.decide_left)]
    nobody = " Nobody asks for your team's quota." if facts.leads else ""
    return [heading("Waiting for you"), rich(line(f"Nothing waits for you.{nobody}"))]


_Row = tuple[Line, list[dict[str, Any]]]
"""A line, and the buttons under it."""


def _cut(rows: Sequence[_Row], command: str, more: int = 0) -> list[Block]:
    """`more`: rows that are not among these."""
    blocks: list[Block] = []
    for text, buttons in rows[:MOST_EACH]:
        blocks += [rich(text), *actions(*buttons)]
    left = more + len(rows) - MOST_EACH
    return [*blocks, rich(line(f"and {left:,} more: ", Code(f"/gpu-quota {command}")))] if left > 0 else blocks


def _ask_back(one: AskedFor) -> _Row:
    why = line(": ", Reason(one.ask.words, 150)) if one.ask.words else ()
    amount = of_flavor(one.loan.amount, one.loan.flavor)
    asks = line(" asked back by ", Theirs(one.loan.lender or ""), ", ", named(one.by), why)
    keep = button("Keep", Action.ASK_BACK_KEEP, str(one.ask.id))
    return line(_name(one.loan.id), amount, asks), [return_button(one.loan.id), keep]


def _offer(facts: CardFacts) -> _Row:
    assert facts.offered
    offer, flavor = facts.offered.offer, facts.request.ask.flavor
    why = line(": ", Reason(offer.words, 150)) if offer.words else ()
    words = line("changed to ", terms_line(flavor, offer.terms), " by ", named(facts.offered.by), why)
    return line(_name(facts.request.id), words), requester_buttons(facts)


def _edit(one: OpenEdit) -> _Row:
    expected = f", expected {number(one.expected)}" if one.expected is not None else ""
    words = line(Theirs(one.queue), " ", Theirs(one.flavor), f" is {number(one.live)}{expected}, since ")
    open_it = link_button("Open question", Action.CARD_OPEN, NEW, one.link) if one.link else None
    return line(words, Moment(one.since)), [open_it] if open_it else []


def _decide(one: ToDecide) -> _Row:
    request, value = one.facts.request, str(one.facts.request.id)
    wish = line(asked(request)) if request.extends else line(what(request.ask), ", ", how_long(request.ask))
    words = line(wish, ": ", named(one.facts.requester), f" asks, {waiting_count(one.facts)}, since ")
    open_it = [link_button("Open card", Action.CARD_OPEN, value, one.link)] if one.link else []
    return (
        line(_name(request.id), words, Moment(request.created_at)),
        [*open_it, button("Details", Action.CARD_DETAILS, value)],
    )


def _own(facts: HomeFacts) -> list[Block]:
    rows = [_own_row(one) for one in facts.own if state_of(one) is not CardState.OFFERED]
    if rows:
        return [heading("Your requests and loans"), *_cut(rows, "list mine")]
    if facts.own:
        return []
    title = heading("Your requests and loans")
    if facts.in_no_team and not facts.admin:
        return [title, rich(line("You are in no team yet. Ask an admin to add you."))]
    how = "When your work waits, request quota: you name an amount and an end, approvers see what it means, it goes "
    return [title, rich(line("No loans. ", how, "back by itself."))]


def _own_row(facts: CardFacts) -> _Row:
    request, loan = facts.request, facts.loan
    if request.extends is not None:
        return line(_name(request.id), asked(request), ", ", told(facts).short), requester_buttons(facts)
    if loan is None:
        words = line(what(request.ask), ", ", how_long(request.ask), ", ", told(facts).short)
        return line(_name(request.id), words), requester_buttons(facts)
    amount = line(of_flavor(loan.amount, loan.flavor), " for ", Theirs(loan.borrower))
    ends = line(", ends ", Moment(loan.end)) if not is_over(loan) else ()
    return line(_name(request.id), amount, ", ", told(facts).short, ends), requester_buttons(facts)


def _team_loans(facts: HomeFacts) -> list[Block]:
    if not facts.team_loans:
        return []
    rows = [_team_row(one) for one in facts.team_loans]
    several = len({one.request.ask.team for one in facts.team_loans}) > 1
    return [heading("Your teams' loans" if several else "Your team's loans"), *_cut(rows, "list team", facts.team_left)]


def _team_row(facts: CardFacts) -> _Row:
    words, buttons = _own_row(facts)
    return line(words, " · ", named(facts.requester)), buttons


def _lent(facts: HomeFacts) -> list[Block]:
    rows = [_lent_row(one) for one in facts.lent]
    return [heading("Lent out"), *_cut(rows, "list team")] if rows else []


def _lent_row(loan: Loan) -> _Row:
    amount = line(of_flavor(loan.amount, loan.flavor), " of ", Theirs(loan.lender or ""))
    words = line(amount, " to ", Theirs(loan.borrower), ", ends ", Moment(loan.end))
    return line(_name(loan.id), words), [ask_back_button(loan.id)] if loan.in_force_at is not None else []


def _teams(facts: HomeFacts) -> list[Block]:
    if not facts.teams:
        return []
    shown = [team_use(one) for one in facts.teams[:MOST_TEAMS]]
    left = len(facts.teams) - MOST_TEAMS
    more = [line(f"and {counted(left, 'more team')}: ", Code("/gpu-quota status TEAM"))] if left > 0 else []
    return [heading("Your team" if len(facts.teams) == 1 else "Your teams"), rich(*shown, *more)]


def _not_well(facts: HomeFacts) -> list[Block]:
    lines = [paused_line(facts.pause)] if facts.pause else []
    lines += [line("Observe mode: approving writes nothing")] if facts.observe else []
    if facts.trouble:
        lines.append(up_to([line(Reason(one)) for one in facts.trouble], MOST_TEAMS, "; "))
    return [rich(*lines)] if lines else []


def _name(request: int) -> str:
    return f"{format_request_id(request)}: "
