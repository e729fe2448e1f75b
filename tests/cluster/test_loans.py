"""Loans of each kind on a cluster: the numbers they make, at every moment, and what Kueue makes of the numbers."""

from datetime import timedelta

import pytest

from bot.core.convergence.facts import FieldName
from bot.core.errors import Refused
from bot.core.impact import from_json
from bot.core.loans import LoanKind, LoanState
from tests.cluster.api import condition
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually

RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


def _nominals(site: Site, *queues: str) -> list[int]:
    return [int(site.quota(queue)["nominalQuota"]) for queue in queues]


def _ends(bot: Installation) -> None:
    bot.clock.advance(FOR)
    bot.first.converge()


def test_a_transfer_moves_nominal_and_moves_it_back(site: Site, bot: Installation) -> None:
    """Never is there more than before, in any version of any queue."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    seen = Recorder(site)
    loan = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == [4, 8]
    assert max(seen.sums()) == 12
    _ends(bot)
    assert _nominals(site, lender, borrower) == [8, 4]
    bot.first.converge()
    assert bot.loan(loan.id).state is LoanState.CLOSED
    sums = seen.sums()
    assert max(sums) == 12
    assert min(sums) == 8, "the lower number goes first, both ways"


def test_transferred_quota_is_the_borrowers_own(site: Site, bot: Installation) -> None:
    """It is admitted without borrowing, and the lender cannot reclaim it."""
    lender = site.queue("lender", 8, preemption=RECLAIM)
    borrower = site.queue("borrower", 4, borrowingLimit="0")
    big = site.job("big", borrower, 8)
    site.until_waiting(big)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    site.until_admitted(big)
    eventually("8 of its own", lambda: site.reserved(borrower) == (8, 0))
    theirs = site.job("theirs", lender, 8)
    assert site.until_waiting(theirs)
    assert site.admitted(big)


def test_a_transfer_that_ends_under_use_evicts_nobody_until_the_lender_asks(site: Site, bot: Installation) -> None:
    lender = site.queue("lender", 8, preemption=RECLAIM)
    borrower = site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    big = site.job("big", borrower, 8)
    site.until_admitted(big)
    _ends(bot)
    assert _nominals(site, lender, borrower) == [8, 4]
    eventually("4 of the 8 are borrowed now", lambda: site.reserved(borrower) == (8, 4))
    assert site.admitted(big)
    theirs = site.job("theirs", lender, 8)
    site.until_admitted(theirs)
    assert not site.admitted(big)
    assert condition(site.workload(big), "Preempted") == "True"


def test_a_borrow_lets_the_borrower_use_what_is_idle_until_it_is_reclaimed(site: Site, bot: Installation) -> None:
    owner = site.queue("owner", 8, preemption=RECLAIM)
    borrower = site.queue("borrower", 4, borrowingLimit="0")
    big = site.job("big", borrower, 8)
    site.until_waiting(big)
    bot.grant(LoanKind.BORROW, borrower, 4)
    bot.first.converge()
    assert site.quota(borrower)["borrowingLimit"] == "4"
    assert _nominals(site, owner, borrower) == [8, 4]
    site.until_admitted(big)
    eventually("4 are borrowed", lambda: site.reserved(borrower) == (8, 4))
    theirs = site.job("theirs", owner, 8)
    site.until_admitted(theirs)
    assert not site.admitted(big)
    _ends(bot)
    assert site.quota(borrower)["borrowingLimit"] == "0"


def test_a_borrow_that_ends_under_use_leaves_the_work_running(site: Site, bot: Installation) -> None:
    """And lets nothing new in above the limit."""
    site.queue("owner", 8)
    borrower = site.queue("borrower", 4, borrowingLimit="0")
    bot.grant(LoanKind.BORROW, borrower, 4)
    bot.first.converge()
    first = site.job("first", borrower, 6)
    site.until_admitted(first)
    _ends(bot)
    second = site.job("second", borrower, 2)
    site.until_waiting(second)
    assert site.admitted(first)


def test_extra_quota_is_added_and_taken_away(site: Site, bot: Installation) -> None:
    borrower = site.queue("borrower", 4)
    big = site.job("big", borrower, 6)
    site.until_waiting(big)
    bot.grant(LoanKind.EXTRA, borrower, 2)
    bot.first.converge()
    assert _nominals(site, borrower) == [6]
    site.until_admitted(big)
    _ends(bot)
    assert _nominals(site, borrower) == [4]
    assert site.admitted(big)


def test_an_extra_loan_over_what_the_nodes_have_takes_a_tick(site: Site, bot: Installation) -> None:
    """From the nodes of the flavor, without the cordoned one, to the number in the queue and back."""
    labels = {"extra": site.mark}
    site.flavor(**labels)
    tainted = [{"key": GPU, "value": "present", "effect": "NoSchedule"}]
    site.node("good", 8, labels, taints=tainted)
    site.node("cordoned", 4, labels, unschedulable=True)
    site.node("other", 8, {"extra": "elsewhere"})
    borrower = site.queue("borrower", 6, cohort=False)
    number = bot.asks(LoanKind.EXTRA, borrower, 3)
    found = from_json(bot.request(number).picture or "").overcommit
    assert found is not None
    assert (found.promised, found.capacity, found.aside, found.over) == (9, 8, 4, 1)
    with pytest.raises(Refused, match="tick that you know it"):
        bot.approves(number, ticked=False)
    seen = Recorder(site)
    assert bot.approves(number, ticked=True) == f"Q-{number} is approved."
    bot.first.converge()
    assert _nominals(site, borrower) == [9]
    _ends(bot)
    assert _nominals(site, borrower) == [6]
    assert max(seen.sums()) == 9, "what was ticked, and no more"
    bot.first.converge()
    assert bot.loan(number).state is LoanState.CLOSED


def test_the_lenders_lending_limit_follows_its_nominal_down_and_up(site: Site, bot: Installation) -> None:
    """Kueue refuses a nominalQuota below lendingLimit."""
    lender, borrower = site.queue("lender", 8, lendingLimit="6"), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    quota = site.quota(lender)
    assert (quota["nominalQuota"], quota["lendingLimit"]) == ("4", "4")
    _ends(bot)
    quota = site.quota(lender)
    assert (quota["nominalQuota"], quota["lendingLimit"]) == ("8", "6")


def test_a_loan_of_work_that_is_in_use_can_be_given_anyway(site: Site, bot: Installation) -> None:
    """Lowering the lender below its use evicts nobody; what is above counts as borrowed."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4, preemption=RECLAIM)
    theirs = site.job("theirs", lender, 8)
    site.until_admitted(theirs)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    eventually("4 of the lender's 8 are borrowed now", lambda: site.reserved(lender) == (8, 4))
    assert site.admitted(theirs)
    ours = site.job("ours", borrower, 8)
    site.until_admitted(ours)
    assert not site.admitted(theirs), "the borrower reclaims what is its own now"


