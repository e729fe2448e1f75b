"""Kubernetes quantities: read exactly, written as the API machinery writes them, counted as Kueue counts them.

Called by the schema (is it one?), the webhooks (compare, print) and the quota tree (whole units).
"""

import math
import re
from fractions import Fraction
from functools import lru_cache

PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
UNREADABLE = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

_SHAPE = re.compile(r"^([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]+)?$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_BY_POWER = {power: suffix for suffix, power in _DECIMAL.items()}


def _split(value: int | str) -> tuple[Fraction, str]:
    match = None if isinstance(value, bool) else _SHAPE.match(str(value))
    if match is None:
        raise ValueError(UNREADABLE)
    number, suffix = Fraction(match.group(1)), match.group(2) or ""
    if suffix in _BINARY:
        return number * 1024 ** _BINARY[suffix], "binary"
    if suffix in _DECIMAL:
        return number * Fraction(10) ** _DECIMAL[suffix], "decimal"
    return number * Fraction(10) ** int(suffix[1:]), "exponent"


@lru_cache(maxsize=4096)
def parse(value: int | str) -> Fraction:
    """The exact value of a quantity. Raises `ValueError` (with the server's text) for anything else."""
    return _split(value)[0]


@lru_cache(maxsize=4096)
def canonical(value: int | str) -> str:
    """The form the typed client writes: '12000m' -> '12', 10000 -> '10k', '2048Gi' -> '2Ti', '0.5' -> '500m'."""
    number, form = _split(value)
    if number == 0:
        return "0"
    if form == "binary" and number.denominator == 1 and abs(number) >= 1024:
        return _in_binary(number.numerator)
    # Finer than nano is rounded up, away from zero, as the API machinery does.
    nanos = number * 10**9
    scaled = math.ceil(nanos) if nanos > 0 else math.floor(nanos)
    power = -9
    while scaled % 1000 == 0 and power < 18:
        scaled, power = scaled // 1000, power + 3
    if form == "exponent":
        return f"{scaled}e{power}" if power else str(scaled)
    return f"{scaled}{_BY_POWER[power]}"


def _in_binary(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < 6:
        number, power = number // 1024, power + 1
    suffix = next((s for s, p in _BINARY.items() if p == power), "")
    return f"{number}{suffix}"


def amount(resource: str, value: int | str) -> int:
    """How much of a resource Kueue counts: cpu in thousandths, everything else in whole units, rounded up ('0.5'
    GPU is 1).
    """
    number = parse(value)
    return math.ceil(number * 1000) if resource == "cpu" else math.ceil(number)


def printed(resource: str, units: int) -> str:
    """A counted amount as Kueue writes it into a status or a message."""
    return canonical(f"{units}m") if resource == "cpu" else canonical(units)
