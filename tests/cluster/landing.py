"""A patch of the bot's where the test is not about conflicts: planned again until nothing has come in between.

Kueue writes a queue's status a moment after each change of its spec, on its own time; a patch that was planned before
that is a CONFLICT, and rightly so. In life convergence reads and plans again, and so does this.
"""

from collections.abc import Callable

from bot.core.convergence.changes import PatchOutcome, PatchResult, QueueChange
from bot.ports.cluster import Cluster

TRIES = 20
"""Kueue writes once or twice after a change; this many conflicts in a row have another cause."""


def land(bot: Cluster, plan: Callable[[], QueueChange], *, dry_run: bool = False) -> tuple[QueueChange, PatchResult]:
    """(what was sent last, the first answer that is no conflict). `plan` reads the queue and says what to change."""
    for _ in range(TRIES):
        change = plan()
        result = bot.patch(change, dry_run=dry_run)
        if result.outcome is not PatchOutcome.CONFLICT:
            return change, result
    raise AssertionError(f"{TRIES} conflicts in a row: {result.words}")
