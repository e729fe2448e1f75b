"""What became of patches whose answer is not known, as far as the live object tells.

A patch tests the resourceVersion it was planned on. If the object still has that one, the patch has not landed and may
land yet (alive). Otherwise it is dead: it landed already or never will. Called by views.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.convergence.annotation import Annotation
from bot.core.convergence.facts import FieldKey, FieldName, IntendedField, Intent
from bot.core.kueue import QueueSnapshot


@dataclass(frozen=True, slots=True)
class SortedIntents:
    """The open intents of one queue."""

    alive: tuple[Intent, ...] = ()
    """May land yet."""
    undecided: tuple[Intent, ...] = ()
    """Dead, and nothing tells whether they landed: no annotation is there, and the spec has changed since or would not
    have been changed by them."""
    decided: tuple[Intent, ...] = ()
    """Dead, and known: the annotation says what landed last, or the spec they would have changed is as it was."""


def sort_intents(intents: Sequence[Intent], queue: QueueSnapshot | None, note: Annotation | None) -> SortedIntents:
    """Tell alive, undecided and decided apart. An unreadable queue (None) leaves all of them alive."""
    if queue is None:
        return SortedIntents(alive=tuple(intents))
    alive, undecided, decided = [], [], []
    for intent in intents:
        if intent.uid == queue.uid and intent.resource_version == queue.resource_version:
            alive.append(intent)
        elif note is not None or _left_the_spec_alone(intent, queue):
            decided.append(intent)
        else:
            undecided.append(intent)
    return SortedIntents(tuple(alive), tuple(undecided), tuple(decided))


def _left_the_spec_alone(intent: Intent, queue: QueueSnapshot) -> bool:
    """Whether the generation proves that the patch did not land: it has not moved, and the patch would have moved it.

    It moves with the spec alone. So it says nothing of a patch that changes legs and no number, such as one that takes
    the last legs, and the annotation with them, off a number that they add nothing to.
    """
    same_spec = intent.uid == queue.uid and intent.generation == queue.generation
    return same_spec and any(_differs(part, queue) for part in intent.fields)


def _differs(part: IntendedField, queue: QueueSnapshot) -> bool:
    """Whether the number, or the lendingLimit beside it, is another one than the patch writes."""
    quota = queue.quotas.get(part.key.flavor_resource)
    if quota is None:
        return True
    if part.key.name is FieldName.BORROWING_LIMIT:
        return part.wrote != quota.borrowing_limit
    return (part.wrote, part.lending_wrote) != (quota.nominal, quota.lending_limit)


def parts(intents: Sequence[Intent], key: FieldKey, after: int) -> tuple[IntendedField, ...]:
    """What these intents say of one field, as far as they are newer than its record (`after` is its seq)."""
    return tuple(f for intent in intents for f in intent.fields if f.key == key and f.seq > after)


def highest_seq(intents: Sequence[Intent]) -> int:
    """Highest number that these intents took; 0 if none."""
    return max((f.seq for intent in intents for f in intent.fields), default=0)
