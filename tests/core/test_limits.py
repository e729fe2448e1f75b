"""The limits of a policy and of one person, each with its sentence and field."""

from datetime import timedelta
from typing import Any

import pytest

from bot.core.drafts import AskField
from bot.core.limits import over_limits, refusals
from bot.core.loans import LoanKind
from bot.core.policy import Policy
from bot.core.request_facts import Pace, RequestFacts
from bot.core.requests import Ask
from tests.support.quota import NOW, ask, documents, loan, policy, request

CALM = Pace(0, ())
MINUTE = timedelta(minutes=1)


def limited(**limits: Any) -> Policy:
    files = documents()
    files["approvals.yaml"]["limits"] = limits
    return policy(files)


def said(of: Ask, pace: Pace = CALM, rules: Policy | None = None, **facts: Any) -> list[tuple[str | None, str]]:
    found = refusals(rules or policy(), RequestFacts(NOW, of, **facts), pace)
    return [(one.field, one.sentence) for one in found]


@pytest.mark.parametrize("amount", [1, 8, 16])
def test_an_ordinary_request_is_not_refused(amount: int) -> None:
    assert said(ask(amount)) == []


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize(
    ("amount", "shown"), [(17, "17"), (20, "20"), (4000, "4,000"), (8 * 10**18, f"{8 * 10**18:,}")]
)
def test_quo_13_a_huge_amount_is_refused_with_the_number_shown(amount: int, shown: str) -> None:
    (first, *_) = said(ask(amount))
    assert first == (AskField.AMOUNT, f"{shown} is over the limit of 16 per request for vision.")


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (timedelta(days=14), None),
        (timedelta(days=14, minutes=1), "336 h 1 min is over the limit of 14 days for vision."),
        (timedelta(days=21), "21 days is over the limit of 14 days for vision."),
        (timedelta(days=3650), "3650 days is over the limit of 14 days for vision."),
    ],
)
def test_the_longest_loan(duration: timedelta, words: str | None) -> None:
    assert said(ask(8, duration=duration)) == ([] if words is None else [(AskField.UNTIL, words)])


def test_an_end_counts_from_the_start_that_was_asked_for() -> None:
    until = NOW + timedelta(days=20)
    start = NOW + timedelta(days=10)
    assert said(ask(8, duration=None, until=until, start=start)) == []
    assert len(said(ask(8, duration=None, until=until))) == 1


@pytest.mark.parametrize(
    ("had", "amount", "words"),
    [
        (20, 4, None),
        (20, 8, "20 of 24 on loan for vision; at most 4 more."),
        (24, 1, "24 of 24 on loan for vision; at most 0 more."),
        (30, 1, "30 of 24 on loan for vision; at most 0 more."),
    ],
)
def test_what_a_team_has_and_asks_for_is_added_up(had: int, amount: int, words: str | None) -> None:
    half = had // 2
    found = said(ask(amount), loans=(loan(1, had - half),), requests=(request(2, of=ask(half)),))
    assert found == ([] if words is None else [(AskField.AMOUNT, words)])


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize(("count", "words"), [(4, None), (5, "5 requests are open."), (6, "6 requests are open.")])
def test_sec_08_open_requests_of_a_person(count: int, words: str | None) -> None:
    assert said(ask(1), Pace(count, ())) == ([] if words is None else [(None, f"{words} Withdraw one first.")])


@pytest.mark.case("SEC-08")
def test_sec_08_one_open_request() -> None:
    (one,) = said(ask(1), Pace(1, ()), limited(open_requests_per_person=1))
    assert one == (None, "1 request is open. Withdraw one first.")


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize(
    ("count", "zone", "words"),
    [
        (19, "UTC", None),
        (20, "UTC", "next at 13:46"),
        (21, "Europe/Zurich", "next at 14:46"),
        (200, "Asia/Kolkata", "next at 19:16"),
    ],
)
def test_sec_08_requests_in_an_hour(count: int, zone: str, words: str | None) -> None:
    """They came one a minute, the last at this moment: the twentieth from the end is 19 minutes old."""
    recent = [NOW - MINUTE * n for n in range(count)]
    limit = f"20 requests in an hour is the limit; {words}. Nothing was sent."
    assert said(ask(1), Pace(0, recent, zone)) == ([] if words is None else [(None, limit)])


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize("minutes", [60, 61, 90])
def test_sec_08_what_was_asked_an_hour_ago_does_not_count(minutes: int) -> None:
    recent = [NOW - MINUTE * n for n in range(19)] + [NOW - MINUTE * minutes] * 10
    assert said(ask(1), Pace(0, recent)) == []
    assert len(said(ask(1), Pace(0, [*recent, NOW]))) == 1


@pytest.mark.parametrize("reason", ["", " ", "\n\t", "\u00a0"])
def test_a_reason_is_wanted_unless_the_policy_says_otherwise(reason: str) -> None:
    assert said(ask(1, reason=reason)) == [(AskField.REASON, "Say why in a few words.")]
    assert said(ask(1, reason=reason), rules=limited(reason_required=False)) == []


def test_all_of_it_comes_at_once() -> None:
    of = ask(30, kind=LoanKind.EXTRA, duration=timedelta(days=30), reason="")
    fields = [field for field, _ in said(of, Pace(9, ()))]
    assert fields == [None, AskField.KIND, AskField.AMOUNT, AskField.UNTIL, AskField.AMOUNT, AskField.REASON]


def test_only_limits_of_the_loan_itself_are_looked_at_again_later() -> None:
    of = ask(17, reason="")
    assert [one.field for one in over_limits(policy(), RequestFacts(NOW, of))] == [AskField.AMOUNT]
