"""Other writers of a queue, as the API server books them: by hand, by server-side apply, by a tool that reverts."""

import pytest

from bot.core.convergence.annotation import LOANS
from bot.core.convergence.facts import AnswerKind
from bot.core.loans import LoanKind
from tests.cluster.api import APPLY, Obj
from tests.cluster.recorder import Recorder
from tests.cluster.replica import Installation
from tests.cluster.site import GPU, Site


def _apply(site: Site, queue: str, nominal: str, manager: str = "argocd-controller") -> None:
    """What a GitOps tool does: it owns the whole list, by force."""
    entry = {"name": GPU, "nominalQuota": nominal}
    group = {"coveredResources": [GPU], "flavors": [{"name": site.flavor(), "resources": [entry]}]}
    spec: Obj = {site.cohort_field: site.cohort, "namespaceSelector": {}, "resourceGroups": [group]}
    body = site.named("clusterqueues", queue, {"spec": spec})
    site.api.must("PATCH", f"{site.kueue}/clusterqueues/{queue}", body, APPLY, fieldManager=manager, force="true")


@pytest.fixture
def lent(site: Site, bot: Installation) -> tuple[str, str]:
    """Lender at 4 of 8 and borrower at 8 of 4, by a transfer of 4."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    return lender, borrower


def _nominals(site: Site, *queues: str) -> list[str]:
    return [str(site.quota(queue)["nominalQuota"]) for queue in queues]


def test_an_edit_by_hand_is_asked_about_and_left_alone(site: Site, bot: Installation, lent: tuple[str, str]) -> None:
    _, borrower = lent
    site.edit(borrower, "nominalQuota", "7", manager="kubectl-edit")
    bot.first.cluster.sent.clear()
    bot.first.converge()
    question = bot.record(borrower).question
    assert question is not None
    assert (question.live, question.manager) == (7, "kubectl-edit")
    assert bot.first.cluster.sent == []
    assert _nominals(site, *lent) == ["4", "7"]


def test_a_tool_that_puts_the_lenders_base_back_is_asked_about_with_its_name(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    """Its apply takes the list over by force and leaves the bot's annotation, which is not its own. The number stays as
    the tool wants it, and the borrower goes down so that the sum is what it was.
    """
    lender, borrower = lent
    _apply(site, lender, "8")
    assert LOANS in site.get_queue(lender)["metadata"]["annotations"]
    bot.first.cluster.sent.clear()
    bot.first.converge()
    question = bot.record(lender).question
    assert question is not None
    assert (question.live, question.manager) == (8, "argocd-controller")
    assert {change.queue.name for change in bot.first.cluster.sent} == {borrower}
    assert _nominals(site, *lent) == ["8", "4"]


def test_put_back_makes_the_sum_what_it_was(site: Site, bot: Installation, lent: tuple[str, str]) -> None:
    """What the answer does is never more than what the edit made of the sum."""
    lender, _ = lent
    _apply(site, lender, "8")
    seen = Recorder(site)
    bot.first.converge()
    bot.answer(lender, AnswerKind.PUT_BACK)
    assert _nominals(site, *lent) == ["4", "8"]
    assert max(seen.sums()) == 16


def test_a_new_base_holds_the_loan_on_top(site: Site, bot: Installation, lent: tuple[str, str]) -> None:
    lender, _ = lent
    _apply(site, lender, "10")
    bot.first.converge()
    bot.answer(lender, AnswerKind.NEW_BASE)
    assert _nominals(site, *lent) == ["6", "8"]


def test_the_bot_writes_on_after_another_manager_took_the_list_over(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    """A JSON Patch is no apply: it meets no field ownership."""
    lender, borrower = lent
    _apply(site, lender, "4")
    bot.grant(LoanKind.TRANSFER, borrower, 1, lender)
    bot.first.converge()
    assert _nominals(site, *lent) == ["3", "9"]


def test_a_queue_made_again_under_the_same_name_is_not_taken_for_the_old_one(
    site: Site, bot: Installation, lent: tuple[str, str]
) -> None:
    _, borrower = lent
    path = f"{site.kueue}/clusterqueues/{borrower}"
    site.api.must("DELETE", f"{site.kueue}/namespaces/{site.namespace}/localqueues/{borrower}")
    site.api.must("DELETE", path)
    site.until_gone(path)
    site.queue("borrower", 8)
    bot.first.cluster.sent.clear()
    bot.first.converge()
    question = bot.record(borrower).question
    assert question is not None
    assert question.uid == site.get_queue(borrower)["metadata"]["uid"]
    assert bot.first.cluster.sent == []
