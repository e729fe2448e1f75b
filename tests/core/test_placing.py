"""Whose request it is and where, and that a hidden queue is answered like one that does not exist."""

from typing import Any

import pytest

from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.membership import OUTSIDER, Groups, Unknown, roles_of
from bot.core.placing import place
from bot.core.policy import Policy
from tests.support.quota import GPU, documents, person, policy

GROUPS: Groups = {
    "S0NLP": frozenset(),
    "S0VISION": frozenset({"U0BOTH"}),
    "S0ROBOTICS": frozenset({"U0BOTH"}),
    "S0ADMINS": frozenset(),
}


def placed(user: str, rules: Policy | None = None, groups: Groups = GROUPS, **said: Any) -> Draft | Question:
    read, who = rules or policy(), person(user)
    return place(Draft(user, **said), read, who, roles_of(read, who, groups))


def refusal(user: str, rules: Policy | None = None, groups: Groups = GROUPS, **said: Any) -> tuple[str, str | None]:
    with pytest.raises(Refused) as caught:
        placed(user, rules, groups, **said)
    return caught.value.sentence, caught.value.field


def two_clusters(sees: Any = "all") -> Policy:
    files = documents()
    files["clusters.yaml"]["clusters"]["eu-1"] = {"accelerators": {GPU: {"one": "GPU", "many": "GPUs"}}}
    files["teams.yaml"]["teams"]["robotics"]["queues"] = {"default": ["robotics"]}
    files["teams.yaml"]["sees"] = sees
    return policy(files)


@pytest.mark.parametrize(
    ("user", "said", "where"),
    [
        ("U0VISION", {}, ("default", "vision", "vision")),
        ("U0VISION", {"queue": "vision"}, ("default", "vision", "vision")),
        ("U0BOTH", {"queue": "robotics"}, ("default", "robotics", "robotics")),
        ("U0BOTH", {"team": "vision"}, ("default", "vision", "vision")),
        ("U0ADMIN", {"queue": "nlp"}, ("default", "nlp", "nlp")),
        ("U0ADMIN", {"team": "nlp"}, ("default", "nlp", "nlp")),
    ],
)
def test_what_is_clear_is_filled_in(user: str, said: dict[str, Any], where: tuple[str, str, str]) -> None:
    draft = placed(user, **said)
    assert isinstance(draft, Draft)
    assert (draft.cluster, draft.team, draft.queue) == where


@pytest.mark.parametrize(
    ("user", "options"), [("U0BOTH", ("vision", "robotics")), ("U0ADMIN", ("nlp", "vision", "robotics"))]
)
def test_a_person_in_several_teams_is_asked_which(user: str, options: tuple[str, ...]) -> None:
    question = placed(user)
    assert isinstance(question, Question)
    assert (question.field, question.options) == (AskField.QUEUE, options)
    assert all(one in question.sentence for one in options)


@pytest.mark.case("QUO-19")
@pytest.mark.parametrize("said", [{}, {"queue": "vision"}, {"team": "vision"}])
def test_quo_19_the_cluster_is_asked_only_if_it_is_not_clear(said: dict[str, Any]) -> None:
    assert placed("U0VISION", two_clusters(), **said) == Question(
        AskField.CLUSTER, "Which cluster? vision is on default, eu-1.", ("default", "eu-1")
    )
    draft = placed("U0VISION", two_clusters(), cluster="eu-1", **said)
    assert isinstance(draft, Draft)
    assert (draft.cluster, draft.queue) == ("eu-1", "vision")
    alone = placed("U0ROBOTICS", two_clusters())
    assert isinstance(alone, Draft)
    assert alone.cluster == "default"


@pytest.mark.case("QUO-19")
@pytest.mark.parametrize("name", ["eu", "prod", "DEFAULT"])
def test_quo_19_an_unknown_cluster_is_refused_with_those_there_are(name: str) -> None:
    assert refusal("U0VISION", cluster=name) == (f"No cluster {name}. There are: default.", AskField.CLUSTER)


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize("queue", ["nlp", "robotics"])
def test_sec_05_a_queue_of_another_team_is_refused(queue: str) -> None:
    words = "You can request for your own teams: vision. For another one ask its lead."
    assert refusal("U0VISION", queue=queue) == (words, AskField.QUEUE)


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize("queue", ["nlp", "robotics", "does-not-exist", "secret-h100"])
def test_sec_05_a_hidden_queue_is_answered_like_one_that_does_not_exist(queue: str) -> None:
    words = (f"No queue {queue} that you can see.", AskField.QUEUE)
    assert refusal("U0VISION", two_clusters("own"), queue=queue) == words


@pytest.mark.parametrize(("typed", "near"), [("visoin", "vision"), ("visio", "vision"), ("nlq", "nlp")])
def test_a_near_name_is_offered_among_those_one_may_see(typed: str, near: str) -> None:
    assert refusal("U0VISION", queue=typed)[0] == f"No queue {typed} that you can see. Near: {near}."
    hidden = refusal("U0ROBOTICS", two_clusters("own"), queue=typed)[0]
    assert hidden == f"No queue {typed} that you can see."


@pytest.mark.case("SLA-06")
def test_sla_06_a_guest_is_refused_before_anything_else() -> None:
    read, guest = policy(), person("U0VISION", full_member=False)
    with pytest.raises(Refused, match=OUTSIDER):
        place(Draft("U0VISION", queue="nonsense"), read, guest, roles_of(read, guest, GROUPS))


def test_a_stranger_is_told_so_and_a_failed_look_up_is_not_taken_for_one() -> None:
    assert refusal("U0STRANGER") == ("You are in no team: ask an admin.", AskField.QUEUE)
    failed: Groups = {**GROUPS, "S0NLP": Unknown("timeout")}
    assert "S0NLP" in refusal("U0STRANGER", groups=failed)[0]
    assert "S0NLP" in refusal("U0STRANGER", two_clusters("own"), groups=failed, queue="nlp")[0]


def test_a_team_and_a_queue_that_do_not_belong_together() -> None:
    assert refusal("U0BOTH", team="vision", queue="robotics")[0] == "robotics is not a queue of vision."


def test_a_team_without_a_queue_on_the_cluster() -> None:
    words = refusal("U0ROBOTICS", two_clusters(), cluster="eu-1")[0]
    assert words == "No queue of robotics on eu-1 that you can see."
