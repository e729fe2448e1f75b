"""A loan that repeats: one request, one decision, a loan for each time; told of in one thread, stopped, not overrun."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.policy import Policy
from bot.core.requests import Ask, RequestState
from bot.core.series import Every, Series, Span
from bot.flows.change_form import may_offer
from bot.flows.details_facts import details_facts
from bot.flows.end_loan import end_loan
from bot.flows.explain_request import explain_draft, explain_stored
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.look_up import list_facts, loan_of, own_loans, requests_to_withdraw, status_facts
from bot.flows.pause_quota import pause_quota, resume_quota
from bot.flows.record_decision import Press, approve
from bot.flows.remind_loans import remind_loans
from bot.flows.request_form import draft_of_form, form_facts, values_of_request
from bot.flows.request_form import repeating as repeating_values
from bot.flows.return_loan import return_loan
from bot.flows.show_queue import show_facts
from bot.flows.stop_series import end_series, repeats
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.withdraw_request import withdraw_request
from bot.views.answers.explain import explained, what_if
from bot.views.answers.requests_list import requests_list
from bot.views.answers.status import status
from bot.views.details import details
from bot.views.request_form import FormValues
from tests.support import quota
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
FRIDAY = datetime(2026, 12, 4, 17, tzinfo=UTC)
"""18:00 in Zurich."""
WEEKEND = 62 * HOUR
REQUESTER, LEAD, ADMIN = "U0VISION", "U0LEADVISION", "U0ADMIN"
ONE = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
ROOMY = {"most_on_loan_per_team": 400}


def fridays(count: int = 3, first: datetime = FRIDAY) -> Series:
    spans = tuple(Span(first + n * WEEK, first + n * WEEK + WEEKEND) for n in range(count))
    return Series(Every.WEEK, "every Fri 18:00 to Mon 08:00", "Europe/Zurich", spans)


def repeating(of: Ask, series: Series) -> Ask:
    return replace(of, series=series, start=series.spans[0].start, until=series.spans[0].end, duration=None)


def rules(*more: Mapping[str, Any], **limits: Any) -> Policy:
    return quota.with_rules(*more, ONE, limits={**ROOMY, **limits})


def granted(bench: "Bench", of: Ask | None = None, count: int = 3) -> int:
    number = bench.approved(repeating(of or quota.transfer(8), fridays(count)))
    bench.converge()
    bench.deliver_all()
    return number


def loans(bench: "Bench") -> list[Loan]:
    return [loan for _, loan in sorted(bench.store.tables.loans.items())]


def go_to(bench: "Bench", at: datetime) -> None:
    """What happens by then, as the leader's loops do it."""
    bench.pass_time(seconds=(at - bench.clock()).total_seconds())
    bench.converge()
    bench.deliver_all()
    remind_loans(bench.world, bench.epoch)
    bench.deliver_all()


def asked(bench: "Bench", series: Series, amount: int = 8, lender: str | None = "nlp") -> int:
    first = series.spans[0]
    wish = quota.draft(amount, series=series, start=first.start, until=first.end, duration=None, lender=lender)
    key = bench.arrival(bench.new_id())
    submitted = submit_request(bench.world, wish, key, key)
    return submitted.request.id  # type: ignore[union-attr]


def test_one_decision_makes_a_loan_of_every_time(bench: "Bench") -> None:
    number = granted(bench)
    assert [(one.id, one.start, one.end - one.start) for one in loans(bench)] == [
        (number + 1 + n, FRIDAY + n * WEEK, WEEKEND) for n in range(3)
    ]
    requests = bench.store.tables.requests
    assert [requests[one.id].series for one in loans(bench)] == [number] * 3
    assert bench.number("vision") == 16, "none has begun"


def test_every_time_comes_into_force_and_goes_back(bench: "Bench") -> None:
    granted(bench)
    for n in range(3):
        go_to(bench, FRIDAY + n * WEEK + HOUR)
        assert (bench.number("vision"), bench.number("nlp")) == (24, 16)
        go_to(bench, FRIDAY + n * WEEK + WEEKEND + HOUR)
        assert (bench.number("vision"), bench.number("nlp")) == (16, 24)
    assert [one.state for one in loans(bench)] == [LoanState.CLOSED] * 3


