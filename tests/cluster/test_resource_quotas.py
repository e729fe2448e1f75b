"""ResourceQuotas beside the queues: what the API server takes, what the bot's patch does, and the order of a loan."""

from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.kube.cluster import KubeCluster
from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.findings import field_path
from bot.core.inbox import Arrival, InboxItem
from bot.core.kueue import QueueSnapshot, Quota
from bot.core.loans import LoanKind, LoanState
from bot.core.policy import Policy
from bot.core.policy.teams import TeamQuota
from bot.core.resource_quotas import hard_entry, hard_field
from bot.flows.answer_edit import EditPress, answer_edit
from tests.cluster.api import JSON_PATCH, Reply
from tests.cluster.landing import land
from tests.cluster.places import BOT
from tests.cluster.replica import FOR, Installation
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually
from tests.histories.harness import people
from tests.support.fakes.policies import FakePolicies

REQUESTS, LIMITS = f"requests.{GPU}", f"limits.{GPU}"


def _path(quota: str) -> str:
    namespace, _, name = quota.partition("/")
    return f"/api/v1/namespaces/{namespace}/resourcequotas/{name}"


def _make(site: Site, **hard: str) -> str:
    """A ResourceQuota of the test's namespace; its name as the bot calls it."""
    site.make_namespace(site.namespace)
    keys = {key.replace("_GPU", f".{GPU}"): value for key, value in (hard or {"requests_GPU": "8"}).items()}
    site.create(
        f"/api/v1/namespaces/{site.namespace}/resourcequotas", {"metadata": {"name": "gpu"}, "spec": {"hard": keys}}
    )
    quota = f"{site.namespace}/gpu"
    _followed(site, quota)
    return quota


def _live(site: Site, quota: str) -> Any:
    return site.api.must("GET", _path(quota))


def _followed(site: Site, quota: str) -> None:
    """Wait until the quota controller has copied the spec to the status."""

    def follows() -> bool:
        live = _live(site, quota)
        return bool((live.get("status") or {}).get("hard") == live["spec"]["hard"])

    eventually(f"status of {quota}", follows)


def _hard(site: Site, quota: str) -> str:
    return str(_live(site, quota)["spec"]["hard"][REQUESTS])


def _edit(site: Site, quota: str, value: str, manager: str = "kubectl-edit", key: str = REQUESTS) -> Reply:
    body = [{"op": "add", "path": f"/spec/hard/{key.replace('/', '~1')}", "value": value}]
    return site.api.request("PATCH", _path(quota), body, JSON_PATCH, {"fieldManager": manager})


def _seen(bot: KubeCluster, quota: str) -> QueueSnapshot:
    return bot.read(resource_quotas={quota}).resource_quotas[quota]


def _to(quota: QueueSnapshot, number: int) -> QueueChange:
    return QueueChange(quota, {hard_field("default", quota.name, GPU): number})


def test_the_number_and_the_annotation_travel_in_one_patch_and_siblings_stay(site: Site) -> None:
    quota, bot = _make(site, requests_GPU="8", pods="20"), site.bot()
    change = lambda: replace(_to(_seen(bot, quota), 12), annotations={FENCE: "1.1"})  # noqa: E731
    _, tried = land(bot, change, dry_run=True)
    assert tried.outcome is PatchOutcome.APPLIED
    assert _hard(site, quota) == "8", "a dry run stores nothing"
    _, result = land(bot, change)
    assert result.outcome is PatchOutcome.APPLIED, result.words
    live = _live(site, quota)
    assert live["spec"]["hard"] == {REQUESTS: "12", "pods": "20"}
    assert live["metadata"]["annotations"] == {FENCE: "1.1"}
    assert result.queue is not None
    assert result.queue.quotas == {hard_entry(GPU): Quota(12)}


def test_a_patch_dies_when_the_quota_changed_since_it_was_read(site: Site) -> None:
    """A failed test is a 422 without a cause, as on a queue."""
    quota, bot = _make(site), site.bot()
    seen = _seen(bot, quota)
    assert _edit(site, quota, "9").status == 200
    assert bot.patch(_to(seen, 12)).outcome is PatchOutcome.CONFLICT
    assert _hard(site, quota) == "9"


