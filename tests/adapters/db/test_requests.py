"""Requests and approvals in the database: what is unique, what is compared, what is found in which order."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.errors import Stale
from bot.core.loans import LoanState
from bot.core.requests import TRANSITIONS, Approval, RequestState


@pytest.fixture
def three(store, make):
    """Three requests, an hour apart, of two teams; the second is denied, the third extends a loan."""
    made = []
    with store.begin() as work:
        for hour, team in enumerate(["vision", "nlp", "vision"]):
            draft = make.request(f"Ev{hour}", team, created_at=make.later(hours=hour), requester=f"U{hour}")
            made.append(work.requests.add(replace(draft, extends=7 if hour == 2 else None)))
        made[1] = work.requests.update(replace(made[1], state=RequestState.DENIED))
        work.commit()
    return made


def test_numbers_are_assigned_and_rise(three) -> None:
    assert [request.id for request in three] == [1, 2, 3]


def test_what_is_added_is_what_is_got(store, make) -> None:
    with store.begin() as work:
        added = work.requests.add(make.request(id=999))
        work.commit()
    assert added == replace(make.request(), id=added.id, version=added.version)
    with store.read() as work:
        assert work.requests.get(added.id) == added
        assert work.requests.by_origin("Ev1") == added
        assert work.requests.get(added.id + 1) is None
        assert work.requests.by_origin("ev1") is None


def test_one_origin_makes_one_request(store, make) -> None:
    """And the refusal leaves the transaction usable, on PostgreSQL too."""
    with store.begin() as work:
        first = work.requests.add(make.request("Ev1"))
        with pytest.raises(Stale):
            work.requests.add(make.request("Ev1"))
        assert work.requests.find() == [first]
        work.commit()


def test_one_origin_makes_one_request_when_two_replicas_get_it(shared_store, make, together) -> None:
    def submit():
        with shared_store.begin() as work:
            added = work.requests.add(make.request("Ev1"))
            work.commit()
            return added

    results = together(submit, submit, submit)
    assert sorted(isinstance(result, Stale) for result in results) == [False, True, True]
    with shared_store.read() as work:
        assert len(work.requests.find()) == 1


@pytest.mark.parametrize(
    ("conditions", "origins"),
    [
        ({}, ["Ev2", "Ev1", "Ev0"]),
        ({"limit": 2}, ["Ev2", "Ev1"]),
        ({"limit": 0}, []),
        ({"states": [RequestState.WAITING]}, ["Ev2", "Ev0"]),
        ({"states": {RequestState.WAITING, RequestState.DENIED}}, ["Ev2", "Ev1", "Ev0"]),
        ({"states": []}, []),
        ({"teams": ["nlp"]}, ["Ev1"]),
        ({"teams": ["nlp", "vision", "other"], "limit": 1}, ["Ev2"]),
        ({"requester": "U0"}, ["Ev0"]),
        ({"extends": 7}, ["Ev2"]),
        ({"extends": 7, "requester": "U0"}, []),
        ({"extends": 8}, []),
        ({"requester": "U0", "teams": ["nlp"]}, []),
    ],
)
def test_find_gives_the_newest_first_and_every_condition_holds(store, three, conditions, origins) -> None:
    with store.read() as work:
        assert [request.origin for request in work.requests.find(**conditions)] == origins


def test_find_since_includes_the_instant_itself(store, three, make) -> None:
    with store.read() as work:
        assert len(work.requests.find(since=make.later(hours=1))) == 2
        assert len(work.requests.find(since=make.later(hours=1) + timedelta(microseconds=1))) == 1


def test_an_update_gives_the_new_version_and_the_old_one_is_stale(store, three, make) -> None:
    read = three[0]
    decided = replace(read, state=RequestState.APPROVED, decided_by="U9", decided_at=make.now, revision=1)
    with store.begin() as work:
        updated = work.requests.update(decided)
        work.commit()
    assert updated == replace(decided, version=updated.version)
    assert updated.version != read.version
    with store.begin() as work, pytest.raises(Stale):
        work.requests.update(replace(read, state=RequestState.DENIED))
    with store.read() as work:
        assert work.requests.get(read.id) == updated


@pytest.mark.parametrize("after", RequestState)
@pytest.mark.parametrize("before", RequestState)
def test_a_request_goes_only_where_its_state_leads(store, make, before, after) -> None:
    """Even for a writer who has read the newest version. Staying is no transition: a card is redrawn."""
    with store.begin() as work:
        read = work.requests.add(replace(make.request(), state=before))
        work.commit()
    changed = replace(read, state=after, revision=read.revision + 1)
    with store.begin() as work:
        if after is before or after in TRANSITIONS[before]:
            assert work.requests.update(changed).state is after
        else:
            with pytest.raises(Stale, match=f"request {read.id}, which is to be {after}"):
                work.requests.update(changed)


def test_an_update_of_a_request_that_is_not_there_is_stale(store, make) -> None:
    with store.begin() as work, pytest.raises(Stale):
        work.requests.update(make.request(id=12, version=1))


def test_of_two_decisions_at_once_one_wins_and_the_other_is_stale(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        read = work.requests.add(make.request())
        work.commit()

    def decide(state):
        def run():
            with shared_store.begin() as work:
                updated = work.requests.update(replace(read, state=state))
                work.commit()
                return updated

        return run

    results = together(decide(RequestState.APPROVED), decide(RequestState.DENIED), decide(RequestState.WITHDRAWN))
    [winner] = [result for result in results if not isinstance(result, Stale)]
    with shared_store.read() as work:
        assert work.requests.get(read.id) == winner


def test_approvals_come_in_the_order_given(store, three, make) -> None:
    request = three[0].id
    given = [
        Approval(request, 0, "U5", make.later(minutes=9)),
        Approval(request, 1, "U3", make.now, self_approved=True),
        Approval(request, 1, "U4", make.now),
    ]
    with store.begin() as work:
        for approval in given:
            work.requests.approve(approval)
        work.commit()
    with store.read() as work:
        assert work.requests.approvals(request) == given
        assert work.requests.approvals(three[1].id) == []


def test_a_person_approves_a_request_once_whatever_the_step(store, three, make) -> None:
    with store.begin() as work:
        work.requests.approve(Approval(three[0].id, 0, "U5", make.now))
        work.requests.approve(Approval(three[1].id, 0, "U5", make.now))
        with pytest.raises(Stale):
            work.requests.approve(Approval(three[0].id, 1, "U5", make.later(hours=1)))
        work.commit()
    with store.read() as work:
        assert len(work.requests.approvals(three[0].id)) == 1


def test_approvals_are_those_of_the_terms_that_the_request_has_now(store, three, make) -> None:
    """The others stay stored, and the same person may approve the new terms."""
    with store.begin() as work:
        work.requests.approve(Approval(three[0].id, 0, "U5", make.now))
        changed = work.requests.update(replace(three[0], terms=1, judged_at=make.now))
        assert work.requests.approvals(changed.id) == []
        again = Approval(changed.id, 0, "U5", make.later(hours=1), terms=1)
        work.requests.approve(again)
        assert work.requests.approvals(changed.id) == [again]
        with pytest.raises(Stale):
            work.requests.approve(again)
        work.requests.update(replace(changed, terms=0))
        assert [one.at for one in work.requests.approvals(changed.id)] == [make.now]


def test_an_approval_of_nothing_is_refused(store, make) -> None:
    with pytest.raises(Stale), store.begin() as work:
        work.requests.approve(Approval(77, 0, "U5", make.now))
    with store.read() as work:
        assert work.requests.approvals(77) == []


def test_without_commit_nothing_happened(store, make) -> None:
    with store.begin() as work:
        work.requests.add(make.request())

    def fail_half_way():
        with store.begin() as work:
            work.requests.add(make.request())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    with store.read() as work:
        assert work.requests.find() == []


def test_the_times_of_a_series_are_found_by_it_and_only_so(store, make) -> None:
    with store.begin() as work:
        number = work.requests.add(make.request("Ev1")).id
        added = [
            work.requests.add(replace(make.request(f"series:{number}:{place}"), series=number)) for place in (1, 2)
        ]
        work.commit()
    with store.read() as work:
        assert work.requests.times_of(number) == added
        assert work.requests.times_of(number + 1) == []
        assert [one.id for one in work.requests.find()] == [number]
    with store.begin() as work, pytest.raises(Stale):
        work.requests.add(replace(make.request(f"series:{number}:2"), series=number))


def test_open_ones_wait_or_have_a_loan_that_is_not_over(store, three, make) -> None:
    """Whatever was asked for since; of a series any of its times counts."""
    with store.begin() as work:
        series = work.requests.add(make.request("Series", requester="U0"))
        times = [work.requests.add(replace(make.request(f"T{at}"), series=series.id)) for at in range(2)]
        done = [work.requests.add(make.request(f"Done{at}", requester="U0")) for at in range(2)]
        for one in (series, *times, *done):
            work.requests.update(replace(one, state=RequestState.APPROVED))
        for one, state in ((times[0], "closed"), (times[1], "scheduled"), (done[0], "closed"), (done[1], "returning")):
            work.loans.add(make.loan(one.id, state=LoanState(state)))
        work.commit()
    waiting, _, extension = three
    with store.read() as work:
        newest_first = [extension.id, done[1].id, series.id, waiting.id]
        assert [one.id for one in work.requests.find_open()] == newest_first
        assert [one.id for one in work.requests.find_open(requester="U0")] == newest_first[1:]
        assert [one.id for one in work.requests.find_open(requester="U2", teams={"vision"})] == [extension.id]
        assert work.requests.find_open(teams={"nlp"}) == []
        assert work.requests.find_open(teams=()) == []


def test_every_team_that_ever_asked_is_known(store, three) -> None:
    with store.read() as work:
        assert work.requests.teams() == {"vision", "nlp"}


def test_nobody_asked_yet(store) -> None:
    with store.read() as work:
        assert work.requests.teams() == frozenset()
