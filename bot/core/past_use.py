"""What earlier loans show of who asks for how much and uses what: for approvers, and for `explain`.

Asked by flows/card_facts with the loans of the same team and flavor. Averages are over the time that was observed, so a
loan of a week counts more than one of an hour, and what nobody saw counts for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

LOOKS_BACK = timedelta(days=90)
"""Loans that were last seen in force longer ago do not count."""
LEAST_OBSERVED = timedelta(hours=6)
"""Less says nothing."""


@dataclass(frozen=True, slots=True)
class UsedLoan:
    """One loan of the past, or one that still runs."""

    loan: int
    requester: str
    asked: int
    """Devices in the request, whatever went back early."""
    observed: timedelta
    used_time: timedelta
    """Devices in use times observed time."""


@dataclass(frozen=True, slots=True)
class PastUse:
    """What some loans come to together."""

    loans: int
    asked: Fraction
    """Devices on average, and so `used`."""
    used: Fraction
    observed: timedelta
    by_requester: bool
    """Of the one who asks now; else of the whole team."""


def past_use(loans: Sequence[UsedLoan], requester: str) -> PastUse | None:
    """Of the requester's own loans if enough was seen of them, else of the team's; None if of neither."""
    own = _together([one for one in loans if one.requester == requester], by_requester=True)
    return own or _together(loans, by_requester=False)


def _together(loans: Sequence[UsedLoan], *, by_requester: bool) -> PastUse | None:
    seen = [one for one in loans if one.observed]
    observed = sum((one.observed for one in seen), timedelta(0))
    if observed < LEAST_OBSERVED:
        return None
    micro = timedelta(microseconds=1)
    asked = Fraction(sum(one.asked * (one.observed // micro) for one in seen), observed // micro)
    used = Fraction(sum(one.used_time // micro for one in seen), observed // micro)
    return PastUse(len(seen), asked, used, observed, by_requester)
