"""A queue or a flavor of a loan is taken away: what the API server and Kueue allow, and what the bot makes of it."""

import pytest

from bot.core.convergence.annotation import LOANS
from bot.core.loans import LoanKind, LoanState
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually


@pytest.fixture
def lent(site: Site, bot: Installation) -> tuple[str, str]:
    """Lender at 4 of 8 and borrower at 8 of 4, by a transfer of 4."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    return lender, borrower


def _delete(site: Site, queue: str) -> str:
    path = f"{site.kueue}/clusterqueues/{queue}"
    site.api.must("DELETE", path)
    site.api.must("DELETE", f"{site.kueue}/namespaces/{site.namespace}/localqueues/{queue}")
    return path


def test_a_queue_in_use_stays_until_its_work_is_over_and_keeps_its_loan_so_long(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    """Kueue's finalizer holds it, and its numbers count on; then it is gone and the lender is whole."""
    lender, borrower = lent
    job = site.job("job", borrower, 8)
    site.until_admitted(job)
    path = _delete(site, borrower)
    assert "deletionTimestamp" in site.get_queue(borrower)["metadata"]
    bot.first.converge()
    assert str(site.quota(lender)["nominalQuota"]) == "4"
    assert bot.loan(1).suspended is None
    site.cancel(job)
    site.until_gone(path)
    bot.first.converge()
    assert str(site.quota(lender)["nominalQuota"]) == "8"
    assert bot.loan(1).suspended == f"ClusterQueue {borrower} is gone"
    assert LOANS not in site.get_queue(lender)["metadata"].get("annotations", {})
    bot.clock.advance(FOR)
    bot.first.converge()
    assert bot.loan(1).state is LoanState.CLOSED


def test_a_queue_that_is_made_again_after_it_was_seen_gone_never_gets_the_loan(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    lender, borrower = lent
    path = _delete(site, borrower)
    site.until_gone(path)
    bot.first.converge()
    site.queue("borrower", 4)
    bot.first.cluster.sent.clear()
    bot.clock.advance(FOR)
    bot.first.converge()
    assert [str(site.quota(queue)["nominalQuota"]) for queue in (lender, borrower)] == ["8", "4"]
    assert bot.first.cluster.sent == []


def test_a_flavor_in_use_may_be_taken_out_of_a_queue_and_its_loan_goes_with_it(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    """Nothing refuses it. The lender is whole again, and nothing of the loan is left in any annotation."""
    lender, borrower = lent
    job = site.job("job", borrower, 8)
    site.until_admitted(job)
    other = site.name("other")
    site.make("resourceflavors", other, {"spec": {}})
    entry = {"name": GPU, "nominalQuota": 3}
    group = {"coveredResources": [GPU], "flavors": [{"name": other, "resources": [entry]}]}
    site.merge(borrower, {"spec": {"resourceGroups": [group]}})
    seen = Recorder(site)
    bot.first.converge()
    assert str(site.quota(lender)["nominalQuota"]) == "8"
    assert str(site.quota(borrower)["nominalQuota"]) == "3"
    assert "no longer lists" in (bot.loan(1).suspended or "")
    assert max(seen.sums()) <= 12

    def tidy() -> bool:
        bot.first.converge()
        return all(LOANS not in site.get_queue(queue)["metadata"].get("annotations", {}) for queue in lent)

    assert eventually("no annotation speaks of the loan", tidy)
    site.cancel(job)


def test_a_resource_flavor_that_a_queue_names_is_held_and_the_loan_ends_as_usual(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    path = f"{site.kueue}/resourceflavors/{site.flavor()}"
    site.api.must("DELETE", path)
    assert "deletionTimestamp" in site.api.must("GET", path)["metadata"]
    bot.clock.advance(FOR)
    bot.first.converge()
    assert [str(site.quota(queue)["nominalQuota"]) for queue in lent] == ["8", "4"]
