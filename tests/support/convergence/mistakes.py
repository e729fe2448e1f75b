"""Mistakes put into the planner (or the executor) on purpose: each must be caught by the explorer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot.core.convergence import goals, intents, observe, order, planner, steps, views, writes
from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import Intent
from bot.core.convergence.intents import SortedIntents
from bot.core.convergence.observe import Look, Meaning
from tests.support.convergence.world import World

Patch = pytest.MonkeyPatch


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, and how to make it."""

    name: str
    make: Callable[[Patch], None]
    where: str
    """The scenario it shows in soonest."""


def _replace(module: Any, name: str, make: Callable[[Any], Any]) -> Callable[[Patch], None]:
    def patch(patcher: Patch) -> None:
        patcher.setattr(module, name, make(getattr(module, name)))

    return patch


def _close_all_of_this_version(patcher: Patch) -> None:
    answered = World.answered

    def careless(world: World, intent: Intent, outcome: PatchOutcome) -> None:
        answered(world, intent, outcome)
        if outcome is PatchOutcome.CONFLICT:
            twins = [i.id for i in world.db.intents.values() if i.resource_version == intent.resource_version]
            world.db = world.db.close(*twins)

    patcher.setattr(World, "answered", careless)


def _never_landed(real: Callable[..., SortedIntents]) -> Callable[..., SortedIntents]:
    def sort(*args: Any) -> SortedIntents:
        right = real(*args)
        return replace(right, undecided=(), decided=(*right.decided, *right.undecided))

    return sort


def _close_without_asking(real: Callable[..., Any]) -> Callable[..., Any]:
    """Base follows although nobody knows whether a patch landed."""

    def judge(seen: Any, queue: Any, live: int, record: Any) -> Any:
        if not record.legs and record.question is None:
            undecided = intents.parts(seen.view.sorted.undecided, record.key, record.seq)
            return Meaning.FOLLOWS, observe._close(record, queue, live, undecided)
        return real(seen, queue, live, record)

    return judge


def _ours_whatever_it_is(_: object) -> Callable[..., Any]:
    """The old value is put back over what somebody else wrote."""

    def judge(seen: Any, queue: Any, live: int, record: Any) -> Any:
        undecided = intents.parts(seen.view.sorted.undecided, record.key, record.seq)
        if record.legs:
            return Meaning.OURS, observe._keep(replace(record, uid=queue.uid, wrote=live), queue, undecided)
        return Meaning.FOLLOWS, observe._close(record, queue, live, undecided)

    return judge


def _questions_are_free(patcher: Patch) -> None:
    patcher.setattr(
        Look,
        "frozen",
        property(lambda look: look.unwritable is not None or look.meaning in (Meaning.GONE, Meaning.UNREAD)),
    )


def _closing_write_is_an_edit(real: Callable[..., Any]) -> Callable[..., Any]:
    def judge(seen: Any, queue: Any, live: int, record: Any) -> Any:
        meaning, after = real(seen, queue, live, record)
        undecided = intents.parts(seen.view.sorted.undecided, record.key, record.seq)
        if meaning is Meaning.CLOSED and any(not part.legs and part.wrote == live for part in undecided):
            return Meaning.QUESTION, observe._ask(observe._at_worst(record, undecided), queue, live, seen.now)
        return meaning, after

    return judge


def _ignore_uid(real: Callable[..., bool]) -> Callable[..., bool]:
    return lambda record, queue, live, undecided: real(replace(record, uid=queue.uid), queue, live, undecided)


