"""Deliberate mistakes, one at a time: what a hurried change to the bot might do. The oracle must see each."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.adapters.kube import cluster as kube_cluster
from bot.core import escalations, membership, overcommit
from bot.core.convergence import answers, order, planner, steps, wants
from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import AnswerKind, FieldName
from bot.core.convergence.goals import LoanGoal
from bot.core.convergence.landed import Settled
from bot.core.convergence.observe import Look, Meaning
from bot.core.errors import Unavailable
from bot.core.loans import LoanState
from bot.core.series import Series
from bot.flows import (
    answer_idle,
    answer_offer,
    ask_back,
    converge_quota,
    gather,
    make_offer,
    offer_idle,
    overcommit_tick,
    plan_quota,
    record_decision,
    submit_request,
)
from bot.ports.chat import PostUnknown
from bot.views import parts
from tests.histories.harness import mistakes_evictions as evictions
from tests.histories.harness import mistakes_git as git
from tests.support.fakes import chat, store
from tests.support.fakes.cluster import InProcessApi
from tests.support.fakes.leadership import FakeLeadership

Patch = pytest.MonkeyPatch
Mistake = Callable[[Patch], None]


def old_number_at_the_end(patch: Patch) -> None:
    """When a loan ends the number from before it comes back, whatever else was lent meanwhile."""
    right = planner.step_of

    def step_of(look: Any, goals: Any) -> Any:
        step = right(look, goals)
        ended = look.record.legs.keys() - step.legs.keys()
        return replace(step, number=look.record.base) if ended and step.legs else step

    patch.setattr(planner, "step_of", step_of)


def borrower_first(patch: Patch) -> None:
    """Everything is written at once, whichever side has landed."""
    patch.setattr(steps, "_step_of_leg", lambda _look, _goal, _now, target: (target, None))
    patch.setattr(order._Group, "blocker", lambda *_: None)


def pause_is_forgotten(patch: Patch) -> None:
    """Convergence goes on while quota changes are paused."""
    right = planner._know
    patch.setattr(planner, "_know", lambda facts: right(replace(facts, paused=False)))


def writes_in_question(patch: Patch) -> None:
    """An unexplained number is written like any other."""
    frozen = property(lambda look: look.unwritable is not None or look.meaning in (Meaning.GONE, Meaning.UNREAD))
    patch.setattr(Look, "frozen", frozen)


def edits_are_base(patch: Patch) -> None:
    """What somebody else wrote is taken for the new base without asking."""
    right = planner.look_at

    def look_at(*args: Any) -> Any:
        look = right(*args)
        if look.meaning is not Meaning.QUESTION:
            return look
        record = replace(look.record, uid=look.record.uid, base=look.live, legs={}, wrote=look.live, question=None)
        return replace(look, meaning=Meaning.FOLLOWS, record=record, embodied={})

    patch.setattr(planner, "look_at", look_at)


def anybody_approves(patch: Patch) -> None:
    """Nobody looks who is in the group of the step."""
    right = membership.may_approve

    def may_approve(policy: Any, person: Any, request: Any, approvals: Any, groups: Any) -> Any:
        allowed = right(policy, person, request, approvals, groups)
        step = membership.open_step(request.steps, approvals)
        return membership.Allowed(step or 0) if isinstance(allowed, membership.NotAllowed) else allowed

    patch.setattr(record_decision, "may_approve", may_approve)


def anybody_denies(patch: Patch) -> None:
    """Deny needs no right."""
    patch.setattr(record_decision, "may_deny", lambda *_: None)


def own_request(patch: Patch) -> None:
    """The requester is one of the approvers like any other."""
    patch.setattr(membership, "_barred", lambda *_: None)


def approves_twice(patch: Patch) -> None:
    """Two clicks of one person are two approvals."""
    patch.setattr(membership, "_gave_already", lambda *_: None)

    def approve(self: Any, approval: Any) -> None:
        self._tables.approvals += (approval,)

    patch.setattr(store.FakeRequests, "approve", approve)
    patch.setattr(membership, "open_step", _open_step_by_count)
    patch.setattr(record_decision, "open_step", _open_step_by_count)


def _open_step_by_count(wanted: Any, approvals: Any) -> int | None:
    for index, step in enumerate(wanted):
        if sum(approval.step == index for approval in approvals) < step.count:
            return index
    return None


def unknown_group_is_everybody(patch: Patch) -> None:
    """A group that could not be looked up stops nobody."""
    right = membership._has

    def has(people: Iterable[str], user: str, groups: Mapping[str, Any]) -> bool:
        people = tuple(people)
        unknown = any(isinstance(groups.get(one), membership.Unknown) for one in people)
        return unknown or right(people, user, groups)

    patch.setattr(membership, "_has", has)


def no_compare_and_set(patch: Patch) -> None:
    """The later of two decisions overwrites the earlier."""

    def update(self: Any, request: Any) -> Any:
        stored = replace(request, version=request.version + 1)
        self._tables.requests[request.id] = stored
        return stored

    def add(self: Any, loan: Any) -> Any:
        self._tables.loans[loan.id] = replace(loan, version=1)
        return self._tables.loans[loan.id]

    patch.setattr(store.FakeRequests, "update", update)
    patch.setattr(store.FakeLoans, "add", add)


def refusals_are_not_noted(patch: Patch) -> None:
    """A press that does not count leaves no trace."""
    patch.setattr(record_decision, "refusals_audited", lambda *_: nullcontext())


def history_is_not_read(patch: Patch) -> None:
    """Whoever finds a claim without a record posts again."""
    patch.setattr(chat.Session, "find", lambda *_: None)


def lost_post_is_a_failure(patch: Patch) -> None:
    """A post whose answer was lost counts as not posted."""
    right = chat.Session.post

    def post(self: Any, *args: Any) -> Any:
        try:
            return right(self, *args)
        except PostUnknown as error:
            raise Unavailable("Slack", "no answer") from error

    patch.setattr(chat.Session, "post", post)


def siblings_are_dropped(patch: Patch) -> None:
    """The entry is replaced as a whole, as a merge patch of the list does."""
    right = kube_cluster.operations

    def operations(change: Any) -> Any:
        made = list(right(change))
        for key, number in change.numbers.items():
            if key.name is FieldName.NOMINAL:
                i, j, k = change.queue.quotas[key.flavor_resource].path
                entry = {"name": key.resource, "nominalQuota": str(number)}
                path = f"/spec/resourceGroups/{i}/flavors/{j}/resources/{k}"
                made = [one for one in made if one["op"] == "test" or not one["path"].startswith(path)]
                made.append({"op": "replace", "path": path, "value": entry})
        return made

    patch.setattr(kube_cluster, "operations", operations)


def no_test_of_the_version(patch: Patch) -> None:
    """The patch does not test the resourceVersion it was planned on."""
    right = kube_cluster.operations
    patch.setattr(kube_cluster, "operations", lambda change: list(right(change))[1:])


def loans_stay_open(patch: Patch) -> None:
    """A loan that was given back is never closed."""
    patch.setattr(planner, "_close", lambda loan, _left: loan)


def loans_never_end(patch: Patch) -> None:
    """The end is somebody else's business."""
    right = wants.by_the_clock

    def by_the_clock(loan: Any, now: Any) -> Any:
        clocked = right(loan, now)
        return loan if clocked.state is LoanState.RETURNING and loan.state is LoanState.RUNNING else clocked

    patch.setattr(planner, "by_the_clock", by_the_clock)


