"""Somebody changed a number outside the bot: the question to the admins with its three answers, and its later states.

Each answer says the number it leads to, so nobody has to know the word base. One message per change of one number; it
is edited when the number changes again, when it is answered and when it goes away. Rendered for
NoticeKind.OUTSIDE_EDIT.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.convergence.facts import AnswerKind, FieldName
from bot.core.messages import Block, Message
from bot.core.people import Person
from bot.core.resource_quotas import counting_key, kind_of
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import number, up_to
from bot.views.ids import Action, drift_block
from bot.views.kit import Confirm, Symbol, actions, bullets, button, headline, line, rich
from bot.views.parts import Clock, Code, Line, Mention, Moment, Part, Theirs, sentence


@dataclass(frozen=True, slots=True)
class LoanOnField:
    """A loan with a part in the number."""

    id: int
    amount: int
    """Signed: negative where this queue lends."""
    end: datetime


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One answer and what it leads to."""

    kind: AnswerKind
    now: int | None
    """The number right after the answer; None is "not set"."""
    after: int | None
    """The number after all loans on it are over."""
    cohort_total: int | None = None
    """Sum of the cohort's nominalQuota after the answer, where it changes."""
    over_nodes: int = 0
    """By how much that goes over what the nodes have, where known."""
    impossible: str | None = None
    """Why it is not offered: our words, a clause such as "that would be 4 below 0"."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer that was given."""

    kind: AnswerKind
    who: Person
    at: datetime
    now: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class EditFacts:
    """An outside change of one number, as far as it has come."""

    id: str
    """Opaque id of the question, for `value`."""
    revision: int
    """Rises whenever the number, the answers or the state change: a press on an old picture is known by it."""
    queue: str
    flavor: str
    field: FieldName
    live: int | None
    expected: int | None
    base: int | None
    seen_at: datetime
    manager: str | None = None
    """Field manager that wrote it; None when not known."""
    loans: tuple[LoanOnField, ...] = ()
    choices: tuple[AnswerChoice, ...] = ()
    cohort: str | None = None
    cluster: str | None = None
    """Shown if there are several."""
    managed_by: str | None = None
    """GitOps tool that owns the queue, if one does."""
    in_git: bool = False
    """The bot does not write it: what follows from an answer is proposed."""
    stripped: bool = False
    """The bot's annotation is missing too: its own write may have been undone."""
    recreated: bool = False
    """The ClusterQueue was deleted and made again."""
    expected_known: bool = True
    """False after a rebuild that could not tell what the number should be."""
    answered: Answered | None = None
    back_since: datetime | None = None
    """The number is what it should be again, and nobody had to answer."""
    over: tuple[int, ...] = ()
    """Numbers of the loans that ended while nobody had answered."""
    resource: str = ""
    """What is counted; shown for a ResourceQuota, which has no flavors."""
    asked_before: bool = False
    """The number changed again while the question was open."""


_MOST_LOANS = 5
"""Loans named one by one."""
_ACTIONS = {
    AnswerKind.NEW_BASE: Action.DRIFT_BASE,
    AnswerKind.INCLUDED: Action.DRIFT_INCLUDED,
    AnswerKind.PUT_BACK: Action.DRIFT_RESTORE,
}


def edit_question(facts: EditFacts) -> Message:
    """The question in its present state."""
    if facts.answered:
        return _state(facts, Symbol.IN_FORCE, _answered(facts, facts.answered))
    if facts.back_since:
        back = line("Back at ", number(facts.live), " since ", Clock(facts.back_since), ", nobody had to answer")
        return _state(facts, Symbol.IN_FORCE, back)
    return _open(facts)


def _subject(facts: EditFacts) -> Line:
    """The number in words: "vision a100", "vision a100 borrowingLimit", "ResourceQuota vision-train/gpu"."""
    if facts.field is FieldName.HARD:
        return line("ResourceQuota ", Theirs(facts.queue), " ", Code(counting_key(facts.resource)))
    limit = line(" ", Code("borrowingLimit")) if facts.field is FieldName.BORROWING_LIMIT else ()
    return line(Theirs(facts.queue), " ", Theirs(facts.flavor), limit)