def _guess_is_certain(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda record, undecided: replace(real(record, undecided), uid=record.uid)


def _at_best(_: object) -> Callable[..., Any]:
    """Undecided patches are taken for not landed, but asked about."""
    return lambda record, undecided: replace(record, uid=None, seq=max(part.seq for part in undecided))


def _lean_on_nothing(_: object) -> Callable[..., Any]:
    return lambda look, goal, now, target: (target, None)


def _step_per_number(real: Callable[..., Any]) -> Callable[..., Any]:
    """Legs of one patch are not told apart: what goes down as a whole needs nobody."""

    def step(look: Any, all_goals: Any) -> Any:
        goal = all_goals.legs.get(look.key, {})
        number = look.record.base + sum(goal.values())
        if 0 <= number <= look.live:
            return steps.Step(look, {leg: size for leg, size in goal.items() if size}, number)
        return real(look, all_goals)

    return step


def _keep_without_lender(real: Callable[..., None]) -> Callable[..., None]:
    def beside(goal: Any, lender_frozen: bool, borrower_frozen: bool) -> None:
        real(goal, lender_frozen, borrower_frozen)
        if lender_frozen and not borrower_frozen:
            goal.received = goal.wanted

    return beside


def _number_again(_: object) -> Any:
    """Every write of a queue has the same number."""
    return staticmethod(lambda looks: 0)


def _forget_numbers_of_the_gone(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda view, key, stored: replace(real(view, key, stored), seq=0)


def _trust_old_annotation(real: Callable[..., Any]) -> Callable[..., Any]:
    """The annotation is not read for what landed."""

    def catch_up(view: Any, queue: Any, key: Any, live: int, stored: Any) -> Any:
        return stored if stored is not None else real(view, queue, key, live, stored)

    return catch_up


def _any_database(patcher: Patch) -> None:
    patcher.setattr(World, "unchanged", lambda world, seen: not world.lost)


def _holds_all(_: object) -> Callable[..., Mapping[str, int]]:
    return lambda record, live: dict(record.legs)


def _skip_the_fence(patcher: Patch) -> None:
    """Patches under way are forgotten, by legs and by numbers."""
    patcher.setattr(steps, "is_firm", lambda look, leg: True)
    patcher.setattr(order, "_writes_above_goal", lambda look, goals: False)


def _holds_nothing(_: object) -> Callable[..., Mapping[str, int]]:
    return lambda record, live: {}


MISTAKES = (
    Mistake("skip the fence", _skip_the_fence, "back and forth"),
    Mistake("up before down", _replace(order._Group, "blocker", lambda _: lambda *args: None), "chain"),
    Mistake("put the old value back", _replace(observe, "_judge", _ours_whatever_it_is), "two flavors and a limit"),
    Mistake("close all intents with this resourceVersion", _close_all_of_this_version, "chain"),
    Mistake(
        "ignore generation: an unknown patch never landed", _replace(views, "sort_intents", _never_landed), "chain"
    ),
    Mistake("use a number again", _replace(writes.Scribe, "highest", _number_again), "in doubt"),
    Mistake("write while in question", _questions_are_free, "two flavors and a limit"),
    Mistake(
        "fall without what covers it", _replace(steps, "_fall_less", lambda _: lambda legs, now, below: legs), "chain"
    ),
    Mistake(
        "take the closing write for an edit", _replace(observe, "_judge", _closing_write_is_an_edit), "late patches"
    ),
    Mistake("base follows with undecided intents", _replace(observe, "_judge", _close_without_asking), "pair"),
    Mistake("ignore uid", _replace(observe, "_is_ours", _ignore_uid), "two flavors and a limit"),
    Mistake(
        "raise on a counterpart that has not landed", _replace(steps, "_step_of_leg", _lean_on_nothing), "give and take"
    ),
    Mistake("a guess is certain", _replace(observe, "_at_worst", _guess_is_certain), "in doubt"),
    Mistake("count undecided patches at best", _replace(observe, "_at_worst", _at_best), "give and take"),
    Mistake("step per number instead of per leg", _replace(planner, "step_of", _step_per_number), "give and take"),
    Mistake("keep what the lender does not give", _replace(goals, "_beside_frozen", _keep_without_lender), "pair"),
    Mistake(
        "a number in question holds nothing", _replace(observe, "embodied_in_question", _holds_nothing), "in doubt"
    ),
    Mistake("a number in question holds all", _replace(observe, "embodied_in_question", _holds_all), "pair"),
    Mistake(
        "forget the numbers of what is gone", _replace(observe, "_gone", _forget_numbers_of_the_gone), "gone and back"
    ),
    Mistake(
        "do not read what landed from the annotation",
        _replace(observe, "_catch_up", _trust_old_annotation),
        "late patches",
    ),
    Mistake("store over newer rows", _any_database, "pair"),
    Mistake(
        "raise the queue before the ResourceQuota",
        _replace(steps, "_room", lambda _: lambda look, goal, target: target),
        "a ResourceQuota and late patches",
    ),
    Mistake(
        "lower the ResourceQuota with a patch under way",
        _replace(steps, "_step_beside", lambda _: lambda goal, now, target: (target, None)),
        "a ResourceQuota beside the borrower",
    ),
    Mistake(
        "lower the ResourceQuota before the queue",
        _replace(goals.LoanGoal, "room_beside", lambda _: property(lambda goal: goal.received)),
        "a ResourceQuota and late patches",
    ),
)
