"""The parts of a request that begin with a keyword: `for DUR`, `until WHEN`, `in QUEUE`, `because WORDS` and so on."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import cast

from bot.core.durations import not_a_duration, take_duration
from bot.core.instants import Instant, take_instant
from bot.core.wording.every_words import take_every
from bot.core.wording.faults import Misread, Taken, listed, shown
from bot.core.wording.line import Line, Step, Stumble, reason_piece, stumble
from bot.core.wording.near import near
from bot.core.wording.request_words import KINDS, Kind, RequestPart, RequestWords
from bot.core.wording.vocabulary import find_name, read_name

_KIND_SPELLINGS: dict[str, str] = {kind: kind for kind in KINDS} | {"grant": "extra"}
_NEEDS = {
    "for": "a duration, like for 3d",
    "until": "a time, like until fri 18:00",
    "starting": "a time, like starting mon 9:00",
    "in": "a queue",
    "as": "a kind: borrow, transfer or extra",
    "from": "the lending queue",
    "on": "a cluster",
    "every": "when, like every week fri 18:00 to mon 08:00",
    "because": "words, like because paper deadline",
}


def read_keyword(line: Line, said: RequestWords, at: int, keyword: str) -> RequestPart:
    """The part whose keyword is token `at`."""
    if at + 1 >= len(line.tokens) or line.tokens[at + 1].keyword:
        return stumble(line, Misread(f'"{keyword}" needs {_NEEDS[keyword]}.'), at, at + 1)
    return read_value(line, said, at + 1, keyword)


def read_value(line: Line, said: RequestWords, at: int, keyword: str) -> RequestPart:
    """The part whose value begins at token `at`, as if `keyword` stood before it."""
    return _READERS[keyword](line, said, at)


def _read_for(line: Line, said: RequestWords, at: int) -> RequestPart:
    """A duration; failing that `for vision` is `in vision`."""
    words = line.words(at)
    taken = take_duration(words)
    if taken and isinstance(taken.value, timedelta):
        piece = f"for {' '.join(words[: taken.used])}"
        return Step(replace(said, duration=taken.value), at + taken.used, piece)
    if taken and isinstance(taken.value, Misread):
        return stumble(line, taken.value, at, at + taken.used, "for")
    if queue := find_name(words[0], line.context.vocabulary.queues):
        note = f'"for {shown(words[0])}" is read as in {shown(queue)}.'
        return Step(replace(said, queue=queue, notes=(*said.notes, note)), at + 1, f"in {queue}")
    return _no_duration(line, at, words[0])


def _no_duration(line: Line, at: int, word: str) -> Stumble:
    if word.isascii() and word.isdigit():
        number = word[:9]
        misread = Misread(f"{number} has no unit. Try {number}d or {number}h.", (f"{number}d", f"{number}h"))
        return stumble(line, misread, at, at + 1, "for")
    if queues := near(word, line.context.vocabulary.queues):
        sentence = f'"{shown(word)}" is neither a duration nor a queue. Near: {listed(queues)}.'
        return stumble(line, Misread(sentence, queues), at, at + 1, "in")
    return stumble(line, not_a_duration(word), at, at + 1, "for")


def _read_until(line: Line, said: RequestWords, at: int) -> RequestPart:
    """An instant; a duration that stands here is offered after `for`."""
    words = line.words(at)
    taken = take_instant(words, line.context.now, line.context.zone, line.context.workday_end)
    if isinstance(taken.value, Misread) and not taken.value.instead and (length := take_duration(words)):
        meant = replace(taken.value, instead=(" ".join(words[: length.used]),))
        return stumble(line, meant, at, at + length.used, "for")
    return _timed(line, at, "until", taken, lambda instant: replace(said, until=instant))


def _read_starting(line: Line, said: RequestWords, at: int) -> RequestPart:
    taken = take_instant(line.words(at), line.context.now, line.context.zone, line.context.workday_end)
    return _timed(line, at, "starting", taken, lambda instant: replace(said, starting=instant))


def _timed(
    line: Line, at: int, keyword: str, taken: Taken[Instant], say: Callable[[Instant], RequestWords]
) -> RequestPart:
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at + taken.since, at + taken.used, keyword)
    said = say(taken.value)
    piece = f"{keyword} {' '.join(line.words(at)[: taken.used])}"
    return Step(replace(said, notes=(*said.notes, *taken.value.notes)), at + taken.used, piece)


def _read_in(line: Line, said: RequestWords, at: int) -> RequestPart:
    queue = read_name(line.tokens[at].text, line.context.vocabulary.queues, "queue")
    return _named(line, at, "in", queue, lambda name: replace(said, queue=name))


def _read_from(line: Line, said: RequestWords, at: int) -> RequestPart:
    lender = read_name(line.tokens[at].text, line.context.vocabulary.queues, "queue")
    if isinstance(lender, Misread) and (part := _start_meant(line, at)):
        return part
    return _named(line, at, "from", lender, lambda name: replace(said, lender=name))


def _start_meant(line: Line, at: int) -> Stumble | None:
    words, context = line.words(at), line.context
    taken = take_instant(words, context.now, context.zone, context.workday_end)
    if isinstance(taken.value, Misread):
        return None
    when = " ".join(words[: taken.used])
    sentence = f"from takes the lending queue. For a start write starting {shown(when)}."
    return stumble(line, Misread(sentence, (when,)), at, at + taken.used, "starting")


def _read_on(line: Line, said: RequestWords, at: int) -> RequestPart:
    cluster = read_name(line.tokens[at].text, line.context.vocabulary.clusters, "cluster")
    return _named(line, at, "on", cluster, lambda name: replace(said, cluster=name))


def _read_as(line: Line, said: RequestWords, at: int) -> RequestPart:
    word = line.tokens[at].text
    kind = _KIND_SPELLINGS.get(word.lower()) or read_name(word, KINDS, "kind")
    return _named(line, at, "as", kind, lambda name: replace(said, kind=cast(Kind, name)))


def _named(line: Line, at: int, keyword: str, name: str | Misread, say: Callable[[str], RequestWords]) -> RequestPart:
    if isinstance(name, Misread):
        return stumble(line, name, at, at + 1, keyword)
    return Step(say(name), at + 1, f"{keyword} {name}")


def _read_every(line: Line, said: RequestWords, at: int) -> RequestPart:
    words = line.words(at)
    taken = take_every(words)
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at, at + taken.used, "every")
    return Step(replace(said, every=taken.value), at + taken.used, f"every {' '.join(words[: taken.used])}")


def _read_because(line: Line, said: RequestWords, at: int) -> RequestPart:
    reason = line.tokens[at].text
    return Step(replace(said, reason=reason), at + 1, reason_piece(reason))


_READERS: dict[str, Callable[[Line, RequestWords, int], RequestPart]] = {
    "for": _read_for,
    "until": _read_until,
    "starting": _read_starting,
    "in": _read_in,
    "as": _read_as,
    "from": _read_from,
    "on": _read_on,
    "every": _read_every,
    "because": _read_because,
}