def the_end_moves_when_asked(patch: Patch) -> None:
    """An extension counts before anybody has approved it."""
    right = submit_request.check_extension

    def check_extension(uow: Any, ask: Any, number: int, now: Any) -> None:
        right(uow, ask, number, now)
        uow.loans.update(replace(uow.loans.get(number), end=ask.until))

    patch.setattr(submit_request, "check_extension", check_extension)


def markup_in_text(patch: Patch) -> None:
    """Other people's words reach `text` as they are."""
    patch.setattr(parts, "inert", lambda text: text)


def lost_answer_is_a_failure(patch: Patch) -> None:
    """A patch whose answer was lost counts as not landed."""
    right = converge_quota.settle

    def settle(intent: Any, outcome: Any, records: Any) -> Any:
        return Settled((), close=True) if outcome is PatchOutcome.UNKNOWN else right(intent, outcome, records)

    patch.setattr(converge_quota, "settle", settle)


def patch_is_sent_again(patch: Patch) -> None:
    """The HTTP client tries a patch again by itself: the second answer proves nothing about the first try."""
    right = InProcessApi.request

    def request(self: Any, method: str, *args: Any) -> Any:
        try:
            return right(self, method, *args)
        except Unavailable:
            if method != "PATCH":
                raise
            return right(self, method, *args)

    patch.setattr(InProcessApi, "request", request)


def included_forgets_the_loans(patch: Patch) -> None:
    """The answer "it includes the loans" is taken for "it is the new base"."""
    right = answers._answered

    def answered(record: Any, live: int, kind: Any) -> Any:
        return right(record, live, AnswerKind.NEW_BASE if kind is AnswerKind.INCLUDED else kind)

    patch.setattr(answers, "_answered", answered)


def anybody_answers(patch: Patch) -> None:
    """Everybody is an admin."""
    right = gather.roles_of

    def roles_of(*args: Any) -> Any:
        return replace(right(*args), admin=True)

    patch.setattr(gather, "roles_of", roles_of)


def anybody_accepts(patch: Patch) -> None:
    """Whoever finds the button may press it."""
    patch.setattr(answer_offer, "check_theirs", lambda *_: None)


def offers_more(patch: Patch) -> None:
    """An offer may give more than was asked for."""
    patch.setattr(make_offer, "check_less", lambda *_: None)


