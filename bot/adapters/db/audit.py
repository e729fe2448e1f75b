"""Who did what. Implements `bot.ports.store.Audit`."""

from collections.abc import Sequence

from sqlalchemy import Text, cast, insert, literal, or_, select

from bot.adapters.db.rows import of_audit, to_audit
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import AUDIT, REQUEST
from bot.core.audit import AuditQuery
from bot.core.requests import AuditEntry


class SqlAudit(Repository):
    """One transaction's view of the audit; the database refuses to change or delete an entry."""

    def add(self, entry: AuditEntry) -> None:
        self._connection.execute(insert(AUDIT).values(of_audit(entry)))

    def of(self, subject: str) -> Sequence[AuditEntry]:
        query = select(AUDIT).where(AUDIT.c.subject == subject).order_by(AUDIT.c.id)
        return [to_audit(row) for row in self._all(query)]

    def find(self, query: AuditQuery, limit: int | None = None) -> Sequence[AuditEntry]:
        found = select(AUDIT).order_by(AUDIT.c.id.desc()).limit(limit)
        if query.subject is not None:
            found = found.where(AUDIT.c.subject == query.subject)
        if query.who is not None:
            found = found.where(AUDIT.c.who == query.who)
        if query.team is not None:
            numbers = select(literal("Q-", Text) + cast(REQUEST.c.id, Text)).where(REQUEST.c.team == query.team)
            fields = (AUDIT.c.subject.startswith(one, autoescape=True) for one in query.fields)
            found = found.where(or_(AUDIT.c.subject.in_(numbers), *fields))
        if query.since is not None:
            found = found.where(AUDIT.c.at >= query.since)
        return [to_audit(row) for row in self._all(found)]
