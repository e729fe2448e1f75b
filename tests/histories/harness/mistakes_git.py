"""Deliberate mistakes about queues that are written in Git, beside those of mistakes.py."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.convergence import order, planner
from bot.core.convergence.proposals import Proposing
from bot.core.convergence.views import QueueView
from bot.flows import plan_quota

Patch = pytest.MonkeyPatch


def git_is_written(patch: Patch) -> None:
    """Nobody asks whether a queue is in Git."""
    patch.setattr(plan_quota, "_proposing", lambda *_: Proposing())


def proposed_counts_as_merged(patch: Patch) -> None:
    """The other side of a loan goes on as soon as something is proposed."""
    right = planner.look_at

    def look_at(*args: Any) -> Any:
        look = right(*args)
        return replace(look, embodied=look.proposed.after.legs) if look.proposed else look

    patch.setattr(planner, "look_at", look_at)


def taken_back_is_forgotten(patch: Patch) -> None:
    """Whoever merges what was withdrawn has changed the base."""
    patch.setattr(QueueView, "merged_late", lambda *_: None)


def leaps_wait_for_nobody(patch: Patch) -> None:
    """A step that leans on nothing is taken while the queue that must fall first is only asked to."""
    right = order._Group.blocker

    def blocker(self: Any, move: Any, step: Any) -> Any:
        self.merges.clear()
        return right(self, move, step)

    patch.setattr(order._Group, "blocker", blocker)
