"""The Cluster role against the simulated API server over HTTP: reads, discovery, one patch, and every way to fail."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from bot.adapters.kube import cluster as adapter
from bot.adapters.kube.client import Answer, KubeApi, connect
from bot.adapters.kube.cluster import KubeCluster
from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.errors import Rejected, Unavailable
from bot.core.kueue import FlavorResource
from bot.demo.kube.faults import Fault, Hang, Refuse, ResetAfter, ResetBefore
from bot.demo.kube.kinds import NEW, OLD
from bot.demo.kube.rbac import Rule
from tests.support.kube_town import Clock, Town

GPU = "nvidia.com/gpu"
ENTRY = FlavorResource("a100", GPU)
MINUTE = timedelta(minutes=1)


def _change(town: Town, number: int, name: FieldName = FieldName.NOMINAL) -> QueueChange:
    queue = town.cluster.read().queues["vision"]
    return QueueChange(queue, {FieldKey("default", "vision", *ENTRY, name): number})


@pytest.mark.case("QUO-17")
@pytest.mark.parametrize("versions", [(OLD,), (NEW,), (OLD, NEW)])
def test_queues_are_read_and_written_in_every_version(
    make_town: Callable[..., Town], versions: tuple[str, ...]
) -> None:
    town = make_town(versions)
    town.queue(borrowing=2)
    before = town.cluster.read().queues["vision"]
    assert (before.cohort, before.quotas[ENTRY].nominal, before.quotas[ENTRY].borrowing_limit) == ("pool", 8, 2)
    result = town.cluster.patch(_change(town, 12))
    assert result.outcome is PatchOutcome.APPLIED
    assert result.queue is not None
    assert result.queue.quotas[ENTRY].nominal == 12
    assert int(town.sim.nominal("vision", "a100")) == 12
    used = {
        one.path.split("/")[3] for one in town.sim.book if one.path.startswith("/apis/") and one.path.count("/") > 3
    }
    assert used == {versions[-1]}


def test_a_version_that_disappears_is_discovered_again(make_town: Callable[..., Town]) -> None:
    town = make_town((OLD, NEW))
    town.queue()
    assert town.cluster.read().queues.keys() == {"vision"}
    town.sim.cluster.versions = (OLD,)
    assert town.cluster.read().queues.keys() == {"vision"}
    town.sim.cluster.versions = (NEW,)
    change = QueueChange(town.cluster.read().queues["vision"], annotations={"gpu-quota-bot.io/fence": "1.1"})
    town.sim.cluster.versions = (OLD,)
    assert town.cluster.patch(change).outcome is PatchOutcome.CONFLICT
    assert town.cluster.patch(change).outcome is PatchOutcome.APPLIED


def test_a_cluster_without_kueue_is_rejected_and_found_once_it_is_there(make_town: Callable[..., Town]) -> None:
    town = make_town(())
    with pytest.raises(Rejected, match="not installed"):
        town.cluster.read()
    town.sim.cluster.versions = (NEW,)
    assert town.cluster.read().queues == {}


class _Later:
    """A cluster of a later day."""

    def request(self, method: str, path: str) -> Answer:
        assert (method, path) == ("GET", "/apis/kueue.x-k8s.io")
        return Answer(200, {"versions": [{"version": "v2alpha1"}, {"version": "v1"}]})


def test_a_version_that_is_not_known_is_named(clock: Clock) -> None:
    with pytest.raises(Rejected, match="served: v1, v2alpha1"):
        KubeCluster("default", cast(KubeApi, _Later()), clock).read()


def test_long_lists_come_in_pages(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "PAGE", 3)
    for number in range(8):
        town.queue(f"q{number}")
    assert town.cluster.read().queues.keys() == {f"q{number}" for number in range(8)}
    pages = [one.query for one in town.sim.book if one.path.endswith("clusterqueues")]
    assert [page["limit"] for page in pages] == ["3"] * 3
    assert ["continue" in page for page in pages] == [False, True, True]


def test_a_read_asks_etcd_and_not_a_cache(town: Town) -> None:
    town.cluster.read()
    assert all("resourceVersion" not in one.query for one in town.sim.book)


def test_cohorts_are_kept_for_a_look_that_writes_nothing(town: Town) -> None:
    within = timedelta(minutes=5)
    for step in range(6):
        town.cluster.read(cohorts_within=within)
        assert town.sim.asked().count("cohorts") == (1 if step < 5 else 2)
        town.clock.move(MINUTE)
    assert town.sim.asked().count("clusterqueues") == 6


def test_a_clock_that_goes_back_does_not_keep_cohorts_for_ever(town: Town) -> None:
    town.cluster.read()
    town.clock.move(-MINUTE)
    town.cluster.read(cohorts_within=timedelta(minutes=5))
    town.cluster.read()
    assert town.sim.asked().count("cohorts") == 3


def test_two_hundred_who_ask_at_once_share_a_few_reads(town: Town) -> None:
    town.queue()
    with ThreadPoolExecutor(50) as pool:
        pictures = list(pool.map(lambda _: town.cluster.read(), range(200)))
    assert all(picture.queues.keys() == {"vision"} for picture in pictures)
    assert town.sim.asked().count("clusterqueues") < 100


def test_a_patch_says_who_wrote_it_and_is_strict(town: Town) -> None:
    town.queue()
    town.cluster.patch(_change(town, 9))
    [patch] = [one for one in town.sim.book if one.method == "PATCH"]
    assert patch.query == {"fieldManager": "gpu-quota-bot", "fieldValidation": "Strict"}
    managers = {entry["manager"] for entry in town.sim.queue("vision")["metadata"]["managedFields"]}
    assert "gpu-quota-bot" in managers
    assert town.cluster.read().queues["vision"].spec_manager is None
    town.sim.hand_edit("vision", "a100", nominal=10)
    assert town.cluster.read().queues["vision"].spec_manager == "kubectl-edit"


def test_a_dry_run_changes_nothing(town: Town) -> None:
    town.queue()
    result = town.cluster.patch(_change(town, 12), dry_run=True)
    assert result.outcome is PatchOutcome.APPLIED
    assert result.queue is not None
    assert result.queue.quotas[ENTRY].nominal == 12
    assert int(town.sim.nominal("vision", "a100")) == 8


@pytest.mark.parametrize(
    ("fault", "outcome", "landed"),
    [
        (ResetBefore(), PatchOutcome.UNKNOWN, False),
        (ResetAfter(), PatchOutcome.UNKNOWN, True),
        (Refuse(500), PatchOutcome.UNKNOWN, False),
        (Refuse(503), PatchOutcome.UNKNOWN, False),
        (Refuse(429), PatchOutcome.CONFLICT, False),
        (Refuse(409), PatchOutcome.CONFLICT, False),
    ],
)
def test_a_patch_is_sent_once_whatever_becomes_of_it(
    town: Town, fault: Fault, outcome: PatchOutcome, landed: bool
) -> None:
    """A second PATCH would be answered 422 by the first one's success, and look as if nothing had landed."""
    town.queue()
    change = _change(town, 12)
    town.sim.faults.plan(fault, "patch", "clusterqueues")
    assert town.cluster.patch(change).outcome is outcome
    assert town.sim.asked("PATCH") == ["vision"]
    assert int(town.sim.nominal("vision", "a100")) == (12 if landed else 8)