def void_offers_are_accepted(patch: Patch) -> None:
    """The offer is not compared when it is settled."""

    def update(self: Any, offer: Any) -> Any:
        self._tables.offers[offer.id] = replace(offer, version=offer.version + 1)
        return self._tables.offers[offer.id]

    patch.setattr(store.FakeOffers, "update", update)


def series_misses_its_last_time(patch: Patch) -> None:
    """All but one of its times are granted."""
    right = Series.left
    patch.setattr(Series, "left", lambda series, now: right(series, now)[:-1] or right(series, now))


def no_fence(patch: Patch) -> None:
    """A raise does not wait for a patch under way on the other side."""
    patch.setattr(steps, "is_firm", lambda _look, _leg: True)


def epoch_is_not_checked(patch: Patch) -> None:
    """Whoever once led goes on."""
    patch.setattr(FakeLeadership, "check", lambda _self, _epoch: None)


def asks_all_the_time(patch: Patch) -> None:
    """An idle loan is asked about whenever somebody looks."""
    patch.setattr(offer_idle, "is_quiet", lambda *_: False)


def anybody_returns(patch: Patch) -> None:
    """Whoever finds the button under an idle loan may press it."""
    patch.setattr(answer_idle, "check_theirs", lambda *_: None)


def returns_what_is_used(patch: Patch) -> None:
    """What was unused when it was asked counts as unused when it is returned."""
    patch.setattr(answer_idle, "_unused_now", lambda _world, offer, _loan: offer.amount)


def extra_without_tick(patch: Patch) -> None:
    """An extra loan is approved like any other, whatever the nodes have."""
    patch.setattr(record_decision, "tick_note", lambda *_, **__: None)


def extra_counts_itself_only(patch: Patch) -> None:
    """What other extra loans promise already is forgotten."""
    patch.setattr(overcommit, "on_extra_loan", lambda *_: 0)
    patch.setattr(overcommit_tick, "on_extra_loan", lambda *_: 0)


def resource_quota_is_forgotten(patch: Patch) -> None:
    """Only the queues go up and down."""
    patch.setattr(plan_quota, "beside", lambda *_: {})


def resource_quota_stays_up(patch: Patch) -> None:
    """What was raised once is not lowered."""
    patch.setattr(LoanGoal, "room_beside", property(lambda goal: max(goal.wanted, _raised(goal))))


def _raised(goal: LoanGoal) -> int:
    return 0 if goal.beside is None else goal.beside.embodied.get(goal.leg, 0)


def anybody_asks_back(patch: Patch) -> None:
    """Whoever knows the number of a loan may ask for it back."""
    patch.setattr(ask_back, "why_not", lambda *_: None)


def consent_is_escalated(patch: Patch) -> None:
    """Others may lend what is the lender's."""
    patch.setattr(escalations, "asks_lender", lambda *_: False)


def escalated_before_anybody_could_answer(patch: Patch) -> None:
    """The time without an answer is not looked at."""
    patch.setattr(escalations, "worked", lambda *_: timedelta(days=1))


def _named(*mistakes: Mistake) -> dict[str, Mistake]:
    return {mistake.__name__.replace("_", " "): mistake for mistake in mistakes}


MISTAKES = _named(
    old_number_at_the_end,
    borrower_first,
    pause_is_forgotten,
    writes_in_question,
    edits_are_base,
    anybody_approves,
    anybody_denies,
    own_request,
    approves_twice,
    refusals_are_not_noted,
    history_is_not_read,
    lost_post_is_a_failure,
    siblings_are_dropped,
    loans_stay_open,
    loans_never_end,
    the_end_moves_when_asked,
    markup_in_text,
    included_forgets_the_loans,
    anybody_answers,
    anybody_accepts,
    offers_more,
    asks_all_the_time,
    series_misses_its_last_time,
    extra_without_tick,
    evictions.grace_is_cut_short,
    evictions.eviction_is_not_announced,
    evictions.everything_is_evicted,
    git.git_is_written,
    git.proposed_counts_as_merged,
    git.taken_back_is_forgotten,
    resource_quota_is_forgotten,
    resource_quota_stays_up,
    anybody_asks_back,
    consent_is_escalated,
    escalated_before_anybody_could_answer,
)
"""By the names under which the run says what caught them. Each shows within a few histories."""
RARE = _named(
    unknown_group_is_everybody,
    no_compare_and_set,
    no_test_of_the_version,
    lost_answer_is_a_failure,
    patch_is_sent_again,
    void_offers_are_accepted,
    no_fence,
    epoch_is_not_checked,
    extra_counts_itself_only,
    anybody_returns,
    returns_what_is_used,
    evictions.evicts_while_paused,
    evictions.undoes_what_others_did,
    git.leaps_wait_for_nobody,
)
"""These need a rare meeting of faults; looked for only when `HISTORIES_FOR_RARE` says in how many histories."""
