"""A right that is missing is told as what it is: to the platform channel once, and to whoever asks in plain words."""

from typing import TYPE_CHECKING

import pytest

from bot.core.drafts import Draft
from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.demo.kube.rbac import Rule
from bot.flows.look_up import status_facts
from bot.flows.request_form import form_facts
from bot.flows.show_queue import show_facts
from bot.flows.submit_request import Submitted, submit_request
from bot.views.request_form import FormValues
from tests.support import quota
from tests.support.fakes.cluster import TOKEN

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

LISTS = ("clusterqueues", "cohorts", "localqueues", "workloads")
HOLD_UP, FIGURES = LISTS[:2], LISTS[2:]


def _without(bench: "Bench", resource: str) -> None:
    lists = tuple(one for one in LISTS if one != resource)
    bench.kube.access.grant(TOKEN, "bot", (Rule(("list",), lists), Rule(("patch",), ("clusterqueues",))))


def _work_waits(bench: "Bench") -> None:
    """Two workloads are pending in vision, Kueue's controller says in the status of the queue."""
    found = bench.kube.cluster.get("clusterqueues", "", "vision")
    assert found is not None
    bench.kube.cluster.put_status(found, "clusterqueues", {**found["status"], "pendingWorkloads": 2})


def _ask(bench: "Bench", key: str = "a") -> Submitted:
    draft: Draft = quota.draft(8, kind=LoanKind.TRANSFER, lender="nlp", flavor="a100")
    submitted = submit_request(bench.world, draft, key, bench.arrival(key))
    assert isinstance(submitted, Submitted)
    return submitted


@pytest.mark.parametrize("resource", HOLD_UP)
def test_queues_that_may_not_be_listed_are_told_once_with_the_right_to_give(bench: "Bench", resource: str) -> None:
    _without(bench, resource)
    for _ in range(3):
        bench.converge()
        bench.pass_time(minutes=6)
    bench.deliver_all()
    assert len(bench.posted("C0PLATFORM")) == 1
    assert bench.texts("C0PLATFORM")[0].startswith(f"The bot may not list {resource} since ")
    blocks = str(bench.posted("C0PLATFORM")[0].message.blocks)
    assert f"{resource}.kueue.x-k8s.io" in blocks
    assert "patch" not in blocks


@pytest.mark.parametrize("resource", HOLD_UP)
def test_who_asks_hears_that_the_bot_may_not_read_the_queues(bench: "Bench", resource: str) -> None:
    _without(bench, resource)
    with pytest.raises(Refused) as told:
        _ask(bench)
    assert told.value.sentence == "The bot may not read the queues, so nothing was sent. Admins were told."
    with pytest.raises(Refused, match="No live figures: the bot may not read the queues. Admins were told."):
        show_facts(bench.world, "U0VISION", "vision", None)
    status = status_facts(bench.world, "U0VISION", None)
    assert status.trouble == ("No live figures of default: the bot may not read the queues",)
    values = FormValues(queue="vision", flavor="a100", amount=8)
    form = form_facts(bench.world, "U0VISION", "F1", values)
    assert form.picture is not None
    assert form.picture.trouble == "the bot may not read the queues"


def test_a_loan_that_waits_for_the_right_says_so(bench: "Bench") -> None:
    request = bench.approved(quota.transfer(8))
    _without(bench, "clusterqueues")
    bench.converge()
    bench.deliver_all()
    assert bench.facts(f"loan_waits:{request}:U0VISION")["standing"]["blocker"] == "cannot read"


@pytest.mark.parametrize("resource", FIGURES)
def test_work_that_may_not_be_listed_is_said_to_be_not_known(bench: "Bench", resource: str) -> None:
    _work_waits(bench)
    _without(bench, resource)
    shown = show_facts(bench.world, "U0VISION", "vision", None)
    assert shown.flavors[0].waiting is None
    assert shown.waiting_unknown == f"the bot may not list {resource}"
    status = status_facts(bench.world, "U0VISION", None)
    assert [use.waiting for team in status.teams for use in team.queues] == [None]
    assert status.trouble == (f"What waits is not known: the bot may not list {resource}",)


@pytest.mark.parametrize("resource", FIGURES)
def test_a_card_without_figures_says_why_and_the_platform_channel_hears_once(bench: "Bench", resource: str) -> None:
    _without(bench, resource)
    for key in ("a", "b"):
        request = _ask(bench, key).request
        note = f"What it means for running work is not known: the bot may not list {resource}"
        assert bench.facts(f"card:{request.id}:U0VISION")["notes"] == [note]
    bench.deliver_all()
    told = [text for text in bench.texts("C0PLATFORM") if text.startswith(f"The bot may not list {resource}")]
    assert len(told) == 1


def test_an_outage_that_turns_into_a_missing_right_is_over(bench: "Bench") -> None:
    """The API server answers, if only to say no."""
    bench.api_down()
    bench.converge()
    bench.pass_time(minutes=6)
    bench.converge()
    bench.kube.faults.clear()
    _without(bench, "clusterqueues")
    bench.converge()
    bench.deliver_all()
    told = [text.partition(" since")[0].partition(" <")[0] for text in bench.texts("C0PLATFORM")]
    assert told == ["The API server is not answering", "API server back", "The bot may not list clusterqueues"]
