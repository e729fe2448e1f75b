"""Queues that are written in Git: another manager's server-side apply is what puts a loan in force, and ends it."""

from dataclasses import replace

from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.proposals import Proposal
from bot.core.loans import LoanKind, LoanState
from bot.core.policy.clusters import QueueRules
from tests.cluster.api import APPLY, Obj
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import GPU, Site
from tests.histories.harness import people
from tests.support.fakes.policies import FakePolicies


def _is_in_git(bot: Installation, queue: str) -> None:
    policy = people.policy(0)
    known = policy.clusters.clusters["default"]
    cluster = known.model_copy(update={"queues": {queue: QueueRules(write="propose")}})
    clusters = policy.clusters.model_copy(update={"clusters": {"default": cluster}})
    bot.first.world = replace(bot.first.world, policies=FakePolicies(replace(policy, clusters=clusters)))


def _merge(site: Site, queue: str, nominal: int) -> None:
    """What a GitOps tool does with it: it owns the whole list, by force."""
    entry = {"name": GPU, "nominalQuota": str(nominal)}
    group = {"coveredResources": [GPU], "flavors": [{"name": site.flavor(), "resources": [entry]}]}
    spec: Obj = {site.cohort_field: site.cohort, "namespaceSelector": {}, "resourceGroups": [group]}
    body = site.named("clusterqueues", queue, {"spec": spec})
    path = f"{site.kueue}/clusterqueues/{queue}"
    site.api.must("PATCH", path, body, APPLY, fieldManager="argocd-controller", force="true")
    site.settle(queue)


def _open(bot: Installation) -> list[Proposal]:
    with bot.store.read() as uow:
        return list(uow.proposals.open("default"))


def _proposed(bot: Installation) -> list[tuple[str, int | None]]:
    return [(one.queue, part.after.wrote) for one in _open(bot) for part in one.fields]


def _nominals(site: Site, *queues: str) -> list[int]:
    return [int(site.quota(queue)["nominalQuota"]) for queue in queues]


def test_a_merge_puts_the_loan_in_force_and_the_reverse_one_ends_it(site: Site, bot: Installation) -> None:
    """The bot patches the lender alone, and no version of a queue makes the sum larger."""
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    _is_in_git(bot, borrower)
    seen = Recorder(site)
    loan = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == [4, 4]
    assert _proposed(bot) == [(borrower, 8)]
    assert bot.loan(loan.id).in_force_at is None
    _merge(site, borrower, 8)
    bot.first.converge()
    assert bot.loan(loan.id).in_force_at is not None
    assert _proposed(bot) == []

    bot.clock.advance(FOR)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == [4, 8], "the lender waits for Git"
    assert _proposed(bot) == [(borrower, 4)]
    _merge(site, borrower, 4)
    bot.first.converge()
    assert _nominals(site, lender, borrower) == [8, 4]
    bot.first.converge()
    assert bot.loan(loan.id).state is LoanState.CLOSED
    assert max(seen.sums()) == 12
    assert {change.queue.name for change in bot.first.cluster.sent} == {lender}
    assert not {LOANS, FENCE} & site.get_queue(borrower)["metadata"].get("annotations", {}).keys()


def test_another_number_than_the_one_proposed_is_asked_about(site: Site, bot: Installation) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    _is_in_git(bot, borrower)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    _merge(site, borrower, 6)
    bot.first.converge()
    question = bot.record(borrower).question
    assert question is not None
    assert (question.live, question.manager) == (6, "argocd-controller")
    assert _nominals(site, lender, borrower) == [4, 6]
    _merge(site, borrower, 8)
    bot.first.converge()
    assert bot.record(borrower).question is None, "set right in Git: that is an answer too"
    assert {change.queue.name for change in bot.first.cluster.sent} == {lender}
