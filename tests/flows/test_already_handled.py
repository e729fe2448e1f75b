"""An arrival that another worker handled meanwhile changes nothing and is not answered twice, in any flow."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.errors import AlreadyHandled
from bot.core.requests import RequestState
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.end_loan import end_loan
from bot.flows.record_decision import Press, approve, deny
from bot.flows.return_loan import return_loan
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.withdraw_request import withdraw_request
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

Flow = Callable[["Bench", str], object]
"""Takes an arrival's key, once all that the flow looks at is in place."""


def _loan(bench: "Bench") -> int:
    number = bench.approved(quota.transfer(8))
    bench.converge()
    return number


def _waiting(bench: "Bench") -> int:
    draft = quota.draft(8, kind=quota.transfer().kind, lender="nlp", flavor="a100")
    submitted = submit_request(bench.world, draft, "test:ask", bench.arrival("ask"))
    assert isinstance(submitted, Submitted)
    assert submitted.request.state is RequestState.WAITING
    return submitted.request.id


def _press(bench: "Bench", number: int, arrival: str) -> Press:
    return Press(number, bench.store.tables.requests[number].revision, "U0LEADNLP", arrival)


def _request(bench: "Bench", arrival: str) -> None:
    submit_request(bench.world, quota.draft(8, flavor="a100"), arrival, arrival)


def _withdraw(bench: "Bench", arrival: str) -> None:
    withdraw_request(bench.world, _waiting(bench), "U0VISION", arrival)


def _return_all(bench: "Bench", arrival: str) -> None:
    return_loan(bench.world, _loan(bench), None, "U0VISION", arrival)


def _return_part(bench: "Bench", arrival: str) -> None:
    return_loan(bench.world, _loan(bench), 2, "U0VISION", arrival)


def _end(bench: "Bench", arrival: str) -> None:
    end_loan(bench.world, _loan(bench), "", "U0ADMIN", arrival)


def _approve(bench: "Bench", arrival: str) -> None:
    approve(bench.world, _press(bench, _waiting(bench), arrival))


def _deny(bench: "Bench", arrival: str) -> None:
    deny(bench.world, _press(bench, _waiting(bench), arrival), "not this week")


def _answer(bench: "Bench", arrival: str) -> None:
    _loan(bench)
    bench.set_nominal("vision", 20)
    bench.converge()
    (key,) = bench.keys("edit:")
    record = next(one for one in bench.store.tables.records.values() if one.question is not None)
    press = EditPress(bench.notice(key).id, record.version, AnswerKind.NEW_BASE, "U0ADMIN", arrival)
    answer_edit(bench.world, press)


@pytest.mark.parametrize(
    "flow",
    [_request, _withdraw, _return_all, _return_part, _end, _approve, _deny, _answer],
    ids=lambda flow: flow.__name__.strip("_"),
)
def test_it_is_left_to_the_other_worker(bench: "Bench", flow: Flow) -> None:
    """Not a refusal, which the desk would say to the person and which would be in the audit."""
    arrival = bench.arrival("once")
    with bench.world.store.begin() as uow:
        uow.inbox.done(arrival)
        uow.commit()
    with pytest.raises(AlreadyHandled):
        flow(bench, arrival)
    by_people = [entry for entry in bench.store.tables.audit if entry.who.startswith("U0")]
    assert [entry for entry in by_people if (entry.what, entry.outcome) != ("request", "waiting")] == []
