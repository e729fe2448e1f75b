"""Several clusters in one loop: what one of them does is no burden to another. And what a plan is made of."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.convergence.annotation import FENCE
from bot.core.errors import Stale, Unavailable
from bot.core.loans import LoanState
from bot.flows import converge_quota
from bot.flows.converge_quota import converge_all
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


class _Named:
    """A cluster under another name, that counts how often it is asked."""

    def __init__(self, cluster: Any, name: str, down: bool = False) -> None:
        self._cluster, self.name, self._down = cluster, name, down
        self.reads = 0

    def read(self, *, cohorts_within: timedelta = timedelta(0), **also: Any) -> Any:
        self.reads += 1
        if self._down:
            raise Unavailable("API server", "no answer in time")
        return replace(
            self._cluster.read(cohorts_within=cohorts_within, **also),
            cluster=self.name,
        )


def test_a_cluster_that_is_down_is_asked_less_and_less_and_the_healthy_one_at_its_usual_time(bench: "Bench") -> None:
    real = bench.world.clusters["default"]
    down, well = _Named(real, "down", down=True), _Named(real, "well")
    clusters: Any = {"down": down, "well": well}
    bench.world = replace(bench.world, clusters=clusters)
    until = bench.clock() + timedelta(minutes=10)
    while bench.clock() < until:
        wait = converge_all(bench.world, bench.epoch, bench.memory, lambda _fence: None)
        assert wait is not None
        bench.clock.advance(max(wait, timedelta(milliseconds=1)))
    assert down.reads <= 18
    assert 9 <= well.reads <= 13


def test_after_a_lift_no_cluster_is_converged_under_the_old_epoch(bench: "Bench") -> None:
    real = bench.world.clusters["default"]
    bench.kube.handle(
        "PATCH",
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/nlp",
        {"fieldManager": "somebody"},
        {"content-type": "application/merge-patch+json"},
        {"metadata": {"annotations": {FENCE: "7.1"}}},
    )
    other = _Named(real, "other")
    clusters: Any = {"default": real, "other": other}
    bench.world = replace(bench.world, clusters=clusters)
    lifted: list[int] = []
    assert converge_all(bench.world, bench.epoch, bench.memory, lifted.append) == timedelta(0)
    assert (lifted, other.reads) == ([7], 0)


def test_a_loan_is_not_suspended_for_what_old_cohorts_say(bench: "Bench") -> None:
    """A plan that writes nothing may still change a loan for good."""
    request = bench.approved(quota.transfer(8))
    real = bench.world.clusters["default"]

    class Remembering:
        name = "default"

        def read(self, *, cohorts_within: timedelta = timedelta(0), **also: Any) -> Any:
            now = real.read()
            if not cohorts_within:
                return now
            apart = {name: replace(queue, cohort=name) for name, queue in now.queues.items()}
            return replace(now, queues=apart)

        def patch(self, change: Any, *, dry_run: bool = False) -> Any:
            return real.patch(change, dry_run=dry_run)

    clusters: Any = {"default": Remembering()}
    bench.world = replace(bench.world, clusters=clusters)
    bench.converge()
    with bench.world.store.read() as uow:
        loan = uow.loans.get(request)
    assert loan is not None
    assert (loan.state, loan.suspended) == (LoanState.RUNNING, None)


def test_a_record_that_moved_on_while_a_patch_was_under_way_is_no_failure_of_the_step(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The intent stays open and the next look at the queue tells what became of it."""
    bench.approved(quota.transfer(8))
    raised: list[Stale] = []
    real = converge_quota.settle

    def settle(*facts: Any) -> Any:
        if not raised:
            raised.append(Stale("field moved on"))
            raise raised[0]
        return real(*facts)

    monkeypatch.setattr(converge_quota, "settle", settle)
    bench.converge()
    assert len(raised) == 1
    queues = bench.world.clusters["default"].read().queues
    assert "gpu-quota-bot.io/loans" in queues["vision"].annotations
