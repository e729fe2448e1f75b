"""Two processes of the bot on one cluster: leadership lost in the middle of a transfer, and what still comes late."""

import pytest

from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import FieldName
from bot.core.errors import NotLeader
from bot.core.loans import LoanKind, LoanState
from tests.cluster.delayed import Delayed
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import Site


def _nominals(site: Site, *queues: str) -> list[str]:
    return [str(site.quota(queue)["nominalQuota"]) for queue in queues]


@pytest.mark.parametrize("patches", [1, 2])
def test_a_write_of_the_old_leader_that_comes_late_is_refused(site: Site, bot: Installation, patches: int) -> None:
    """The new leader finishes the transfer; the old leader's patch dies on the version that it tests."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    seen = Recorder(site)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    delayed = Delayed(bot.first, patches, lambda: bot.release(bot.first))
    with pytest.raises(NotLeader):
        bot.first.converge()
    second = bot.replica("second")
    assert second.lead()
    second.converge()
    assert _nominals(site, lender, borrower) == ["4", "8"]
    assert delayed.arrive() == [PatchOutcome.CONFLICT]
    second.converge()
    assert _nominals(site, lender, borrower) == ["4", "8"]
    assert max(seen.sums()) == 12


@pytest.mark.parametrize("patches", [1, 2])
def test_a_write_that_landed_after_the_lease_was_lost_is_recognised(
    site: Site, bot: Installation, patches: int
) -> None:
    """The new leader reads its annotation, and does not write the same again."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    seen = Recorder(site)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    delayed = Delayed(bot.first, patches, lambda: bot.release(bot.first))
    with pytest.raises(NotLeader):
        bot.first.converge()
    assert delayed.arrive() == [PatchOutcome.APPLIED]
    second = bot.replica("second")
    assert second.lead()
    second.converge()
    assert _nominals(site, lender, borrower) == ["4", "8"]
    assert bot.record(lender).question is None
    assert bot.record(borrower).question is None
    assert max(seen.sums()) == 12


def test_a_return_is_finished_by_the_next_leader(site: Site, bot: Installation) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    loan = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    site.settle(lender, borrower)  # so that the second patch below is the lender's
    seen = Recorder(site)
    bot.clock.advance(FOR)
    delayed = Delayed(bot.first, 2, lambda: bot.release(bot.first))
    with pytest.raises(NotLeader):
        bot.first.converge()
    assert _nominals(site, lender, borrower) == ["4", "4"]
    second = bot.replica("second")
    assert second.lead()
    second.converge()
    assert _nominals(site, lender, borrower) == ["8", "4"]
    assert delayed.arrive() == [PatchOutcome.CONFLICT]
    assert bot.loan(loan.id).state is LoanState.CLOSED
    assert max(seen.sums()) == 12


def test_two_replicas_do_not_lead_together(site: Site, bot: Installation) -> None:
    site.queue("lender", 8)
    assert not bot.replica("second").lead()


def test_a_lost_database_is_rebuilt_from_what_the_server_keeps(site: Site, bot: Installation) -> None:
    """The annotations survive on the API server; the loan is known again and goes back in full."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    bot.forget()
    bot.first.converge()
    assert bot.record(borrower, FieldName.NOMINAL).base == 4
    assert _nominals(site, lender, borrower) == ["4", "8"]
    bot.clock.advance(FOR)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == ["8", "4"]
