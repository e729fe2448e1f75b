"""Numbers of GPUs (or MIG slices) as people type them: `8`, `8 a100`, `8xa100`, `a100 x8`, `7 mig-1g.5gb`.

Only plain digits count. Quantities that Kubernetes would take (`1500m`, `4k`, `1e3`, `4Gi`) are understood as far as
saying what they would be. The request line and the forms call this.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bot.core.durations import UNIT_WORDS, unit_name
from bot.core.wording.faults import Misread, Taken, shown

CEILING = 1_000_000
"""The most that is ever taken for an amount when policy sets no limit."""
EXAMPLE = 8
COUNTED = ("gpu", "gpus", "slice", "slices")
"""Words for what is counted, which name no hardware."""

_TIMES = ("x", "×", "✕", "*")
_DIGITS = re.compile(r"[0-9]{1,60}")
_NAME = re.compile(r"[a-z](?:[a-z0-9._/-]{0,316}[a-z0-9])?")  # a resource is PREFIX/NAME: 253 + 1 + 63
_GLUED = re.compile(r"([0-9]{1,60})([x×✕*]?)([a-z][a-z0-9._/-]*[a-z0-9])?")
_LIKE_A_DURATION = re.compile(r"([a-z]+)[0-9].*")
_TIMES_NUMBER = re.compile(r"[x×✕*]([0-9]{1,60})")
_QUANTITY = re.compile(
    r"([0-9]{1,60}\.?[0-9]{0,60}|\.[0-9]{1,60})(?:([KkMGTPEe]i|[kgtpm]i|[numkKMGTPE])|[eE]([+-]?[0-9]{1,60}))?"
)
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
_NUMBER_WORDS = ("nan", "inf", "infinity")
_MOST_DIGITS = 40
_MOST_EXPONENT = 200
"""Far enough to be too many digits or a fraction whatever stands before it, near enough to compute."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many, and of what if that was said in the same breath (lower case, not checked against anything)."""

    count: int
    of: str | None = None


def take_amount(words: Sequence[str], limit: int | None) -> Taken[Amount] | None:
    """The amount that `words` begin with; a name is part of it only if glued (`8a100`) or first (`a100 x8`).

    None if they do not begin like an amount.
    """
    if not words:
        return None
    if named := _name_first(words, limit):
        return named
    if not looks_like_a_number(words[0]):
        return None
    value = _read_word(words[0], limit, _unit(words[:4]))
    used = 1
    if isinstance(value, Amount) and value.of is None:
        for optional in (_TIMES, COUNTED, ("of",)):
            used += used < len(words) and words[used].lower() in optional
    return Taken(value, used)


def looks_like_a_number(word: str) -> bool:
    """Whether a word can only be meant as a number, right or wrong: digits of any script, a sign, NaN and inf."""
    bare = word.lstrip("+-−–.")
    return bool(bare) and (bare[0].isnumeric() or bare.lower() in _NUMBER_WORDS)


def _is_name(word: str) -> bool:
    return bool(_NAME.fullmatch(word)) and word not in UNIT_WORDS


def _name_first(words: Sequence[str], limit: int | None) -> Taken[Amount] | None:
    """`a100 x8`, `a100 × 8`."""
    name = words[0].lower()
    if len(words) < 2 or not _is_name(name):
        return None
    glued = _TIMES_NUMBER.fullmatch(words[1].lower())
    apart = words[1].lower() in _TIMES and len(words) > 2 and _DIGITS.fullmatch(words[2])
    if not glued and not apart:
        return None
    count = _counted(glued.group(1) if glued else words[2], limit, _unit(words[:1]))
    used = 2 if glued else 3
    return Taken(count if isinstance(count, Misread) else Amount(count, name), used, since=1)


