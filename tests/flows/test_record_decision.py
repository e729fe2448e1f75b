"""Approve is pressed some time after the request was made: what moved meanwhile, and what that changes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.core.requests import RequestState
from bot.flows.record_decision import Press, approve, deny
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

TWO = {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins"}]}
ONE = {"steps": [{"who": "group gpu-admins"}]}
REST = {"name": "rest", "then": ONE}


def _ask(bench: "Bench", amount: int = 4, **changes: Any) -> int:
    key = f"ask:{len(bench.store.tables.requests)}"
    draft = quota.draft(amount, kind=LoanKind.TRANSFER, lender="nlp", flavor="a100", **changes)
    submitted = submit_request(bench.world, draft, key, bench.arrival(key))
    assert isinstance(submitted, Submitted)
    bench.deliver_all()
    return submitted.request.id


def _press(bench: "Bench", number: int, who: str) -> str:
    with bench.world.store.read() as uow:
        request = uow.requests.get(number)
    assert request is not None
    origin = f"press:{bench.clock().timestamp()}:{who}:{number}:{request.revision}"
    return approve(bench.world, Press(number, request.revision, who, bench.arrival(origin)))


def _refused(bench: "Bench", number: int, who: str) -> str:
    with pytest.raises(Refused) as refused:
        _press(bench, number, who)
    return refused.value.sentence


def _outcomes(bench: "Bench", number: int) -> list[str]:
    return [one.outcome for one in bench.store.tables.audit if one.subject == f"Q-{number}" and one.what == "approve"]


def _state(bench: "Bench", number: int) -> RequestState:
    return bench.store.tables.requests[number].state


def _all_approve(bench: "Bench", number: int) -> str:
    _press(bench, number, "U0LEADNLP")
    _press(bench, number, "U0LEADVISION")
    return _press(bench, number, "U0ADMIN")


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param({"hours": {"after": "08:00", "until": "18:00"}}, id="hours"),
        pytest.param({"on_loan": {"at_most": 8}}, id="on loan"),
        pytest.param({"loans_per_week": {"at_most": 1}}, id="loans per week"),
    ],
)
def test_facts_that_moved_since_the_request_do_not_change_who_decides(
    bench: "Bench", condition: Mapping[str, Any]
) -> None:
    bench.policy = quota.with_rules({"name": "first", "if": condition, "then": TWO}, REST)
    number = _ask(bench)
    _press(bench, number, "U0LEADNLP")
    _press(bench, number, "U0LEADVISION")
    bench.pass_time(hours=5)  # 19:05 in Zurich
    bench.approved(quota.ask(6, lender="nlp", kind=LoanKind.TRANSFER))
    assert _press(bench, number, "U0ADMIN") == f"Q-{number} is approved."


def test_a_rule_that_did_not_match_for_what_was_on_loan_does_not_match_later(bench: "Bench") -> None:
    bench.policy = quota.with_rules(
        {"name": "first", "if": {"on_loan": {"more_than": 8}}, "then": {"deny": "Enough."}}, {"name": "r", "then": TWO}
    )
    number = _ask(bench)
    bench.approved(quota.ask(6, lender="nlp", kind=LoanKind.TRANSFER))
    assert _all_approve(bench, number) == f"Q-{number} is approved."


def test_a_policy_that_changed_before_the_first_approval_asks_the_others(bench: "Bench") -> None:
    bench.policy = quota.with_rules({"name": "first", "then": ONE})
    number = _ask(bench)
    bench.policy = quota.with_rules({"name": "first", "then": TWO})
    assert "other people decide this now" in _refused(bench, number, "U0LEADNLP")
    assert _all_approve(bench, number) == f"Q-{number} is approved."


def test_a_policy_that_changed_after_the_first_approval_closes_the_request_and_says_so(bench: "Bench") -> None:
    bench.policy = quota.with_rules({"name": "first", "then": TWO})
    number = _ask(bench)
    _press(bench, number, "U0LEADNLP")
    bench.policy = quota.with_rules({"name": "first", "then": ONE})
    said = _refused(bench, number, "U0LEADVISION")
    assert said.startswith(f"Q-{number} is closed. The policy changed after the first approval")
    assert _state(bench, number) is RequestState.DENIED
    bench.deliver_all()
    assert any("denied" in text for text in bench.texts("U0VISION"))


def test_a_policy_that_says_no_now_closes_the_request(bench: "Bench") -> None:
    bench.policy = quota.with_rules(REST)
    number = _ask(bench)
    bench.policy = quota.with_rules({"name": "freeze", "then": {"deny": "No loans this week."}})
    assert _refused(bench, number, "U0LEADNLP").startswith("Not approved: rule freeze says no now: No loans this week.")
    assert _state(bench, number) is RequestState.DENIED
    bench.deliver_all()
    assert any("denied" in text for text in bench.texts("U0VISION"))


def test_a_limit_that_other_loans_fill_is_named_and_the_request_waits_for_them(bench: "Bench") -> None:
    bench.policy = quota.with_rules(REST, limits={"most_on_loan_per_team": 8})
    number = _ask(bench)
    bench.approved(quota.ask(6, lender="nlp", kind=LoanKind.TRANSFER))
    assert _refused(bench, number, "U0LEADNLP") == "Not approved: 6 of 8 on loan for vision; at most 2 more."
    assert _state(bench, number) is RequestState.WAITING


def test_a_request_whose_time_is_over_is_closed(bench: "Bench") -> None:
    bench.policy = quota.with_rules(REST)
    number = _ask(bench, duration=None, until=bench.clock() + timedelta(hours=5))
    bench.pass_time(hours=6)
    assert _refused(bench, number, "U0LEADNLP") == f"Not approved: This time has passed. Q-{number} is closed."
    assert _state(bench, number) is RequestState.DENIED


@pytest.mark.parametrize("what", ["approve", "deny"])
def test_a_request_whose_time_to_decide_is_over_is_not_decided_any_more(bench: "Bench", what: str) -> None:
    """Also before the leader's timetable has seen that it lapsed."""
    bench.policy = quota.with_rules(REST)
    number = _ask(bench)
    bench.pass_time(days=3)
    press = Press(number, 0, "U0LEADNLP", bench.arrival("late"))
    with pytest.raises(Refused, match=f"Q-{number} was already lapsed at "):
        approve(bench.world, press) if what == "approve" else deny(bench.world, press, "no")
    assert _state(bench, number) is RequestState.WAITING
    assert [one.what for one in bench.store.tables.audit][-1] == what


def test_an_approval_without_live_figures_says_so_everywhere(bench: "Bench") -> None:
    bench.policy = quota.with_rules(REST)
    number = _ask(bench)
    _press(bench, number, "U0LEADNLP")
    bench.api_down()
    said = _press(bench, number, "U0ADMIN")
    assert said == f"Q-{number} is approved. The API server is not answering: approved without live figures."
    assert _outcomes(bench, number) == ["ok", "without live figures"]
    bench.deliver_all()
    assert any("approved (without live figures)" in text for text in bench.texts("C0APPROVALS"))


def test_figures_that_the_card_did_not_have_are_shown_first(bench: "Bench") -> None:
    bench.policy = quota.with_rules(REST)
    number = _ask(bench)
    with bench.world.store.begin() as uow:
        request = uow.requests.get(number)
        assert request is not None
        uow.requests.update(replace(request, picture=None))
        uow.commit()
    assert "Not approved yet: look and press again." in _press(bench, number, "U0LEADNLP")
    assert _outcomes(bench, number) == ["live figures came: asked again"]
    assert bench.store.tables.requests[number].picture is not None
    assert _press(bench, number, "U0LEADNLP") == f"Your approval of Q-{number} counts."
