"""One ClusterQueue as the planner sees it, with what the annotation and the open intents say about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.convergence import annotation as notes
from bot.core.convergence.annotation import Annotation, NotedField, Standing
from bot.core.convergence.facts import FieldKey, Intent
from bot.core.convergence.findings import Finding, FindingKind, about_queue
from bot.core.convergence.intents import SortedIntents, sort_intents
from bot.core.convergence.proposals import Proposal, ProposedField, Proposing
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
    proposes: bool = False
    """Its quota is written in Git: nothing of it is written here, not even a fence."""
    proposal: Proposal | None = None
    """What is open of it."""

    def proposed(self, key: FieldKey) -> ProposedField | None:
        """What is proposed for a field of this very object (if it can be read)."""
        if self.proposal is None or (self.queue is not None and self.queue.uid != self.proposal.uid):
            return None
        return self.proposal.of(key)

    def noted(self, key: FieldKey) -> NotedField | None:
        """What the annotation says of a field."""
        return None if self.note is None else self.note.fields.get((key.flavor_resource, key.name))


_NONE = Proposing()


def view_queue(
    name: str,
    picture: ClusterPicture,
    intents: Sequence[Intent],
    install: str,
    unwritable: Mapping[str, str],
    proposing: Proposing = _NONE,
) -> QueueView:
    """Look at a queue once, before its fields."""
    proposes, proposal = name in proposing.queues, proposing.open.get(name)
    queue = picture.find(name)
    if queue is None:
        unread = name in unwritable
        left = SortedIntents(alive=tuple(intents)) if unread else SortedIntents(decided=tuple(intents))
        why = unwritable.get(name)
        return QueueView(name, None, Standing.NONE, None, intents, left, why, unread, proposes, proposal)
    standing, read = notes.read(queue, install)
    note = read if standing is Standing.OURS else None
    why = _why_not(queue, standing) or unwritable.get(name)
    if queue.quota_automation is not None:  # what became of a patch is found out when Kueue lets go
        left = SortedIntents(alive=tuple(intents))
    else:
        left = sort_intents(intents, queue, note)
    return QueueView(name, queue, standing, note, intents, left, why, proposes=proposes, proposal=proposal)


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
