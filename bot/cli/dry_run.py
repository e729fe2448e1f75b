"""`converge --dry-run`: the plan of this moment as text. Called by cli/commands."""

from collections.abc import Iterator

from rich.console import Console

from bot.adapters.db.migrate import checked
from bot.adapters.db.unit_of_work import SqlStore
from bot.adapters.system_clock import system_clock
from bot.app.parts import make_clusters
from bot.core.convergence.planner import Plan
from bot.core.convergence.proposals import ProposedField
from bot.core.convergence.wants import live_number
from bot.core.policy import Policy
from bot.flows.plan_quota import plan_for
from bot.settings import Convergence


def print_plans(settings: Convergence, policy: Policy, out: Console) -> None:
    """One part per cluster. Raises Refused, Rejected, Unavailable."""
    store = SqlStore(checked(settings.database_url.get_secret_value()))
    clusters = make_clusters(settings, policy, system_clock)
    try:
        with store.read() as uow:
            pause = uow.pauses.get()
        if pause is not None:
            since = f"{pause.since:%Y-%m-%d %H:%M} UTC"
            out.print(
                f"Quota changes are paused by {pause.name} since {since}: what has not begun waits.", markup=False
            )
        for name, cluster in clusters.items():
            out.print(f"{name}:")
            with store.read() as uow:
                waiting = uow.proposals.open(name)
            for proposal in waiting:
                for part in proposal.fields:
                    out.print(f"  proposed, not merged yet: {proposal.queue} {_proposed(part)}", markup=False)
            for line in plan_lines(plan_for(store, cluster, policy, settings.install_name, system_clock())):
                out.print(f"  {line}", markup=False)
    finally:
        for cluster in clusters.values():
            cluster.close()
        store.close()


def plan_lines(plan: Plan) -> Iterator[str]:
    """What would be written now, then what was found. Later writes follow once these have landed."""
    for write in plan.writes:
        queue = write.change.queue
        for key, number in write.change.numbers.items():
            live = live_number(queue, key)
            what = f"{key.flavor or key.resource} {key.name}"
            yield f"{write.move.name.lower()} {queue.name} {what}: {_shown(live)} -> {_shown(number)}"
        for entry, limit in write.change.lending_limits.items():
            now = queue.quotas[entry].lending_limit
            yield f"with it {queue.name} {entry.flavor} lendingLimit: {_shown(now)} -> {_shown(limit)}"
        if not write.change.numbers:
            yield f"{write.move.name.lower()} {queue.name}: annotation only"
    for new in plan.proposals.new:
        yield from (f"propose {new.queue.name} {_proposed(part)}" for part in new.fields)
    if not plan.writes and not plan.proposals.new:
        yield "nothing to write: live quota is base + loans"
    for finding in plan.findings:
        yield f"found: {finding.kind.value} {finding.queue} {finding.words}".rstrip()


def _proposed(part: ProposedField) -> str:
    key = part.key
    return f"{key.flavor} {key.name}: {_shown(part.before.wrote)} -> {_shown(part.after.wrote)}"


def _shown(number: int | None) -> str:
    return "unset" if number is None else str(number)
