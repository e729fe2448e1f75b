"""`/gpu-quota readiness`: members see what is theirs, admins everything, and what is wrong is said with its cure."""

import pytest

from tests.support.stage import CaseStage, Policy


def _namespaces(policy: Policy) -> None:
    for name, team in policy["teams"]["teams"].items():
        team["namespaces"] = [f"{name}-train"]


@pytest.fixture
def stage() -> CaseStage:
    return CaseStage(edit=_namespaces)


def _submit(stage: CaseStage, team: str, name: str) -> None:
    stage.submit(team, name, 4)
    stage.wait(f"{name} runs", lambda: stage.is_running(team, name))


def test_a_member_reads_what_is_theirs_and_what_mends_it(stage: CaseStage) -> None:
    with stage:
        _submit(stage, "vision", "resnet-sweep")
        _submit(stage, "nlp", "pretrain")
        said = stage.says("mira", "readiness")
        assert "1 of 1 workloads should not be preempted as it is, in vision-train" in said
        assert "Job vision-train/resnet-sweep: No checkpoint annotation: it may start from the beginning." in said
        assert "Set gpu-quota-bot.io/checkpoint-interval, such as 30min, or none if that is fine." in said
        assert "pretrain" not in said


def test_an_admin_reads_everything_or_one_namespace(stage: CaseStage) -> None:
    with stage:
        _submit(stage, "vision", "resnet-sweep")
        _submit(stage, "nlp", "pretrain")
        assert "2 of 2 workloads should not be preempted as they are, in all namespaces" in stage.says(
            "ada", "readiness"
        )
        one = stage.says("ada", "readiness nlp-train")
        assert "1 of 1 workloads" in one
        assert "resnet-sweep" not in one


def test_nobody_asks_about_the_namespace_of_others(stage: CaseStage) -> None:
    with stage:
        said = stage.says("mira", "readiness nlp-train")
        assert said.startswith("No namespace nlp-train that you can see. Yours: vision-train.")
