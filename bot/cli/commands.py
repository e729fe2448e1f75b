"""The subcommands that people type at a terminal: policy, converge, loans, log, readiness, db, ... Called by cli.main.

Every one of them but `db upgrade` only reads. What is wrong goes to standard error with exit code 1, settings with 2.
"""

import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from bot.adapters.db import migrate
from bot.adapters.db.unit_of_work import SqlStore
from bot.adapters.logs import configure_logs
from bot.adapters.policy_files import PolicyError, load_policy
from bot.adapters.system_clock import system_clock
from bot.cli.audit_log import LogFormat, instant_of, written
from bot.cli.dry_run import print_plans
from bot.cli.manifest import manifest_text
from bot.cli.readiness import readiness_text
from bot.core.audit import AuditQuery
from bot.core.durations import parse_duration
from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.loans import LoanKind, LoanState
from bot.core.policy import Policy
from bot.core.request_facts import RequestFacts
from bot.core.requests import Ask
from bot.core.verdict import evaluate, explain
from bot.resources import alembic_dir
from bot.settings import Convergence, Database, Group, Policies, SettingsError, load_settings

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Lends GPU quota on Kueue, from Slack.")
policy_app = typer.Typer(no_args_is_help=True, help="Check and explain policies/*.yaml.")
db_app = typer.Typer(no_args_is_help=True, help="The database's schema.")
app.add_typer(policy_app, name="policy")
app.add_typer(db_app, name="db")
out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)

Settings = TypeVar("Settings", bound=Group)


@app.command()
def run() -> None:
    """Run the bot until SIGTERM. (Takes no options; everything is a setting.)"""
    from bot.cli.serve import serve

    raise typer.Exit(serve())


@app.command()
def demo(
    script: Annotated[str, typer.Option(help="Play a story in the terminal instead: loop.")] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page on loopback; 0 is a free one.")] = 0,
    browser: Annotated[
        bool | None,
        typer.Option("--browser/--no-browser", help="Open the page in a browser, or only print its address."),
    ] = None,
) -> None:
    """A Slack workspace in the browser: the real bot between a simulated Slack and a simulated cluster.

    With nobody to look (no terminal, or CI is set) and unless told how to show it, a story in the terminal that ends.
    """
    from bot.demo.page import PortTaken
    from bot.demo.run import STORIES, play
    from bot.demo.run_page import show

    configure_logs("WARNING", "console")
    if script and script not in STORIES:
        _fail(f"No script {script}. There are: {', '.join(STORIES)}.", 2)
    if not script and browser is None and not _somebody_looks():
        out.print("Nobody looks here, so the story instead of the page; --no-browser serves the page.\n")
        script = "loop"
    if script:
        raise typer.Exit(play(script, out.print))
    try:
        raise typer.Exit(show(out.print, port, browser=browser is not False))
    except PortTaken as error:
        _fail(f"The page cannot be served on port {port}: {error}", 1)


def _somebody_looks() -> bool:
    return sys.stdout.isatty() and os.environ.get("CI", "").lower() not in {"1", "true"}


@app.command()
def manifest(
    http: Annotated[
        str | None, typer.Option("--http", metavar="URL", help="The bot's public https address; else Socket Mode.")
    ] = None,
) -> None:
    """Print the manifest of the Slack app to create, with the scopes that the bot uses."""
    try:
        out.print(manifest_text(http), markup=False, end="")
    except Refused as error:
        _fail(error.sentence, 2)


@policy_app.command("check")
def policy_check() -> None:
    """Read the policies and say everything that is wrong, with file, line and the allowed values."""
    settings = _settings(Policies)
    policy = _policy(settings.policies_dir)
    teams, rules = len(policy.teams.teams), len(policy.approvals.rules)
    out.print(
        f"{settings.policies_dir}: right. {teams} teams, {rules} rules, {len(policy.clusters.clusters)} clusters."
    )


@policy_app.command("explain")
def policy_explain(
    team: Annotated[str, typer.Argument(help="Team that asks.")],
    amount: Annotated[int, typer.Argument(min=1, help="Devices.")],
    flavor: Annotated[str, typer.Argument(help="Flavor.")],
    length: Annotated[str, typer.Option("--for", help="How long, such as 3d.")] = "3d",
    kind: Annotated[LoanKind, typer.Option("--as", help="Kind of loan.")] = LoanKind.BORROW,
    lender: Annotated[str | None, typer.Option("--from", help="Queue that lends, for a transfer.")] = None,
) -> None:
    """Which rule decides a request, and why; as if the team had nothing on loan. Asks nobody, changes nothing."""
    policy = _policy(_settings(Policies).policies_dir)
    found = policy.team(team)
    if found is None:
        _fail(f"No team {team}. There are: {', '.join(policy.teams.teams)}.", 1)
    duration = parse_duration(length)
    if not isinstance(duration, timedelta):
        _fail(duration.sentence, 1)
    cluster, places = next(iter(policy.clusters.clusters.items()))
    queue = next(iter(policy.queues_of(team, cluster)), team)
    resource = next(iter(places.accelerators))
    ask = Ask(cluster, team, queue, flavor, resource, amount, kind, lender, None, duration, None, "explain", "")
    for line in explain(evaluate(policy, RequestFacts(system_clock(), ask))):
        out.print(line, markup=False)


