"""What earlier loans come to: averages over the time that was observed, of the requester before the team."""

from datetime import timedelta
from fractions import Fraction

import pytest

from bot.core.past_use import PastUse, UsedLoan, past_use

HOUR = timedelta(hours=1)


def used(asked: int, average: int, hours: int, who: str = "U1", number: int = 1) -> UsedLoan:
    return UsedLoan(number, who, asked, hours * HOUR, average * hours * HOUR)


@pytest.mark.parametrize(
    ("loans", "expected"),
    [
        ([], None),
        ([used(8, 2, 5)], None),
        ([used(8, 2, 6)], PastUse(1, Fraction(8), Fraction(2), 6 * HOUR, by_requester=True)),
        ([used(8, 2, 3), used(8, 4, 3)], PastUse(2, Fraction(8), Fraction(3), 6 * HOUR, by_requester=True)),
        ([used(8, 2, 9), used(4, 4, 3)], PastUse(2, Fraction(7), Fraction(5, 2), 12 * HOUR, by_requester=True)),
        ([used(8, 2, 60), used(4, 4, 0)], PastUse(1, Fraction(8), Fraction(2), 60 * HOUR, by_requester=True)),
        ([used(8, 2, 6), used(8, 8, 600, "U2")], PastUse(1, Fraction(8), Fraction(2), 6 * HOUR, by_requester=True)),
        (
            [used(8, 2, 5), used(8, 8, 5, "U2")],
            PastUse(2, Fraction(8), Fraction(5), 10 * HOUR, by_requester=False),
        ),
        ([used(8, 2, 6, "U2")], PastUse(1, Fraction(8), Fraction(2), 6 * HOUR, by_requester=False)),
    ],
    ids=["none", "too little", "one", "two", "weighted", "one not seen", "own first", "own too little", "team"],
)
def test_past_use(loans: list[UsedLoan], expected: PastUse | None) -> None:
    assert past_use(loans, "U1") == expected
