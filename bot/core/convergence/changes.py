"""What the planner wants written and what came of it: the language between plan, executor and cluster adapter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.core.convergence.facts import FieldKey
from bot.core.kueue import FlavorResource, QueueSnapshot


@dataclass(frozen=True, slots=True)
class QueueChange:
    """One JSON Patch against one ClusterQueue, as values. The adapter turns it into operations."""

    queue: QueueSnapshot
    """The object it was planned on: the patch tests its uid, resourceVersion and the names at the indices."""
    numbers: Mapping[FieldKey, int | None] = field(default_factory=dict)
    """New values; None removes (a borrowingLimit goes back to unset)."""
    lending_limits: Mapping[FlavorResource, int | None] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    """Full keys; None removes."""


class PatchOutcome(StrEnum):
    """What the API server's answer proves."""

    APPLIED = "applied"
    CONFLICT = "conflict"
    """409, 404 or a failed test (422 without a cause): this patch did not land; read again."""
    REFUSED = "refused"
    """The webhook or the schema says no to the content: the same write will not do."""
    FORBIDDEN = "forbidden"
    """The bot lacks the right."""
    UNKNOWN = "unknown"
    """500, timeout, reset: it may have landed, or may land yet."""
    KUEUE_DOWN = "kueue down"
    """500 'failed calling webhook': nothing landed, but it is no verdict on the content either."""


@dataclass(frozen=True, slots=True)
class PatchResult:
    """An outcome with the words for people (clipped vendor text) and, if applied, what the object is now."""

    outcome: PatchOutcome
    words: str = ""
    queue: QueueSnapshot | None = None
