"""Proposals for queues that are written in Git, as a unit of work keeps them. Implemented by adapters/db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.core.convergence.proposals import Proposal, ProposalEnd


class Proposals(Protocol):
    """Proposals, never deleted. One of a queue is open at most."""

    def open(self, cluster: str) -> Sequence[Proposal]:
        """Oldest first."""
        ...

    def get(self, proposal_id: str) -> Proposal | None: ...

    def add(self, proposal: Proposal) -> None:
        """Raises Stale if one of the queue is open already."""
        ...

    def end(self, proposal_id: str, how: ProposalEnd, at: datetime) -> None:
        """Harmless when it has ended already."""
        ...
