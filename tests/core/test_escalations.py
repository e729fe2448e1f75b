"""When a request that nobody answers is due for what, and how working hours are counted."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.escalations import Due, Escalation, Wait, due, escalates_to, in_force, wait_of, widened
from bot.core.offers import Offer, OfferState, terms_of
from bot.core.policy.approvals import WEEKDAYS, Hours
from bot.core.requests import Approval
from bot.core.working_hours import Shift, worked
from tests.support import quota

HOUR = timedelta(hours=1)
WED = datetime(2026, 12, 2, tzinfo=UTC)
OFFICE = Hours(after=time(9), until=time(17), days=("mon", "tue", "wed", "thu", "fri"))
NIGHT = Hours(after=time(22), until=time(6))
ESCALATES = {"unanswered": {"escalate_to": "nobody"}}
REST = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
POLICY = quota.with_rules(REST, **ESCALATES)


@pytest.mark.parametrize(
    ("since", "until", "hours", "zone", "expected"),
    [
        (10, 12, OFFICE, "UTC", 2),
        (8, 10, OFFICE, "UTC", 1),
        (16, 34, OFFICE, "UTC", 2),
        (0, 7 * 24, OFFICE, "UTC", 40),
        (0, 24, OFFICE, "Asia/Tokyo", 8),
        (0, 24, NIGHT, "UTC", 8),
        (20, 32, NIGHT, "UTC", 8),
        (12, 12, OFFICE, "UTC", 0),
        (12, 10, OFFICE, "UTC", 0),
    ],
)
def test_time_in_working_hours(since: int, until: int, hours: Hours, zone: str, expected: int) -> None:
    assert worked(WED + since * HOUR, WED + until * HOUR, Shift(hours, zone)) == expected * HOUR


@pytest.mark.parametrize(
    ("day", "expected"), [(datetime(2027, 3, 28, tzinfo=UTC), 7), (datetime(2027, 10, 31, tzinfo=UTC), 9)]
)
def test_a_night_in_which_the_clocks_change_is_as_long_as_it_is(day: datetime, expected: int) -> None:
    night = Shift(NIGHT, "Europe/Zurich")
    assert worked(day - 6 * HOUR, day + 6 * HOUR, night) == expected * HOUR


@st.composite
def shifts(draw: st.DrawFn) -> Shift:
    after, until = draw(st.lists(st.times(), min_size=2, max_size=2, unique=True))
    days = draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True))
    zone = draw(st.sampled_from(["UTC", "Europe/Zurich", "America/New_York", "Asia/Kolkata"]))
    return Shift(Hours(after=after, until=until, days=tuple(days)), zone)


@given(shifts(), st.lists(st.integers(0, 60 * 24 * 20), min_size=3, max_size=3).map(sorted))
def test_worked_time_adds_up_and_is_never_more_than_the_time(shift: Shift, minutes: list[int]) -> None:
    one, two, three = (WED + timedelta(minutes=minute) for minute in minutes)
    assert worked(one, two, shift) + worked(two, three, shift) == worked(one, three, shift)
    assert timedelta(0) <= worked(one, three, shift) <= three - one
    assert worked(one, three, None) == three - one


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(3.9, Due.NOTHING), (4, Due.REMIND), (7.9, Due.REMIND), (8, Due.ESCALATE), (99, Due.ESCALATE)],
)
def test_what_is_due(hours: float, expected: Due) -> None:
    request = quota.request(1, "group:gpu-admins")
    wait = Wait(0, "group:gpu-admins", quota.NOW)
    assert due(POLICY, request, wait, quota.NOW + hours * HOUR) is expected


def test_an_answer_begins_the_wait_anew_and_an_open_offer_stops_it() -> None:
    request = quota.request(1, "leads:vision", "group:gpu-admins")
    assert wait_of(request, (), ()) == Wait(0, "leads:vision", quota.NOW)
    given_at = quota.NOW + HOUR
    approval = Approval(1, 0, "U0LEADVISION", given_at)
    assert wait_of(request, (approval,), ()) == Wait(1, "group:gpu-admins", given_at)
    terms = terms_of(request.ask)
    offer = Offer(1, 1, terms, terms, "U0ADMIN", given_at)
    assert wait_of(request, (approval,), (offer,)) is None
    kept = Offer(1, 1, terms, terms, "U0ADMIN", given_at, state=OfferState.KEPT, settled_at=given_at + HOUR)
    assert wait_of(request, (approval,), (kept,)) == Wait(1, "group:gpu-admins", given_at + HOUR)
    assert wait_of(request, (approval, Approval(1, 1, "U0ADMIN", given_at)), ()) is None


def test_the_lenders_consent_and_the_group_itself_are_not_escalated() -> None:
    request = quota.request(1, "leads:nlp", "leads:vision", of=quota.transfer())
    assert escalates_to(POLICY, request, "leads:nlp") is None
    assert escalates_to(POLICY, request, "leads:vision") == "group:nobody"
    assert escalates_to(POLICY, request, "group:nobody") is None
    assert escalates_to(quota.policy(), request, "leads:vision") is None


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, True),
        ({"terms": 1}, False),
        ({"step": 1}, False),
        ({"asked": "leads:vision"}, False),
        ({"to": "group:gpu-admins"}, False),
    ],
)
def test_an_escalation_counts_for_what_it_was_made_for(changes: dict[str, object], counts: bool) -> None:
    facts: dict[str, object] = {"terms": 0, "step": 0, "asked": "group:gpu-admins", "to": "group:nobody", **changes}
    made = Escalation(request=1, at=quota.NOW, why="8 h without an answer", **facts)  # type: ignore[arg-type]
    request = quota.request(1, "group:gpu-admins")
    assert (in_force(POLICY, request, (made,)) == (made,)) is counts
    wider = widened(POLICY, request, (made,))
    assert [step.also for step in wider.steps] == ["group:nobody" if counts else None]
    assert [(step.who, step.count) for step in wider.steps] == [(step.who, step.count) for step in request.steps]
