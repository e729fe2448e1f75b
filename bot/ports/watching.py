"""One kind of object of one cluster, listed and then watched, and how far that has come.

`Source` is implemented by adapters/kube/watching, `Positions` by adapters/db/positions; flows/watch_work uses both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.core.incidents.facts import Kind, Observed, Wanted


class Expired(Exception):
    """The server does not know any more what happened since this version (410): list again."""


@dataclass(frozen=True, slots=True)
class Position:
    """All changes of a kind up to `version` have been handed on."""

    cluster: str
    kind: Kind
    version: str
    """resourceVersion, of a list or of a change."""
    heard_at: datetime
    """When the server was heard last."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list. All parts of one list have the same version."""

    seen: Sequence[Observed]
    version: str


@dataclass(frozen=True, slots=True)
class News:
    """What came at once, in order: (what is seen, whether it is gone). May be none, when only the version is new."""

    changes: Sequence[tuple[Observed, bool]]
    version: str


class Source(Protocol):
    """Every method raises Unavailable, NoRight, and Rejected where the cluster has no such kind."""

    @property
    def cluster(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    def pages(self, wanted: Wanted) -> Iterator[Page]:
        """All that there is. Raises Expired when the list takes longer than the server remembers."""
        ...

    def follow(self, version: str, wanted: Wanted) -> Iterator[News]:
        """What happens after `version`, as it happens, for some minutes. Raises Expired.

        What was given already and has not changed in anything that matters is left out, until `reset`.
        """
        ...

    def reset(self) -> None:
        """What was given last may not have been handed on."""
        ...

    def stop(self) -> None:
        """End `follow` at once, and for good; called by another thread."""
        ...


class Positions(Protocol):
    """How far each watch has come. Written by the leader only, who checks its epoch in the transaction."""

    def get(self, cluster: str, kind: Kind) -> Position | None:
        """None before the first list was handed on whole."""
        ...

    def put(self, position: Position) -> None: ...
