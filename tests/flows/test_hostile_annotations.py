"""Anybody can edit an annotation: whatever stands there, the bot leads and converges."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.convergence.annotation import FENCE, LOANS
from bot.flows.converge_quota import converge_all
from bot.flows.hold_leadership import hold_leadership
from tests.support import quota
from tests.support.git_queues import in_git

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

WAVE = st.sampled_from([0, 1, 2, 10**14, 10**15 - 1, 10**15, 2**63, 10**20, 10**400]) | st.integers()
NUMBERS = WAVE | WAVE.map(str) | st.none() | st.booleans() | st.floats()
DIGITS = st.sampled_from(["9" * 5000, "9" * 20, "9" * 15, "1" + "0" * 14, "\u0663", "\u00b2", "", "-1", "1", "7"])
NAMES = st.sampled_from(["nlp", "vision", "none such", "", "\ud800", "\x00"])
FENCES = st.text(max_size=20) | st.tuples(DIGITS, DIGITS).map(".".join)
LEGS = st.fixed_dictionaries(
    {
        "d": NUMBERS,
        "k": st.sampled_from(["transfer", "extra", "borrow", "gift"]),
        "o": NAMES | st.none() | NUMBERS,
        "n": NUMBERS,
        "s": st.just("2026-12-01T08:00:00Z") | st.text(max_size=9),
        "e": st.sampled_from(["2026-12-31T08:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"]),
    }
)
FIELDS = st.fixed_dictionaries(
    {
        "base": NUMBERS,
        "wrote": NUMBERS,
        "lend": NUMBERS,
        "legs": st.dictionaries(DIGITS.map("L{}".format), LEGS, max_size=2),
    },
    optional={"seq": NUMBERS},
)
KEYS = st.sampled_from(["a100|nvidia.com/gpu|nominal", "a100|nvidia.com/gpu|borrowingLimit", "\ud800|x|nominal", "a"])
LEASE = timedelta(seconds=30)


def _annotate(bench: "Bench", texts: dict[str, str], queue: str = "nlp") -> None:
    status, _, answer = bench.kube.handle(
        "PATCH",
        f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{queue}",
        {"fieldManager": "somebody"},
        {"content-type": "application/merge-patch+json"},
        {"metadata": {"annotations": texts}},
    )
    assert status == 200, answer


TEXTS = ["", "{", '{"v":1,"by":"other","uid":"u","seq":1,"f":{}}', '{"v":1,"by":"bench","uid":"old","seq":1,"f":{}}']


@pytest.mark.parametrize("text", TEXTS)
def test_any_of_them_on_a_queue_in_git(bench: "Bench", text: str) -> None:
    """It says nothing of any number there, and the loans of other queues begin."""
    bench.policy = in_git("robotics")
    _annotate(bench, {LOANS: text}, "robotics")
    bench.approved(quota.transfer(8))
    bench.converge()
    assert [bench.number(name) for name in ("nlp", "vision")] == [16, 24]


def _goes_on(bench: "Bench", texts: dict[str, str]) -> None:
    _annotate(bench, texts)
    bench.pass_time(seconds=31)
    led = hold_leadership(bench.world, "P2", LEASE)
    assert led is not None
    epochs = [led]

    def lift(fence: int) -> None:
        with bench.world.store.begin() as uow:
            epochs.append(uow.leadership.raise_epoch("P2", epochs[-1], fence))
            uow.commit()

    for _ in range(3):
        converge_all(bench.world, epochs[-1], bench.memory, lift)
    bench.pass_time(seconds=20)
    assert hold_leadership(bench.world, "P2", LEASE) == epochs[-1] < 2**62
    assert not bench.memory.outages


@settings(max_examples=60, deadline=None)
@given(FENCES)
def test_any_fence(new_bench: "Callable[[], Bench]", fence: str) -> None:
    _goes_on(new_bench(), {FENCE: fence})


@settings(max_examples=150, deadline=None)
@given(st.data(), st.dictionaries(KEYS, FIELDS, max_size=2), NUMBERS)
def test_any_loans(new_bench: "Callable[[], Bench]", data: st.DataObject, fields: Any, seq: Any) -> None:
    bench = new_bench()
    uid = bench.world.clusters["default"].read().queues["nlp"].uid
    whole = {"v": 1, "by": "bench", "uid": data.draw(st.just(uid) | NAMES), "seq": seq, "f": fields}
    _goes_on(bench, {LOANS: json.dumps(whole)})


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40) | st.recursive(NUMBERS, lambda part: st.lists(part) | st.dictionaries(NAMES, part)))
def test_any_text(new_bench: "Callable[[], Bench]", text: Any) -> None:
    _goes_on(new_bench(), {LOANS: text if isinstance(text, str) else json.dumps(text)})
