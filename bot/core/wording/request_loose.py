"""The parts of a request without a keyword: an amount, a flavor, a duration, and what is none of these."""

import re
from dataclasses import replace

from bot.core.amounts import COUNTED, Amount, looks_like_a_number, take_amount
from bot.core.durations import take_duration
from bot.core.instants import take_instant
from bot.core.wording.faults import Misread, Taken, shown
from bot.core.wording.line import Line, Step, Stumble, not_understood, reason_piece, stumble
from bot.core.wording.near import near
from bot.core.wording.request_keywords import read_value
from bot.core.wording.request_words import KINDS, RequestPart, RequestWords
from bot.core.wording.tokens import REASON
from bot.core.wording.vocabulary import find_name, known_hardware, read_hardware

_GLUED_TIMES = re.compile(r"(.+?)([x×✕*][0-9]{1,60})", re.IGNORECASE)
_MISSPELT = ("until", "starting", "from", REASON)
"""The keywords that are long enough to be told from noise when misspelt."""


def read_loose(line: Line, said: RequestWords, at: int) -> RequestPart:
    """Words without a keyword: an amount, a flavor, a duration, or nothing that is known."""
    words = line.words(at)
    counted = _glued_times(line, words[0]) or take_amount(words, line.context.limit)
    if counted and counted.since:
        return _say_amount(line, said, at, counted)
    if hardware := known_hardware(words[0], line.context.vocabulary):
        return Step(replace(said, flavor=hardware.flavor, resource=hardware.resource), at + 1, words[0])
    return _read_bare_duration(line, said, at) or (
        _say_amount(line, said, at, counted) if counted else _read_word(line, said, at)
    )


def _glued_times(line: Line, word: str) -> Taken[Amount] | None:
    """`a100x8`, if `a100` is known: `rtx8000` may be a name."""
    glued, names = _GLUED_TIMES.fullmatch(word), line.context.vocabulary
    if not glued or known_hardware(word, names) or not known_hardware(glued[1], names):
        return None
    taken = take_amount([glued[1], glued[2]], line.context.limit)
    return replace(taken, used=1, since=0) if taken else None


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


def _say_amount(line: Line, said: RequestWords, at: int, counted: Taken[Amount]) -> RequestPart:
    amount, until, named_first = counted.value, at + counted.used, counted.since > 0
    if isinstance(amount, Misread) and said.amount is not None:
        return not_understood(line, at + counted.since)
    if isinstance(amount, Misread):
        name = f" {line.tokens[at].text}" if named_first else ""
        instead = tuple(f"{number}{name}" for number in amount.instead)
        return stumble(line, replace(amount, instead=instead), at + counted.since, until)
    if amount.of is None:
        return Step(replace(said, amount=amount.count), until, str(amount.count))
    hardware = read_hardware(amount.of, line.context.vocabulary)
    if isinstance(hardware, Misread):
        instead = tuple(f"{amount.count} {name}" for name in hardware.instead) or (str(amount.count),)
        found = stumble(line, replace(hardware, instead=instead), at, at + 1 if named_first else until)
        return replace(found, at=until)
    now = replace(said, amount=amount.count, flavor=hardware.flavor, resource=hardware.resource)
    return Step(now, until, f"{amount.count} {hardware.flavor or hardware.resource}")


def _read_word(line: Line, said: RequestWords, at: int) -> RequestPart:
    """A word that is no number and no known hardware: a keyword misspelt or left out, an unknown flavor, or noise."""
    if part := _misspelt_keyword(line, said, at) or _missing_keyword(line, at):
        return part
    word = line.tokens[at].text
    if said.flavor or said.resource or word.lower() in COUNTED:
        return not_understood(line, at)
    hardware = read_hardware(word, line.context.vocabulary)
    if isinstance(hardware, Misread):
        meant = hardware.instead or _beside_a_number(line, at)
        return stumble(line, hardware, at, at + 1) if meant else not_understood(line, at)
    if not _beside_a_number(line, at) and not any(char.isdigit() for char in word):
        return not_understood(line, at)
    return Step(replace(said, flavor=hardware.flavor, resource=hardware.resource), at + 1, word.lower())


def _beside_a_number(line: Line, at: int) -> bool:
    """Whether a word is likely to say what is counted, though nobody knows it: `8 b300`, or `b300 8` and no more."""
    if at and not line.tokens[at - 1].keyword:
        before = line.tokens[at - 1].text
        if looks_like_a_number(before) or before.lower() in (*COUNTED, "of", "x", "×"):
            return True
    words = line.words(at)
    return len(words) > 1 and looks_like_a_number(words[1]) and not (len(words) > 2 and words[2][0].isalpha())


def _misspelt_keyword(line: Line, said: RequestWords, at: int) -> Stumble | None:
    word = line.tokens[at].text
    keyword = next(iter(near(word, _MISSPELT)), None)
    if keyword is None or at + 1 >= len(line.tokens):
        return None
    here = stumble(line, Misread(f'No "{shown(word)}". Did you mean {keyword}?'), at, at + 1)
    if keyword == REASON:
        reason = line.text[line.tokens[at + 1].start :].strip()
        return replace(here, at=len(line.tokens), pieces=(reason_piece(reason),))
    if line.tokens[at + 1].keyword:
        return here
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