@pytest.mark.usefixtures("impatient")
def test_a_patch_that_hangs_is_unknown_and_may_land_later(town: Town) -> None:
    town.queue()
    change = _change(town, 12)
    town.sim.faults.plan(Hang(0.6), "patch", "clusterqueues")
    result = town.cluster.patch(change)
    assert (result.outcome, result.words) == (PatchOutcome.UNKNOWN, "no answer in time")
    with town.sim.changed:
        assert town.sim.changed.wait_for(lambda: int(town.sim.nominal("vision", "a100")) == 12, timeout=5)
    assert town.sim.asked("PATCH") == ["vision"]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (ResetBefore(), "connection lost"),
        (ResetAfter(), "connection lost"),
        (Refuse(500), "list clusterqueues: Internal error occurred: etcdserver: request timed out"),
        (Refuse(503), "list clusterqueues: the server is currently unable to handle the request"),
        (Refuse(429), "list clusterqueues: Too many requests, please try again later."),
    ],
)
def test_a_read_that_fails_is_unavailable_in_plain_words(town: Town, fault: Fault, why: str) -> None:
    town.sim.faults.plan(fault, "list", "clusterqueues")
    with pytest.raises(Unavailable) as caught:
        town.cluster.read()
    assert caught.value.why == why
    assert town.cluster.read().queues == {}


@pytest.mark.usefixtures("impatient")
def test_a_read_that_hangs_is_given_up(town: Town) -> None:
    town.sim.faults.plan(Hang(5), "list", "clusterqueues")
    with pytest.raises(Unavailable, match="no answer in time"):
        town.cluster.read()


