"""`prolong`: announced work gets its grace once more, from whoever lent the quota, or an admin."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Refused
from bot.core.evictions import EvictionState
from bot.flows.evict_work import evict_work
from bot.flows.prolong_grace import prolong_grace
from bot.views.evictions import prolonged
from tests.support import quota
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOUR = timedelta(hours=1)
RULE = {"name": "evicts", "then": {"steps": [{"who": "group gpu-admins"}]}, "at_end": "evict"}


def look(bench: "Bench", **later: float) -> None:
    bench.pass_time(**later)
    bench.epoch = bench.lead("P1")
    bench.converge()
    evict_work(bench.world, bench.epoch, {})
    bench.kube.reconcile()
    bench.deliver_all(within=30)


@pytest.fixture
def number(bench: "Bench") -> int:
    """A loan of nlp to vision that is over; the work above quota was announced."""
    bench.policy = quota.with_rules(RULE)
    bench.kube.add_local_queue("vision-train", "main", "vision")
    number = bench.approved(quota.transfer(8, duration=HOUR))
    with bench.world.store.begin() as uow:
        request = uow.requests.get(number)
        assert request is not None
        uow.requests.update(replace(request, rule="evicts"))
        uow.commit()
    bench.converge()
    for name, gpus in (("base", 16), ("sweep", 8)):
        bench.kube.submit_job("vision-train", name, "main", gpus)
        bench.kube.reconcile()
        bench.pass_time(seconds=1)
    look(bench, hours=1)
    assert bench.store.tables.evictions[number].state is EvictionState.ANNOUNCED
    return number


def active(bench: "Bench") -> bool:
    return bool(bench.kube.workload("vision-train", "sweep")["spec"].get("active", True))


@pytest.mark.parametrize("who", ["U0LEADNLP", "U0ADMIN"])
def test_it_runs_for_one_grace_more_and_the_announcement_says_until_when(bench: "Bench", number: int, who: str) -> None:
    due = bench.store.tables.evictions[number].due
    assert due is not None
    moved = prolong_grace(bench.world, number, who, bench.arrival("prolong"))
    assert moved.due == due + HOUR
    assert seen(prolonged(moved))[0].startswith("sweep (8 a100) may run until Wed 2 Dec")
    before = [one.message.text for one in bench.posted("U0VISION") if "is evicted" in one.message.text]
    look(bench)
    after = [one.message.text for one in bench.posted("U0VISION") if "is evicted" in one.message.text]
    assert len(before) == len(after) == 1
    assert before != after, "the same message, with the new time"
    look(bench, hours=1)
    assert active(bench)
    look(bench, hours=1)
    assert not active(bench)


def test_it_is_given_once(bench: "Bench", number: int) -> None:
    prolong_grace(bench.world, number, "U0ADMIN", bench.arrival("first"))
    with pytest.raises(Refused, match="was prolonged already"):
        prolong_grace(bench.world, number, "U0LEADNLP", bench.arrival("second"))
    said = [entry.what for entry in bench.store.tables.audit if "prolong" in entry.what]
    assert said == ["prolong", "refused prolong"]


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("U0VISION", "Q-1 is yours: somebody else decides"),
        ("U0LEADVISION", "Only the nlp lead and gpu-admins can prolong the grace"),
        ("U0ROBOTICS", "Only the nlp lead and gpu-admins"),
    ],
)
def test_nobody_else_can(bench: "Bench", number: int, who: str, words: str) -> None:
    due = bench.store.tables.evictions[number].due
    with pytest.raises(Refused, match=words):
        prolong_grace(bench.world, number, who, bench.arrival("no"))
    assert bench.store.tables.evictions[number].due == due


def test_only_what_is_announced_and_not_over_yet(bench: "Bench", number: int) -> None:
    with pytest.raises(Refused, match="No work is announced for eviction at the end of Q-99"):
        prolong_grace(bench.world, 99, "U0ADMIN", bench.arrival("none"))
    bench.pass_time(hours=1)
    with pytest.raises(Refused, match="The grace of Q-1 is over already"):
        prolong_grace(bench.world, number, "U0ADMIN", bench.arrival("late"))
