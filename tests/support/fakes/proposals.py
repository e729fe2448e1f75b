"""Proposals in memory. Used by tests/support/fakes/store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.convergence.proposals import Proposal, ProposalEnd
from bot.core.errors import Stale


class FakeProposals:
    """Implements ports.proposals.Proposals over a dict of this transaction, by id in the order of making."""

    def __init__(self, rows: dict[str, Proposal]) -> None:
        self._rows = rows

    def open(self, cluster: str) -> Sequence[Proposal]:
        return [one for one in self._rows.values() if one.cluster == cluster and one.ended is None]

    def get(self, proposal_id: str) -> Proposal | None:
        return self._rows.get(proposal_id)

    def add(self, proposal: Proposal) -> None:
        if proposal.id in self._rows or any(one.queue == proposal.queue for one in self.open(proposal.cluster)):
            raise Stale(f"an open proposal for {proposal.queue} is there already")
        self._rows[proposal.id] = proposal

    def end(self, proposal_id: str, how: ProposalEnd, at: datetime) -> None:
        known = self._rows.get(proposal_id)
        if known is not None and known.ended is None:
            self._rows[proposal_id] = replace(known, ended=how, ended_at=at)
