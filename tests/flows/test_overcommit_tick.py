"""An extra loan that promises more than the nodes have: only a tick approves it, on the numbers that were seen."""

from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Refused, Stale
from bot.core.loans import LoanKind
from bot.core.requests import RequestState
from bot.demo.kube.faults import Refuse
from bot.flows.overcommit_tick import asks_for_tick
from bot.flows.record_decision import Press, approve
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

REST = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
AUTO = {"name": "auto", "then": {"approve": "auto"}}


@pytest.fixture
def extra(bench: "Bench") -> "Bench":
    """48 a100 are promised, and there are 50."""
    _rules(bench, REST)
    bench.kube.add_node("big", "a100", 46)
    bench.kube.add_node("small", "a100", 4)
    return bench


def _rules(bench: "Bench", *rules: object) -> None:
    files = quota.documents()
    files["approvals.yaml"] |= {"kinds": ["extra"], "rules": list(rules)}
    bench.policy = quota.policy(files)


def _ask(bench: "Bench", amount: int) -> int:
    key = f"ask:{len(bench.store.tables.requests)}"
    draft = quota.draft(amount, kind=LoanKind.EXTRA, flavor="a100")
    submitted = submit_request(bench.world, draft, key, bench.arrival(key))
    assert isinstance(submitted, Submitted)
    return submitted.request.id


def _press(bench: "Bench", number: int, *, ticked: bool = False, who: str = "U0ADMIN") -> str:
    revision = bench.store.tables.requests[number].revision
    origin = bench.arrival(f"press:{bench.clock().timestamp()}:{who}:{number}:{revision}:{ticked}")
    return approve(bench.world, Press(number, revision, who, origin, ticked))


def _asks(bench: "Bench", number: int) -> bool:
    request = bench.store.tables.requests[number]
    return asks_for_tick(request, request.revision)


def _outcomes(bench: "Bench", number: int) -> list[str]:
    return [one.outcome for one in bench.store.tables.audit if one.subject == f"Q-{number}" and one.what == "approve"]


def test_without_a_tick_nothing_is_approved_whatever_was_pressed(extra: "Bench") -> None:
    number = _ask(extra, 8)
    assert _asks(extra, number)
    with pytest.raises(Refused, match="press Approve again and tick that you know it"):
        _press(extra, number)
    assert extra.store.tables.requests[number].state is RequestState.WAITING
    _press(extra, number, ticked=True)
    assert _outcomes(extra, number)[-1] == "over-commit ticked: 56 of 50 a100 promised: 6 more than the nodes have"
    extra.converge()
    assert extra.number("vision") == 24


def test_a_loan_that_fits_asks_for_no_tick_until_another_one_has_taken_the_room(extra: "Bench") -> None:
    first, second = _ask(extra, 2), _ask(extra, 2)
    assert not _asks(extra, first)
    assert not _asks(extra, second)
    assert _press(extra, first) == f"Q-{first} is approved."
    assert "52 of 50 a100 promised: 2 more than the nodes have" in _press(extra, second)
    assert _asks(extra, second)
    assert _press(extra, second, ticked=True) == f"Q-{second} is approved."


def test_nodes_that_went_after_the_tick_are_asked_about_again(extra: "Bench") -> None:
    number = _ask(extra, 8)
    extra.kube.cordon("small")
    assert "Not approved yet" in _press(extra, number, ticked=True)
    assert extra.store.tables.requests[number].state is RequestState.WAITING


def test_what_cannot_be_seen_any_more_is_not_approved_by_what_was_seen(extra: "Bench") -> None:
    number = _ask(extra, 8)
    extra.api_down()
    assert "what is promised cannot be checked. Not approved yet" in _press(extra, number, ticked=True)
    assert _asks(extra, number)
    assert "approved without live figures" in _press(extra, number, ticked=True)
    ticked = "over-commit ticked: what is promised and what the nodes have are not known"
    assert _outcomes(extra, number)[-1] == f"without live figures, {ticked}"


def test_figures_that_come_back_are_shown_before_anything_is_approved(extra: "Bench") -> None:
    number = _ask(extra, 8)
    extra.api_down()
    _press(extra, number, ticked=True)
    extra.kube.faults.clear()
    assert "has them now. Not approved yet" in _press(extra, number, ticked=True)


def test_a_rule_approves_what_fits_and_asks_the_admins_for_the_rest(extra: "Bench") -> None:
    _rules(extra, AUTO)
    fits, over = _ask(extra, 2), _ask(extra, 1)
    states = [extra.store.tables.requests[number].state for number in (fits, over)]
    assert states == [RequestState.APPROVED, RequestState.WAITING]
    assert [step.who for step in extra.store.tables.requests[over].steps] == ["group:gpu-admins"]
    _press(extra, over, ticked=True)
    assert extra.store.tables.requests[over].state is RequestState.APPROVED


def test_a_rule_asks_people_where_the_nodes_cannot_be_read(extra: "Bench") -> None:
    _rules(extra, AUTO)
    extra.kube.faults.plan(Refuse(503), "list", "nodes", times=None)
    number = _ask(extra, 1)
    assert extra.store.tables.requests[number].state is RequestState.WAITING


def test_two_that_fit_one_at_a_time_are_not_both_approved_at_one_moment(extra: "Bench") -> None:
    """The second is approved while the first is on its way from its look to its write."""
    first, second = _ask(extra, 2), _ask(extra, 2)
    extra.gate.plan(lambda: _press(extra, second, who="U0ADMINTWO"), after=1, matches="store.begin")
    with pytest.raises((Refused, Stale)):
        _press(extra, first)
    states = [extra.store.tables.requests[number].state for number in (first, second)]
    assert states == [RequestState.WAITING, RequestState.APPROVED]


def test_a_rule_that_came_meanwhile_leaves_the_tick_to_the_admins(extra: "Bench") -> None:
    """It would approve what fits; of the rest it makes an admin's matter, whoever was asked before."""
    _rules(extra, {"name": "leads", "then": {"steps": [{"who": "team-leads"}]}})
    number = _ask(extra, 8)
    _rules(extra, AUTO)
    with pytest.raises(Refused, match="other people decide this now"):
        _press(extra, number, ticked=True, who="U0LEADVISION")
    assert _press(extra, number, ticked=True) == f"Q-{number} is approved."
