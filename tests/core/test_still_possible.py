"""Whether names that a request stands on are still there: in the policy and on the cluster."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.kueue import ClusterPicture, Quota
from bot.core.still_possible import Gone, gone_from_cluster, gone_from_policy, lenders_team_gone
from tests.support.quota import A100, ask, picture, policy, queue, request, transfer


def _live() -> ClusterPicture:
    limit = {A100: Quota(16, borrowing_limit=4)}
    return picture(queue("vision", quotas=limit), queue("nlp", 24))


def _without(*teams: str, **queues: tuple[str, ...]) -> Any:
    known = policy()
    left = {name: team for name, team in known.teams.teams.items() if name not in teams}
    for name, theirs in queues.items():
        left[name] = left[name].model_copy(update={"queues": {"*": theirs}})
    return replace(known, teams=known.teams.model_copy(update={"teams": left}))


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (policy(), None),
        (_without("vision"), "team vision is not in the policy any more"),
        (
            _without("vision", nlp=("nlp", "vision")),
            "team vision is not in the policy any more; vision belongs to nlp now",
        ),
        (_without(vision=("other",)), "ClusterQueue vision is no queue of team vision any more"),
    ],
)
def test_what_the_policy_names_no_more(known: Any, why: str | None) -> None:
    gone = gone_from_policy(known, ask())
    assert (gone and gone.why) == why


def test_a_cluster_that_the_policy_names_no_more() -> None:
    gone = gone_from_policy(policy(), ask(cluster="eu-9"))
    assert gone == Gone("cluster eu-9", "cluster eu-9 is not in the policy any more")


@pytest.mark.parametrize(
    ("known", "why"),
    [(policy(), None), (_without("nlp"), "team nlp is not in the policy any more")],
)
def test_the_team_that_lent(known: Any, why: str | None) -> None:
    asked = request(142, "leads:nlp", "group:gpu-admins", of=transfer())
    gone = lenders_team_gone(known, asked)
    assert (gone and gone.why) == why
    assert lenders_team_gone(known, request(142, "leads:vision")) is None
    assert lenders_team_gone(_without("nlp"), request(142, "group:gpu-admins", of=transfer())) is None, "none was asked"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"deleting": True}, "ClusterQueue {} is being deleted."),
        ({"quotas": {}}, "{} does not list nvidia.com/gpu of flavor a100 any more."),
        (
            {"quota_automation": "effectiveQuotas"},
            "{}'s quota is written by Kueue itself (effectiveQuotas). The bot does not change it.",
        ),
        ({"cohort": "elsewhere"}, "nlp and vision are in different cohorts now, so no quota can move between them."),
    ],
)
@pytest.mark.parametrize("name", ["vision", "nlp"])
def test_what_the_cluster_does_not_have(changes: dict[str, Any], why: str | None, name: str) -> None:
    live = _live()
    live = replace(live, queues={**live.queues, name: replace(live.queues[name], **changes)})
    assert gone_from_cluster(transfer(), live) == (why.format(name) if why else None)


@pytest.mark.parametrize("name", ["vision", "nlp"])
def test_a_queue_that_is_not_there(name: str) -> None:
    live = _live()
    live = replace(live, queues={key: one for key, one in live.queues.items() if key != name})
    assert gone_from_cluster(transfer(), live) == f"There is no ClusterQueue {name} now."


def test_a_limit_that_is_not_there() -> None:
    live = _live()
    vision = live.queues["vision"]
    quotas = {**vision.quotas, A100: replace(vision.quotas[A100], borrowing_limit=None)}
    live = replace(live, queues={**live.queues, "vision": replace(vision, quotas=quotas)})
    told = gone_from_cluster(ask(), live)
    assert told == "vision has no borrowingLimit now: no loan is needed, or it is in no cohort."
