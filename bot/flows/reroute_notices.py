"""A channel or a person cannot be reached: what was for them goes to others instead. Called by flows/deliver_notices.

A card for the approvals channel goes to everybody who may decide; what is for the platform channel goes to the admins;
anything else that nobody hears otherwise goes to the platform channel, and says for whom it was. The platform channel
hears once that another channel cannot be reached.
"""

from collections.abc import Iterable
from dataclasses import replace

from bot.core.membership import Unknown, is_group, people_of_step
from bot.core.notices import Notice, NoticeDraft, Priority
from bot.core.policy import Policy
from bot.core.requests import RequestState
from bot.flows.cards import card_prefix, channel_card
from bot.flows.gather import look_up_groups
from bot.flows.who_may_decide import with_escalations
from bot.flows.world import World
from bot.views.facts import Surface
from bot.views.kinds import NoticeKind

CANNOT_REACH = frozenset({"channel_not_found", "not_in_channel", "is_archived", "restricted_action"})
"""Slack's codes for a channel that the bot cannot post to, whatever it says."""
NO_ACCOUNT = CANNOT_REACH | {"user_disabled", "user_not_found", "cannot_dm_bot"}
"""The same for a person: the account was deactivated, or is not there."""
APPROVALS_CHANNEL = "The approvals channel"
_HEARD_ANYWAY = frozenset(
    {
        NoticeKind.REQUEST_CARD,
        NoticeKind.CARD_THREAD_LINE,
        NoticeKind.NEXT_STEP,
        NoticeKind.LOAN_SUSPENDED,
        NoticeKind.LOAN_SHORT,
        NoticeKind.ANSWER,
    }
)
"""A card and its thread have copies of their own, trouble with a loan goes to the platform channel in any case, and an
answer is for the one who acted."""


def reroute(world: World, epoch: int, notice: Notice) -> None:
    """Before `notice` is recorded as given up, so that a kill in between loses nothing; a second time adds nothing.

    Does nothing for a failure that is the message's own.
    """
    to, policy = notice.draft.to, world.policies.policy
    a_person = to.startswith(("U", "W"))
    if notice.failure not in (NO_ACCOUNT if a_person else CANNOT_REACH):
        return
    if to == policy.approvals.platform_channel:
        _tell_admins(world, epoch, policy, notice)
        return
    if notice.draft.kind == NoticeKind.REQUEST_CARD and not a_person:
        _card_to_approvers(world, epoch, policy, notice)
    if notice.draft.kind not in _HEARD_ANYWAY and INSTEAD not in notice.draft.key:
        _to_platform(world, epoch, policy, notice)
    if not a_person:
        _tell_platform(world, epoch, policy, notice)


INSTEAD = "@"
"""In the key of a copy that goes to others, before their id: the end of such a way."""


def _to_platform(world: World, epoch: int, policy: Policy, notice: Notice) -> None:
    """The message itself, with a line that says for whom it is. A refresh of the notice reaches the copy too."""
    to = policy.approvals.platform_channel
    facts = {**notice.draft.facts, "instead_of": notice.draft.to, "instead_why": notice.failure}
    copy = replace(notice.draft, key=f"{notice.draft.key}{INSTEAD}{to}", to=to, facts=facts, thread_of=None)
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.notices.owe_once(copy, world.clock())
        uow.commit()
    world.wake_delivery()


def _card_to_approvers(world: World, epoch: int, policy: Policy, notice: Notice) -> None:
    """A copy for each person of the request's steps who has none."""
    number = notice.draft.facts["request"]
    with world.store.read() as uow:
        request = uow.requests.get(number)
        may = with_escalations(uow, policy, request) if request is not None else None
    if may is None or request is None or request.state is not RequestState.WAITING:
        return
    people = _people(world, (one for step in may.steps for one in people_of_step(policy, step)))
    facts = {**notice.draft.facts, "surface": Surface.LEAD.value}
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        new = 0
        for person in people:
            key = channel_card(number, person)
            new += uow.notices.owe_once(
                NoticeDraft(key, NoticeKind.REQUEST_CARD, person, facts, Priority.APPROVAL), now
            )
        if new:  # not at every failure: a refresh has the channel tried once more
            uow.notices.refresh(card_prefix(number), now, {"unreachable": APPROVALS_CHANNEL})
        uow.commit()
    world.wake_delivery()


def _people(world: World, listed: Iterable[str]) -> list[str]:
    """User ids of persons and user groups. A group that cannot be looked up now is left out."""
    ids = set(listed)
    people = {one for one in ids if not is_group(one)}
    for members in look_up_groups(world, ids - people).values():
        people |= set() if isinstance(members, Unknown) else members
    return sorted(people)


def _tell_platform(world: World, epoch: int, policy: Policy, notice: Notice) -> None:
    """Once for a channel, until its name in the policy changes."""
    to, now = notice.draft.to, world.clock()
    facts = {"channel": to, "code": notice.failure, "approvals": to == policy.approvals.approvals_channel}
    key = f"{NoticeKind.CHANNEL_UNREACHABLE.value}:{to}"
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        draft = NoticeDraft(key, NoticeKind.CHANNEL_UNREACHABLE, policy.approvals.platform_channel, facts)
        new = uow.notices.owe_once(draft, now)
        uow.commit()
    if new:
        world.wake_delivery()


def _tell_admins(world: World, epoch: int, policy: Policy, notice: Notice) -> None:
    """A copy for each admin. Its key begins as the notice's own, so that a refresh reaches the copies too."""
    people = _people(world, policy.approvals.groups[policy.approvals.admins])
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        for person in people:
            copy = replace(notice.draft, key=f"{notice.draft.key}{INSTEAD}{person}", to=person, thread_of=None)
            uow.notices.owe_once(copy, now)
        uow.commit()
    world.wake_delivery()