@app.command()
def converge(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Required: only `run` writes to a cluster.")] = False,
) -> None:
    """Print what convergence would write at this moment, and why. Writes nothing."""
    if not dry_run:
        _fail("Only `gpu-quota-bot run` writes to a cluster. Say --dry-run to see what it would do.", 2)
    settings = _settings(Convergence)
    try:
        print_plans(settings, _policy(settings.policies_dir), out)
    except (Refused, Unavailable, Rejected) as error:
        _fail(getattr(error, "sentence", str(error)), 1)


@app.command()
def loans(
    everything: Annotated[bool, typer.Option("--all", help="Closed ones as well.")] = False,
) -> None:
    """Open loans as they stand in the database."""
    store = _store(_settings(Database))
    table = Table("Number", "Amount", "Kind", "From", "To", "State", "Ends (UTC)")
    try:
        with store.read() as uow:
            for loan in uow.loans.find():
                if everything or loan.state is not LoanState.CLOSED:
                    state = f"{loan.state.value}, suspended" if loan.suspended else loan.state.value
                    amount = f"{loan.amount} {loan.flavor}"
                    ends = _utc(loan.end)
                    table.add_row(f"Q-{loan.id}", amount, loan.kind, loan.lender or "", loan.borrower, state, ends)
    except Unavailable as error:
        _fail(f"The database cannot be used: {error.why}", 1)
    finally:
        store.close()
    out.print(table if table.row_count else "No loans.")


@app.command()
def log(
    form: Annotated[LogFormat, typer.Option("--format", help="How it is written.")] = LogFormat.TEXT,
    since: Annotated[str, typer.Option(help="Such as 7d or 2026-12-01 (UTC).")] = "",
    subject: Annotated[str | None, typer.Option(help="Such as Q-142.")] = None,
    who: Annotated[str | None, typer.Option(help="A Slack user id, or bot.")] = None,
    team: Annotated[str | None, typer.Option(help="Whose requests it is about.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The newest so many; all without it.")] = None,
) -> None:
    """Who did what and what came of it, the newest first."""
    store = _store(_settings(Database))
    try:
        query = AuditQuery(subject, who, team, since=instant_of(since, system_clock()) if since else None)
        with store.read() as uow:
            entries = uow.audit.find(query, limit)
    except Refused as error:
        _fail(error.sentence, 2)
    except Unavailable as error:
        _fail(f"The database cannot be used: {error.why}", 1)
    finally:
        store.close()
    typer.echo(written(entries, form), nl=False)


@app.command()
def readiness(
    team: Annotated[str | None, typer.Option(help="Work of this team only.")] = None,
    form: Annotated[LogFormat, typer.Option("--format", help="How it is written.")] = LogFormat.TEXT,
) -> None:
    """Who would lose work if GPUs were taken back, by Kueue or kube-scheduler, and what mends that."""
    settings = _settings(Convergence)
    try:
        typer.echo(readiness_text(settings, _policy(settings.policies_dir), team, form), nl=False)
    except Refused as error:
        _fail(error.sentence, 1)
    except Unavailable as error:
        _fail(str(error), 1)


@db_app.command("upgrade")
def db_upgrade() -> None:
    """Bring the database to this version's schema. Harmless when it is there already."""
    settings = _settings(Database)
    try:
        migrate.upgrade(settings.database_url.get_secret_value(), alembic_dir())
    except Refused as error:
        _fail(error.sentence, 1)
    except Unavailable as error:
        _fail(f"The database cannot be used: {error.why}", 1)
    out.print(f"The database has schema {migrate.HEAD}.")


def _settings(group: type[Settings]) -> Settings:
    try:
        settings = load_settings(os.environ, Path(".env"), group)
    except SettingsError as error:
        _fail(error.report, 2)
    configure_logs("WARNING", "console")
    return settings


def _policy(directory: Path) -> Policy:
    try:
        return load_policy(directory)
    except PolicyError as error:
        _fail(str(error), 1)


def _store(settings: Database) -> SqlStore:
    try:
        return SqlStore(migrate.checked(settings.database_url.get_secret_value()))
    except Refused as error:
        _fail(error.sentence, 1)
    except Unavailable as error:
        _fail(f"The database cannot be used: {error.why}", 1)


def _utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def _fail(words: str, code: int) -> NoReturn:
    err.print(words.rstrip(), markup=False)
    raise typer.Exit(code)
