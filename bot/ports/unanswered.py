"""What the database keeps of people who were asked and have not answered: part of bot.ports.store's unit of work."""

from collections.abc import Sequence
from typing import Protocol

from bot.core.ask_backs import AskBack
from bot.core.escalations import Escalation


class AskBacks(Protocol):
    """Times that a lender asked for a loan back, never deleted."""

    def add(self, draft: AskBack) -> AskBack:
        """Store an open one; its id is assigned (`draft.id` is ignored). Stale if the loan has an open one."""
        ...

    def get(self, ask_id: int) -> AskBack | None: ...

    def of(self, loan: int) -> Sequence[AskBack]:
        """All of a loan, in order."""
        ...

    def waiting(self) -> Sequence[AskBack]:
        """Those that are open, in order."""
        ...

    def update(self, ask: AskBack) -> AskBack:
        """Settle an open one, by compare-and-set on `ask.version`. Raises Stale, also for one that is settled."""
        ...


class Escalations(Protocol):
    """Steps of requests that others may give too, never deleted."""

    def add(self, escalation: Escalation) -> bool:
        """False, and nothing changes, if this step was escalated to them on these terms before."""
        ...

    def of(self, number: int) -> Sequence[Escalation]:
        """All of a request, in order."""
        ...
