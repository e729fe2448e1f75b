"""The messages that are owed of an incident: its card, the lines of its thread, and one card for a storm of them.

Called by flows/observe_work inside its transaction.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.incidents.quiet import told_at
from bot.core.incidents.stories import Incident, ThreadLine
from bot.core.incidents.storms import UPDATED_EVERY, Storm, breaks_out, goes_on
from bot.core.notices import NoticeDraft, NoticeState, Priority
from bot.core.policy import Policy
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind


def card_key(incident: int) -> str:
    """Of the card; keys of its copies begin so."""
    return f"{NoticeKind.ALERT.value}:{incident}:card"


def storm_key(storm: int) -> str:
    """Of a storm's card."""
    return f"{NoticeKind.ALERT_STORM.value}:{storm}:card"


def owe_start(uow: UnitOfWork, policy: Policy, incident: Incident, now: datetime) -> None:
    """A story begins: its own card, or it joins a storm, or makes one."""
    to, what, rules = incident.audience.to, incident.what, policy.alerts.storm
    storm = uow.storms.latest(to, what.value)
    if storm is not None and goes_on(storm, now, rules.within):
        uow.incidents.update(replace(incident, storm=storm.id))
        uow.storms.touch(storm.id, now)
        _owe_storm(uow, storm, now, now)
        return
    ready = told_at(policy.alerts, _zone(policy, incident), now)
    recent = [one for one in uow.incidents.recent(to, what.value, now - rules.within) if one.storm is None]
    if not breaks_out(recent, rules.more_than):
        uow.notices.owe(_card(incident), now, ready)
        return
    storm = uow.storms.add(Storm(0, to, what, recent[0].told_at, now))
    for one in recent:
        if not _is_posted(uow, one.id):
            uow.incidents.update(replace(one, storm=storm.id))
            uow.notices.refresh(card_key(one.id), now)  # whoever renders it right now sees that it changed
    _owe_storm(uow, storm, now, min(ready, told_at(policy.alerts, _zone(policy, incident), recent[0].told_at)))


def owe_news(uow: UnitOfWork, incident: Incident, line: ThreadLine | None, now: datetime) -> None:
    """A story goes on. What is not posted yet needs no thread: it will say how things stand then."""
    if incident.storm is not None:
        storm = uow.storms.get(incident.storm)
        if storm is not None:
            _owe_storm(uow, storm, now, now)
        return
    uow.notices.refresh(card_key(incident.id), now)
    if line is not None and _is_posted(uow, incident.id):
        facts = {
            "incident": incident.id,
            "what": line.what.value,
            "at": line.at.isoformat(),
            "why": line.why,
            "times": line.times,
            "ping": line.ping and incident.mention,
        }
        key = f"{NoticeKind.ALERT.value}:{incident.id}:line:{incident.lines}"
        to, thread = incident.audience.to, card_key(incident.id)
        uow.notices.owe_once(NoticeDraft(key, NoticeKind.ALERT_LINE, to, facts, Priority.ALERT, thread), now)


def _card(incident: Incident) -> NoticeDraft:
    facts = {"incident": incident.id}
    return NoticeDraft(card_key(incident.id), NoticeKind.ALERT, incident.audience.to, facts, Priority.ALERT)


def _owe_storm(uow: UnitOfWork, storm: Storm, now: datetime, ready: datetime) -> None:
    """Its message changes at most once in UPDATED_EVERY."""
    key = storm_key(storm.id)
    known = uow.notices.get(key)
    draft = NoticeDraft(key, NoticeKind.ALERT_STORM, storm.to, {"storm": storm.id}, Priority.ALERT)
    waits = known is not None and known.not_before is not None and known.not_before > now
    if known is not None:
        ready = now + UPDATED_EVERY
    uow.notices.owe(draft, now, None if waits else ready)


def _is_posted(uow: UnitOfWork, incident: int) -> bool:
    """Or is being posted at this moment."""
    known = uow.notices.get(card_key(incident))
    return known is not None and (known.ref is not None or known.state is NoticeState.CLAIMED or known.doubtful)


def _zone(policy: Policy, incident: Incident) -> str:
    team = policy.team(incident.audience.team) if incident.audience.team else None
    return team.timezone if team else "UTC"
