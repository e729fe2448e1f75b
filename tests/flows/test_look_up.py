"""What runs is never cut off by what was asked for since: one's own loans, `status` and `list`."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.core.requests import RequestState
from bot.flows.look_up import (
    DENIED_STAYS,
    MOST_OVER,
    ROWS,
    list_facts,
    own_loans,
    requests_to_withdraw,
    status_facts,
)
from bot.views.answers.requests_list import requests_list
from tests.support import quota
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

REQUESTER, LEAD = "U0VISION", "U0LEADVISION"
MANY = 3 * MOST_OVER
DAYS = 30


def asked(bench: "Bench", state: RequestState, requester: str = REQUESTER, count: int = 1) -> list[int]:
    """Requests made and decided just now; their numbers."""
    of = quota.ask(requester=requester, duration=timedelta(days=DAYS))
    if state is RequestState.APPROVED:
        return [bench.approved(of) for _ in range(count)]
    with bench.world.store.begin() as uow:
        made = [
            uow.requests.add(quota.request(of=of, created_at=bench.clock(), origin=bench.new_id()))
            for _ in range(count)
        ]
        if state is not RequestState.WAITING:
            made = [uow.requests.update(replace(one, state=state, decided_at=bench.clock())) for one in made]
        uow.commit()
    return [one.id for one in made]


def test_a_running_loan_is_found_however_much_was_asked_for_since(bench: "Bench") -> None:
    (running,) = asked(bench, RequestState.APPROVED)
    asked(bench, RequestState.LAPSED, count=MANY)
    asked(bench, RequestState.DENIED, count=MANY)
    assert [one.id for one in own_loans(bench.world, REQUESTER)] == [running]
    assert [one.id for one in requests_to_withdraw(bench.world, REQUESTER)] == [running]
    (team,) = status_facts(bench.world, REQUESTER, None).teams
    assert [row.request.id for row in team.loans] == [running]
    for scope in (None, "mine", "team", "all"):
        for closed in (True, False):
            assert list_facts(bench.world, REQUESTER, scope, closed=closed).rows[0].request.id == running


def test_all_of_ones_own_open_ones_are_listed_before_those_of_others(bench: "Bench") -> None:
    own = asked(bench, RequestState.APPROVED, count=ROWS + 1)
    own += asked(bench, RequestState.WAITING)
    others = asked(bench, RequestState.WAITING, LEAD, count=ROWS)
    found = list_facts(bench.world, REQUESTER, None, closed=False)
    assert ([row.request.id for row in found.rows], found.left) == ([*reversed(own)], len(others))
    lead = list_facts(bench.world, LEAD, None, closed=False)
    assert ([row.request.id for row in lead.rows], lead.left) == ([*reversed(others)], len(own))
    waiting = list_facts(bench.world, REQUESTER, "waiting", closed=False)
    assert [row.request.id for row in waiting.rows] == [own[-1], *reversed(others[1:])]
    assert waiting.left == 1


def test_what_was_denied_stays_listed_for_thirty_days(bench: "Bench") -> None:
    denied = asked(bench, RequestState.DENIED)
    asked(bench, RequestState.WITHDRAWN)
    bench.clock.advance(DENIED_STAYS)
    assert [row.request.id for row in list_facts(bench.world, REQUESTER, None, closed=False).rows] == denied
    bench.pass_time(seconds=1)
    assert list_facts(bench.world, REQUESTER, None, closed=False).rows == ()
    assert len(list_facts(bench.world, REQUESTER, None, closed=True).rows) == 2


def test_the_list_of_what_is_over_says_where_it_ends(bench: "Bench") -> None:
    asked(bench, RequestState.APPROVED)
    asked(bench, RequestState.LAPSED, count=MANY)
    found = list_facts(bench.world, REQUESTER, "mine", closed=True)
    assert seen(requests_list(found))[0] == (
        f"{MOST_OVER + 1} requests and loans, yours, what is open and the newest {MOST_OVER}"
    )
    assert len(found.rows) == ROWS
