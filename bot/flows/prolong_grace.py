"""Work that is announced for eviction gets its grace once more, from the lender's lead or an admin.

Called by chat for `prolong`. Only moves the stored instant: flows/evict_work looks at it again before it writes.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.evictions import Eviction, EvictionState
from bot.core.membership import OUTSIDER, lookup_failed
from bot.core.policy import Policy
from bot.core.requests import AuditEntry, QuotaRequest
from bot.flows.audited import refusals_audited
from bot.flows.gather import person_of, roles_of_person
from bot.flows.refused_with import RefusedWith
from bot.flows.tell_evictions import tell_changed
from bot.flows.world import World
from bot.views.refusals import being_changed

PROLONGED = "prolong"
"""What the audit calls one that counted; there is one at most."""


def prolong_grace(world: World, number: int, user: str, arrival: str) -> Eviction:
    """The eviction as it is now. Raises Refused; that is in the audit too."""
    with refusals_audited(world, user, f"refused {PROLONGED}", f"Q-{number}"):
        return _prolong(world, number, user, arrival)


def _prolong(world: World, number: int, user: str, arrival: str) -> Eviction:
    now, policy = world.clock(), world.policies.policy
    with world.store.read() as uow:
        request = uow.requests.get(number)
    _check_person(world, policy, request, user)
    with world.store.begin() as uow:
        eviction = _announced(uow.evictions.get(number), uow.audit.of(f"Q-{number}"), number, now)
        assert eviction.due is not None, "it was announced"
        try:
            moved = uow.evictions.update(replace(eviction, due=eviction.due + eviction.grace))
        except Stale:
            raise RefusedWith(being_changed(number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, PROLONGED, f"Q-{number}", "ok"))
        tell_changed(uow, moved, now)
        uow.commit()
    world.wake_delivery()
    return moved


def _announced(eviction: Eviction | None, audit: Sequence[AuditEntry], number: int, now: datetime) -> Eviction:
    if eviction is None or eviction.state is not EvictionState.ANNOUNCED or eviction.due is None:
        raise Refused(f"No work is announced for eviction at the end of Q-{number}.")
    if eviction.due <= now:
        raise Refused(f"The grace of Q-{number} is over already.")
    if any(entry.what == PROLONGED for entry in audit):
        raise Refused(f"The grace of Q-{number} was prolonged already. Its requester can ask for an extension.")
    return eviction


def _check_person(world: World, policy: Policy, request: QuotaRequest | None, user: str) -> None:
    """Whose quota is used meanwhile decides, and no one for themselves."""
    person = person_of(world, user)
    if not person.full_member:
        raise Refused(OUTSIDER)
    if request is not None and request.ask.requester == user:
        raise Refused(f"{request.name} is yours: somebody else decides. You can ask for an extension.")
    roles = roles_of_person(world, policy, person)
    lender = request.ask.lender if request is not None else None
    team = policy.team_of(request.ask.cluster, lender) if request is not None and lender is not None else None
    if roles.admin or (team is not None and team in roles.leads):
        return
    if roles.unknown:
        raise Refused(lookup_failed(roles.unknown))
    who = f"the {team} lead and {policy.approvals.admins}" if team else policy.approvals.admins
    raise Refused(f"Only {who} can prolong the grace. You can ask for an extension.")
