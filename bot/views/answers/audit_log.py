"""The answer to `log`: who did what and what came of it, the newest first, as many lines as fit a message."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.core.durations import format_duration
from bot.core.messages import Message
from bot.core.people import Person
from bot.core.requests import AuditEntry
from bot.views.amounts import counted
from bot.views.kit import answer, line, rich
from bot.views.parts import Code, Line, Moment, Reason, Theirs, named, sentence

MOST_LINES = 20
_LONGEST_OUTCOME, _LONGEST_SUBJECT = 90, 70


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What `log` found."""

    entries: tuple[AuditEntry, ...]
    """The newest first."""
    people: Mapping[str, Person]
    """Whoever acted, by user id. Who is not in it is the bot."""
    more: bool = False
    about: str | Person = ""
    """What it was narrowed to: Q-142, a person, a team."""
    last: timedelta | None = None


def audit_log(facts: LogFacts) -> Message:
    """One line an entry."""
    about = line(named(facts.about)) if isinstance(facts.about, Person) else line(Theirs(facts.about))
    of = line(" of ", about) if facts.about else ()
    last = f", last {format_duration(facts.last)}" if facts.last else ""
    if not facts.entries:
        first = line("Nothing in the log", of, last, ".")
        return Message(sentence(first), (rich(first),))
    shown = counted(len(facts.entries), "entry", "entries")
    first = line("The log", of, last, f": the newest {shown}" if facts.more else f": {shown}")
    lines = [_line(entry, facts.people) for entry in facts.entries]
    if facts.more:
        narrow = line(Code("log Q-142"), ", ", Code("log @person"), ", a team, ", Code("last 7d"))
        lines.append(line("There are more. Narrow it: ", narrow))
    lines.append(line("As CSV by DM: the same with ", Code("csv"), " at the end"))
    return Message(sentence(first), (rich(first, *lines, bold_first=True),))


def log_sent(count: int) -> Message:
    """The file is in the DM of the one who asked."""
    return answer(line(f"Sent to you by DM as CSV: {counted(count, 'entry', 'entries')}."))


def _line(entry: AuditEntry, people: Mapping[str, Person]) -> Line:
    who = line(named(people[entry.who])) if entry.who in people else line("the bot")
    came = line(": ", Reason(entry.outcome, _LONGEST_OUTCOME)) if entry.outcome != "ok" else ()
    what = line(Theirs(entry.what), " ", Theirs(entry.subject, _LONGEST_SUBJECT))
    return line(Moment(entry.at), " ", who, ": ", what, came)
