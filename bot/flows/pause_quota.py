"""An admin pauses quota changes, or lets them go on. Called by chat; only changes the database.

Convergence takes the pause as a fact of each plan: what has not begun waits, what has begun is finished.
"""

from datetime import datetime
from typing import Final

from bot.core.errors import Refused
from bot.core.membership import OUTSIDER, lookup_failed
from bot.core.notices import NoticeDraft
from bot.core.pause import Pause
from bot.core.people import Person
from bot.core.requests import AuditEntry, RequestState
from bot.flows.audited import refusals_audited
from bot.flows.cards import refresh_cards
from bot.flows.gather import person_of, roles_of_person
from bot.flows.refused_with import RefusedWith
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.pause import paused_already

TURN: Final = "pause"
"""Who pauses, and who is about to store what will be written, wait for each other."""


def pause_quota(world: World, words: str, user: str, arrival: str) -> Pause:
    """The pause that begins. `words` are shown as they are. Raises Refused, also if it is paused already."""
    with refusals_audited(world, user, "pause", "quota"):
        person = _an_admin(world, user, "pause quota changes")
        pause = Pause(user, person.name, world.clock(), words)
        with world.store.begin() as uow:
            uow.alone(TURN)
            before = uow.pauses.get()
            if before is not None or not uow.pauses.begin(pause):
                raise RefusedWith(paused_already(before or pause))
            facts = {"who": user, "name": pause.name, "since": pause.since.isoformat(), "reason": words}
            _note(uow, arrival, AuditEntry(pause.since, user, "pause", "quota", words or "ok"))
            _owe(world, uow, NoticeKind.QUOTA_PAUSED, pause, facts, pause.since)
            uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return pause


def resume_quota(world: World, user: str, arrival: str) -> Pause:
    """The pause that is over. Raises Refused, also if nothing is paused."""
    with refusals_audited(world, user, "resume", "quota"):
        _an_admin(world, user, "let quota changes go on")
        now = world.clock()
        with world.store.begin() as uow:
            uow.alone(TURN)
            pause = uow.pauses.end()
            if pause is None:
                raise Refused("Quota changes are not paused. Nothing changed.")
            facts = {"who": pause.who, "name": pause.name, "since": pause.since.isoformat(), "reason": pause.reason}
            _note(uow, arrival, AuditEntry(now, user, "resume", "quota", "ok"))
            _owe(world, uow, NoticeKind.QUOTA_RESUMED, pause, {**facts, "by": user, "at": now.isoformat()}, now)
            uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return pause


def _an_admin(world: World, user: str, do: str) -> Person:
    person, policy = person_of(world, user), world.policies.policy
    roles = roles_of_person(world, policy, person)
    if not person.full_member:
        raise Refused(OUTSIDER)
    if not roles.admin:
        raise Refused(lookup_failed(roles.unknown) if roles.unknown else f"Only {policy.approvals.admins} can {do}.")
    return person


def _note(uow: UnitOfWork, arrival: str, entry: AuditEntry) -> None:
    """Raises Stale for an arrival that was handled before."""
    uow.inbox.done(arrival)
    uow.audit.add(entry)
    for request in uow.requests.find(states={RequestState.WAITING}):
        refresh_cards(uow, request.id, entry.at)


def _owe(world: World, uow: UnitOfWork, kind: NoticeKind, pause: Pause, facts: dict[str, str], now: datetime) -> None:
    to = world.policies.policy.approvals.platform_channel
    uow.notices.owe_once(NoticeDraft(f"{kind.value}:{pause.since.isoformat()}", kind, to, facts), now)
