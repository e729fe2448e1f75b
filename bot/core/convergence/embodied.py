"""Which legs are in a live number that somebody else may have changed (design: convergence, section 3.B).

What an outsider added to the number is taken from the given legs (they are back, as far as it goes), what he took is
taken from the received ones; youngest loan first. The rest is the outsider's own.
"""

from collections.abc import Mapping

from bot.core.convergence.facts import FieldRecord
from bot.core.convergence.legs import shrink, without_zeros


def embodied_in_question(record: FieldRecord, live: int) -> Mapping[str, int]:
    """Legs that `live` holds, under the record's base. Without a known base: what the record fears.

    After "put it back", until that is written, `wrote` is not yet base + legs: the lower of the two counts, so that
    given legs are taken for back at the earliest and received ones for gone at the latest.
    """
    if record.wrote is None or record.base is None:
        return without_zeros(record.legs)
    excess = live - min(record.wrote, record.base + sum(record.legs.values()))
    return shrink(record.legs, abs(excess), -1 if excess > 0 else 1)
