"""Work that is evicted at a loan's end: one row per loan, compare-and-set."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.errors import Stale
from bot.core.evictions import Eviction, EvictionState
from bot.core.kueue import FlavorResource


def test_of_two_who_change_it_one_does(store, make) -> None:
    entry = FlavorResource("a100", "nvidia.com/gpu")
    with store.begin() as work:
        assert work.evictions.get(7) is None
        assert work.evictions.add(Eviction(7, "default", "vision", entry, 8, timedelta(hours=1), make.now))
        work.commit()
    with store.read() as work:
        seen = work.evictions.get(7)
    with store.begin() as work:
        work.evictions.update(replace(seen, state=EvictionState.ANNOUNCED, due=make.now))
        work.commit()
    with store.begin() as work, pytest.raises(Stale, match="eviction of loan 7"):
        work.evictions.update(replace(seen, held="paused"))


def test_open_ones_are_by_loan_and_closed_ones_are_kept(store, make) -> None:
    entry = FlavorResource("a100", "nvidia.com/gpu")
    with store.begin() as work:
        for loan in (9, 7, 8):
            work.evictions.add(Eviction(loan, "default", "vision", entry, 8, timedelta(hours=1), make.now))
        work.evictions.update(replace(work.evictions.get(8), state=EvictionState.CLOSED))
        assert [one.loan for one in work.evictions.open()] == [7, 9]
        assert work.evictions.get(8).state is EvictionState.CLOSED