def test_nobody_at_the_port_is_said(town: Town, clock: Clock, tmp_path: Path) -> None:
    town.queue()
    change = _change(town, 9)
    town.server.close()
    cluster = KubeCluster("default", connect(str(tmp_path / "kubeconfig"), None), clock)
    with pytest.raises(Unavailable) as caught:
        cluster.read()
    assert caught.value.why == "connection refused"
    assert cluster.patch(change).outcome is PatchOutcome.UNKNOWN
    cluster.close()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ((), 'clusterqueues.kueue.x-k8s.io is forbidden: User "bot" cannot list resource "clusterqueues"'),
        ((Rule(("list",), ("clusterqueues",)),), 'cohorts.kueue.x-k8s.io is forbidden: User "bot" cannot list'),
    ],
)
def test_a_missing_right_to_read_is_named(make_town: Callable[..., Town], rules: tuple[Rule, ...], words: str) -> None:
    town = make_town(token="t")
    town.sim.access.grant("t", "bot", rules)
    with pytest.raises(Rejected) as caught:
        town.cluster.read()
    assert (caught.value.what, caught.value.code) == ("API server", "no right")
    assert words in caught.value.detail


def test_a_missing_right_to_write_is_no_refusal_of_the_content(make_town: Callable[..., Town]) -> None:
    town = make_town(token="t")
    town.sim.access.grant("t", "bot", (Rule(("list",), ("clusterqueues", "cohorts")),))
    town.queue()
    result = town.cluster.patch(_change(town, 9))
    assert result.outcome is PatchOutcome.FORBIDDEN
    assert 'User "bot" cannot patch resource "clusterqueues"' in result.words


def test_a_token_that_is_not_known_any_more_is_named(make_town: Callable[..., Town]) -> None:
    town = make_town(token="t")
    town.sim.access.grant("t", "bot")
    town.queue()
    change = _change(town, 9)
    town.sim.access.revoke("t")
    assert town.cluster.patch(change).outcome is PatchOutcome.FORBIDDEN
    with pytest.raises(Rejected, match="Unauthorized"):
        town.cluster.read()


def test_a_webhooks_refusal_comes_in_its_own_words(town: Town) -> None:
    town.queue(lending=8)
    result = town.cluster.patch(_change(town, 5))
    assert result.outcome is PatchOutcome.REFUSED
    assert result.words.startswith('admission webhook "vclusterqueue.kb.io" denied the request')
    assert len(result.words) <= 200


@pytest.mark.parametrize("dry_run", [False, True])
def test_kueue_that_is_down_is_told_from_a_server_that_is(town: Town, dry_run: bool) -> None:
    town.queue()
    change = _change(town, 9)
    town.sim.kueue_up = False
    assert town.cluster.patch(change, dry_run=dry_run).outcome is PatchOutcome.KUEUE_DOWN
    assert int(town.sim.nominal("vision", "a100")) == 8
    assert town.cluster.read().queues.keys() == {"vision"}


def test_a_queue_that_was_made_anew_is_not_patched(town: Town) -> None:
    town.queue()
    change = _change(town, 9)
    town.sim.delete("clusterqueues", "vision")
    assert town.cluster.patch(change).outcome is PatchOutcome.CONFLICT
    town.queue()
    again = town.cluster.read().queues["vision"]
    same_version = replace(change.queue, resource_version=again.resource_version)
    assert town.cluster.patch(replace(change, queue=same_version)).outcome is PatchOutcome.CONFLICT


def test_workloads_of_these_queues_are_found_and_finished_ones_left_out(town: Town) -> None:
    for name in ("vision", "nlp"):
        town.queue(name)
        town.sim.add_local_queue("ns", f"{name}-train", name)
        town.sim.reconcile()
    for job, queue, gpus in (("small", "vision", 2), ("over", "vision", 1), ("large", "vision", 99), ("x", "nlp", 1)):
        town.sim.submit_job("ns", job, f"{queue}-train", gpus)
        town.sim.reconcile()
    town.sim.finish("ns", "over")
    town.sim.reconcile()
    found = {one.owner: one for one in town.cluster.workloads({"vision"})}
    assert found.keys() == {"small", "large"}
    assert (found["small"].usage, found["small"].queue) == ({ENTRY: 2}, "vision")
    assert (found["large"].usage, found["large"].requests, found["large"].reserved_at) == ({}, {GPU: 99}, None)


def test_a_cluster_whose_version_has_no_cohorts_has_none(make_town: Callable[..., Town]) -> None:
    town = make_town((OLD,))
    town.queue()
    town.sim.faults.plan(Refuse(404), "list", "cohorts", times=None)
    assert town.cluster.read().cohorts == {}


@pytest.mark.parametrize("text", ["", "{}", "not: [yaml"])
def test_a_kubeconfig_that_cannot_be_used_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(Unavailable, match="no usable configuration"):
        connect(str(path), None)


def test_a_context_that_is_not_there_is_said(town: Town, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        connect(str(town.server.kubeconfig(tmp_path / "other")), "nowhere")


def test_two_threads_may_use_one_client(make_town: Callable[..., Town]) -> None:
    town = make_town()
    assert isinstance(town.cluster, KubeCluster)
    with ThreadPoolExecutor(8) as pool:
        assert {len(one) for one in pool.map(lambda _: town.cluster.workloads({"q"}), range(40))} == {0}
