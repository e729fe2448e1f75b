"""Kubernetes quantities as whole devices. Used by adapters/kube/objects and resource_quotas."""

from decimal import ROUND_CEILING, Decimal
from typing import Any

from kubernetes.utils.quantity import parse_quantity


def devices(quantity: Any) -> tuple[int, bool]:
    """A Kubernetes quantity as a whole number, rounded up as Kueue does, and whether it was whole already.

    Raises ValueError for what is no quantity.
    """
    if isinstance(quantity, int):
        return quantity, True
    if isinstance(quantity, str) and quantity.isascii() and quantity.isdigit():
        return int(quantity), True
    exact: Decimal = parse_quantity(quantity)
    rounded = int(exact.to_integral_value(ROUND_CEILING))
    return rounded, exact == rounded
