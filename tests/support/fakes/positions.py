"""How far each watch has come, in memory. Used by tests/support/fakes/store."""

from bot.core.incidents.facts import Kind
from bot.ports.watching import Position

__all__ = ["FakePositions", "Position"]


class FakePositions:
    """Implements ports.watching.Positions."""

    def __init__(self, rows: dict[tuple[str, str], Position]) -> None:
        self._rows = rows

    def get(self, cluster: str, kind: Kind) -> Position | None:
        return self._rows.get((cluster, kind.value))

    def put(self, position: Position) -> None:
        self._rows[position.cluster, position.kind.value] = position