def test_overlapping_loans_come_and_go_independently(site: Site, bot: Installation) -> None:
    one, two, three = (site.queue(word, 8) for word in ("one", "two", "three"))
    seen = Recorder(site)
    bot.grant(LoanKind.TRANSFER, two, 3, one)
    bot.first.converge()
    bot.clock.advance(timedelta(days=1))
    bot.grant(LoanKind.TRANSFER, three, 5, two)
    bot.first.converge()
    assert _nominals(site, one, two, three) == [5, 6, 13]
    bot.clock.advance(timedelta(days=2))
    bot.first.converge()
    assert _nominals(site, one, two, three) == [8, 3, 13]
    bot.clock.advance(timedelta(days=1))
    bot.first.converge()
    assert _nominals(site, one, two, three) == [8, 8, 8]
    assert max(seen.sums()) == 24


def test_kueue_has_seen_a_loan_when_it_is_told_as_in_force(site: Site, bot: Installation) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    loan = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()

    def told() -> bool:
        bot.first.converge()
        return bot.loan(loan.id).in_force_at is not None

    eventually("in force", told)
    queue = site.get_queue(borrower)
    active = next(one for one in queue["status"]["conditions"] if one["type"] == "Active")
    assert active["observedGeneration"] >= queue["metadata"]["generation"]
    assert bot.record(borrower, FieldName.NOMINAL).wrote == 8
