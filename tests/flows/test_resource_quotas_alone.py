"""No Kueue at all: a team has a ResourceQuota, and an extra loan raises it, ticked where nodes lack."""

from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import Refused
from bot.core.loans import LoanKind, LoanState
from bot.core.requests import QuotaRequest
from bot.flows.live_impact import live_impact
from bot.flows.look_up import status_facts
from bot.flows.read_cluster import NotRead
from bot.flows.request_form import form_facts
from bot.flows.submit_request import Submitted, submit_request
from bot.views.request_form import FormValues
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

NAMESPACE, NAME = "vision-train", "gpu"
QUOTA = f"{NAMESPACE}/{NAME}"
PATH = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/{NAME}"
REQUESTS = f"requests.{quota.GPU}"


@pytest.fixture
def town(bench: "Bench") -> "Bench":
    """Vision has 16 GPUs by its ResourceQuota, on nodes with 20. Nobody has a queue."""
    changed = quota.documents()
    for team in changed["teams.yaml"]["teams"].values():
        del team["queues"]
    vision = changed["teams.yaml"]["teams"]["vision"]
    vision |= {"namespaces": [NAMESPACE], "resource_quota": {"namespace": NAMESPACE, "name": NAME}}
    changed["approvals.yaml"]["kinds"] = ["borrow", "transfer", "extra"]
    del changed["clusters.yaml"]["clusters"]["default"]["lenders"]
    bench.policy = quota.policy(changed)
    bench.kube.cluster.versions = ()
    bench.kube.add("namespaces", NAMESPACE)
    bench.kube.add("resourcequotas", NAME, {"spec": {"hard": {REQUESTS: "16"}}}, NAMESPACE)
    bench.kube.add_node("n1", "any", 20)
    bench.kube.reconcile()
    return bench


def _submit(town: "Bench", amount: int = 4, **changes: Any) -> QuotaRequest:
    changes = {"queue": None, "team": None, "cluster": None, **changes}
    submitted = submit_request(town.world, quota.draft(amount, **changes), "a", town.arrival(town.new_id()))
    assert isinstance(submitted, Submitted), submitted
    return submitted.request


def _hard(town: "Bench") -> int:
    live = town.kube.cluster.get("resourcequotas", NAMESPACE, NAME)
    assert live is not None
    return int(live["spec"]["hard"][REQUESTS])


def test_what_is_asked_for_is_an_extra_loan_of_the_quota(town: "Bench") -> None:
    ask = _submit(town).ask
    assert (ask.queue, ask.flavor, ask.resource, ask.kind) == (QUOTA, "gpu", quota.GPU, LoanKind.EXTRA)
    town.deliver_all()
    card = str(town.posted("C0APPROVALS")[0].message.blocks)
    assert "nobody lends to it, so this is an extra loan" in card
    assert "With it 20 of 20 " in card


@pytest.mark.parametrize("kind", [LoanKind.BORROW, LoanKind.TRANSFER])
def test_no_other_kind_is_possible(town: "Bench", kind: LoanKind) -> None:
    with pytest.raises(Refused, match="only an extra loan can raise it"):
        _submit(town, kind=kind)


@pytest.mark.parametrize(("amount", "over"), [(4, 0), (5, 1), (16, 12)])
def test_it_is_set_against_all_nodes(town: "Bench", amount: int, over: int) -> None:
    impact = live_impact(town.world, _submit(town, amount).ask)
    assert not isinstance(impact, NotRead)
    assert impact.overcommit is not None
    assert (impact.overcommit.capacity, impact.overcommit.over) == (20, over)


def test_what_is_lent_already_counts_once(town: "Bench") -> None:
    ask = _submit(town).ask
    town.approved(ask)
    for _ in range(2):
        impact = live_impact(town.world, ask)
        assert not isinstance(impact, NotRead)
        assert impact.overcommit is not None
        assert (impact.overcommit.promised, impact.overcommit.on_loan) == (24, 4)
        town.converge()


def test_it_goes_up_and_down_by_the_loan(town: "Bench") -> None:
    number = town.approved(_submit(town).ask)
    town.converge()
    assert _hard(town) == 20
    town.deliver_all()
    assert any(text.startswith("4 gpu for vision-train/gpu until ") for text in town.texts("U0VISION"))
    town.pass_time(days=4)
    town.converge()
    assert _hard(town) == 16
    with town.world.store.read() as uow:
        loan = uow.loans.get(number)
    assert loan is not None
    assert loan.state is LoanState.CLOSED
    town.deliver_all()
    assert town.texts("C0PLATFORM") == []


def test_an_edit_by_hand_is_asked_about(town: "Bench") -> None:
    town.approved(_submit(town).ask)
    town.converge()
    body = [{"op": "add", "path": f"/spec/hard/{REQUESTS.replace('/', '~1')}", "value": "30"}]
    town.kube.handle("PATCH", PATH, {"fieldManager": "x"}, {"content-type": "application/json-patch+json"}, body)
    town.converge()
    town.deliver_all()
    assert town.texts("C0PLATFORM") == [
        f"ResourceQuota {QUOTA} {REQUESTS} is 30, expected 20: someone changed it outside the bot"
    ]
    assert _hard(town) == 30


def test_a_quota_that_is_deleted_suspends_the_loan(town: "Bench") -> None:
    number = town.approved(_submit(town).ask)
    town.converge()
    town.kube.handle("DELETE", PATH)
    town.converge()
    with town.world.store.read() as uow:
        loan = uow.loans.get(number)
    assert loan is not None
    assert loan.suspended == f"ResourceQuota {QUOTA} is not there"


def test_a_quota_that_is_not_there_is_said_to_who_asks(town: "Bench") -> None:
    town.kube.handle("DELETE", PATH)
    with pytest.raises(Refused, match=f"ResourceQuota {QUOTA} is not there"):
        _submit(town)


def test_a_quota_that_counts_nothing_is_said_to_who_asks(town: "Bench") -> None:
    body = {"spec": {"hard": {REQUESTS: None, f"limits.{quota.GPU}": "16"}}}
    town.kube.handle("PATCH", PATH, {}, {"content-type": "application/merge-patch+json"}, body)
    with pytest.raises(Refused, match=f"has no {REQUESTS} .*limits.{quota.GPU} counts nothing"):
        _submit(town)


def test_without_kueue_nothing_is_said_to_be_wrong_in_status(town: "Bench") -> None:
    facts = status_facts(town.world, "U0VISION", None)
    assert QUOTA in str(facts)


def test_queues_that_vanish_with_kueue_are_not_taken_for_gone(bench: "Bench") -> None:
    """Kueue's API is away in a cluster with queues: that is an outage, whatever quotas there are."""
    number = bench.approved(quota.transfer(8))
    bench.converge()
    bench.kube.cluster.versions = ()
    bench.converge()
    with bench.world.store.read() as uow:
        loan = uow.loans.get(number)
    assert loan is not None
    assert loan.suspended is None


def test_the_form_offers_the_quota(town: "Bench") -> None:
    form = form_facts(town.world, "U0VISION", "F1", FormValues(queue=QUOTA, amount=4))
    assert QUOTA in str(form.queues)
    assert "gpu" in str(form.flavors)
    assert form.picture is not None
    assert (form.picture.kind, form.picture.free) == (LoanKind.EXTRA, 16)
