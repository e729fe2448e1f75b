"""`gpu-quota-bot readiness`: three ways of writing it, one team or all, and nothing that runs in a spreadsheet."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.cli.audit_log import LogFormat
from bot.cli.readiness import written
from bot.core.readiness.facts import Finding, Readiness
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim

Command = Callable[..., Any]
NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def kubeconfig(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubeSim]:
    """A cluster with a Job of vision and one of nlp that say nothing of checkpoints; KUBECONFIG names it."""
    sim = KubeSim(lambda: datetime.now(UTC) - timedelta(hours=2))
    for team in ("vision", "nlp"):
        sim.add_cluster_queue(team, {"a100": 16})
        sim.add_local_queue(f"{team}-train", "main", team)
        said = {"gpu-quota-bot.io/on-sigterm": "checkpoint"}
        sim.submit_job(f"{team}-train", f"{team}-job", "main", 4, annotations=said)
    sim.ensure("priorityclasses", "high", {"value": 1000})
    sim.reconcile()
    with KubeServer(sim) as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(folder / "kubeconfig")))
        yield sim


@pytest.mark.usefixtures("kubeconfig")
def test_it_names_the_work_the_risk_and_the_cure(cli: Command) -> None:
    done = cli("readiness")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 of 2 workloads should not be preempted as they are.\n")
    assert "default: Job vision-train/vision-job, 8.0 GPU-hours at risk\n" in done.out
    assert "  No checkpoint annotation: it may start from the beginning.\n" in done.out
    assert "  Set gpu-quota-bot.io/checkpoint-interval, such as 30min, or none if that is fine.\n" in done.out


@pytest.mark.usefixtures("kubeconfig")
def test_one_team_is_looked_at_alone(cli: Command) -> None:
    done = cli("readiness", "--team", "vision", "--format", "json")
    said = json.loads(done.out)
    assert (said["works"], said["unready"]) == (1, 1)
    (finding,) = said["findings"]
    assert (finding["name"], finding["check"], finding["gpu_hours_at_risk"]) == (
        "vision-job",
        "checkpoint-missing",
        8.0,
    )
    nobody = cli("readiness", "--team", "visoin")
    assert (nobody.code, nobody.out) == (1, "")
    assert "No team visoin. There are: nlp, vision, robotics." in nobody.err


def test_what_may_not_be_listed_is_said(cli: Command, kubeconfig: KubeSim) -> None:
    from bot.demo.kube.rbac import Rule

    everything_else = Rule(("*",), ("clusterqueues", "cohorts", "workloads", "localqueues", "jobs"))
    kubeconfig.access.grant("", "nobody")
    kubeconfig.access.grant("t", "bot", [everything_else])
    config = Path("kubeconfig")
    config.write_text(config.read_text().replace("user: {}", "user:\n    token: t"))
    said = cli("readiness").out
    assert (
        "The bot may not list priorityclasses.scheduling.k8s.io in default: what depends on it is not judged." in said
    )
    assert "0 of 2 workloads" in said, "no class is known by whose pods they could be preempted"


def test_a_cluster_that_does_not_answer_is_no_traceback(cli: Command, folder: Path) -> None:
    server = KubeServer(KubeSim())
    config = server.kubeconfig(folder / "kubeconfig")
    with server:
        pass
    done = cli("readiness", KUBECONFIG=str(config))
    assert (done.code, done.out) == (1, "")
    assert done.err == "Nothing was judged: default could not be read, connection refused.\n"


def test_nothing_in_it_is_a_formula_or_a_command_to_a_terminal() -> None:
    finding = Finding("default", "Job", "=1+1", "\x1b[2Jx", "checkpoint-missing", "@SUM(A1)", "\x07bell", 5400)
    found = Readiness(1, 1, (finding,), ("\x1b]0;title",), NOON)
    text = written(found, LogFormat.TEXT)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "1.5 GPU-hours at risk" in text
    assert text.endswith("Read 2026-12-02 12:00 UTC.\n")
    header, row = csv.reader(io.StringIO(written(found, LogFormat.CSV)))
    cells = dict(zip(header, row, strict=True))
    assert (cells["namespace"], cells["problem"]) == ("'=1+1", "'@SUM(A1)")
    assert cells["gpu_hours_at_risk"] == "1.5"
