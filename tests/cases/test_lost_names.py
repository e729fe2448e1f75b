"""A queue, flavor, team, group, channel or account is renamed or deleted while something of the bot's stands on it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import yaml

from bot.core.requests import RequestState
from bot.flows.lost_names import lost_names
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
    stage.hears(pair.asker, f"4 a100 (Q-{number}) suspended", why, "request again")
    stage.channel_says("gpu-platform", f"4 a100 (Q-{number}) suspended", why)
    stage.card_says(number, f"Suspended: {why}")
    assert f"Q-{number}" in stage.says(pair.asker, "list")
    assert "suspended" in stage.says(pair.asker, f"status {pair.borrower}")
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
        _merge(
            stage,
            pair.borrower,
            cohortName="elsewhere" if change == "other cohort" else None,
            resourceGroups=_lists("a100", nominal=12) if change == "other cohort" else _without_limit(),
        )
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
    _look(stage)
    gone = f"{pair.borrower} is not in the policy any more"
    told = stage.text(stage.channel_says("gpu-platform", gone, f"Waiting: Q-{waiting}"))
    assert f"Q-{number}" in told
    stage.clock.move(timedelta(hours=24, minutes=1))
    _look(stage)
    stage.wait("the request lapses", lambda: stage.request(waiting).state is RequestState.LAPSED)
    stage.hears(pair.asker, f"Q-{waiting} lapsed", gone)
    stage.channel_says("gpu-platform", gone, f"Lapsed: Q-{waiting}")
    assert f"Q-{number}" in stage.says("ada", f"status {pair.borrower}")
    assert f"Q-{number}" in stage.says("ada", "list all")
    assert f"Q-{number}" in stage.says("ada", f"log {pair.borrower}")
    stage.clock.move(timedelta(days=1))
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")


def test_a_team_that_is_back_the_same_day_has_lost_nothing(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.change_policies(_renamed(pair.borrower, f"{pair.borrower}-new"))
    _look(stage)
    stage.channel_says("gpu-platform", f"Team {pair.borrower} is not in the policy any more")
    stage.clock.move(timedelta(hours=20))
    stage.change_policies(_renamed(f"{pair.borrower}-new", pair.borrower))
    _look(stage)
    stage.channel_says("gpu-platform", f"Team {pair.borrower} is in the policy again", f"Q-{number}")
    stage.approved(number)
    stage.in_force(number)


def test_a_click_on_a_request_of_a_team_that_is_gone(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.change_policies(_renamed(pair.borrower, f"{pair.borrower}-new"))
    stage.bot.reload_policy()
    told = stage.presses(pair.lender_lead, number)
    assert "is not in the policy any more" in told
    _look(stage)
    stage.clock.move(timedelta(hours=24, minutes=1))
    _look(stage)
    stage.wait("it lapses", lambda: stage.request(number).state is RequestState.LAPSED)
    stage.hears(pair.asker, f"{pair.borrower} belongs to {pair.borrower}-new now")
    assert stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").ask.team == f"{pair.borrower}-new"


def test_the_lenders_team_is_removed(stage: CaseStage, pair: Pair) -> None:
    _borrowed(stage, pair)

    def edit(policy: Policy) -> None:
        _without(pair.lender)(policy)
        del policy["clusters"]["clusters"]["default"]["lenders"][pair.lender]

    stage.change_policies(edit)
    _look(stage)
    stage.channel_says("gpu-platform", f"Team {pair.lender} is not in the policy any more")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.channel_says("gpu-platform", f"4 a100 of quota are back with {pair.lender}")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})


def test_a_queue_goes_to_another_team(stage: CaseStage, pair: Pair) -> None:
    """As when a ClusterQueue is renamed: the team names another one now."""
    number = _borrowed(stage, pair)
    waiting = stage.asks(pair.asker, f"2 from {pair.lender} for 1d because more").id

    def edit(policy: Policy) -> None:
        policy["teams"]["teams"][pair.borrower]["queues"] = [f"{pair.borrower}-b"]

    stage.change_policies(edit)
    _look(stage)
    gone = f"ClusterQueue {pair.borrower} is no queue of team {pair.borrower} any more"
    assert f"Q-{number}" in stage.text(stage.channel_says("gpu-platform", gone))
    stage.clock.move(timedelta(hours=24, minutes=1))
    _look(stage)
    stage.hears(pair.asker, f"Q-{waiting} lapsed", gone)
    assert f"Q-{number}" in stage.says(pair.asker, "list")
    assert f"Q-{number}" in stage.says(pair.asker, f"return Q-{number} 4")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})


def test_the_group_of_approvers_is_renamed(stage: CaseStage, pair: Pair) -> None:
    """Nobody is asked by the old name any more: the click says so, or asks those whom the policy names now."""
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.presses(pair.lender_lead, number)

    def edit(policy: Policy) -> None:
        approvals = policy["approvals"]
        approvals["groups"]["gpu-people"] = approvals["groups"].pop("gpu-admins")
        text = yaml.safe_dump(approvals).replace("gpu-admins", "gpu-people")
        policy["approvals"] = yaml.safe_load(text)

    stage.change_policies(edit)
    stage.bot.reload_policy()
    told = stage.presses("ada", number)
    assert "gpu-admins" in told or "No approver is configured" in told
    again = stage.asks(pair.mate, f"2 from {pair.lender} for 1d because more").id
    stage.approved(again)
    stage.in_force(again)
    stage.change_policies(lambda policy: policy.update(approvals=_old_names(policy["approvals"])))
    stage.bot.reload_policy()


def _old_names(approvals: Any) -> Any:
    return yaml.safe_load(yaml.safe_dump(approvals).replace("gpu-people", "gpu-admins"))


# -- Slack ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["archived", "bot removed", "private without the bot"])
def test_a_teams_channel_cannot_be_posted_to(stage: CaseStage, pair: Pair, how: str) -> None:
    """What is for it goes to the platform channel, marked, and that is said once; nobody else waits for it."""
    team_channel = stage.slack.add_channel(f"team-{pair.lender}", *stage.people.values()).id
    stage.channels[f"team-{pair.lender}"] = team_channel
    group = stage.slack.add_group(f"leads-{pair.lender}", stage.people[pair.lender_lead]).id

    def edit(policy: Policy) -> None:
        policy["teams"]["teams"][pair.lender] |= {"channel": team_channel, "leads": [group]}

    stage.change_policies(edit)
    stage.bot.reload_policy()
    members = frozenset(stage.people.values())
    traits: dict[str, Any] = {
        "archived": {"is_archived": True},
        "bot removed": {"members": members},
        "private without the bot": {"members": members, "is_private": True},
    }[how]
    stage.slack.change_channel(team_channel, **traits)
    number = _borrowed(stage, pair)
    lent = stage.channel_says("gpu-platform", f"{pair.lender} lends 4 a100", "This is for", "where it cannot be posted")
    assert not [block for block in lent.blocks if block["type"] == "actions"]
    stage.channel_says("gpu-platform", "The bot cannot post to", "comes here, marked")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{number})")
    stage.channel_says("gpu-platform", f"4 a100 of quota are back with {pair.lender}", "This is for")
    assert stage.count("gpu-platform", f"cannot post to <#{team_channel}") <= 1


def test_a_renamed_channel_is_the_same_channel(stage: CaseStage, pair: Pair) -> None:
    """Slack's ids stay: nothing is to be done."""
    stage.slack.change_channel(stage.channels["gpu-platform"], name="gpu-platform-team")
    number = _borrowed(stage, pair)
    _delete(stage, pair.borrower)
    stage.channel_says("gpu-platform", f"4 a100 (Q-{number}) suspended")
    stage.slack.change_channel(stage.channels["gpu-platform"], name="gpu-platform")


def test_the_requester_has_no_account_any_more(stage: CaseStage, pair: Pair) -> None:
    number = _borrowed(stage, pair)
    stage.slack.change_person(stage.people[pair.asker], deleted=True)
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    ended = stage.channel_says("gpu-platform", f"Ended: 4 a100 (Q-{number})", "This is for", pair.asker)
    assert "user_disabled" in stage.text(ended)
    stage.card_says(number, "Ended")
    assert stage.count("gpu-platform", f"Ended: 4 a100 (Q-{number})") == 1


def _look(stage: CaseStage) -> None:
    """What the timetable does every half minute."""
    stage.bot.reload_policy()
    epoch = stage.wait("a leader", lambda: stage.bot._leader.epoch)
    lost_names(stage.bot.world, epoch)
