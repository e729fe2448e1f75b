"""Between a card and the click on it only worse news counts."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.impact import AtRisk, Impact, Move, assess
from bot.core.kueue import ClusterPicture, Preemption, QueueSnapshot
from bot.core.news import WorseNews, worse
from bot.core.requests import Ask
from tests.support.quota import A100, ask, picture, queue, transfer, work

BORROW = assess(ask(4), picture(), ())
TRANSFER = assess(transfer(8), picture(), ())


def lines(shown: Impact, **now: Any) -> tuple[str, ...]:
    news = worse(shown, replace(shown, **now))
    return news.lines if news else ()


@pytest.mark.parametrize("shown", [BORROW, TRANSFER])
def test_the_same_picture_is_no_news(shown: Impact) -> None:
    assert worse(shown, shown) is None
    assert worse(shown, replace(shown, read_at=shown.read_at.replace(hour=14))) is None


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        (4, 0, ("Free: 4 -> 0",)),
        (4, 3, ("Free: 4 -> 3",)),
        (9, 4, ()),  # still enough for the 4 that are asked
        (3, 0, ()),  # was not enough before
        (4, 8, ()),
    ],
)
def test_free_counts_when_it_falls_below_what_is_asked(was: int, is_now: int, said: tuple[str, ...]) -> None:
    assert lines(replace(BORROW, free=was), free=is_now) == said


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"at_risk": (AtRisk("bert-large", 4),), "preemptible": 4}, ("Becomes preemptible: bert-large (4)",)),
        ({"preemptible": 4}, ("Preemptible: 0 -> 4",)),
        ({"lender": Move("nlp", 4, -4)}, ("nlp nominalQuota: 24 -> 4", "nlp has 4, not 8 to lend")),
        ({"lender": Move("nlp", 30, 22)}, ("nlp nominalQuota: 24 -> 30",)),
        ({"borrower": Move("vision", 20, 28)}, ("vision nominalQuota: 16 -> 20",)),
        ({"cohort": None}, ("vision is in no cohort now, was in gpu-pool",)),
        ({"stopped": ("vision",)}, ("vision is stopped: nothing is admitted now",)),
        ({"managed_by": (("nlp", "Argo CD"),)}, ("nlp is managed by Argo CD now",)),
    ],
)
def test_each_sort_of_worse_news_is_a_line(now: dict[str, Any], said: tuple[str, ...]) -> None:
    assert lines(TRANSFER, **now) == said


def test_a_borrowing_limit_that_changed_is_named_as_such() -> None:
    assert lines(BORROW, borrower=Move("vision", 6, 10)) == ("vision borrowingLimit: 4 -> 6",)
    assert lines(BORROW, borrower=Move("vision", None, None)) == ("vision borrowingLimit: 4 -> not set",)


def test_the_parts_are_there_for_the_card() -> None:
    work_now = (AtRisk("old", 4), AtRisk("new", 2))
    shown = replace(TRANSFER, free=8, at_risk=work_now[:1], preemptible=4)
    news = worse(shown, replace(shown, free=0, at_risk=work_now, preemptible=6))
    assert news == WorseNews((8, 0), (AtRisk("new", 2),), ())


def test_borrowed_quota_that_becomes_reclaimable_is_worse_news() -> None:
    shown = replace(BORROW, borrowed_is_reclaimable=False)
    assert lines(shown, borrowed_is_reclaimable=True) == (
        "Kueue may reclaim what is borrowed: another queue is set to now",
    )
    assert lines(BORROW, borrowed_is_reclaimable=False) == ()


QUEUE = st.tuples(st.integers(0, 24), st.sampled_from(["None", "Hold"]), st.sampled_from(["Never", "Any"]))


def world(held: dict[str, tuple[int, str, str]]) -> ClusterPicture:
    sizes = {"nlp": 24, "vision": 16, "robotics": 8}

    def one(name: str) -> QueueSnapshot:
        used, stopped, reclaim = held[name]
        preemption = Preemption(reclaim_within_cohort=reclaim)
        limit = 4 if name == "vision" else None
        return queue(name, sizes[name], used, stop_policy=stopped, preemption=preemption, borrowing=limit)

    return picture(*(one(name) for name in sizes))


WORLDS = st.fixed_dictionaries(dict.fromkeys(("nlp", "vision", "robotics"), QUEUE)).map(world)
ASKS = st.builds(ask, st.integers(1, 12)) | st.builds(transfer, st.integers(1, 12))


@given(ASKS, WORLDS, st.dictionaries(st.sampled_from(["nlp", "vision", "robotics"]), st.integers(0, 24)))
def test_less_use_by_others_is_never_worse(of: Ask, before: ClusterPicture, freed: dict[str, int]) -> None:
    queues = dict(before.queues)
    for name, devices in freed.items():
        left = max(0, queues[name].reserved[A100] - devices)
        queues[name] = replace(queues[name], reserved={A100: left})
    after = replace(before, queues=queues)
    assert worse(assess(of, before, ()), assess(of, after, ())) is None


@given(ASKS, WORLDS, WORLDS)
def test_news_one_way_and_back_again_never_both_about_free(of: Ask, one: ClusterPicture, other: ClusterPicture) -> None:
    first, second = assess(of, one, ()), assess(of, other, ())
    there, back = worse(first, second), worse(second, first)
    assert not (there and there.free and back and back.free)
    assert all(line for news in (there, back) if news for line in news.lines)


def test_running_work_that_starts_between_card_and_click_is_named() -> None:
    before, after = picture(), picture(queue("nlp", 24, 24), queue("vision", 16, borrowing=4))
    news = worse(assess(transfer(8), before, ()), assess(transfer(8), after, (work("late", 8, hours_ago=0.1),)))
    assert news is not None
    assert news.at_risk == (AtRisk("late", 8),)