def test_it_cannot_be_granted_twice(bench: "Bench") -> None:
    number = granted(bench)
    with bench.world.store.begin() as uow:
        first = uow.requests.times_of(number)[0]
        with pytest.raises(Stale):
            uow.requests.add(first)


def test_what_is_over_at_the_approval_is_left_out_and_a_begun_one_starts_then(bench: "Bench") -> None:
    bench.pass_time(days=10)  # Sat 12 Dec
    now = bench.clock()
    granted(bench)
    assert [(one.start, one.end) for one in loans(bench)] == [
        (now, FRIDAY + WEEK + WEEKEND),
        (FRIDAY + 2 * WEEK, FRIDAY + 2 * WEEK + WEEKEND),
    ]


def test_a_series_that_is_over_is_not_approved(bench: "Bench") -> None:
    bench.pass_time(days=40)
    with pytest.raises(Refused, match="Ask again with a new end"):
        granted(bench)


def test_its_people_hear_once_of_the_decision_and_of_each_time_in_one_thread(bench: "Bench") -> None:
    number = granted(bench)
    told = bench.posted(REQUESTER)
    assert [one.message.text for one in told if one.thread is None][1:] == [
        f"8 a100 for vision, every Fri 18:00 to Mon 08:00, approved (Q-{number})"
    ]
    assert not [one for one in told if one.thread is not None]
    for n in range(3):
        go_to(bench, FRIDAY + n * WEEK + HOUR)
        go_to(bench, FRIDAY + n * WEEK + WEEKEND - 23 * HOUR)
        go_to(bench, FRIDAY + n * WEEK + WEEKEND - HOUR / 2)
        go_to(bench, FRIDAY + n * WEEK + WEEKEND + HOUR)
    card = bench.posted(REQUESTER)[0]
    threads = {one.thread for one in bench.posted(REQUESTER)} - {None}
    assert threads == {card.ref}
    in_thread = [one.message.text for one in bench.posted(REQUESTER) if one.thread]
    assert [f"(Q-{number + 1 + n}, {n + 1} of 3)" in text for n, text in enumerate(in_thread[::3])] == [True] * 3
    assert len(in_thread) == 9, "its start, an hour before its end, and its end"
    assert len([one for one in bench.posted(REQUESTER) if one.thread is None]) == 2


def test_the_channels_thread_has_a_line_of_each_start_and_end(bench: "Bench") -> None:
    granted(bench)
    for n in range(3):
        go_to(bench, FRIDAY + n * WEEK + HOUR)
        go_to(bench, FRIDAY + n * WEEK + WEEKEND + HOUR)
    lines = [one.message.text for one in bench.posted("C0APPROVALS") if one.thread is not None]
    assert [("ended" in one.lower(), one[one.index("(") :]) for one in lines] == [
        (ended, f"(Q-{number})") for number in (2, 3, 4) for ended in (False, True)
    ]
    assert sum(one.thread is None for one in bench.posted("C0APPROVALS")) == 1


def test_the_card_speaks_of_what_runs_and_what_comes(bench: "Bench") -> None:
    granted(bench)
    first = bench.posted("C0APPROVALS")[0]

    def card() -> str:
        return "\n".join(seen(next(one for one in bench.slack.messages if one.ref == first.ref).message))

    assert "1 of 3: Approved, starts" in card()
    assert "2 more, the next" in card()
    go_to(bench, FRIDAY + HOUR)
    assert "1 of 3: In force" in card()
    go_to(bench, FRIDAY + WEEKEND + HOUR)
    assert "2 of 3: Approved, starts" in card()
    go_to(bench, FRIDAY + 2 * WEEK + HOUR)
    assert "3 of 3: In force" in card()
    assert "The last one" in card()
    go_to(bench, FRIDAY + 2 * WEEK + WEEKEND + HOUR)
    assert "3 of 3: Ended" in card()


def test_nothing_is_written_when_nothing_is_new(bench: "Bench") -> None:
    granted(bench)
    go_to(bench, FRIDAY + HOUR)

    def wanted() -> list[int]:
        return [bench.notice(key).wanted for key in bench.keys("")]

    before = wanted()
    for _ in range(3):
        bench.pass_time(minutes=1)
        bench.converge()
    assert wanted() == before


