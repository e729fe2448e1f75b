"""An arrival that another worker handled meanwhile changes nothing and is not answered twice, in any flow."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.errors import AlreadyHandled
from bot.core.requests import RequestState
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.answer_offer import OfferPress, accept_offer, keep_request
from bot.flows.end_loan import end_loan
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.make_offer import Change, make_offer
from bot.flows.pause_quota import pause_quota, resume_quota
from bot.flows.record_decision import Press, approve, deny
from bot.flows.return_loan import return_loan
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.withdraw_request import withdraw_request
from bot.views.change_form import ChangeValues
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


def _extend(bench: "Bench", arrival: str) -> None:
    extend_loan(bench.world, MoreTime(_loan(bench), timedelta(days=1)), "U0VISION", arrival, arrival)


def _offer(bench: "Bench", arrival: str) -> int:
    number = _waiting(bench)
    revision = bench.store.tables.requests[number].revision
    return make_offer(bench.world, Change(number, revision, "U0LEADNLP", arrival, ChangeValues(4, "borrow", ""))).id


def _accept(bench: "Bench", arrival: str) -> None:
    accept_offer(bench.world, OfferPress(_offer(bench, bench.arrival("offer")), "U0VISION", arrival))


def _keep(bench: "Bench", arrival: str) -> None:
    keep_request(bench.world, OfferPress(_offer(bench, bench.arrival("offer")), "U0VISION", arrival))


def _pause(bench: "Bench", arrival: str) -> None:
    pause_quota(bench.world, "", "U0ADMIN", arrival)


def _resume(bench: "Bench", arrival: str) -> None:
    pause_quota(bench.world, "", "U0ADMIN", bench.arrival("pause"))
    resume_quota(bench.world, "U0ADMIN", arrival)


BEFORE = {("request", "waiting"), ("offer", "4 a100, 3 days, borrow"), ("pause", "ok")}
"""What the flows find in place."""


@pytest.mark.parametrize(
    "flow",
    [
        *(_request, _withdraw, _return_all, _return_part, _end, _approve, _deny, _answer),
        *(_extend, _accept, _keep, _resume),
    ],
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
    assert [entry for entry in by_people if (entry.what, entry.outcome) not in BEFORE] == []


@pytest.mark.parametrize("flow", [_offer, _pause], ids=lambda flow: flow.__name__.strip("_"))
def test_nothing_is_offered_or_paused_twice(bench: "Bench", flow: Flow) -> None:
    arrival = bench.arrival("once")
    with bench.world.store.begin() as uow:
        uow.inbox.done(arrival)
        uow.commit()
    with pytest.raises(AlreadyHandled):
        flow(bench, arrival)
    assert bench.store.tables.offers == {}
    assert bench.store.tables.pause is None
    assert [entry.what for entry in bench.store.tables.audit if entry.what in {"offer", "pause"}] == []
