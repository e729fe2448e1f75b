"""Who did what. Implements `bot.ports.store.Audit`."""

from collections.abc import Sequence

from sqlalchemy import insert, select

from bot.adapters.db.rows import of_audit, to_audit
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import AUDIT
from bot.core.requests import AuditEntry


class SqlAudit(Repository):
    """One transaction's view of the audit; the database refuses to change or delete an entry."""

    def add(self, entry: AuditEntry) -> None:
        self._connection.execute(insert(AUDIT).values(of_audit(entry)))

    def of(self, subject: str) -> Sequence[AuditEntry]:
        query = select(AUDIT).where(AUDIT.c.subject == subject).order_by(AUDIT.c.id)
        return [to_audit(row) for row in self._all(query)]