def test_list_and_status_show_it_once(bench: "Bench") -> None:
    number = granted(bench)
    rows = list_facts(bench.world, REQUESTER, None, closed=True)
    assert [row.request.id for row in rows.rows] == [number]
    assert "1 of 3: approved, starts later" in "\n".join(seen(requests_list(rows)))
    go_to(bench, FRIDAY + HOUR)
    teams = status_facts(bench.world, REQUESTER, "vision")
    assert [row.request.id for row in teams.teams[0].loans] == [number]
    assert f"Q-{number}: 8 a100, 1 of 3: in force" in "\n".join(seen(status(teams)))
    shown = show_facts(bench.world, REQUESTER, "vision", None)
    assert [part.id for part in shown.flavors[0].loans] == [number + 1]


def test_return_gives_back_this_one_only(bench: "Bench") -> None:
    number = granted(bench)
    go_to(bench, FRIDAY + HOUR)
    assert loan_of(bench.world, number).id == number + 1
    assert [one.id for one in own_loans(bench.world, REQUESTER)] == [number + 1]
    left, given = return_loan(bench.world, number, 8, REQUESTER, bench.arrival("r"))
    assert (left.id, given) == (number + 1, 8)
    go_to(bench, FRIDAY + 2 * HOUR)
    assert bench.number("vision") == 16
    go_to(bench, FRIDAY + WEEK + HOUR)
    assert bench.number("vision") == 24


@pytest.mark.parametrize("user", [REQUESTER, LEAD])
def test_withdrawing_stops_the_rest(bench: "Bench", user: str) -> None:
    number = granted(bench)
    go_to(bench, FRIDAY + HOUR)
    assert [one.id for one in requests_to_withdraw(bench.world, REQUESTER)] == [number]
    withdraw_request(bench.world, number, user, bench.arrival("w"))
    go_to(bench, FRIDAY + 2 * HOUR)
    assert [one.state for one in loans(bench)] == [LoanState.RUNNING, LoanState.CLOSED, LoanState.CLOSED]
    assert bench.number("vision") == 24, "what is in force stays"
    assert any("stopped (" in text for text in bench.texts(REQUESTER)) == (user == LEAD)
    go_to(bench, FRIDAY + WEEK + HOUR)
    assert bench.number("vision") == 16
    assert requests_to_withdraw(bench.world, REQUESTER) == ()
    with pytest.raises(Refused, match="is over already"):
        withdraw_request(bench.world, number, user, bench.arrival("again"))


def test_an_admins_end_is_for_all_of_it(bench: "Bench") -> None:
    number = granted(bench)
    go_to(bench, FRIDAY + HOUR)
    assert repeats(bench.world, number)
    assert not repeats(bench.world, number + 1)
    with pytest.raises(Refused, match="Only gpu-admins"):
        end_series(bench.world, number, "", REQUESTER, bench.arrival("no"))
    said = end_series(bench.world, number, "maintenance", ADMIN, bench.arrival("e"))
    runs = "What was in force goes back. Work that runs is not stopped."
    assert said == f"Q-{number} is ended: 2 times called off. {runs}"
    go_to(bench, FRIDAY + 2 * HOUR)
    assert {one.end_reason for one in loans(bench)} == {LoanEnd.ENDED_BY_ADMIN}
    assert bench.number("vision") == 16
    with pytest.raises(Refused, match="is over already"):
        end_series(bench.world, number, "", ADMIN, bench.arrival("again"))


def test_one_of_its_times_can_be_ended_or_left_out_alone(bench: "Bench") -> None:
    number = granted(bench)
    withdraw_request(bench.world, number + 2, REQUESTER, bench.arrival("w"))
    go_to(bench, FRIDAY + HOUR)
    end_loan(bench.world, number + 1, "", ADMIN, bench.arrival("e"))
    go_to(bench, FRIDAY + WEEK + HOUR)
    assert bench.number("vision") == 16
    go_to(bench, FRIDAY + 2 * WEEK + HOUR)
    assert bench.number("vision") == 24