def _is(facts: EditFacts) -> Line:
    again = " now" if facts.asked_before else ""
    expected = f", expected {number(facts.expected)}" if facts.expected_known else ", expected is not known"
    return line(_subject(facts), f" is {number(facts.live)}{again}{expected}")


def _state(facts: EditFacts, symbol: Symbol, state: Line) -> Message:
    """A question that is settled: the same first line, what came of it, no buttons."""
    first = line(_subject(facts), f" was {number(facts.expected)} and changed outside the bot")
    return Message(sentence(line(_subject(facts), ": ", state)), (headline(symbol, state), rich(first)))


def _answered(facts: EditFacts, given: Answered) -> Line:
    live = "unset" if facts.live is None else number(facts.live)
    words: dict[AnswerKind, Part] = {
        AnswerKind.NEW_BASE: f"{live} is the new base. ",
        AnswerKind.INCLUDED: f"{live} includes the loan. ",
        AnswerKind.PUT_BACK: "not wanted, put back. ",
    }
    ids = up_to([line(format_request_id(one.id)) for one in facts.loans], _MOST_LOANS)
    after = line(f", {number(given.after)} after ", ids) if facts.loans else ()
    what = line(_quota(facts), f" {number(given.now)}", after)
    return line(Mention(given.who), " ", Clock(given.at), ": ", words[given.kind], what)


def _quota(facts: EditFacts) -> Line:
    return line(Code("borrowingLimit")) if facts.field is FieldName.BORROWING_LIMIT else line("Quota")


def _open(facts: EditFacts) -> Message:
    if facts.over:
        ended = up_to([line(format_request_id(one)) for one in facts.over], _MOST_LOANS)
        left = number(facts.live)
        first = line(ended, f" ended; quota left at {left}, because it is not clear what {left} means")
    else:
        first = _is(facts)
    text = line(_is(facts), ": someone changed it outside the bot")
    offered = [choice for choice in facts.choices if choice.impossible is None]
    blocks: list[Block] = [headline(Symbol.LOOK, first), rich(*_about(facts))]
    if facts.choices:
        blocks.append(bullets([_answer_line(facts, one) for one in facts.choices], ordered=True))
    buttons = [_answer_button(facts, one) for one in offered]
    return Message(sentence(text), (*blocks, *actions(*buttons, block_id=drift_block(facts.id, facts.revision))))


def _about(facts: EditFacts) -> list[Line]:
    by = line("Changed by ", Theirs(facts.manager)) if facts.manager else line("Not known who changed it")
    lines = [_is(facts)] if facts.over else []
    if facts.expected_known and facts.base is not None:
        lines.append(line("Expected: ", _sum(facts)))
    lines.append(line(by, ", seen ", Clock(facts.seen_at)))
    if facts.recreated:
        lines.append(line(f"The {kind_of(facts.queue)} was deleted and made again"))
    if facts.stripped:
        lines.append(line("The bot's annotation is gone too: its own write may have been undone"))
    if facts.in_git:
        lines.append(line("It is written in Git: what follows from an answer is proposed, not written"))
    elif facts.managed_by:
        tool = Theirs(facts.managed_by)
        owns, ignores = ("quota", "/spec/hard") if facts.field is FieldName.HARD else ("queue", "resourceGroups")
        lines.append(line(tool, f" owns this {owns}: tell it to ignore ", Code(ignores), ", or change Git"))
    if facts.cluster:
        lines.append(line("Cluster: ", Theirs(facts.cluster)))
    nothing = "proposes nothing new" if facts.in_git else "writes nothing"
    return [*lines, line(f"Until someone answers, the bot {nothing} here")]


