"""What people type at a terminal: it reads, says what is wrong with what to do, and writes nothing."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from bot.adapters.db import engine as engines
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.pause import Pause
from bot.core.requests import Ask, AuditEntry, QuotaRequest, RequestState
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim
from bot.resources import default_policies_dir

Command = Callable[..., Any]
NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def policies(folder: Path) -> Path:
    """A copy of the default policies to break."""
    return Path(shutil.copytree(default_policies_dir(), folder / "policies"))


def test_without_a_folder_the_policies_of_the_package_are_used(cli: Command) -> None:
    done = cli("policy", "check")
    assert (done.code, done.err) == (0, "")
    assert "right. 3 teams, 5 rules, 1 clusters." in done.out


@pytest.mark.parametrize(
    ("file", "before", "after", "words"),
    [
        ("teams.yaml", "channel: C0NLP", "chanel: C0NLP", ("teams.yaml:", "chanel", "channel")),
        (
            "approvals.yaml",
            "most_per_request: 16",
            "most_per_request: many",
            ("approvals.yaml:11", "many", "whole number"),
        ),
        ("approvals.yaml", "group gpu-admins, count", "group nobody-knows, count", ("approvals.yaml:", "gpu-admins")),
        ("clusters.yaml", "clusters:", "clusters: [", ("clusters.yaml:",)),
    ],
)
def test_a_broken_policy_is_reported_with_file_and_line(
    cli: Command, policies: Path, file: str, before: str, after: str, words: tuple[str, ...]
) -> None:
    path = policies / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    for command in (("policy", "check"), ("policy", "explain", "vision", "2", "a100")):
        done = cli(*command)
        assert (done.code, done.out) == (1, "")
        assert all(word in done.err for word in words), done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("vision", "2", "a100", "--for", "1d"), "small-and-short"),
        (("vision", "8", "a100"), "big"),
        (("vision", "8", "a100", "--as", "transfer", "--from", "nlp"), "big-transfer"),
        (("vision", "4", "a100", "--for", "10d"), "long"),
        (("vision", "4", "a100"), "everything-else"),
    ],
)
def test_explain_names_the_rule_that_decides(cli: Command, words: tuple[str, ...], said: str) -> None:
    done = cli("policy", "explain", *words)
    assert (done.code, done.err) == (0, "")
    assert said in done.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nobody", "2", "a100"), 1, "No team nobody. There are: nlp, vision, robotics."),
        (("vision", "2", "a100", "--for", "soon"), 1, "soon"),
        (("vision", "0", "a100"), 2, "than or equal to 1"),
        (("vision", "2", "a100", "--as", "gift"), 2, "gift"),
    ],
)
def test_explain_says_what_it_does_not_understand(cli: Command, words: tuple[str, ...], code: int, said: str) -> None:
    done = cli("policy", "explain", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def _rows(database_url: str) -> dict[str, list[object]]:
    """Everything that is in the database, by table."""
    engine = engines.create(database_url)
    with engine.connect() as connection:
        names = inspect(connection).get_table_names()
        rows = {name: sorted(map(repr, connection.execute(text(f"SELECT * FROM {name}")))) for name in names}
    engine.dispose()
    return rows


def test_upgrading_twice_is_harmless(cli: Command, database_url: str) -> None:
    first, second = cli("db", "upgrade"), cli("db", "upgrade")
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out
    assert len(_rows(database_url)["alembic_version"]) == 1


@pytest.mark.parametrize("command", [("loans",), ("log",), ("converge", "--dry-run")])
@pytest.mark.usefixtures("database_url")
def test_a_database_without_schema_says_what_to_do(cli: Command, command: tuple[str, ...]) -> None:
    done = cli(*command)
    assert (done.code, done.out) == (1, "")
    assert "db upgrade" in done.err


@pytest.mark.parametrize(
    ("url", "words"),
    [("mysql://x/y", "DATABASE_URL is for mysql"), ("sqlite:////nowhere/bot.db", "a file in '/nowhere'")],
)
@pytest.mark.parametrize("command", [("loans",), ("db", "upgrade")])
def test_a_database_that_cannot_be_used_is_named(cli: Command, command: tuple[str, ...], url: str, words: str) -> None:
    done = cli(*command, DATABASE_URL=url)
    assert done.code in {1, 2}
    assert words in done.err
    assert "Traceback" not in done.err


def _lend(database_url: str, state: LoanState, amount: int = 4) -> None:
    store = SqlStore(engines.create(database_url))
    length = timedelta(days=3)
    ask = Ask(
        "default",
        "vision",
        "vision",
        "a100",
        "nvidia.com/gpu",
        amount,
        LoanKind.BORROW,
        None,
        None,
        length,
        None,
        "",
        "U1",
    )
    with store.begin() as uow:
        draft = QuotaRequest(0, ask, RequestState.APPROVED, NOON, NOON, f"command:{state}")
        number = uow.requests.add(draft).id
        times = (NOON, NOON + timedelta(days=9999))
        loan = Loan(number, "default", LoanKind.BORROW, None, "vision", "a100", "nvidia.com/gpu", amount, *times, state)
        uow.loans.add(loan)
        uow.commit()
    store.close()


def test_loans_are_listed_and_closed_ones_only_if_asked_for(cli: Command, database_url: str) -> None:
    cli("db", "upgrade")
    assert cli("loans").out == "No loans.\n"
    _lend(database_url, LoanState.RUNNING, 4)
    _lend(database_url, LoanState.CLOSED, 7)
    done = cli("loans")
    assert (done.code, done.err) == (0, "")
    assert "Q-1" in done.out
    assert "4 a100" in done.out
    assert "Q-2" not in done.out
    assert "7 a100" in cli("loans", "--all").out


@pytest.fixture
def cluster(folder: Path) -> Iterator[KubeSim]:
    """A cluster that KUBECONFIG names."""
    sim = KubeSim()
    sim.add_cluster_queue("vision", {"a100": {"nominal": 16, "borrowing": 4}}, cohort="pool")
    sim.reconcile()
    with KubeServer(sim) as server:
        server.kubeconfig(folder / "kubeconfig")
        yield sim


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(
    cli: Command, folder: Path, database_url: str, cluster: KubeSim
) -> None:
    cli("db", "upgrade")
    config = str(folder / "kubeconfig")
    assert "nothing to write: live quota is base + loans" in cli("converge", "--dry-run", KUBECONFIG=config).out
    _lend(database_url, LoanState.RUNNING, 4)
    before = (cluster.queue("vision"), _rows(database_url))
    done = cli("converge", "--dry-run", KUBECONFIG=config)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "default:"
    assert "up vision a100 borrowingLimit: 4 -> 8" in done.out
    assert (cluster.queue("vision"), _rows(database_url)) == before


def test_a_dry_run_says_that_quota_changes_are_paused_and_plans_so(
    cli: Command, folder: Path, database_url: str, cluster: KubeSim
) -> None:
    cli("db", "upgrade")
    _lend(database_url, LoanState.RUNNING, 4)
    store = SqlStore(engines.create(database_url))
    with store.begin() as uow:
        uow.pauses.begin(Pause("U1", "[bold]Ada", NOON))
        uow.commit()
    store.close()
    done = cli("converge", "--dry-run", KUBECONFIG=str(folder / "kubeconfig"))
    assert "Quota changes are paused by [bold]Ada since 2026-12-02 12:00 UTC: what has not begun waits." in done.out
    assert "nothing to write" in done.out


def test_converging_without_dry_run_is_refused(cli: Command) -> None:
    done = cli("converge")
    assert (done.code, done.out) == (2, "")
    assert "--dry-run" in done.err


@pytest.mark.usefixtures("database_url")
def test_a_cluster_that_does_not_answer_is_named(cli: Command, folder: Path) -> None:
    cli("db", "upgrade")
    server = KubeServer(KubeSim())
    config = server.kubeconfig(folder / "kubeconfig")
    with server:
        pass
    done = cli("converge", "--dry-run", KUBECONFIG=str(config))
    assert done.code == 1
    assert "API server: connection refused" in done.err


def test_a_story_that_is_not_there_is_named(cli: Command) -> None:
    done = cli("demo", "--script", "nowhere")
    assert (done.code, done.out) == (2, "")
    assert "No script nowhere. There are: loop" in done.err


def test_help_names_every_command(cli: Command) -> None:
    done = cli("--help")
    assert done.code == 0
    assert all(word in done.out for word in ("run", "demo", "policy", "converge", "loans", "db"))


@pytest.mark.usefixtures("database_url")
def test_only_what_a_command_needs_must_be_set(cli: Command) -> None:
    """No Slack token anywhere here."""
    assert not any(name.startswith("SLACK_") for name in os.environ)
    assert cli("db", "upgrade").code == 0
    assert cli("policy", "check").code == 0


def test_the_log_is_written_in_three_ways(cli: Command, database_url: str) -> None:
    assert cli("db", "upgrade").code == 0
    store = SqlStore(engines.create(database_url))
    with store.begin() as uow:
        uow.audit.add(AuditEntry(NOON, "U1", "deny", "Q-1", "=1+1"))
        uow.audit.add(AuditEntry(NOON + timedelta(days=1), "bot", "lapse", "Q-2", "ok"))
        uow.commit()
    store.close()
    assert cli("log").out == "2026-12-03T12:00:00Z  bot: lapse Q-2: ok\n2026-12-02T12:00:00Z  U1: deny Q-1: =1+1\n"
    assert '"2026-12-02T12:00:00Z","U1","deny","Q-1","\'=1+1"' in cli("log", "--format", "csv").out
    assert [one["subject"] for one in json.loads(cli("log", "--format", "json").out)] == ["Q-2", "Q-1"]
    assert "Q-1" not in cli("log", "--since", "2026-12-03").out
    assert "Q-2" not in cli("log", "--who", "U1", "--subject", "Q-1").out
    assert cli("log", "--limit", "1").out.count("\n") == 1
    assert cli("log", "--team", "vision").out == ""
    wrong = cli("log", "--since", "soon")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Write --since 7d" in wrong.err