def test_an_extension_may_not_run_into_the_next(bench: "Bench") -> None:
    bench.policy = rules()
    number = granted(bench)
    go_to(bench, FRIDAY + HOUR)
    with pytest.raises(Refused) as caught:
        extend_loan(bench.world, MoreTime(number, by=6 * DAY), REQUESTER, "x", bench.arrival("x"))
    most = caught.value.sentence
    assert most == f"That runs into Q-{number + 2}, the next of its series. Say at most extend Q-{number + 1} by 106h."
    request = extend_loan(bench.world, MoreTime(number, by=106 * HOUR), REQUESTER, "y", bench.arrival("y")).request
    assert request.extends == number + 1
    for user in ("U0LEADNLP", ADMIN):
        now = bench.store.tables.requests[request.id]
        approve(bench.world, Press(request.id, now.revision, user, bench.arrival(user)))
    assert loans(bench)[0].end == FRIDAY + WEEK


def test_a_series_counts_as_if_it_was_asked_for_singly(bench: "Bench") -> None:
    auto = {"name": "small", "if": {"on_loan": {"at_most": 16}}, "then": {"approve": "auto"}}
    bench.policy = rules(auto)
    two = asked(bench, fridays(2), lender=None)
    assert bench.store.tables.requests[two].state is RequestState.APPROVED
    bench.pass_time(seconds=1)
    three = asked(bench, fridays(1, FRIDAY + 3 * WEEK), lender=None)
    assert bench.store.tables.requests[three].state is RequestState.WAITING


def test_what_waits_counts_with_all_its_times(bench: "Bench") -> None:
    bench.policy = rules(most_on_loan_per_team=40)
    asked(bench, fridays(3))
    with pytest.raises(Refused) as caught:
        asked(bench, fridays(3, FRIDAY + 4 * WEEK))
    assert caught.value.sentence == "24 of 40 on loan for vision; at most 16 more. 8 3 times are 24."


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"most_times_per_series": 2}, "3 times is over the limit of 2 per series. Say until 11 Dec 2026."),
        ({"longest_series": "10d"}, "A series may end 10 days ahead at most. Say until 4 Dec 2026."),
        ({"longest": "2d"}, "62 h is over the limit of 2 days for vision."),
    ],
)
def test_policy_caps_how_often_how_far_and_how_long_each_is(
    bench: "Bench", limits: dict[str, Any], sentence: str
) -> None:
    bench.policy = rules(**limits)
    with pytest.raises(Refused) as caught:
        asked(bench, fridays(3))
    assert caught.value.sentence == sentence


def test_the_decision_is_pressed_once(bench: "Bench") -> None:
    bench.policy = rules()
    number = asked(bench, fridays(3))
    for user in ("U0LEADNLP", ADMIN):
        bench.pass_time(seconds=1)
        request = bench.store.tables.requests[number]
        approve(bench.world, Press(number, request.revision, user, bench.arrival(f"press:{user}")))
    assert len(loans(bench)) == 3
    with pytest.raises(Refused, match="was already approved"):
        approve(bench.world, Press(number, request.revision, "U0ADMINTWO", bench.arrival("late")))


def test_explain_says_what_it_comes_to(bench: "Bench") -> None:
    bench.policy = rules({"name": "few", "if": {"on_loan": {"at_most": 16}}, "then": {"approve": "auto"}})
    series = fridays(3)
    first = series.spans[0]
    wish = quota.draft(8, series=series, start=first.start, until=first.end, duration=None, lender="nlp")
    said = "\n".join(seen(what_if(explain_draft(bench.world, wish))))
    assert "covers 16 on loan; with this it is 24" in said
    assert "every Fri 18:00 to Mon 08:00, 3 times" in said


def test_a_change_of_a_series_is_refused_in_words(bench: "Bench") -> None:
    bench.policy = rules()
    number = asked(bench, fridays(3))
    with pytest.raises(Refused, match="repeats, so it can be approved or denied, not changed"):
        may_offer(bench.world, number, ADMIN)


def test_a_lender_has_promised_what_meets_at_one_moment(bench: "Bench") -> None:
    """nlp has 24: three times 8 leave 16 to lend, not nothing."""
    bench.policy = rules()
    granted(bench)
    assert asked(bench, fridays(1), amount=16)
    with pytest.raises(Refused, match="can lend at most 16"):
        asked(bench, fridays(1), amount=17)


