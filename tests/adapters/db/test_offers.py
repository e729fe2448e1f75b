"""Counter-offers in the database: one is open at a time, and a settled one never changes again."""

from dataclasses import replace

import pytest

from bot.core.errors import Stale
from bot.core.offers import Offer, OfferState, terms_of


@pytest.fixture
def asked(store, make):
    """A waiting request."""
    with store.begin() as work:
        request = work.requests.add(make.request())
        work.commit()
    return request


def offer_of(request, make, **changes) -> Offer:
    asked = terms_of(request.ask)
    return Offer(0, request.id, replace(asked, amount=4), asked, "U9", make.now, "no room", **changes)


def test_what_is_added_is_what_is_got(store, asked, make) -> None:
    with store.begin() as work:
        added = work.offers.add(offer_of(asked, make, notes=("a", "b"), picture="{}"))
        work.commit()
    with store.read() as work:
        assert work.offers.get(added.id) == added
        assert work.offers.of(asked.id) == [added]
        assert (work.offers.get(added.id + 1), work.offers.of(asked.id + 1)) == (None, [])


def test_one_is_open_at_a_time_and_a_settled_one_makes_room(store, asked, make) -> None:
    """And the refusal leaves the transaction usable."""
    with store.begin() as work:
        first = work.offers.add(offer_of(asked, make))
        with pytest.raises(Stale):
            work.offers.add(offer_of(asked, make))
        settled = work.offers.update(replace(first, state=OfferState.REPLACED, settled_by="U8", settled_at=make.now))
        second = work.offers.add(offer_of(asked, make))
        assert work.offers.of(asked.id) == [settled, second]


@pytest.mark.parametrize("state", [one for one in OfferState if one is not OfferState.OPEN])
def test_a_settled_one_never_changes_again(store, asked, make, state) -> None:
    with store.begin() as work:
        settled = work.offers.update(replace(work.offers.add(offer_of(asked, make)), state=state))
        for after in OfferState:
            with pytest.raises(Stale):
                work.offers.update(replace(settled, state=after))


def test_it_is_settled_as_it_was_read_or_not_at_all(store, asked, make) -> None:
    with store.begin() as work:
        read = work.offers.add(offer_of(asked, make))
        with pytest.raises(Stale):
            work.offers.update(replace(read, state=OfferState.VOID, version=read.version + 1))


def test_of_two_offers_at_one_moment_one_is_open(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        request = work.requests.add(make.request())
        work.commit()

    def add():
        with shared_store.begin() as work:
            added = work.offers.add(offer_of(request, make))
            work.commit()
            return added

    results = together(add, add, add)
    assert sorted(isinstance(result, Stale) for result in results) == [False, True, True]
    with shared_store.read() as work:
        assert len(work.offers.of(request.id)) == 1
