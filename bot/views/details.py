"""What is behind Details on a card: the rule and why, the queues, every workload named, the team's other loans.

A modal, so no tables: the queues stand in preformatted text.
"""

from dataclasses import dataclass

from bot.core.messages import Block, Modal
from bot.views.columns import columns
from bot.views.edit_question import ignore_rule
from bot.views.facts import CardFacts
from bot.views.ids import View
from bot.views.impact_lines import impact_lines, no_figures
from bot.views.kit import bullets, line, pre, rich
from bot.views.loan_state import told
from bot.views.parts import Line, Reason, Theirs, words
from bot.views.past_lines import past_lines
from bot.views.request_card import step_name, terms, title

_MOST_WORKLOADS, _MOST_QUEUES, _MOST_OTHERS = 40, 30, 10


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """One queue of the cohort, in whole devices of the request's flavor."""

    queue: str
    quota: int
    reserved: int
    borrowed: int
    waiting: int | None
    """None: not known."""


@dataclass(frozen=True, slots=True)
class DetailsFacts:
    """A request with what a card has no room for."""

    card: CardFacts
    why: tuple[str, ...] = ()
    """Why policy decided so, a sentence each; the rule that decided first."""
    queues: tuple[QueueFigures, ...] = ()
    others: tuple[str, ...] = ()
    """The team's other open requests and loans, one line each."""
    on_loan: int | None = None
    """Devices that the team has on loan now; None if not known."""
    most_on_loan: int | None = None
    """The most that policy allows it; None if it sets none."""


def details(facts: DetailsFacts) -> Modal:
    """The modal of Details."""
    card = facts.card
    reason = card.request.ask.reason
    head = [title(card), told(card).state, terms(card), *([line(Reason(reason))] if reason.strip() else [])]
    impact = impact_lines(card.impact, card.unit, most_named=_MOST_WORKLOADS) if card.impact else []
    if card.request.extends is not None:
        impact = [line("The same quota for longer: no number of a queue changes")]
    blocks: list[Block] = [
        rich(*head, bold_first=True),
        bullets([*(impact or [no_figures(card.no_figures_since)]), *past_lines(card.past, card.request.ask)]),
        *_policy(facts),
        *_queues(facts.queues),
        *_team(facts),
        *_git(card),
    ]
    return Modal(View.DETAILS, f"Details of {card.request.subject}", tuple(blocks))


def _part(heading: str, *lines: Line) -> Block:
    return rich(line(heading), *lines, bold_first=True)


def _policy(facts: DetailsFacts) -> list[Block]:
    steps = [line("Step ", f"{at}: ", step_name(one)) for at, one in enumerate(facts.card.steps, start=1)]
    why = [line(Reason(one)) for one in facts.why]
    return [_part("Who decides, and why", *steps, *why)] if steps or why else []


def _queues(queues: tuple[QueueFigures, ...]) -> list[Block]:
    if not queues:
        return []
    rows = [
        (words(Theirs(one.queue, 20)), f"{one.quota:,}", f"{one.reserved:,}", f"{one.borrowed:,}", _waiting(one))
        for one in queues[:_MOST_QUEUES]
    ]
    left = len(queues) - _MOST_QUEUES
    more = [rich(line(f"and {left:,} more queues in this cohort"))] if left > 0 else []
    return [pre(columns(("Queue", "Quota", "Reserved", "Borrowed", "Waiting"), rows, right=(1, 2, 3, 4))), *more]


def _waiting(one: QueueFigures) -> str:
    return "not known" if one.waiting is None else f"{one.waiting:,}"


def _team(facts: DetailsFacts) -> list[Block]:
    lines = [line(Reason(one)) for one in facts.others[:_MOST_OTHERS]]
    if len(facts.others) > _MOST_OTHERS:
        lines.append(line(f"and {len(facts.others) - _MOST_OTHERS:,} more"))
    if facts.on_loan is not None:
        of = f" of {facts.most_on_loan:,}" if facts.most_on_loan is not None else ""
        lines.append(line(f"On loan in all: {facts.on_loan:,}{of}"))
    return [_part("The team's other requests and loans", *lines)] if lines else []


def _git(card: CardFacts) -> list[Block]:
    impact = card.impact
    managed = () if impact is None else (tool for queue, tool in impact.managed_by if queue not in impact.in_git)
    blocks: list[Block] = []
    for tool in sorted(set(managed)):
        blocks += [_part("How to keep quota out of Git's hands", line("For ", Theirs(tool))), pre(ignore_rule(tool))]
    return blocks
