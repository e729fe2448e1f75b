"""Proposals for queues that are written in Git. Implements `bot.ports.proposals.Proposals`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, select, update

from bot.adapters.db.field_rows import of_intended, to_intended
from bot.adapters.db.proposal_table import PROPOSAL, PROPOSAL_OPEN
from bot.adapters.db.sql import Repository
from bot.core.convergence.proposals import Proposal, ProposalEnd, ProposedField


class SqlProposals(Repository):
    """One transaction's view of them."""

    def open(self, cluster: str) -> Sequence[Proposal]:
        query = select(PROPOSAL).where(PROPOSAL.c.cluster == cluster, PROPOSAL_OPEN)
        return [_to_proposal(row) for row in self._all(query.order_by(PROPOSAL.c.number))]

    def get(self, proposal_id: str) -> Proposal | None:
        row = self._first(select(PROPOSAL).where(PROPOSAL.c.id == proposal_id))
        return None if row is None else _to_proposal(row)

    def add(self, proposal: Proposal) -> None:
        self._add(PROPOSAL, _of_proposal(proposal), f"an open proposal for {proposal.queue}")

    def end(self, proposal_id: str, how: ProposalEnd, at: datetime) -> None:
        still_open = update(PROPOSAL).where(PROPOSAL.c.id == proposal_id, PROPOSAL_OPEN)
        self._connection.execute(still_open.values(ended=how.value, ended_at=at))


def _of_proposal(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "cluster": proposal.cluster,
        "queue": proposal.queue,
        "uid": proposal.uid,
        "fields": [{"before": of_intended(part.before), "after": of_intended(part.after)} for part in proposal.fields],
        "created_at": proposal.created_at,
        "ended": proposal.ended and proposal.ended.value,
        "ended_at": proposal.ended_at,
    }


def _to_proposal(row: RowMapping) -> Proposal:
    return Proposal(
        id=row["id"],
        cluster=row["cluster"],
        queue=row["queue"],
        uid=row["uid"],
        fields=tuple(_to_field(part) for part in row["fields"]),
        created_at=row["created_at"],
        ended=ProposalEnd(row["ended"]) if row["ended"] else None,
        ended_at=row["ended_at"],
    )


def _to_field(part: Mapping[str, Any]) -> ProposedField:
    return ProposedField(to_intended(part["before"]), to_intended(part["after"]))
