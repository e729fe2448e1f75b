"""Read the policy files again when they change; a broken one keeps the last good, and the admins hear it.

Called by the timetable of every replica: each reads its own files, the notice is owed once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.core.notices import NoticeDraft
from bot.flows.world import World
from bot.views.kinds import NoticeKind


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One thing that is wrong in a file."""

    file: str
    line: int | None
    message: str


class Reload(Protocol):
    """Looks at the files. None: they are as they were; no problems: a good policy is in use now."""

    def __call__(self) -> Sequence[PolicyProblem] | None: ...


@dataclass(slots=True)
class PolicyMemory:
    """What one process has seen in the files and not stored yet: a look finds each change only once."""

    found: Sequence[PolicyProblem] | None = None
    """As Reload says it."""
    at: datetime | None = None


def keep_policy(world: World, reload: Reload, memory: PolicyMemory) -> None:
    """One look. What it finds is kept in `memory` until it is stored. Raises Unavailable (database)."""
    found = reload()
    if found is not None:
        memory.found, memory.at = found, world.clock()
    if memory.found is None or memory.at is None:
        return
    _store(world, memory.found, memory.at)
    memory.found = None
    world.wake_delivery()


def _store(world: World, problems: Sequence[PolicyProblem], at: datetime) -> None:
    to = world.policies.policy.approvals.platform_channel
    with world.store.begin() as uow:
        latest = uow.notices.latest("policy_broken:")
        open_one = latest if latest is not None and not latest.draft.facts.get("good_since") else None
        if problems:
            first = problems[0]
            facts = {"file": first.file, "line": first.line, "problem": first.message, "since": at.isoformat()}
            key = open_one.draft.key if open_one is not None else f"policy_broken:{at.isoformat()}"
            uow.notices.owe(NoticeDraft(key, NoticeKind.POLICY_BROKEN, to, facts), world.clock())
        elif open_one is not None:
            uow.notices.refresh(open_one.draft.key, world.clock(), {"good_since": at.isoformat()})
        uow.commit()