def _sum(facts: EditFacts) -> Line:
    """Where the expected number comes from: "16 + 8 on loan (Q-142, ends Sat 5 Dec 14:20)"."""
    parts: list[Line] = [line(number(facts.base))]
    for one in facts.loans[:_MOST_LOANS]:
        sign, word = ("+", "on loan") if one.amount >= 0 else ("-", "lent")
        where = line(
            f" {sign} {abs(one.amount):,} {word} (", format_request_id(one.id), ", ends ", Moment(one.end), ")"
        )
        parts.append(where)
    if rest := facts.loans[_MOST_LOANS:]:
        others = sum(one.amount for one in rest)
        parts.append(line(f" {'+' if others >= 0 else '-'} {abs(others):,} in {len(rest):,} more loans"))
    return line(*parts)


def _answer_line(facts: EditFacts, choice: AnswerChoice) -> Line:
    live = "unset" if facts.live is None else number(facts.live)
    leads = {
        AnswerKind.NEW_BASE: f"{live} is the new base: ",
        AnswerKind.INCLUDED: f"{live} includes the {_loans(facts)}: ",
        AnswerKind.PUT_BACK: "Not wanted: ",
    }[choice.kind]
    if choice.impossible:
        return line(leads, "not offered, ", choice.impossible)
    return line(
        leads, _becomes(facts, choice), _pool(facts, choice), f", {number(choice.after)} after the ", _loans(facts)
    )


def _becomes(facts: EditFacts, choice: AnswerChoice) -> str:
    if choice.now == facts.live:
        return f"stays {number(choice.now)}"
    if choice.kind is AnswerKind.PUT_BACK:
        return f"goes back to {number(choice.now)}"
    return f"becomes {number(choice.now)}"


def _pool(facts: EditFacts, choice: AnswerChoice) -> Line:
    if choice.cohort_total is None or facts.cohort is None:
        return ()
    over = f", {choice.over_nodes:,} over the nodes" if choice.over_nodes else ""
    return line(" (", Theirs(facts.cohort), f" {choice.cohort_total:,}{over})")


def _loans(facts: EditFacts) -> str:
    return "loan" if len(facts.loans) == 1 else "loans"


def _answer_button(facts: EditFacts, choice: AnswerChoice) -> dict[str, Any]:
    live = "Unset" if facts.live is None else number(facts.live)
    labels = {
        AnswerKind.NEW_BASE: f"{live} is base",
        AnswerKind.INCLUDED: f"{live} includes it",
        AnswerKind.PUT_BACK: f"Put back {number(choice.now)}",
    }
    over = f" This is {choice.over_nodes:,} more than the nodes have." if choice.over_nodes else ""
    loans = f"{number(choice.after)} after the {_loans(facts)}.{over}"
    stays = choice.now == facts.live
    title = line("Keep ") if stays else line("Propose setting " if facts.in_git else "Set ")
    asks = line(title, _plain_subject(facts), " at " if stays else " to ", f"{number(choice.now)} now?")
    asked = Confirm(
        line("Answer this change?"),
        line(asks, " ", loans),
        "Keep it" if stays else "Propose it" if facts.in_git else "Set it",
    )
    return button(labels[choice.kind], _ACTIONS[choice.kind], facts.id, confirm=asked)


def _plain_subject(facts: EditFacts) -> Line:
    if facts.field is FieldName.HARD:
        return line("ResourceQuota ", Theirs(facts.queue))
    limit = " borrowingLimit" if facts.field is FieldName.BORROWING_LIMIT else ""
    return line(Theirs(facts.queue), " ", Theirs(facts.flavor), limit)


def ignore_rule(tool: str) -> str:
    """What to add so that a GitOps tool leaves quota to the bot."""
    if tool == "Argo CD":
        return _ARGO
    if tool == "Flux":
        return _FLUX
    return "Leave spec.resourceGroups of this ClusterQueue out of the chart, or set the number there."


_ARGO = """\
ignoreDifferences:
  - group: kueue.x-k8s.io
    kind: ClusterQueue
    jsonPointers:
      - /spec/resourceGroups
syncPolicy:
  syncOptions:
    - RespectIgnoreDifferences=true"""

_FLUX = """\
metadata:
  annotations:
    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"""
