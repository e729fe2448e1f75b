"""Section 4.6 of the design: what each outcome of a patch does to records and intents."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.landed import REFUSAL_LASTS, Settled, refused, settle, still_refused
from tests.support.convergence.play import Play
from tests.support.convergence.world import EARLY, key_of, queue_of, transfer

A = key_of("a")


@pytest.fixture
def flying(play: Callable[..., Play]) -> Play:
    """The lender's patch is in flight."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch()
    return made


def _settle(play: Play, outcome: PatchOutcome) -> Settled:
    db = play.world.db
    return settle(play.world.flights[-1].intent, outcome, db.records, db.intents.values())


@pytest.mark.parametrize(
    ("outcome", "moved", "closed"),
    [
        (PatchOutcome.APPLIED, True, True),
        (PatchOutcome.CONFLICT, False, True),
        (PatchOutcome.REFUSED, False, True),
        (PatchOutcome.FORBIDDEN, False, True),
        (PatchOutcome.KUEUE_DOWN, False, True),
        (PatchOutcome.UNKNOWN, False, False),
    ],
)
def test_what_an_outcome_proves(flying: Play, outcome: PatchOutcome, moved: bool, closed: bool) -> None:
    settled = _settle(flying, outcome)
    assert [(record.wrote, record.legs, record.seq) for record in settled.records] == (
        [(6, {"L17": -2}, 1)] if moved else []
    )
    assert settled.close is closed


def test_a_late_answer_does_not_overwrite_what_was_learnt_since(flying: Play) -> None:
    intent = flying.world.flights[-1].intent
    newer = replace(flying.record(A), seq=intent.fields[0].seq, base=5)
    assert settle(intent, PatchOutcome.APPLIED, {A: newer}).records == ()


@pytest.mark.parametrize("outcome", list(PatchOutcome))
def test_an_answer_to_an_intent_that_was_decided_already_does_not_count(flying: Play, outcome: PatchOutcome) -> None:
    db = flying.world.db
    assert settle(flying.world.flights[0].intent, outcome, db.records, ()) == Settled((), close=False)


@pytest.mark.parametrize("outcome", list(PatchOutcome))
def test_only_a_patch_that_landed_closes_its_twins(flying: Play, outcome: PatchOutcome) -> None:
    first = flying.world.flights[0].intent
    flying.launch()
    twins = _settle(flying, outcome).twins
    assert twins == ((first.id,) if outcome is PatchOutcome.APPLIED else ())


def test_a_refusal_lasts_until_the_queue_changes_or_some_minutes_pass() -> None:
    queue = queue_of("a", 8)
    refusal = refused(PatchOutcome.REFUSED, queue, "denied the request", EARLY)
    assert refusal is not None
    assert still_refused(refusal, queue, EARLY + timedelta(minutes=9))
    assert not still_refused(refusal, queue, EARLY + REFUSAL_LASTS)
    assert not still_refused(refusal, replace(queue, resource_version="2"), EARLY)
    assert not still_refused(refusal, None, EARLY)
    assert refused(PatchOutcome.CONFLICT, queue, "", EARLY) is None
