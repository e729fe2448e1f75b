"""Where a process may be disturbed: every call over a port passes its gate, by name, before and after.

A test plans what happens at the n-th passage: a kill, an outage, or somebody else's work that comes between two calls.
Nothing is planned by default, and then a gate only counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


class Killed(BaseException):
    """The process died here. No `except Exception` stops it; open transactions roll back."""


@dataclass(slots=True)
class _Planned:
    left: int
    matches: str
    action: Callable[[], None]


@dataclass(slots=True)
class Gate:
    """The passages of one process. Names are `store.begin`, `store.commit`, `store.committed`, `store.read`,
    `cluster.get`, `cluster.patch`, `cluster.patched`, `chat.post`, `chat.posted`, and so on."""

    passed: int = 0
    closed: bool = False
    """A killed process does nothing any more."""
    _planned: list[_Planned] = field(default_factory=list)

    def plan(self, action: Callable[[], None], *, after: int = 0, matches: str = "") -> None:
        """Let `action` happen once: at the passage that follows `after` matching ones (names that start so)."""
        self._planned.append(_Planned(after, matches, action))

    def clear(self) -> None:
        """Nothing is planned any more."""
        self._planned.clear()

    @property
    def waiting(self) -> int:
        """How many planned actions have not happened yet."""
        return len(self._planned)

    def passes(self, name: str) -> None:
        """Called by the fakes. What a planned action raises is raised here."""
        if self.closed:
            raise Killed(name)
        self.passed += 1
        for planned in list(self._planned):
            if not name.startswith(planned.matches):
                continue
            if planned.left:
                planned.left -= 1
                continue
            self._planned.remove(planned)
            planned.action()


def kill() -> None:
    """An action: the process dies at this passage."""
    raise Killed("here")
