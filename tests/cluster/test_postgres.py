"""A loan's whole way, and a change of leader in the middle of it, with the bot's data in PostgreSQL.

The other tests of this folder keep it in SQLite; the store's own tests are run on both.
"""

import pytest

from bot.core.convergence.changes import PatchOutcome
from bot.core.errors import NotLeader
from bot.core.loans import LoanKind, LoanState
from tests.cluster.delayed import Delayed
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import Site


def _nominals(site: Site, *queues: str) -> list[str]:
    return [str(site.quota(queue)["nominalQuota"]) for queue in queues]


def test_a_transfer_comes_and_goes(site: Site, bot_on_postgres: Installation) -> None:
    bot = bot_on_postgres
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    seen = Recorder(site)
    loan = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == ["4", "8"]
    bot.clock.advance(FOR)
    bot.first.converge()
    bot.first.converge()
    assert _nominals(site, lender, borrower) == ["8", "4"]
    assert bot.loan(loan.id).state is LoanState.CLOSED
    assert max(seen.sums()) == 12


def test_the_next_leader_finishes_and_the_old_ones_late_write_is_refused(
    site: Site, bot_on_postgres: Installation
) -> None:
    bot = bot_on_postgres
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    seen = Recorder(site)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    delayed = Delayed(bot.first, 2, lambda: bot.release(bot.first))
    with pytest.raises(NotLeader):
        bot.first.converge()
    second = bot.replica("second")
    assert second.lead()
    second.converge()
    assert delayed.arrive() == [PatchOutcome.CONFLICT]
    second.converge()
    assert _nominals(site, lender, borrower) == ["4", "8"]
    assert max(seen.sums()) == 12
