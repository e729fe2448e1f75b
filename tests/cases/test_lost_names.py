"""A queue, flavor, team, group, channel or account is renamed or deleted while something of the bot's stands on it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from bot.core.requests import RequestState
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair, Policy

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(30) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _merge(stage: CaseStage, queue: str, **spec: Any) -> None:
    stage.kube.request("PATCH", stage.kube.path("clusterqueues", "", queue), {"spec": spec}, content_type=MERGE)
    stage.kube.reconcile()


def _delete(stage: CaseStage, queue: str) -> None:
    stage.kube.delete("clusterqueues", queue)
    stage.kube.reconcile()


def _lists(*flavors: str, nominal: int = NOMINAL) -> list[dict[str, Any]]:
    entry = {"name": "nvidia.com/gpu", "nominalQuota": nominal, "borrowingLimit": 0}
    return [
        {
            "coveredResources": ["nvidia.com/gpu"],
            "flavors": [{"name": flavor, "resources": [entry]} for flavor in flavors],
        }
    ]


def _borrowed(stage: CaseStage, pair: Pair) -> int:
    return stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper").id


# -- the cluster ------------------------------------------------------------------------------------------------------


def test_the_borrower_is_deleted(stage: CaseStage, pair: Pair) -> None:
    """The lender has its quota back at once; everybody hears why; the loan ends by itself."""
    number = _borrowed(stage, pair)
    _delete(stage, pair.borrower)
    stage.becomes(**{pair.lender: LENT})
    why = f"ClusterQueue {pair.borrower} is gone"
    for who in (pair.asker,):
        stage.hears(who, f"4 a100 (Q-{number}) suspended", why, "request again")
    stage.channel_says("gpu-platform", f"4 a100 (Q-{number}) suspended", why)
    stage.card_says(number, f"Suspended: {why}")
    assert f"Q-{number}" in stage.says(pair.asker, "list")
    assert "suspended" in stage.says(pair.asker, f"status Q-{number}")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")
    assert stage.count("gpu-platform", f"Q-{number}) suspended") == 1


def test_the_lender_is_deleted(stage: CaseStage, pair: Pair) -> None:
    number = _borrowed(stage, pair)
    _delete(stage, pair.lender)
    stage.becomes(**{pair.borrower: NOMINAL})
    stage.hears(pair.asker, f"4 a100 (Q-{number}) suspended", f"ClusterQueue {pair.lender} is gone")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")


@pytest.mark.parametrize("side", ["borrower", "lender"])
@pytest.mark.parametrize("seen", [True, False], ids=["seen in between", "not seen"])
def test_a_queue_is_deleted_and_made_again(stage: CaseStage, pair: Pair, side: str, seen: bool) -> None:
    """The new queue of the same name never got the loan: nothing is taken from it, and nothing given to it."""
    number, queue = _borrowed(stage, pair), getattr(pair, side)
    nominal = {pair.borrower: NOMINAL, pair.lender: LENT}
    if not seen:
        stage.stop_bot()
    _delete(stage, queue)
    if seen:
        stage.card_says(number, f"Suspended: ClusterQueue {queue} is gone")
    stage._add_queue(queue, {"nominal": nominal[queue], "borrowing": 0}, pair.cohort)
    stage.kube.reconcile()
    if not seen:
        stage.start_bot()
        stage.channel_says("gpu-platform", f"{queue} a100 is {nominal[queue]}, expected")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.becomes(**nominal)
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")
    own = [one for one in stage.kube.history if one.name == queue and one.manager == "gpu-quota-bot"]
    uids = {one.obj["metadata"]["uid"] for one in own}
    assert len(uids) == 1, "the new one was not written"


@pytest.mark.parametrize("change", ["flavor removed", "flavor renamed", "no cohort", "other cohort"])
def test_what_a_loan_stands_on_is_taken_from_the_borrower(stage: CaseStage, pair: Pair, change: str) -> None:
    number = _borrowed(stage, pair)
    stage.kube.ensure("resourceflavors", "h100")
    if "cohort" in change:
        _merge(stage, pair.borrower, cohortName="elsewhere" if change == "other cohort" else None,
               resourceGroups=_lists("a100", nominal=12) if change == "other cohort" else _without_limit())
    else:
        _merge(stage, pair.borrower, resourceGroups=_lists("h100"))
    stage.becomes(**{pair.lender: LENT})
    words = "no longer in one cohort tree" if "cohort" in change else "no longer lists nvidia.com/gpu of flavor a100"
    stage.card_says(number, "Suspended:", words)
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")


def _without_limit() -> list[dict[str, Any]]:
    groups = _lists("a100", nominal=12)
    del groups[0]["flavors"][0]["resources"][0]["borrowingLimit"]
    return groups


def test_a_flavor_that_is_only_moved_keeps_its_loan(stage: CaseStage, pair: Pair) -> None:
    number = _borrowed(stage, pair)
    stage.kube.ensure("resourceflavors", "h100")
    groups = _lists("h100", "a100")
    groups[0]["flavors"][1]["resources"][0]["nominalQuota"] = 12
    groups[0]["flavors"][0]["resources"] = [{"name": "nvidia.com/gpu", "nominalQuota": 1}]
    _merge(stage, pair.borrower, resourceGroups=groups)
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})", f"Quota of {pair.borrower} is 8 again")
    stage.becomes(**{pair.lender: LENT})


def test_a_resource_flavor_is_deleted(stage: CaseStage, pair: Pair) -> None:
    """Its finalizer keeps it while a queue names it; the loan ends as usual."""
    number = _borrowed(stage, pair)
    stage.kube.delete("resourceflavors", "a100")
    stage.kube.reconcile()
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})


@pytest.mark.parametrize("side", ["borrower", "lender"])
@pytest.mark.parametrize("what", ["queue", "flavor"])
def test_nobody_approves_what_is_not_there_any_more(stage: CaseStage, pair: Pair, side: str, what: str) -> None:
    number, queue = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id, getattr(pair, side)
    if what == "queue":
        _delete(stage, queue)
    else:
        stage.kube.ensure("resourceflavors", "h100")
        _merge(stage, queue, resourceGroups=_lists("h100"))
    told = stage.presses(pair.lender_lead, number)
    words = f"There is no ClusterQueue {queue} now" if what == "queue" else f"{queue} does not list nvidia.com/gpu"
    assert f"Nothing was decided. {words}" in told
    assert stage.request(number).state is RequestState.WAITING
    assert not stage.loan(number)


# -- the policy -------------------------------------------------------------------------------------------------------


def _without(*teams: str) -> Any:
    def edit(policy: Policy) -> None:
        for team in teams:
            del policy["teams"]["teams"][team]

    return edit


def _renamed(old: str, new: str) -> Any:
    def edit(policy: Policy) -> None:
        policy["teams"]["teams"][new] = policy["teams"]["teams"].pop(old)

    return edit


@pytest.mark.parametrize("how", ["reload", "restart"])
def test_a_team_is_removed_with_a_loan_and_a_request(stage: CaseStage, pair: Pair, how: str) -> None:
    number = _borrowed(stage, pair)
    waiting = stage.asks(pair.asker, f"2 from {pair.lender} for 1d because more").id
    if how == "restart":
        stage.stop_bot()
    stage.change_policies(_without(pair.borrower))
    if how == "restart":
        stage.start_bot()
    else:
        stage.bot.reload() if hasattr(stage.bot, "reload") else None
    gone = f"team {pair.borrower} is not in the policy any more"
    stage.wait("the request lapses", lambda: stage.request(waiting).state is RequestState.LAPSED)
    stage.hears(pair.asker, f"Q-{waiting} lapsed", gone)
    told = stage.text(stage.channel_says("gpu-platform", gone))
    assert f"Q-{number}" in told
    assert f"Q-{number}" in stage.says("ada", f"status {pair.borrower}")
    assert f"Q-{number}" in stage.says("ada", "list")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")


def test_a_click_on_a_request_of_a_team_that_is_gone(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.change_policies(_renamed(pair.borrower, f"{pair.borrower}-new"))
    told = stage.presses(pair.lender_lead, number)
    assert "is not in the policy any more" in told
    stage.wait("it lapses", lambda: stage.request(number).state is RequestState.LAPSED)
    stage.hears(pair.asker, f"{pair.borrower} belongs to {pair.borrower}-new now")
    assert stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").ask.team == f"{pair.borrower}-new"


def test_the_lenders_team_is_removed(stage: CaseStage, pair: Pair) -> None:
    number = _borrowed(stage, pair)

    def edit(policy: Policy) -> None:
        _without(pair.lender)(policy)

    stage.change_policies(edit)
    stage.channel_says("gpu-platform", f"team {pair.lender} is not in the policy any more")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.channel_says("gpu-platform", f"4 a100 of quota are back with {pair.lender}")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    assert number
