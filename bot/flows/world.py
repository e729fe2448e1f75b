"""Everything a flow may reach, in one value. Built by app/run; tests build it from fakes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.cluster import Cluster
from bot.ports.policies import Policies
from bot.ports.store import Store


@dataclass(frozen=True, slots=True)
class World:
    """The roles, plus what is drawn from outside: ids and the wish to be woken."""

    store: Store
    chat: Chat
    clusters: Mapping[str, Cluster]
    policies: Policies
    clock: Clock
    new_id: Callable[[], str]
    """Opaque, unguessable, for rows that people's buttons name."""
    wake_convergence: Callable[[], None]
    wake_delivery: Callable[[], None]
    install: str
    """Name of this installation in annotations."""
    observe_only: bool = False