def test_a_quota_that_is_gone_is_a_conflict_and_not_read(site: Site) -> None:
    quota, bot = _make(site), site.bot()
    seen = _seen(bot, quota)
    site.api.must("DELETE", _path(quota))
    site.until_gone(_path(quota))
    assert bot.patch(_to(seen, 12)).outcome is PatchOutcome.CONFLICT
    picture = bot.read(resource_quotas={quota, f"no-such-{site.mark}/gpu"})
    assert (picture.resource_quotas, picture.unread) == ({}, {})


def test_the_server_takes_keys_that_count_nothing_and_counts_requests_alone(site: Site) -> None:
    """Measured: accepted, copied to status.hard, and never in status.used."""
    quota, bot = _make(site, requests_GPU="8", limits_GPU="4", **{GPU: "4"}), site.bot()
    assert _seen(bot, quota).no_effect == (LIMITS, GPU)
    used = eventually("used", lambda: (_live(site, quota).get("status") or {}).get("used"))
    assert used == {REQUESTS: "0"}


def test_quantities_are_stored_in_canonical_form_and_fractions_are_taken(site: Site) -> None:
    quota, bot = _make(site), site.bot()
    for given, stored, number in (("12000m", "12", Quota(12)), ("10000", "10k", Quota(10000))):
        assert _edit(site, quota, given).status == 200
        assert _hard(site, quota) == stored
        assert _seen(bot, quota).quotas == {hard_entry(GPU): number}
    assert _edit(site, quota, "0.5").status == 200
    assert _seen(bot, quota).quotas == {hard_entry(GPU): Quota(1, whole=False)}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [(REQUESTS, "-1", "must be greater than or equal to 0"), ("gpus", "1", "must be a standard resource for quota")],
)
def test_what_the_server_does_not_take_is_refused_with_a_cause(site: Site, key: str, value: str, words: str) -> None:
    reply = _edit(site, _make(site), value, key=key)
    assert reply.status == 422
    assert words in reply.body["details"]["causes"][-1]["message"]


def test_what_stands_for_a_generation_moves_with_the_spec_and_not_with_the_status(site: Site) -> None:
    """The server counts none. In force is what the quota controller has copied."""
    quota, bot = _make(site, requests_GPU="8", pods="20"), site.bot()
    assert "generation" not in _live(site, quota)["metadata"]
    before = _seen(bot, quota)
    assert before.observed_generation == before.generation
    queue = site.queue("busy", 8)
    job = site.job("busy", queue, 1)
    site.until_admitted(job)
    eventually("a pod counts", lambda: _seen(bot, quota).used == {hard_entry(GPU): 1})
    after = _seen(bot, quota)
    assert after.resource_version != before.resource_version
    assert after.generation == before.generation
    assert _edit(site, quota, "9").status == 200
    assert _seen(bot, quota).generation != before.generation
    _followed(site, quota)
    edited = _seen(bot, quota)
    assert edited.observed_generation == edited.generation
    assert edited.spec_manager == "kubectl-edit"


def test_without_the_rights_the_queues_are_read_all_the_same(site: Site) -> None:
    quota = _make(site)
    blind = site.bot({name: verbs for name, verbs in BOT.items() if name != "resourcequotas"})
    picture = blind.read(resource_quotas={quota})
    assert picture.resource_quotas == {}
    assert 'cannot get resource "resourcequotas"' in picture.unread[quota]
    mute = site.bot({**BOT, "resourcequotas": ("get",)})
    result = mute.patch(_to(_seen(mute, quota), 9))
    assert result.outcome is PatchOutcome.FORBIDDEN
    assert 'cannot patch resource "resourcequotas"' in result.words


def _with_quota(bot: Installation, queue: str | None, quota: str) -> None:
    """The policy of team alpha names the queue and the ResourceQuota; without a queue nobody has one."""
    namespace, _, name = quota.partition("/")
    policy = people.policy(0)
    alpha = policy.teams.teams["alpha"].model_copy(
        update={
            "queues": {"*": (queue,)} if queue else {},
            "resource_quota": TeamQuota(namespace=namespace, name=name),
        }
    )
    others = policy.teams.teams if queue else {}
    teams = policy.teams.model_copy(update={"teams": {**others, "alpha": alpha}})
    changed: Policy = replace(policy, teams=teams)
    bot.first.world = replace(bot.first.world, policies=FakePolicies(changed))


