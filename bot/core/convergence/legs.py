"""Legs: what one loan adds to one field (minus at the lender, plus at the borrower), and which fields a loan has.

Leg ids are `L<loan number>`; older loans have smaller numbers.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.loans import Loan, LoanKind
from bot.core.resource_quotas import hard_field, is_resource_quota


def lender_field(loan: Loan) -> FieldKey | None:
    """The field that gives; None unless the loan is a transfer."""
    if loan.kind is not LoanKind.TRANSFER or loan.lender is None:
        return None
    return FieldKey(loan.cluster, loan.lender, loan.flavor, loan.resource, FieldName.NOMINAL)


def borrower_field(loan: Loan) -> FieldKey:
    """The field that receives."""
    if is_resource_quota(loan.borrower):
        return hard_field(loan.cluster, loan.borrower, loan.resource)
    name = FieldName.BORROWING_LIMIT if loan.kind is LoanKind.BORROW else FieldName.NOMINAL
    return FieldKey(loan.cluster, loan.borrower, loan.flavor, loan.resource, name)


class Sides(NamedTuple):
    """One loan with the names that a plan needs over and over."""

    loan: Loan
    leg: str
    lender: FieldKey | None
    borrower: FieldKey
    beside: FieldKey | None = None
    """The ResourceQuota's field that rises before the borrower's and falls after it."""

    @classmethod
    def of(cls, loan: Loan, resource_quota: str | None = None) -> "Sides":
        """Work the names out, once per plan. `resource_quota` is the one of the borrower's team."""
        beside = None if resource_quota is None else hard_field(loan.cluster, resource_quota, loan.resource)
        return cls(loan, loan.leg_id, lender_field(loan), borrower_field(loan), beside)

    @property
    def fields(self) -> tuple[FieldKey, ...]:
        """All fields that the loan has now."""
        return tuple(key for key in (self.lender, self.beside, self.borrower) if key is not None)


def age(leg_id: str) -> int:
    """Sorts oldest first."""
    return int(leg_id[1:])


def youngest_first(leg_ids: Iterable[str]) -> list[str]:
    """Leg ids in the order in which they are cut."""
    return sorted(leg_ids, key=age, reverse=True)


def without_zeros(legs: Mapping[str, int]) -> dict[str, int]:
    """The legs that add something."""
    return {leg: size for leg, size in legs.items() if size}


def shrink(legs: Mapping[str, int], amount: int, sign: int) -> dict[str, int]:
    """Take `amount` in all off the legs of one sign (+1 received, -1 given), youngest loan first."""
    left = dict(legs)
    for leg in youngest_first(leg for leg, size in legs.items() if size * sign > 0):
        taken = min(amount, left[leg] * sign)
        left[leg] -= taken * sign
        amount -= taken
    return without_zeros(left)
