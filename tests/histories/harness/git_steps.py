"""Queues that are written in Git: who merges what the bot proposes, and how. Steps of a history, as in steps.py."""

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from bot.core.convergence.facts import FieldName
from bot.core.convergence.proposals import Proposal, ProposalEnd, ProposedField
from bot.core.loans import LoanKind
from tests.histories.harness.steps import BETWEEN, Step, approve_one, ask, others
from tests.histories.harness.town import QUEUES, Town

MANAGER = "argocd-controller"


def queues_in_git(seed: int) -> Sequence[str]:
    """Those of this history: none in two of three, else one or two. A history without them is what it was."""
    draw = random.Random(f"git {seed}")
    return draw.sample(sorted(QUEUES), draw.choice([1, 1, 1, 2])) if draw.random() < 1 / 3 else ()


def open_proposals(town: Town) -> list[Proposal]:
    """Oldest first."""
    return [one for one in town.store.tables.proposals.values() if one.ended is None]


def a_proposal(town: Town) -> Proposal | None:
    """An open one; something is lent first if there is none."""
    for _ in range(3):
        if known := open_proposals(town):
            return town.random.choice(known)
        kind = town.random.choice([LoanKind.BORROW, LoanKind.TRANSFER, LoanKind.TRANSFER])
        ask(town, kind, town.random.choice([1, 2]), at_once=True)
        approve_one(town, presses=4)
        town.tend()
    return None


def make(town: Town, proposal: Proposal, parts: Iterable[ProposedField], off: int = 0) -> None:
    """These numbers are written, all `off` by so much; mostly with the lendingLimit that goes with them."""
    for part in parts:
        limits = {"borrowing" if part.key.name is FieldName.BORROWING_LIMIT else "nominal": part.after.wrote}
        if part.after.lending_wrote != part.before.lending_wrote and town.random.random() < 0.8:
            limits["lending"] = part.after.lending_wrote
        numbers = {name: None if limit is None else str(max(0, limit + off)) for name, limit in limits.items()}
        queue, flavor = proposal.queue, part.key.flavor
        others(town, lambda q=queue, f=flavor, n=numbers: town.sim.hand_edit(q, f, manager=MANAGER, **n))  # type: ignore[misc]


def merge(town: Town) -> None:
    """As it was proposed; sometimes in the middle of a step of the bot's, which may have other plans by then."""
    proposal = a_proposal(town)
    if proposal is None:
        return
    if town.random.random() < 0.5:
        make(town, proposal, proposal.fields)
        return
    if town.random.random() < 0.5:
        until_an_end(town, min)
    gate = town.first.gate
    where = town.random.choice(BETWEEN)
    gate.plan(lambda: make(town, proposal, proposal.fields), after=town.random.randrange(12), matches=where)
    town.tend()
    gate.clear()


def until_an_end(town: Town, which: Callable[[list[datetime]], datetime]) -> None:
    """The first of the loans that run ends, or the last."""
    now = town.clock()
    if ends := [loan.end for loan in town.store.tables.loans.values() if loan.end > now]:
        town.pass_time(which(ends) - now + timedelta(seconds=1))


def merge_half(town: Town) -> None:
    """One of several numbers; of a single one half the difference."""
    proposal = a_proposal(town)
    if proposal is None:
        return
    part = town.random.choice(proposal.fields)
    difference = (part.after.wrote or 0) - (part.before.wrote or 0)
    make(town, proposal, [part], 0 if len(proposal.fields) > 1 else -(difference // 2))


def merge_another(town: Town) -> None:
    """Some other number than the one that was proposed, and sometimes somebody sets it right again."""
    proposal = a_proposal(town)
    if proposal is None:
        return
    part = town.random.choice(proposal.fields)
    make(town, proposal, [part], town.random.choice([-2, -1, 1, 2]))
    if town.random.random() < 0.5:
        town.tend()
    if town.random.random() < 0.3:
        make(town, proposal, [part])


def merge_taken_back(town: Town) -> None:
    """What was withdrawn or replaced, against its word. Where nothing was, the loan of what is open ends first."""
    known = [one for one in town.store.tables.proposals.values() if one.ended not in (None, ProposalEnd.MERGED)]
    if known:
        proposal = town.random.choice(known[-3:])
        make(town, proposal, proposal.fields)
        return
    waiting = a_proposal(town)
    if waiting is None:
        return
    until_an_end(town, max)
    town.tend()
    make(town, waiting, waiting.fields)


def merge_what_waits(town: Town) -> None:
    """For the rest of a history: somebody merges what is open, mostly."""
    for proposal in open_proposals(town):
        if town.random.random() < 0.7:
            make(town, proposal, proposal.fields)


GIT_STEPS: dict[str, Step] = {
    "merge proposal": merge,
    "merge half": merge_half,
    "merge another number": merge_another,
    "merge what was taken back": merge_taken_back,
}