@pytest.mark.parametrize("kind", [LoanKind.TRANSFER, LoanKind.EXTRA, LoanKind.BORROW])
def test_the_quota_rises_before_the_queue_and_falls_after_it(site: Site, bot: Installation, kind: LoanKind) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4, borrowingLimit="0")
    quota = _make(site, requests_GPU="4")
    _with_quota(bot, borrower, quota)
    loan = bot.grant(kind, borrower, 4, lender if kind is LoanKind.TRANSFER else None)
    bot.first.converge()
    sent = [change.queue.name for change in bot.first.cluster.sent]
    assert sent.index(quota) < sent.index(borrower)
    assert _hard(site, quota) == "8"
    assert LOANS in _live(site, quota)["metadata"]["annotations"]
    bot.first.cluster.sent.clear()
    bot.clock.advance(FOR)
    bot.first.converge()
    bot.first.converge()
    sent = [change.queue.name for change in bot.first.cluster.sent]
    assert sent.index(borrower) < sent.index(quota)
    assert _hard(site, quota) == "4"
    assert bot.loan(loan.id).state is LoanState.CLOSED
    assert not _live(site, quota)["metadata"].get("annotations", {}).get(LOANS)


def test_an_edit_by_hand_is_left_alone_and_the_loan_is_in_the_queue(site: Site, bot: Installation) -> None:
    borrower, quota = site.queue("borrower", 4), _make(site, requests_GPU="4")
    _with_quota(bot, borrower, quota)
    loan = bot.grant(LoanKind.EXTRA, borrower, 4)
    bot.first.converge()
    assert _edit(site, quota, "20").status == 200
    bot.clock.advance(FOR)
    bot.first.converge()
    assert (site.quota(borrower)["nominalQuota"], _hard(site, quota)) == ("4", "20")
    assert bot.loan(loan.id).state is LoanState.RETURNING, "ended, not returned"
    _answer(bot, quota, AnswerKind.INCLUDED)
    bot.first.converge()
    assert _hard(site, quota) == "16"
    assert bot.loan(loan.id).state is LoanState.CLOSED


def _answer(bot: Installation, quota: str, kind: AnswerKind) -> None:
    key = hard_field("default", quota, GPU)
    with bot.store.begin() as uow:
        notice, record = uow.notices.latest(f"edit:{field_path(key)}:"), uow.fields.records("default")[key]
        uow.inbox.put([InboxItem("answer", Arrival.ACTION, "contract", {}, bot.clock())])
        uow.commit()
    assert notice is not None
    answer_edit(bot.first.world, EditPress(notice.id, record.version, kind, people.ADMINS[0], "answer"))
    bot.first.converge()


def test_without_a_queue_the_quota_alone_goes_up_and_down(site: Site, bot: Installation) -> None:
    """The policy knows of no queue, so Kueue is not even asked."""
    quota = _make(site, requests_GPU="4")
    _with_quota(bot, None, quota)
    loan = bot.grant(LoanKind.EXTRA, quota, 4)
    bot.first.converge()
    assert _hard(site, quota) == "8"
    assert [change.queue.name for change in bot.first.cluster.sent] == [quota]
    bot.clock.advance(FOR)
    bot.first.converge()
    bot.first.converge()
    assert _hard(site, quota) == "4"
    assert bot.loan(loan.id).state is LoanState.CLOSED


def test_a_lost_database_finds_the_quota_again(site: Site, bot: Installation) -> None:
    borrower, quota = site.queue("borrower", 4), _make(site, requests_GPU="4")
    _with_quota(bot, borrower, quota)
    bot.grant(LoanKind.EXTRA, borrower, 4)
    bot.first.converge()
    bot.forget()
    _with_quota(bot, borrower, quota)
    bot.first.converge()
    assert (site.quota(borrower)["nominalQuota"], _hard(site, quota)) == ("8", "8")
    bot.clock.advance(FOR)
    bot.first.converge()
    assert (site.quota(borrower)["nominalQuota"], _hard(site, quota)) == ("4", "4")
