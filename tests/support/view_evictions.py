"""Evictions at a loan's end in every state that people see, under any names."""

from dataclasses import replace
from datetime import timedelta

from bot.core.evictions import Eviction, EvictionState, Work, WorkState
from bot.core.kueue import FlavorResource
from bot.views.evictions import EvictionFacts
from tests.support.view_facts import NAMES, RESOURCE, Names, at


def evictions(names: Names = NAMES) -> dict[str, EvictionFacts]:
    """By what is special about each."""
    one = Work("ns", "job-1", "uid-1", names.work, 8)
    two = Work("ns", "job-2", "uid-2", names.other_work, 4)
    entry = FlavorResource(names.flavor, RESOURCE)
    told = Eviction(142, "default", names.queue, entry, 8, timedelta(hours=1), at("14:20", 5), EvictionState.ANNOUNCED)
    told = replace(told, due=at("15:20", 5), works=(one,))
    both = replace(told, works=(one, two))

    def after(state: EvictionState, first: WorkState, second: WorkState, held: str = "") -> Eviction:
        return replace(told, state=state, held=held, works=(replace(one, state=first), replace(two, state=second)))

    over, closed = EvictionState.OVER, EvictionState.CLOSED
    return {
        "announced": EvictionFacts(told),
        "announced, two": EvictionFacts(both),
        "announced, held": EvictionFacts(replace(told, held=f"quota changes are paused by {names.admin}")),
        "announced, refused": EvictionFacts(replace(told, held=names.vendor)),
        "announced, extension waits": EvictionFacts(told, extension=150),
        "announced, extension approved": EvictionFacts(told, extension=150, extended=True),
        "done": EvictionFacts(after(closed, WorkState.EVICTED, WorkState.SPARED)),
        "done, two": EvictionFacts(after(closed, WorkState.EVICTED, WorkState.EVICTED)),
        "done, extension waits": EvictionFacts(after(over, WorkState.EVICTED, WorkState.SPARED), extension=150),
        "undone": EvictionFacts(after(closed, WorkState.RESTORED, WorkState.LEFT), extension=150, extended=True),
        "not undone": EvictionFacts(after(closed, WorkState.LEFT, WorkState.SPARED), extension=150, extended=True),
        "called off": EvictionFacts(after(closed, WorkState.SPARED, WorkState.SPARED, "the policy lets it run on now")),
    }
