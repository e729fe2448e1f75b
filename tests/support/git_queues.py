"""Queues in Git on a bench: a policy that leaves them to it, and somebody who merges. Used by tests of the flows."""

from typing import TYPE_CHECKING

from bot.core.policy import Policy
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


def in_git(*queues: str) -> Policy:
    """The tests' policy, with these queues in Git."""
    changed = quota.documents()
    changed["clusters.yaml"]["clusters"]["default"]["queues"] = {name: {"write": "propose"} for name in queues}
    return quota.policy(changed)


def step(bench: "Bench") -> None:
    """Converge, and deliver what that owes."""
    bench.converge()
    bench.deliver_all()


def merge(bench: "Bench", queue: str, number: int) -> None:
    """Somebody's number in Git is applied, and the bot looks."""
    bench.set_nominal(queue, number)
    step(bench)
