"""Work that is evicted at a loan's end. Implements `bot.ports.store.Evictions`."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, select

from bot.adapters.db.eviction_table import EVICTION, EVICTION_OPEN
from bot.adapters.db.sql import Repository
from bot.core.evictions import Eviction, EvictionState, Work, WorkState
from bot.core.kueue import FlavorResource

Columns = dict[str, Any]


class SqlEvictions(Repository):
    """One transaction's view of them."""

    def add(self, draft: Eviction) -> bool:
        new = self._insert(EVICTION).values(_of_eviction(draft) | {"version": 1})
        return self._first(new.on_conflict_do_nothing().returning(EVICTION.c.loan)) is not None

    def get(self, loan: int) -> Eviction | None:
        row = self._first(select(EVICTION).where(EVICTION.c.loan == loan))
        return None if row is None else _to_eviction(row)

    def open(self) -> Sequence[Eviction]:
        return [_to_eviction(row) for row in self._all(select(EVICTION).where(EVICTION_OPEN).order_by(EVICTION.c.loan))]

    def update(self, eviction: Eviction) -> Eviction:
        what = f"the eviction of loan {eviction.loan}"
        key = EVICTION.c.loan == eviction.loan
        return _to_eviction(self._swap(EVICTION, key, eviction.version, _of_eviction(eviction), what))


def _of_eviction(eviction: Eviction) -> Columns:
    return {
        "loan": eviction.loan,
        "cluster": eviction.cluster,
        "queue": eviction.queue,
        "flavor": eviction.entry.flavor,
        "resource": eviction.entry.resource,
        "most": eviction.most,
        "grace": eviction.grace,
        "ended_at": eviction.ended_at,
        "state": eviction.state.value,
        "due": eviction.due,
        "works": [_of_work(work) for work in eviction.works],
        "extensions": list(eviction.extensions),
        "held": eviction.held,
    }


def _to_eviction(row: RowMapping) -> Eviction:
    return Eviction(
        loan=row["loan"],
        cluster=row["cluster"],
        queue=row["queue"],
        entry=FlavorResource(row["flavor"], row["resource"]),
        most=row["most"],
        grace=row["grace"],
        ended_at=row["ended_at"],
        state=EvictionState(row["state"]),
        due=row["due"],
        works=tuple(_to_work(one) for one in row["works"]),
        extensions=tuple(row["extensions"]),
        held=row["held"],
        version=row["version"],
    )


def _of_work(work: Work) -> Columns:
    return {
        "namespace": work.namespace,
        "name": work.name,
        "uid": work.uid,
        "known_as": work.known_as,
        "amount": work.amount,
        "state": work.state.value,
        "mark": work.mark,
        "resource_version": work.resource_version,
        "generation": work.generation,
    }


def _to_work(stored: Columns) -> Work:
    return Work(**{**stored, "state": WorkState(stored["state"])})
