"""What admins and the platform channel are told, as the messages they are now. Called by flows/render_notices."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.core.loans import Loan
from bot.core.messages import Message
from bot.core.notices import Notice
from bot.core.pause import Pause
from bot.core.resource_quotas import is_resource_quota
from bot.flows.gather import person_or_id
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views import loan_trouble, platform
from bot.views.kinds import NoticeKind
from bot.views.loan_trouble import QueueTrouble
from bot.views.lost_names import LostStanding, name_back, name_gone
from bot.views.pause import Resumed, paused_notice, resumed_notice
from bot.views.platform import Outage, PolicyTrouble, Unreadable

_TROUBLES: Mapping[NoticeKind, Callable[[QueueTrouble], Message]] = {
    NoticeKind.ANNOTATION_STRIPPED: loan_trouble.annotation_stripped,
    NoticeKind.OTHER_INSTALL: loan_trouble.other_install,
    NoticeKind.MISSING_RIGHT: loan_trouble.missing_right,
    NoticeKind.WRITE_REFUSED: loan_trouble.write_refused,
    NoticeKind.NOT_WHOLE: loan_trouble.not_whole,
    NoticeKind.LENDING_LIMIT_MOVED: loan_trouble.lending_limit_moved,
    NoticeKind.KUEUE_WRITES_QUOTA: loan_trouble.kueue_writes_quota,
    NoticeKind.RESOURCE_QUOTA_MISSING: loan_trouble.no_resource_quota,
    NoticeKind.RESOURCE_QUOTA_KEYS: loan_trouble.keys_without_effect,
}
_OUTAGES: Mapping[NoticeKind, Callable[[Outage], Message]] = {
    NoticeKind.API_DOWN: platform.api_down,
    NoticeKind.API_BACK: platform.api_back,
    NoticeKind.KUEUE_DOWN: platform.kueue_down,
    NoticeKind.KUEUE_BACK: platform.kueue_back,
    NoticeKind.BOT_WAS_DOWN: platform.bot_was_down,
    NoticeKind.SLACK_BACK: platform.slack_back,
    NoticeKind.DATABASE_BACK: platform.database_back,
}


def _trouble(world: World, notice: Notice) -> Message:
    return _TROUBLES[NoticeKind(notice.draft.kind)](_about(world, notice.draft.facts))


def _about(world: World, facts: Mapping[str, Any]) -> QueueTrouble:
    with world.store.read() as uow:
        loans = [loan for loan in _loans_of(world, uow, facts["queue"]) if loan.ended_at is None]
    several = len(world.clusters) > 1
    return QueueTrouble(
        queue=facts["queue"],
        since=datetime.fromisoformat(facts["since"]),
        loans=tuple(loan.id for loan in loans),
        cluster=facts.get("cluster") if several else None,
        flavor=facts.get("flavor"),
        words=facts.get("words") or "",
        before=facts.get("wrote"),
        after=facts.get("live"),
        ended=tuple(facts.get("ended") or ()),
        over_since=datetime.fromisoformat(facts["over_since"]) if facts.get("over_since") else None,
    )


def _loans_of(world: World, uow: UnitOfWork, queue: str) -> Sequence[Loan]:
    """Those of a ClusterQueue, or of the team whose ResourceQuota it is."""
    if not is_resource_quota(queue):
        return uow.loans.find(queues={queue})
    policy = world.policies.policy
    return [loan for loan in uow.loans.find() if policy.resource_quota_beside(loan.cluster, loan.borrower) == queue]


def _outage(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    outage = Outage(
        since=datetime.fromisoformat(facts["since"]),
        until=datetime.fromisoformat(facts["until"]),
        cluster=facts.get("cluster") if len(world.clusters) > 1 else None,
        ended_on_time=facts.get("ended_on_time"),
        messages=facts.get("messages"),
    )
    return _OUTAGES[NoticeKind(notice.draft.kind)](outage)


def _pause(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    pause = Pause(facts["who"], facts["name"], datetime.fromisoformat(facts["since"]), facts["reason"])
    if notice.draft.kind == NoticeKind.QUOTA_PAUSED:
        return paused_notice(pause, person_or_id(world, pause.who))
    by, at = person_or_id(world, facts["by"]), datetime.fromisoformat(facts["at"])
    return resumed_notice(Resumed(pause, by, at))


def _no_approver(_world: World, notice: Notice) -> Message:
    return platform.no_approver(notice.draft.facts["team"])


def _name_gone(_world: World, notice: Notice) -> Message:
    return name_gone(notice.draft.facts["what"], _standing(notice.draft.facts))


def _name_back(_world: World, notice: Notice) -> Message:
    return name_back(notice.draft.facts["name"], _standing(notice.draft.facts))


def _standing(facts: Mapping[str, Any]) -> LostStanding:
    until = datetime.fromisoformat(facts["until"])
    return LostStanding(facts["loans"], facts["waiting"], facts["lapsed"], until)


def _unreachable(_world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    return platform.channel_unreachable(facts["channel"], facts["code"], approvals=facts["approvals"])


def _cannot_read(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    return platform.cannot_read(
        Unreadable(
            since=datetime.fromisoformat(facts["since"]),
            words=facts["words"],
            verb=facts["verb"],
            resource=facts["resource"],
            cluster=facts["cluster"] if len(world.clusters) > 1 else None,
        )
    )


def _policy_broken(_world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    good = facts.get("good_since")
    return platform.policy_broken(
        PolicyTrouble(
            facts["file"],
            facts["problem"],
            datetime.fromisoformat(facts["since"]),
            facts.get("line"),
            datetime.fromisoformat(good) if good else None,
        )
    )


FOR_ADMINS: Mapping[NoticeKind, Callable[[World, Notice], Message]] = {
    **dict.fromkeys(_TROUBLES, _trouble),
    **dict.fromkeys(_OUTAGES, _outage),
    NoticeKind.CHANNEL_UNREACHABLE: _unreachable,
    NoticeKind.NO_APPROVER: _no_approver,
    NoticeKind.NAME_GONE: _name_gone,
    NoticeKind.NAME_BACK: _name_back,
    NoticeKind.QUOTA_PAUSED: _pause,
    NoticeKind.QUOTA_RESUMED: _pause,
    NoticeKind.CANNOT_READ: _cannot_read,
    NoticeKind.POLICY_BROKEN: _policy_broken,
}
