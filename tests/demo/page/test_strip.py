"""The strip tells the cohort as the API server has it, and its controls do what they say."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.demo.page import Ending, Moved, Scene
from bot.demo.page.controls import Controls, Job, Jump
from bot.demo.page.outages import Outages
from bot.demo.page.strip import cohort


def _queue(town: Any, name: str, scene: Scene | None = None) -> dict[str, Any]:
    found = cohort(scene or town.scene, town.page.outages, town.page.tempo)["queues"]
    return next(one for one in found if one["name"] == name)


def _jobs(town: Any, name: str) -> list[tuple[str, int, bool]]:
    return [(job["name"], job["gpus"], job["waits"]) for job in _queue(town, name)["jobs"]]


def test_jobs_hold_borrow_and_wait(town: Any, client: Any) -> None:
    for gpus in (4, 2, 16):
        assert client.post("job", {"queue": "vision", "gpus": gpus})[0] == 200
    vision = _queue(town, "vision")
    assert (vision["nominal"], vision["reserved"], vision["borrowed"], vision["pending"]) == (4, 6, 2, 16)
    assert _jobs(town, "vision") == [("vision-job-1", 4, False), ("vision-job-2", 2, False), ("vision-job-3", 16, True)]
    assert client.post("finish", {"queue": "vision", "job": "vision-job-1"})[0] == 200
    assert _queue(town, "vision")["reserved"] == 2


def test_a_hand_edit_is_in_the_numbers_at_once(town: Any, client: Any) -> None:
    assert client.post("quota", {"queue": "nlp", "nominal": 6})[0] == 200
    assert town.kube.nominal("nlp", "a100") in ("6", 6)
    assert _queue(town, "nlp")["nominal"] == 6


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        (Moved(), (8, 0, 0)),
        (Moved(received=3), (5, 3, 0)),
        (Moved(lent=2), (10, 0, 2)),
        (Moved(lent=2, base=12), (12, 0, 2)),
    ],
)
def test_the_base_is_what_is_known_or_what_is_left_without_the_loans(
    town: Any, moved: Moved, told: tuple[int, int, int]
) -> None:
    nlp = _queue(town, "nlp", replace(town.scene, moved=lambda: {"nlp": moved}))
    assert (nlp["base"], nlp["received"], nlp["lent"]) == told


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("job", {"queue": "nope", "gpus": 1}),
        ("quota", {"queue": "nope", "nominal": 1}),
        ("finish", {"queue": "nlp", "job": "nope"}),
        ("finish", {"queue": "nope", "job": "nope"}),
        ("jump", {}),
    ],
)
def test_what_cannot_be_done_is_said(client: Any, name: str, content: dict[str, Any]) -> None:
    status, said = client.post(name, content)
    assert status == 409
    assert said["problem"].strip()


@pytest.mark.parametrize("gpus", [0, -1, 65, 1.5, "4", True, None])
def test_a_job_has_a_whole_number_of_gpus(client: Any, gpus: Any) -> None:
    assert client.post("job", {"queue": "nlp", "gpus": gpus})[0] == 400


@pytest.mark.parametrize("hours", [-1, 0, 72])
def test_the_clock_jumps_just_behind_the_end_of_the_loan_and_never_back(town: Any, hours: int) -> None:
    end = town.clock() + timedelta(hours=hours)
    before = town.clock()
    scene = replace(town.scene, next_end=lambda: Ending("Q-1", end))
    Controls(scene, town.page.outages, town.page.tempo).jump(Jump())
    assert town.clock() == max(before, end + timedelta(seconds=2))


@pytest.mark.parametrize(("before", "words"), [(60, "60 min before the end of Q-1"), (0, "at the end of Q-1")])
def test_the_clock_jumps_so_many_minutes_before_the_end(town: Any, before: int, words: str) -> None:
    end = town.clock() + timedelta(hours=72)
    scene = replace(town.scene, next_end=lambda: Ending("Q-1", end))
    said = Controls(scene, town.page.outages, town.page.tempo).jump(Jump(before=before))
    assert (town.clock(), said) == (
        end - timedelta(minutes=before) + timedelta(seconds=2),
        {"said": f"The clock stands {words}"},
    )


def test_an_urgent_job_preempts(town: Any) -> None:
    town.kube.add_cluster_queue("solo", {"a100": {"nominal": 4}}, preemption={"withinClusterQueue": "LowerPriority"})
    town.kube.add_local_queue("solo-train", "main", "solo")
    scene = replace(town.scene, local_queues={"solo": ("solo-train", "main")})
    controls = Controls(scene, town.page.outages, town.page.tempo)
    controls.job(Job(queue="solo", gpus=4))
    controls.job(Job(queue="solo", gpus=4, urgent=True))
    first, second = cohort(scene, town.page.outages, town.page.tempo)["queues"][0]["jobs"]
    assert (first["name"], first["waits"], first["preempted"]) == ("solo-job-2", False, False)
    assert (second["name"], second["waits"], second["preempted"]) == ("solo-job-1", True, True)


@pytest.mark.parametrize("what", ["slack", "api"])
def test_an_outage_is_told_and_over_when_it_is_ended(town: Any, client: Any, what: str) -> None:
    assert client.post("outage", {"what": what})[0] == 200
    assert 0 < cohort(town.scene, town.page.outages, town.page.tempo)["outages"][what] <= 20
    town.page.outages.end(what)
    assert cohort(town.scene, town.page.outages, town.page.tempo)["outages"] == {}


def test_the_api_server_refuses_while_it_is_away(town: Any, client: Any) -> None:
    path = town.kube.path("clusterqueues")
    client.post("outage", {"what": "api"})
    assert town.kube.handle("GET", path)[0] == 503
    town.page.outages.close()
    assert town.kube.handle("GET", path)[0] == 200


def test_an_outage_ends_by_itself_and_a_second_one_at_a_time_changes_nothing(town: Any) -> None:
    seen: list[str] = []
    outages = Outages({"x": (lambda: seen.append("down"), lambda: seen.append("up"))})
    outages.begin("x", 0.05)
    outages.begin("x", 60)
    town.slack.wait_for(lambda: "up" in seen)
    outages.close()
    assert seen == ["down", "up"]
