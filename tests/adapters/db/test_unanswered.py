"""Asks to give back and escalations in the database: one is open at a time, and an escalation happens once."""

from dataclasses import replace

import pytest

from bot.core.ask_backs import AskBack, AskBackState
from bot.core.errors import Stale
from bot.core.escalations import Escalation


@pytest.fixture
def lent(store, make):
    """The number of a loan."""
    with store.begin() as work:
        request = work.requests.add(make.request())
        work.loans.add(make.loan(request.id))
        work.commit()
    return request.id


def ask_of(number, make, **changes) -> AskBack:
    return AskBack(0, number, "U9", make.now, "ours\n<!channel>", **changes)


def test_what_is_asked_is_what_is_got(store, lent, make) -> None:
    with store.begin() as work:
        added = work.ask_backs.add(ask_of(lent, make))
        work.commit()
    with store.read() as work:
        assert work.ask_backs.get(added.id) == added
        assert list(work.ask_backs.of(lent)) == list(work.ask_backs.waiting()) == [added]
        assert (work.ask_backs.get(added.id + 1), list(work.ask_backs.of(lent + 1))) == (None, [])


def test_one_is_open_at_a_time_and_a_settled_one_makes_room(store, lent, make) -> None:
    with store.begin() as work:
        first = work.ask_backs.add(ask_of(lent, make))
        with pytest.raises(Stale):
            work.ask_backs.add(ask_of(lent, make))
        answer = {"settled_by": "U8", "settled_at": make.now, "given": 3}
        settled = work.ask_backs.update(replace(first, state=AskBackState.RETURNED, **answer))
        assert list(work.ask_backs.waiting()) == []
        second = work.ask_backs.add(ask_of(lent, make))
        assert list(work.ask_backs.of(lent)) == [settled, second]


@pytest.mark.parametrize("state", [one for one in AskBackState if one is not AskBackState.OPEN])
def test_a_settled_one_never_changes_again(store, lent, make, state) -> None:
    with store.begin() as work:
        settled = work.ask_backs.update(replace(work.ask_backs.add(ask_of(lent, make)), state=state))
        for after in AskBackState:
            with pytest.raises(Stale):
                work.ask_backs.update(replace(settled, state=after))


def test_of_two_who_ask_at_one_moment_one_does(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        request = work.requests.add(make.request())
        work.loans.add(make.loan(request.id))
        work.commit()

    def add():
        with shared_store.begin() as work:
            added = work.ask_backs.add(ask_of(request.id, make))
            work.commit()
            return added

    assert sorted(isinstance(result, Stale) for result in together(add, add, add)) == [False, True, True]


def test_an_escalation_happens_once_for_each_step_terms_and_group(store, lent, make) -> None:
    made = Escalation(lent, 0, 0, "leads:vision", "group:on-call", make.now, "8 h without an answer")
    others = [
        replace(made, **change) for change in ({"terms": 1}, {"step": 1}, {"to": "group:b"}, {"asked": "leads:a"})
    ]
    with store.begin() as work:
        assert work.escalations.add(made)
        assert not work.escalations.add(replace(made, at=make.later(hours=1)))
        assert all(work.escalations.add(one) for one in others)
        work.commit()
    with store.read() as work:
        assert list(work.escalations.of(lent)) == [made, *others]
        assert list(work.escalations.of(lent + 1)) == []
