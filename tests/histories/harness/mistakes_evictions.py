"""Deliberate mistakes in the eviction of work at a loan's end, beside those of mistakes.py."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core import evictions
from bot.flows import evict_work, eviction_facts

Patch = pytest.MonkeyPatch


def grace_is_cut_short(patch: Patch) -> None:
    """Work is evicted as soon as it was announced."""
    right = evict_work._STEPS[evictions.EvictionState.ANNOUNCED]

    def at_once(world: Any, epoch: int, eviction: Any, facts: Any) -> bool | None:
        return right(world, epoch, replace(eviction, due=world.clock()), facts)

    patch.setitem(evict_work._STEPS, evictions.EvictionState.ANNOUNCED, at_once)


def eviction_is_not_announced(patch: Patch) -> None:
    """It is stored, and told to nobody."""
    patch.setattr(evict_work, "tell_announced", lambda *_: None)


def everything_is_evicted(patch: Patch) -> None:
    """All work of the queue, not only what is too much."""
    patch.setattr(evictions, "_needed_only", lambda taken, *_: tuple(taken))
    right = evict_work.excess

    def all_of_it(eviction: Any, allowed: int, workloads: Any, among: Any = None) -> Any:
        found = right(eviction, allowed, workloads, among)
        return right(replace(eviction, most=10**6), 0, workloads, among) if found.work else found

    patch.setattr(evict_work, "excess", all_of_it)


def evicts_while_paused(patch: Patch) -> None:
    """A pause is for convergence only."""
    patch.setattr(eviction_facts, "_held", lambda *_: "")


def undoes_what_others_did(patch: Patch) -> None:
    """Whatever is inactive is set active, if it was ever evicted by the bot."""
    patch.setattr(evict_work, "is_by_our_hand", lambda _work, live: not live.active)
