"""What an answer to a PATCH proves, over every answer that real servers were recorded to give."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.kube.answers import WORDS_LIMIT, classify, words
from bot.adapters.kube.client import Answer
from bot.core.convergence.changes import PatchOutcome

CAPTURES = Path(__file__).parents[2] / "captures"

NOT_LANDED = {
    "borrowingLimit without cohort": PatchOutcome.REFUSED,
    "lendingLimit without cohort": PatchOutcome.REFUSED,
    "lendingLimit > nominalQuota": PatchOutcome.REFUSED,
    "negative nominalQuota": PatchOutcome.REFUSED,
    "nominalQuota not a quantity": PatchOutcome.REFUSED,
    "reclaimWithinCohort=Never + borrowWithinCohort": PatchOutcome.REFUSED,
    "preemption enum bad": PatchOutcome.REFUSED,
    "resources order differs from coveredResources": PatchOutcome.REFUSED,
    "missing a covered resource": PatchOutcome.REFUSED,
    "same resource in two groups": PatchOutcome.REFUSED,
    "same, fieldValidation=Strict": PatchOutcome.REFUSED,
    "json patch: test STRING '12'": PatchOutcome.CONFLICT,
    "json patch: test fails (stale value)": PatchOutcome.CONFLICT,
    "json patch: test metadata.resourceVersion stale": PatchOutcome.CONFLICT,
    "json patch: path does not exist (flavor index 7)": PatchOutcome.CONFLICT,
    "json patch: nominal below lendingLimit": PatchOutcome.REFUSED,
    "json patch null value": PatchOutcome.REFUSED,
    "json patch malformed (not a list)": PatchOutcome.REFUSED,
    "merge patch: partial resourceGroups (only one flavor, only gpu)": PatchOutcome.REFUSED,
    "merge patch: stale resourceVersion": PatchOutcome.CONFLICT,
    "strategic merge patch on a CR": PatchOutcome.UNKNOWN,
    "merge patch: remove cohort while borrowingLimit/lendingLimit set": PatchOutcome.REFUSED,
    "merge patch: unknown field, fieldValidation=Strict": PatchOutcome.REFUSED,
    "PUT stale resourceVersion": PatchOutcome.CONFLICT,
    "SSA single flavor/resource, no force": PatchOutcome.CONFLICT,
    "SSA single flavor/resource, force=true": PatchOutcome.REFUSED,
    "SSA whole resourceGroups, no force (owned by others)": PatchOutcome.CONFLICT,
    "SSA without fieldManager": PatchOutcome.REFUSED,
    "SSA again by quota-bot with 31 (conflict with other)": PatchOutcome.CONFLICT,
    "merge patch stopPolicy bad": PatchOutcome.REFUSED,
    "cohort borrowingLimit without parent": PatchOutcome.REFUSED,
    "patch missing CQ": PatchOutcome.CONFLICT,
    "forbidden (RBAC)": PatchOutcome.FORBIDDEN,
    "forbidden list": PatchOutcome.FORBIDDEN,
    "unauthorized": PatchOutcome.FORBIDDEN,
    "visibility: unknown CQ": PatchOutcome.CONFLICT,
    "PATCH CQ while Kueue down": PatchOutcome.KUEUE_DOWN,
    "PATCH CQ dryRun while Kueue down": PatchOutcome.KUEUE_DOWN,
    "GET CQ v1beta1 (conversion) while down": PatchOutcome.UNKNOWN,
    "create Job while down": PatchOutcome.KUEUE_DOWN,
    "create plain pod without queue label while down": PatchOutcome.KUEUE_DOWN,
    "visibility API while down": PatchOutcome.UNKNOWN,
}


def _recorded() -> Iterator[dict[str, Any]]:
    for name in ("kueue-responses.json", "kueue-down-responses.json"):
        yield from json.loads((CAPTURES / name).read_text())


def _answer(entry: dict[str, Any]) -> Answer:
    body = entry["response"]
    return Answer(entry["status"], body if isinstance(body, dict) else {})


@pytest.mark.parametrize("entry", list(_recorded()), ids=lambda entry: entry["case"])
def test_a_recorded_answer_is_classified(entry: dict[str, Any]) -> None:
    if entry["status"] == 200:
        assert classify(_answer(entry)) is PatchOutcome.APPLIED
    elif entry["status"] != 201:
        assert classify(_answer(entry)) is NOT_LANDED[entry["case"]]


def test_the_table_has_every_recorded_failure_and_nothing_else() -> None:
    assert NOT_LANDED.keys() == {entry["case"] for entry in _recorded() if entry["status"] not in {200, 201}}


@pytest.mark.parametrize("status", [408, 410, 500, 502, 503, 504])
def test_whatever_proves_nothing_is_unknown(status: int) -> None:
    assert classify(Answer(status, {"message": "etcdserver: request timed out"})) is PatchOutcome.UNKNOWN


def test_an_overloaded_server_has_not_looked_at_the_patch() -> None:
    assert classify(Answer(429, {"message": "Too many requests"})) is PatchOutcome.CONFLICT


def test_a_user_called_like_a_webhook_is_not_one() -> None:
    """Only the beginning of the message counts: the rest can quote anything."""
    text = 'clusterqueues "q" is forbidden: User "admission webhook" cannot patch resource'
    assert classify(Answer(403, {"message": text})) is PatchOutcome.FORBIDDEN


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "no"}, "no"),
        ({}, "status 500"),
        ({"message": None}, "status 500"),
        ({"message": "x" * WORDS_LIMIT}, "x" * WORDS_LIMIT),
        ({"message": "x" * 5000}, "x" * (WORDS_LIMIT - 1) + "…"),
    ],
)
def test_words_are_the_servers_own_and_short(body: dict[str, Any], said: str) -> None:
    assert words(Answer(500, body)) == said
