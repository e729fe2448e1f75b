"""Patches that are on their way to the API server while their sender has lost the lease."""

from collections.abc import Callable

from bot.core.convergence.changes import PatchOutcome, PatchResult, QueueChange
from tests.cluster.replica import Replica


class Delayed:
    """From its n-th patch on, what the replica sends is delayed; the first of them costs it the lease (`lost`)."""

    def __init__(self, replica: Replica, patches: int, lost: Callable[[], None]) -> None:
        self._real = replica.cluster.patch
        self._left = patches
        self._lost = lost
        self._late: list[QueueChange] = []
        replica.cluster.patch = self  # type: ignore[method-assign]

    def __call__(self, change: QueueChange, *, dry_run: bool = False) -> PatchResult:
        self._left -= 1
        if self._left > 0:
            return self._real(change, dry_run=dry_run)
        self._late.append(change)
        self._lost()
        return PatchResult(PatchOutcome.UNKNOWN, "no answer in time")

    def arrive(self) -> list[PatchOutcome]:
        """What was on its way reaches the API server now, once; its answers."""
        late, self._late = self._late, []
        return [self._real(change).outcome for change in late]
