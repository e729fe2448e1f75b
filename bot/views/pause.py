"""Quota changes are paused, or go on: the line for wherever people look, the answers, the platform channel's news."""

from dataclasses import dataclass
from datetime import datetime

from bot.core.messages import Message
from bot.core.pause import Pause
from bot.core.people import Person
from bot.views.kit import Symbol, answer, headline, line, rich
from bot.views.loan_words import lasting
from bot.views.parts import Code, Line, Mention, Moment, Reason, Theirs, named, sentence

MEANS = "No new loan comes into force, approvals wait; returns and ends go on."


@dataclass(frozen=True, slots=True)
class Resumed:
    """A pause that is over."""

    pause: Pause
    by: Person
    at: datetime


def paused_line(pause: Pause) -> Line:
    """One line: who, since when, why."""
    why = line(": ", Reason(pause.reason, 150)) if pause.reason else ()
    return line("Quota changes are paused by ", Theirs(pause.name), " since ", Moment(pause.since), why)


def paused(pause: Pause) -> Message:
    """To the admin who paused."""
    return answer(paused_line(pause), line(MEANS, " ", Code("/gpu-quota resume"), " ends it."))


def resumed(pause: Pause) -> Message:
    """To the admin who resumed."""
    first = line("Quota changes go on. They were paused by ", Theirs(pause.name), " since ", Moment(pause.since), ".")
    return answer(first, line("What was approved meanwhile is being put in force."))


def paused_already(pause: Pause) -> Message:
    """To an admin who pauses what is paused."""
    return answer(line(paused_line(pause), ". Nothing changed."))


def paused_notice(pause: Pause, by: Person) -> Message:
    """Platform channel, when an admin paused."""
    first = line("Quota changes are paused by ", Mention(by), " since ", Moment(pause.since))
    why = [line(Reason(pause.reason))] if pause.reason else []
    ends = line(Code("/gpu-quota resume"), " ends it")
    return Message(sentence(first), (headline(Symbol.LOOK, first), rich(*why, line(MEANS), ends)))


def resumed_notice(facts: Resumed) -> Message:
    """Platform channel, when an admin resumed."""
    lasted = lasting(facts.at - facts.pause.since)
    first = line("Quota changes go on: resumed by ", named(facts.by), " ", Moment(facts.at), f", after {lasted}")
    before = line("Paused by ", Theirs(facts.pause.name), " ", Moment(facts.pause.since))
    waited = line("What was approved meanwhile is being put in force")
    return Message(sentence(first), (headline(Symbol.IN_FORCE, first), rich(before, waited)))
