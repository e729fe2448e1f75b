"""One ClusterQueue as the planner sees it, with what the annotation and the open intents say about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.convergence import annotation as notes
from bot.core.convergence.annotation import Annotation, NotedField, Standing
from bot.core.convergence.facts import FieldKey, Intent
from bot.core.convergence.findings import Finding, FindingKind, about_queue
from bot.core.convergence.intents import SortedIntents, sort_intents
from bot.core.kueue import ClusterPicture, QueueSnapshot


@dataclass(frozen=True, slots=True)
class QueueView:
    """Everything about one queue that is not about a single field of it."""

    name: str
    queue: QueueSnapshot | None
    """None: not there, or not read (`unread`)."""
    standing: Standing
    note: Annotation | None
    """The annotation, only if it counts."""
    intents: Sequence[Intent]
    """All open ones."""
    sorted: SortedIntents
    unwritable: str | None
    """Why nothing of this queue may be written now."""
    unread: bool = False

    def noted(self, key: FieldKey) -> NotedField | None:
        """What the annotation says of a field."""
        return None if self.note is None else self.note.fields.get((key.flavor_resource, key.name))


def view_queue(
    name: str, picture: ClusterPicture, intents: Sequence[Intent], install: str, unwritable: Mapping[str, str]
) -> QueueView:
    """Look at a queue once, before its fields."""
    queue = picture.find(name)
    if queue is None:
        unread = name in unwritable
        left = SortedIntents(alive=tuple(intents)) if unread else SortedIntents(decided=tuple(intents))
        return QueueView(name, None, Standing.NONE, None, intents, left, unwritable.get(name), unread)
    standing, read = notes.read(queue, install)
    note = read if standing is Standing.OURS else None
    why = _why_not(queue, standing) or unwritable.get(name)
    if queue.quota_automation is not None:  # what became of a patch is found out when Kueue lets go
        return QueueView(name, queue, standing, note, intents, SortedIntents(alive=tuple(intents)), why)
    return QueueView(name, queue, standing, note, intents, sort_intents(intents, queue, note), why)


def _why_not(queue: QueueSnapshot, standing: Standing) -> str | None:
    if standing is Standing.OTHER_INSTALL:
        return f"another installation of the bot works on {queue.name}"
    return queue.quota_automation


def queue_findings(view: QueueView) -> list[Finding]:
    """What is to be said about the queue as a whole."""
    queue = view.queue
    if queue is None:
        return []
    kinds = {
        Standing.UNREADABLE: FindingKind.UNREADABLE_ANNOTATION,
        Standing.OTHER_INSTALL: FindingKind.OTHER_INSTALL,
    }
    found = [kinds[view.standing]] if view.standing in kinds else []
    return [
        Finding(kind, about_queue(kind, queue.cluster, queue.name, queue.uid), queue.name, words=view.unwritable or "")
        for kind in found
    ]
