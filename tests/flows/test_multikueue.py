"""A queue whose work runs on worker clusters: approvers read that quota there limits a loan too."""

from typing import TYPE_CHECKING, Any

import pytest

from bot.core.impact import Impact, Workers
from bot.core.requests import Ask
from bot.demo.kube.rbac import Rule
from bot.flows.live_impact import live_impact
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota
from tests.support.fakes.cluster import TOKEN
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

MERGE = "application/merge-patch+json"
MULTIKUEUE, PROVISIONING = "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/provisioning-request"
LIMITS = "their quota limits it too"


def check(bench: "Bench", queue: str, name: str, controller: str, *flavors: str) -> None:
    bench.kube.ensure("admissionchecks", name, {"spec": {"controllerName": controller}})
    ref: dict[str, Any] = {"name": name, **({"onFlavors": list(flavors)} if flavors else {})}
    body = {"spec": {"admissionChecksStrategy": {"admissionChecks": [ref]}}}
    bench.kube.request("PATCH", bench.kube.path("clusterqueues", "", queue), body, content_type=MERGE)


def workers(bench: "Bench", ask: Ask) -> Workers | None:
    found = live_impact(bench.world, ask)
    assert isinstance(found, Impact)
    return found.workers


@pytest.mark.case("QUO-19")
@pytest.mark.parametrize(
    ("queue", "controller", "flavors", "limits"),
    [
        ("vision", MULTIKUEUE, (), True),
        ("vision", MULTIKUEUE, ("a100",), True),
        ("vision", PROVISIONING, (), False),
        ("nlp", MULTIKUEUE, (), False),
    ],
)
@pytest.mark.parametrize("ask", [quota.ask(4), quota.transfer(4)], ids=["borrow", "transfer"])
def test_quo_19_a_raise_on_the_manager_says_that_the_workers_quota_limits_too(
    bench: "Bench", ask: Ask, queue: str, controller: str, flavors: tuple[str, ...], *, limits: bool
) -> None:
    """Only of the queue that gets more."""
    check(bench, queue, "dispatch", controller, *flavors)
    assert workers(bench, ask) == (Workers("vision") if limits else None)


def test_a_check_of_another_flavor_says_nothing(bench: "Bench") -> None:
    bench.kube.add_cluster_queue("both", {"a100": 8, "h100": 8}, cohort="gpu-pool")
    check(bench, "both", "dispatch", MULTIKUEUE, "h100")
    bench.kube.access.grant(TOKEN, "bot", RIGHTS)  # not even asked
    assert workers(bench, quota.ask(4, queue="both")) is None


def test_the_card_says_it(bench: "Bench") -> None:
    check(bench, "vision", "dispatch", MULTIKUEUE)
    submit(bench)
    card = bench.posted("C0APPROVALS")[0]
    assert LIMITS in str(card.message.blocks)


def submit(bench: "Bench") -> None:
    submitted = submit_request(bench.world, quota.draft(4, flavor="a100"), "a", bench.arrival("a"))
    assert isinstance(submitted, Submitted)
    bench.deliver_all()


RIGHTS = (
    Rule(("list",), ("clusterqueues", "cohorts", "localqueues", "workloads")),
    Rule(("patch",), ("clusterqueues",)),
)


def test_without_the_right_the_card_says_that_it_is_not_known_and_the_platform_channel_hears_once(
    bench: "Bench",
) -> None:
    check(bench, "vision", "dispatch", MULTIKUEUE)
    bench.kube.access.grant(TOKEN, "bot", RIGHTS)
    for _ in range(2):
        assert workers(bench, quota.ask(4)) == Workers("vision", "the bot may not list admissionchecks")
    submit(bench)
    told = [text for text in bench.texts("C0PLATFORM") if "may not list" in text]
    assert len(told) == 1
    assert "admissionchecks.kueue.x-k8s.io" in str(bench.posted("C0PLATFORM")[0].message.blocks)
    bench.converge()
    card = " ".join(seen(bench.posted("C0APPROVALS")[0].message))
    assert "Whether worker clusters limit vision too is not known" in card


def test_where_no_queue_has_checks_nobody_needs_the_right(bench: "Bench") -> None:
    bench.kube.access.grant(TOKEN, "bot", RIGHTS)
    assert workers(bench, quota.ask(4)) is None
    bench.deliver_all()
    assert bench.texts("C0PLATFORM") == []
