"""The parts of a request without a keyword: an amount, a flavor, a duration, and what is none of these."""

from dataclasses import replace

from bot.core.amounts import Amount, looks_like_a_number, take_amount
from bot.core.durations import take_duration
from bot.core.instants import take_instant
from bot.core.wording.faults import Misread, shown
from bot.core.wording.line import Line, Step, Stumble, not_understood, reason_piece, stumble
from bot.core.wording.near import near
from bot.core.wording.request_keywords import read_value
from bot.core.wording.request_words import KINDS, RequestPart, RequestWords
from bot.core.wording.tokens import REASON
from bot.core.wording.vocabulary import find_name, known_hardware, read_hardware

_MISSPELT = ("until", "starting", "from", REASON)
"""The keywords that are long enough to be told from noise when misspelt."""


def read_loose(line: Line, said: RequestWords, at: int) -> RequestPart:
    """Words without a keyword: an amount, a flavor, a duration, or nothing that is known."""
    words = line.words(at)
    counted = take_amount(words, line.context.limit)
    named_first = counted is not None and counted.since == 1
    if counted and named_first:
        return _say_amount(line, said, at, counted.value, counted.used, counted.since)
    if hardware := known_hardware(words[0], line.context.vocabulary):
        return Step(replace(said, flavor=hardware.flavor, resource=hardware.resource), at + 1, words[0])
    return _read_bare_duration(line, said, at) or (
        _say_amount(line, said, at, counted.value, counted.used, 0) if counted else _read_word(line, said, at)
    )


def _read_bare_duration(line: Line, said: RequestWords, at: int) -> RequestPart | None:
    """`3d` and `3 days` without `for`; but `1500m` is an amount as long as none was said."""
    words = line.words(at)
    taken = take_duration(words)
    if taken is None:
        return None
    if isinstance(taken.value, Misread) and said.amount is None and taken.used == 1 and words[0].lower().endswith("m"):
        return None
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at, at + taken.used, "for")
    return Step(replace(said, duration=taken.value), at + taken.used, f"for {' '.join(words[: taken.used])}")


def _say_amount(
    line: Line, said: RequestWords, at: int, amount: Amount | Misread, used: int, since: int
) -> RequestPart:
    if isinstance(amount, Misread):
        name = f" {line.tokens[at].text}" if since else ""
        wordy = replace(amount, instead=tuple(f"{instead}{name}" for instead in amount.instead))
        return replace(stumble(line, wordy, at + since, at + used))
    if amount.of is None:
        return Step(replace(said, amount=amount.count), at + used, str(amount.count))
    hardware = read_hardware(amount.of, line.context.vocabulary)
    if isinstance(hardware, Misread):
        pieces = tuple(f"{amount.count} {name}" for name in hardware.instead) or (str(amount.count),)
        until = at + (1 if since else used)
        return replace(stumble(line, replace(hardware, instead=pieces), at, until), at=at + used)
    named = replace(said, amount=amount.count, flavor=hardware.flavor, resource=hardware.resource)
    return Step(named, at + used, f"{amount.count} {hardware.flavor or hardware.resource}")


def _read_word(line: Line, said: RequestWords, at: int) -> RequestPart:
    """A word that is no number and no known hardware: a keyword misspelt or left out, an unknown flavor, or noise."""
    if part := _misspelt_keyword(line, said, at) or _missing_keyword(line, at):
        return part
    if said.flavor or said.resource:
        return not_understood(line, at)
    word = line.tokens[at].text
    hardware = read_hardware(word, line.context.vocabulary)
    if not isinstance(hardware, Misread):
        return Step(replace(said, flavor=hardware.flavor, resource=hardware.resource), at + 1, word.lower())
    follows_a_number = at > 0 and looks_like_a_number(line.tokens[at - 1].text)
    if hardware.instead or follows_a_number:
        return stumble(line, hardware, at, at + 1)
    return not_understood(line, at)


def _misspelt_keyword(line: Line, said: RequestWords, at: int) -> Stumble | None:
    word = line.tokens[at].text
    keyword = next(iter(near(word, _MISSPELT)), None)
    if keyword is None or len(line.words(at)) < 2:
        return None
    here = stumble(line, Misread(f'No "{shown(word)}". Did you mean {keyword}?'), at, at + 1)
    if keyword == REASON:
        reason = line.text[line.tokens[at + 1].start :].strip()
        return replace(here, at=len(line.tokens), pieces=(reason_piece(reason),))
    part = read_value(line, said, at + 1, keyword)
    return replace(here, at=part.at, pieces=(part.piece,)) if isinstance(part, Step) else here


def _missing_keyword(line: Line, at: int) -> Stumble | None:
    """A name or time whose sort is plain, but which needs its keyword: it is never guessed, only offered."""
    word, names = line.tokens[at].text, line.context.vocabulary
    sorts = (("in", "a queue", names.queues), ("as", "a kind of loan", KINDS), ("on", "a cluster", names.clusters))
    for keyword, sort, known in sorts:
        if name := find_name(word, known):
            sentence = f"{shown(name)} is {sort}: write {keyword} {shown(name)}."
            return stumble(line, Misread(sentence, (name,)), at, at + 1, keyword)
    words, context = line.words(at), line.context
    taken = take_instant(words, context.now, context.zone, context.workday_end)
    if isinstance(taken.value, Misread):
        return None
    when = " ".join(words[: taken.used])
    sentence = f"{shown(when)} is a time: write until {shown(when)}."
    return stumble(line, Misread(sentence, (when,)), at, at + taken.used, "until")
