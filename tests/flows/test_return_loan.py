"""Whoever gives a loan back, its requester hears of it: once for each part, and once for its end."""

from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Refused
from bot.flows.card_facts import card_facts, stored
from bot.flows.return_loan import return_loan
from bot.flows.withdraw_request import withdraw_request
from bot.views.kinds import NoticeKind
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

ENDS = (NoticeKind.WITHDRAWN, NoticeKind.LOAN_RETURNED, NoticeKind.LOAN_ENDED)
REQUESTER, LEAD = "U0VISION", "U0LEADVISION"


def _return(bench: "Bench", amount: int | None, user: str = LEAD) -> None:
    bench.pass_time(minutes=1)
    return_loan(bench.world, 1, amount, user, bench.arrival(f"return {amount} at {bench.clock()}"))


def _told(bench: "Bench", *kinds: NoticeKind) -> list[str]:
    """What the requester reads in messages of these kinds."""
    bench.deliver_all()
    ids = {row.notice.id for row in bench.store.tables.notices.values() if row.notice.draft.kind in kinds}
    return [one.message.text for one in bench.posted(REQUESTER) if one.notice in ids]


def test_the_requester_hears_of_each_part_that_a_lead_returns(bench: "Bench") -> None:
    bench.approved(quota.transfer(8))
    bench.converge()
    _return(bench, 2)
    assert len(_told(bench, NoticeKind.LOAN_RETURNED)) == 1
    _return(bench, 1)
    first, second = _told(bench, NoticeKind.LOAN_RETURNED)
    assert first.startswith("2 a100 returned, 6 kept until")
    assert second.startswith("1 a100 returned, 5 kept until")


def test_two_parts_that_wait_for_slack_are_each_told_with_their_own_number(bench: "Bench") -> None:
    bench.approved(quota.transfer(8))
    bench.converge()
    _return(bench, 2)
    _return(bench, 1)
    told = _told(bench, NoticeKind.LOAN_RETURNED)
    assert sorted(text.split()[0] for text in told) == ["1", "2"]


def test_a_lead_who_returns_what_is_not_in_force_yet_tells_the_requester(bench: "Bench") -> None:
    bench.approved(quota.transfer(8))
    _return(bench, None)
    bench.converge()
    (told,) = _told(bench, *ENDS)
    assert "withdrawn" in told


def test_the_end_of_a_loan_in_force_is_told_once(bench: "Bench") -> None:
    bench.approved(quota.transfer(8))
    bench.converge()
    _return(bench, None)
    bench.converge()
    (told,) = _told(bench, *ENDS)
    assert told.startswith("Ended: 8 a100")


@pytest.mark.parametrize("amount", [2, None])
def test_who_returns_a_loan_of_their_own_is_not_told_of_it(bench: "Bench", amount: int | None) -> None:
    bench.approved(quota.transfer(8))
    _return(bench, amount, REQUESTER)
    assert bench.keys("loan_returned:") == bench.keys("withdrawn:") == []


@pytest.mark.parametrize("what", ["return", "withdraw"])
def test_the_card_names_who_gave_it_back_and_nobody_who_was_refused_after(bench: "Bench", what: str) -> None:
    """A refusal is in the audit too, with its sentence."""
    bench.approved(quota.transfer(8))
    bench.converge()
    _return(bench, None)
    with pytest.raises(Refused):
        if what == "return":
            _return(bench, None, REQUESTER)
        else:
            withdraw_request(bench.world, 1, REQUESTER, bench.arrival("withdraw"))
    with bench.world.store.read() as uow:
        found = stored(uow, 1)
    assert found is not None
    assert [entry.who for entry in found.audit][-2:] == [LEAD, REQUESTER]
    assert card_facts(bench.world, found).decider.id == LEAD
