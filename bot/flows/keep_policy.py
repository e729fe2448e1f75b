"""Read the policy files again when they change; a broken one keeps the last good, and the admins hear it.

Called by the timetable of every replica: each reads its own files, the notice is owed once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


def keep_policy(world: World, reload: Reload) -> None:
    """One look."""
    problems = reload()
    if problems is None:
        return
    now = world.clock()
    to = world.policies.policy.approvals.platform_channel
    with world.store.begin() as uow:
        open_one = uow.notices.latest("policy_broken:")
        if problems:
            first = problems[0]
            facts = {"file": first.file, "line": first.line, "problem": first.message, "since": now.isoformat()}
            key = f"policy_broken:{now.isoformat()}"
            if open_one is not None and not open_one.draft.facts.get("good_since"):
                key = open_one.draft.key
            uow.notices.owe(NoticeDraft(key, NoticeKind.POLICY_BROKEN, to, facts), now)
        elif open_one is not None and not open_one.draft.facts.get("good_since"):
            uow.notices.refresh(open_one.draft.key, now, {"good_since": now.isoformat()})
        uow.commit()
    world.wake_delivery()
