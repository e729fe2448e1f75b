"""An admin ends a loan: once, with words, and nobody else can."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Refused, Stale
from bot.core.loans import LoanEnd, LoanState
from bot.core.people import Person
from bot.flows.end_loan import end_loan
from bot.flows.record_decision import Press, approve
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


@pytest.fixture
def number(bench: "Bench") -> int:
    """8 a100 of nlp for vision, in force."""
    bench.slack.people["U0GUEST"] = Person("U0GUEST", "guest", full_member=False)
    draft = quota.draft(8, kind=quota.transfer().kind, lender="nlp", flavor="a100")
    submitted = submit_request(bench.world, draft, "test:ask", bench.arrival("ask"))
    assert isinstance(submitted, Submitted)
    made = submitted.request.id
    for who in ("U0LEADNLP", "U0LEADVISION", "U0ADMIN"):
        stored = bench.store.tables.requests[made]
        approve(bench.world, Press(made, stored.revision, who, bench.arrival(who)))
    bench.converge()
    assert bench.store.tables.loans[made].in_force_at is not None
    return made


def nominal(bench: "Bench", queue: str) -> int:
    return int(bench.kube._quota(queue, "a100", quota.GPU)[0]["nominalQuota"])


def test_an_admin_ends_it_and_its_people_hear_who_and_why(bench: "Bench", number: int) -> None:
    assert nominal(bench, "vision") == 24
    end_loan(bench.world, number, "node maintenance", "U0ADMIN", bench.arrival("end"))
    bench.deliver_all()
    bench.converge()
    bench.deliver_all()
    loan = bench.store.tables.loans[number]
    assert (loan.state, loan.end_reason) == (LoanState.CLOSED, LoanEnd.ENDED_BY_ADMIN)
    assert (nominal(bench, "vision"), nominal(bench, "nlp")) == (16, 24)
    told = [one for one in bench.posted("U0VISION") if one.message.text.startswith("Ended: ")]
    assert len(told) == 1
    assert "node maintenance" in str(told[0].message.blocks)
    assert "is 16 again" in str(told[0].message.blocks)
    assert any("are back with nlp" in text for text in bench.texts("U0LEADNLP"))
    assert [entry.who for entry in bench.store.tables.audit if entry.what == "end"] == ["U0ADMIN"]


@pytest.mark.parametrize("who", ["U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ROBOTICS", "U0GUEST"])
def test_nobody_else_can(bench: "Bench", number: int, who: str) -> None:
    with pytest.raises(Refused):
        end_loan(bench.world, number, "", who, bench.arrival("end"))
    assert bench.store.tables.loans[number].state is LoanState.RUNNING
    assert [(one.who, one.subject) for one in bench.store.tables.audit if one.what == "refused end"] == [
        (who, f"Q-{number}")
    ]


def test_an_end_is_redelivered_and_pressed_twice_and_counts_once(bench: "Bench", number: int) -> None:
    end_loan(bench.world, number, "", "U0ADMIN", bench.arrival("end"))
    for who, arrival in (("U0ADMIN", "end"), ("U0ADMINTWO", bench.arrival("other"))):
        with pytest.raises((Refused, Stale)):
            end_loan(bench.world, number, "", who, arrival)
    assert len([entry for entry in bench.store.tables.audit if entry.what == "end"]) == 1


def test_a_loan_that_is_over_or_unknown_is_refused_in_words(bench: "Bench", number: int) -> None:
    bench.pass_time(days=4)
    bench.converge()
    with pytest.raises(Refused, match="is over already"):
        end_loan(bench.world, number, "", "U0ADMIN", bench.arrival("end"))
    with pytest.raises(Refused, match="There is no loan"):
        end_loan(bench.world, number + 7, "", "U0ADMIN", bench.arrival("again"))


def test_another_change_in_between_wins(bench: "Bench", number: int) -> None:
    """Two admins on two replicas at once."""

    def meanwhile() -> None:
        end_loan(bench.world, number, "first", "U0ADMINTWO", bench.arrival("other"))

    bench.arrival("end")
    bench.gate.plan(meanwhile, matches="store.begin")
    with pytest.raises(Refused):
        end_loan(bench.world, number, "second", "U0ADMIN", "end")
    assert [entry.outcome for entry in bench.store.tables.audit if entry.what == "end"] == ["first"]
    assert bench.store.tables.loans[number].ended_at is not None
    assert bench.clock() - bench.store.tables.loans[number].start < timedelta(hours=1)