def _read_word(word: str, limit: int | None, unit: str) -> Amount | Misread:
    if quantity := _QUANTITY.fullmatch(word):
        if _DIGITS.fullmatch(word):
            count = _counted(word, limit, unit)
            return count if isinstance(count, Misread) else Amount(count)
        return _refused_quantity(word, quantity, limit, unit)
    if glued := _GLUED.fullmatch(word.lower()):
        return _read_glued(word, glued, limit, unit)
    return _not_a_number(word, limit, unit)


def _read_glued(word: str, glued: re.Match[str], limit: int | None, unit: str) -> Amount | Misread:
    """`8x`, `8gpus`, `8a100`, `8xa100`; not `8h100`, whose h may be hours."""
    digits, times, name = glued.group(1), glued.group(2), glued.group(3)
    if name and _TIMES_NUMBER.fullmatch(name):
        return _not_a_number(word, limit, unit)
    if not times and name:
        if name in UNIT_WORDS:
            return _not_a_number(word, limit, unit)
        looks = _LIKE_A_DURATION.fullmatch(name)
        if looks and looks.group(1) in UNIT_WORDS:
            hours = unit_name(looks.group(1))
            instead = (f"{digits} {name}", f"{digits}{looks.group(1)}")
            return Misread(f'"{shown(word)}" can be {shown(digits)} {shown(name)} or {shown(digits)} {hours}.', instead)
    count = _counted(digits, limit, unit, word)
    if isinstance(count, Misread):
        return count
    return Amount(count, None if name in COUNTED else name)


def _counted(digits: str, limit: int | None, unit: str, word: str | None = None) -> int | Misread:
    count, most = int(digits), _most(limit)
    if count < 1:
        return _not_a_number(word or digits, limit, unit)
    if count >= 10**_MOST_DIGITS:
        return _too_many_digits(digits, most)
    if count > most:
        whose = "that policy allows" if limit is not None and limit <= CEILING else "that is possible"
        return Misread(f"{count:,} is more than the {most:,} {whose} per request.", (str(most),))
    return count


def _refused_quantity(word: str, match: re.Match[str], limit: int | None, unit: str) -> Misread:
    """What a Kubernetes quantity would be, in a sentence: a fraction, too many, or better written in digits."""
    number, suffix, exponent = Fraction(match.group(1)), match.group(2), int(match.group(3) or 0)
    most = _most(limit)
    if not number:
        return _not_a_number(word, limit, unit)
    value = number * _scale(suffix) * Fraction(10) ** max(min(exponent, _MOST_EXPONENT), -_MOST_EXPONENT)
    if value >= 10**_MOST_DIGITS:
        return _too_many_digits(word, most)
    if value.denominator != 1:
        rounded = str(max(1, min(math.ceil(value), most)))
        return Misread(f"{shown(word)} is not a whole number of {unit}.", (rounded,))
    count = int(value)
    counted = f"{shown(word)} is {count:,} {unit if count > 1 else unit[:-1]}"
    if count > most:
        return Misread(f"{counted}; the most per request is {most:,}.", (str(most),))
    return Misread(f"{counted}. Write it in digits: {count}.", (str(count),))


def _too_many_digits(word: str, most: int) -> Misread:
    return Misread(f"{shown(word)} has over {_MOST_DIGITS} digits; the most per request is {most:,}.", (str(most),))


def _scale(suffix: str | None) -> Fraction:
    if not suffix:
        return Fraction(1)
    if suffix.endswith("i"):
        return Fraction(2) ** _BINARY[suffix[0].lower()]
    return Fraction(10) ** _SUFFIXES[suffix]


def _most(limit: int | None) -> int:
    return CEILING if limit is None else max(1, min(limit, CEILING))


def _unit(words: Sequence[str]) -> str:
    return "slices" if any("mig-" in word.lower() or word.lower() in COUNTED[2:] for word in words) else "GPUs"


def _not_a_number(word: str, limit: int | None, unit: str) -> Misread:
    example = min(EXAMPLE, _most(limit))
    said = shown(word) or '""'
    return Misread(f"{said} is not a number of {unit}. Whole numbers from 1, like {example}.", (str(example),))
