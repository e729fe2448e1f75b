"""What became of patches whose answer is not known, as far as the live object tells.

A patch tests the resourceVersion it was planned on. If the object still has that one, the patch has not landed and may
land yet (alive). Otherwise it is dead: it landed already or never will. Called by observe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.convergence.annotation import Annotation
from bot.core.convergence.facts import FieldKey, IntendedField, Intent
from bot.core.kueue import QueueSnapshot


@dataclass(frozen=True, slots=True)
class SortedIntents:
    """The open intents of one queue."""

    alive: tuple[Intent, ...] = ()
    """May land yet."""
    undecided: tuple[Intent, ...] = ()
    """Dead, and nothing tells whether they landed: the spec has changed since and no annotation is there."""
    decided: tuple[Intent, ...] = ()
    """Dead, and known: the annotation says what landed last, or the spec has not changed since."""


def sort_intents(intents: Sequence[Intent], queue: QueueSnapshot | None, note: Annotation | None) -> SortedIntents:
    """Tell alive, undecided and decided apart. An unreadable queue (None) leaves all of them alive."""
    if queue is None:
        return SortedIntents(alive=tuple(intents))
    alive, undecided, decided = [], [], []
    for intent in intents:
        same_object = intent.uid == queue.uid
        if same_object and intent.resource_version == queue.resource_version:
            alive.append(intent)
        elif note is None and not (same_object and intent.generation == queue.generation):
            undecided.append(intent)
        else:
            decided.append(intent)
    return SortedIntents(tuple(alive), tuple(undecided), tuple(decided))


def parts(intents: Sequence[Intent], key: FieldKey, after: int) -> tuple[IntendedField, ...]:
    """What these intents say of one field, as far as they are newer than its record (`after` is its seq)."""
    return tuple(f for intent in intents for f in intent.fields if f.key == key and f.seq > after)


def highest_seq(intents: Sequence[Intent]) -> int:
    """Highest number that these intents took; 0 if none."""
    return max((f.seq for intent in intents for f in intent.fields), default=0)