@pytest.mark.parametrize("approved", [False, True])
def test_details_and_explain_know_a_series(bench: "Bench", approved: bool) -> None:
    bench.policy = rules({"name": "auto", "if": {"amount": {"at_most": 4}}, "then": {"approve": "auto"}})
    number = asked(bench, fridays(3), amount=4 if approved else 8, lender=None)
    assert (bench.store.tables.requests[number].state is RequestState.APPROVED) == approved
    shown = "\n".join(seen(details(details_facts(bench.world, number, ADMIN))))
    assert f"Q-{number}" in shown
    said = "\n".join(seen(explained(explain_stored(bench.world, number, REQUESTER))))
    assert f"Q-{number}" in said


def test_request_again_repeats(bench: "Bench") -> None:
    number = granted(bench)
    values = values_of_request(bench.store.tables.requests[number])
    assert (values.repeat, values.until, values.start_at, values.repeat_until) == ("week", "62h", None, None)
    assert draft_of_form(REQUESTER, values).series is None, "until when is to be said anew"


def test_a_pause_holds_a_time_back_like_any_loan(bench: "Bench") -> None:
    granted(bench)
    pause_quota(bench.world, "maintenance", ADMIN, bench.arrival("pause"))
    go_to(bench, FRIDAY + HOUR)
    assert bench.number("vision") == 16
    assert any("approved, not in force yet (Q-2, 1 of 3)" in text for text in bench.texts(REQUESTER))
    resume_quota(bench.world, ADMIN, bench.arrival("resume"))
    go_to(bench, FRIDAY + 2 * HOUR)
    assert bench.number("vision") == 24


def test_an_edit_at_its_start_is_asked_about_like_any(bench: "Bench") -> None:
    granted(bench)
    go_to(bench, FRIDAY + HOUR)
    bench.set_nominal("vision", 20)
    go_to(bench, FRIDAY + 2 * HOUR)
    heard = [text for text in bench.texts(REQUESTER) if text.endswith("(Q-2, 1 of 3)")]
    assert any(text.startswith("Only 4 of 8 a100 in force") for text in heard), heard
    assert bench.number("vision") == 20, "hands off"
    for hours in (62, 63, 7 * 24 + 1):
        go_to(bench, FRIDAY + hours * HOUR)
    assert bench.number("vision") == 20, "nor does the next time write it while nobody has answered"
    cards = [bench.notice(key).wanted for key in bench.keys("card:")]
    for _ in range(3):
        bench.pass_time(minutes=1)
        bench.converge()
    assert [bench.notice(key).wanted for key in bench.keys("card:")] == cards, "two of its times do not take turns"


def test_what_was_typed_fills_the_form_and_comes_out_of_it_the_same(bench: "Bench") -> None:
    """As when only the amount was missing."""
    bench.policy = rules()
    empty = FormValues(queue="vision", flavor="a100", amount=8, kind="transfer", lender="nlp", reason="sweeps")
    wish = draft_of_form(REQUESTER, repeating_values(empty, fridays(3)))
    submitted = submit_request(bench.world, wish, "form:1", bench.arrival("form"))
    assert isinstance(submitted, Submitted)
    series = submitted.request.ask.series
    assert series is not None
    assert series.spans == fridays(3).spans


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"start_at": None}, "Say when the first one starts."),
        ({"until": "8d"}, "Each lasts 8 days and the next begins after 7 days: they overlap. Make each shorter."),
        ({"repeat": "weekday", "start_at": FRIDAY + DAY}, "Sat 5 Dec is no weekday: choose a start from Mon to Fri."),
        ({"repeat_until": FRIDAY - DAY}, "The first would begin Fri 4 Dec 17:00, after the end."),
    ],
)
def test_a_form_that_cannot_be_says_why(bench: "Bench", changes: dict[str, Any], sentence: str) -> None:
    bench.policy = rules()
    filled = FormValues(
        queue="vision",
        flavor="a100",
        amount=2,
        until="8h",
        start_at=FRIDAY,
        repeat="week",
        repeat_until=FRIDAY + 2 * WEEK,
        reason="sweeps",
    )
    wish = draft_of_form(REQUESTER, replace(filled, **changes))
    with pytest.raises(Refused) as caught:
        submit_request(bench.world, wish, "form:1", bench.arrival("form"))
    assert caught.value.sentence.startswith(sentence)
    shown = form_facts(bench.world, REQUESTER, "F1", replace(filled, **changes), more=True)
    assert shown.picture is not None
    assert (shown.picture.denied is None) == ("start_at" in changes and changes["start_at"] is None)
