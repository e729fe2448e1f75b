"""What the leader's convergence remembers from step to step. Held by app/run, used by flows/converge_quota alone."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.convergence.landed import Refusal
from bot.core.standing import Blocker
from bot.flows.loan_standing import Trouble
from bot.flows.measure_use import UseMemory
from bot.flows.tell_automation import AutomationMemory
from bot.flows.tell_loans import Told
from bot.flows.tell_outages import Outages
from bot.flows.why_late import Past


@dataclass(slots=True)
class ConvergeMemory:
    """What one process remembers between steps. Losing it costs one more refused write, nothing else."""

    refusals: dict[tuple[str, str], Refusal] = field(default_factory=dict)
    """By cluster and queue."""
    troubles: dict[tuple[str, str], Trouble] = field(default_factory=dict)
    """Of the same, in the words of a loan's standing."""
    outages: Outages = field(default_factory=dict)
    past: dict[tuple[str, Blocker], Past] = field(default_factory=dict)
    """The last outage of each that is over: what came late may be late because of it."""
    looked: dict[str, int] = field(default_factory=dict)
    """By cluster: the epoch under which its queues were looked at last."""
    told: Told = field(default_factory=Told)
    use: UseMemory = field(default_factory=UseMemory)
    automation: AutomationMemory = field(default_factory=AutomationMemory)
    failures: dict[str, int] = field(default_factory=dict)
    """By cluster: steps in a row that could not get through."""
    due: dict[str, datetime] = field(default_factory=dict)
    """By cluster: when another step is worth while."""

    def failed(self, cluster: str) -> int:
        """Count one more; how many that makes in a row."""
        self.failures[cluster] = self.failures.get(cluster, 0) + 1
        return self.failures[cluster]

    def turns(self, clusters: Collection[str], now: datetime) -> list[str]:
        """Those that are due. All of them if none is: then somebody has woken the loop."""
        return [name for name in clusters if self.due.get(name, now) <= now] or list(clusters)
