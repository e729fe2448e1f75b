"""The training that policies/kubernetes/examples ships saves on SIGTERM, says so by the rights of its Role, resumes."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.demo.kube.rbac import Rule
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim
from tests.support.shipped import KUBERNETES, the

AT = "gpu-quota-bot.io/checkpoint-at"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def sim() -> KubeSim:
    """A cluster with the example's Job, in which its pods may do what their Role says."""
    sim = KubeSim()
    job = the("Job", "train-example", folder="examples")
    sim.ensure("namespaces", "vision-train")
    sim.add("jobs", "train-example", {"spec": job["spec"]}, "vision-train", annotations=job["metadata"]["annotations"])
    (rule,) = the("Role", "train-example", folder="examples")["rules"]
    rules = [Rule(tuple(rule["verbs"]), tuple(rule["resources"]), tuple(rule["resourceNames"]))]
    sim.access.grant("pods-token", "system:serviceaccount:vision-train:train-example", rules)
    return sim


@pytest.fixture
def start(sim: KubeSim, tmp_path: Path) -> Iterator[Start]:
    """Starts the example as the Job's pod would."""
    account = tmp_path / "account"
    account.mkdir()
    (account / "namespace").write_text("vision-train")
    (account / "token").write_text("pods-token")
    started: list[subprocess.Popen[str]] = []
    with KubeServer(sim) as server:

        def run(**more: str) -> subprocess.Popen[str]:
            given = {"CHECKPOINT_DIR": str(tmp_path), "SERVICE_ACCOUNT_DIR": str(account), "KUBERNETES_API": server.url}
            process = subprocess.Popen(
                [sys.executable, "-u", KUBERNETES / "examples/train.py"],
                env={"PATH": os.defpath, "JOB_NAME": "train-example", **given, **more},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            started.append(process)
            return process

        try:
            yield run
        finally:
            for process in started:
                process.kill()
                process.communicate()


def _preempt(process: subprocess.Popen[str]) -> tuple[int, int]:
    """(step it began from, step it saved at) of a run that is told to stop once it runs."""
    assert process.stdout is not None
    began = int(process.stdout.readline().removeprefix("from step "))
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "")
    return began, int(out.strip().removeprefix("saved at step "))


def _said(sim: KubeSim) -> str | None:
    job = sim.cluster.get("jobs", "vision-train", "train-example")
    assert job is not None
    said: str | None = job["metadata"]["annotations"].get(AT)
    return said


def test_told_to_stop_it_saves_says_so_and_the_next_run_goes_on_from_there(
    start: Start, sim: KubeSim, tmp_path: Path
) -> None:
    assert _said(sim) is None
    began, saved = _preempt(start())
    assert began == 0
    assert json.loads((tmp_path / "state.json").read_text()) == {"step": saved}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", _said(sim) or "")
    again, _ = _preempt(start())
    assert again == saved


def test_it_saves_at_intervals_without_being_told(start: Start, tmp_path: Path) -> None:
    process = start(CHECKPOINT_SECONDS="0.02", STEPS="20")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == "from step 0\nsaved at step 20\n"
    assert json.loads((tmp_path / "state.json").read_text()) == {"step": 20}


def test_where_the_word_cannot_be_left_the_work_is_saved_all_the_same(
    start: Start, sim: KubeSim, tmp_path: Path
) -> None:
    process = start(STEPS="3", JOB_NAME="another-job")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "could not say that a checkpoint was saved: HTTP Error 403" in err
    assert json.loads((tmp_path / "state.json").read_text()) == {"step": 3}
    assert _said(sim) is None


def test_only_the_first_pod_of_the_job_saves(start: Start, sim: KubeSim, tmp_path: Path) -> None:
    process = start(STEPS="3", JOB_COMPLETION_INDEX="1")
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert not (tmp_path / "state.json").exists()
    assert _said(sim) is None
