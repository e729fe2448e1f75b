"""Records and intents of convergence. Implements `bot.ports.store.Fields`."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, select, update

from bot.adapters.db.field_rows import of_field_key, of_intent, of_record, to_intent, to_record
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import FIELD, INTENT, INTENT_OPEN
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent


class SqlFields(Repository):
    """One transaction's view of what convergence knows."""

    def records(self, cluster: str) -> Mapping[FieldKey, FieldRecord]:
        query = select(FIELD).where(FIELD.c.cluster == cluster).order_by(*FIELD.primary_key)
        records = [to_record(row) for row in self._all(query)]
        return {record.key: record for record in records}

    def put(self, record: FieldRecord) -> FieldRecord:
        what = f"the record of {'/'.join(record.key)}"
        if record.version == 0:
            return to_record(self._add(FIELD, of_record(record) | {"version": 1}, what))
        key = and_(*(FIELD.c[name] == value for name, value in of_field_key(record.key).items()))
        return to_record(self._swap(FIELD, key, record.version, of_record(record), what))

    def open_intents(self, cluster: str) -> Sequence[Intent]:
        """Oldest first."""
        query = select(INTENT).where(INTENT.c.cluster == cluster, INTENT_OPEN)
        return [to_intent(row) for row in self._all(query.order_by(INTENT.c.created_at, INTENT.c.id))]

    def add_intent(self, intent: Intent) -> None:
        """Raises Stale if its id is there already."""
        self._add(INTENT, of_intent(intent), f"intent {intent.id}")

    def close_intent(self, intent_id: str, outcome: str, at: datetime) -> None:
        still_open = update(INTENT).where(INTENT.c.id == intent_id, INTENT_OPEN)
        self._connection.execute(still_open.values(closed_at=at, outcome=outcome))
