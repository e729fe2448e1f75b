"""`readiness`: who would lose work if GPUs were taken back, as text, JSON or CSV. Called by cli/commands."""

import csv
import io
import json
from collections.abc import Collection
from datetime import UTC

from bot.adapters.system_clock import system_clock
from bot.app.parts import make_clusters
from bot.cli.audit_log import LogFormat
from bot.core.audit import inert_cell
from bot.core.errors import Refused
from bot.core.policy import Policy
from bot.core.readiness.facts import Finding, Readiness
from bot.flows.check_readiness import check_readiness
from bot.settings import Convergence
from bot.views.answers.readiness import gpu_hours, headline_of
from bot.views.parts import clean

COLUMNS = ("cluster", "kind", "namespace", "name", "check", "gpu_hours_at_risk", "problem", "mend")


def readiness_text(settings: Convergence, policy: Policy, team: str | None, form: LogFormat) -> str:
    """What was found, of one team or of everything. Raises Refused or Unavailable."""
    namespaces: Collection[str] | None = None
    if team is not None:
        found = policy.team(team)
        if found is None:
            raise Refused(f"No team {team}. There are: {', '.join(policy.teams.teams)}.")
        namespaces = found.namespaces
    clusters = make_clusters(settings, policy, system_clock)
    try:
        readiness = check_readiness(clusters, policy, namespaces)
    finally:
        for cluster in clusters.values():
            cluster.close()
    return written(readiness, form)


def written(readiness: Readiness, form: LogFormat) -> str:
    """Nothing in it is a formula to a spreadsheet, or a command to a terminal."""
    if form is LogFormat.CSV:
        return _csv(readiness)
    if form is LogFormat.JSON:
        return _json(readiness)
    lines = [f"{headline_of(readiness)}."]
    for one in readiness.findings:
        where = f"{one.cluster}: {clean(one.thing)}, {gpu_hours(one)} GPU-hours at risk"
        lines += ["", where, f"  {clean(one.problem)}.", f"  {clean(one.mend)}."]
    notes = [clean(note) for note in readiness.notes]
    read_at = f"Read {readiness.read_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    return "\n".join([*lines, "", *notes, read_at]) + "\n"


def _row(one: Finding) -> tuple[str, ...]:
    at_risk = f"{one.gpu_seconds / 3600:.1f}"
    return (one.cluster, one.kind, one.namespace, one.name, one.check, at_risk, one.problem, one.mend)


def _csv(readiness: Readiness) -> str:
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows([inert_cell(cell) for cell in _row(one)] for one in readiness.findings)
    return file.getvalue()


def _json(readiness: Readiness) -> str:
    findings = [
        {**dict(zip(COLUMNS, _row(one), strict=True)), "gpu_hours_at_risk": round(one.gpu_seconds / 3600, 1)}
        for one in readiness.findings
    ]
    whole = {
        "read_at": f"{readiness.read_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "works": readiness.works,
        "unready": readiness.unready,
        "findings": findings,
        "notes": list(readiness.notes),
    }
    return json.dumps(whole, ensure_ascii=True, indent=1) + "\n"
