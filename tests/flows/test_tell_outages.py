"""Each outage is told once when it has lasted, and its end once, also when one turns into another."""

from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Unavailable
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

DOWN, BACK = "The API server is not answering", "API server back"
KUEUE_DOWN, KUEUE_BACK = "Kueue is not answering", "Kueue back"


def _told(bench: "Bench") -> list[str]:
    """What the platform channel reads, without the times."""
    bench.deliver_all()
    return [text.partition(" since <")[0].partition(" <")[0] for text in bench.texts("C0PLATFORM")]


def _lasts(bench: "Bench", minutes: int) -> None:
    for _ in range(minutes):
        bench.converge()
        bench.pass_time(minutes=1)
    bench.converge()


@pytest.fixture
def lent(bench: "Bench") -> "Bench":
    """Something is to be written, so that it shows when Kueue does not answer."""
    bench.approved(quota.transfer(8))
    return bench


def test_an_outage_and_its_end_are_told_once(lent: "Bench") -> None:
    lent.api_down()
    _lasts(lent, 20)
    lent.kube.faults.clear()
    _lasts(lent, 3)
    assert _told(lent) == [DOWN, BACK]


def test_a_short_outage_is_not_told(lent: "Bench") -> None:
    lent.api_down()
    _lasts(lent, 4)
    lent.kube.faults.clear()
    _lasts(lent, 3)
    assert _told(lent) == []


def test_kueue_that_is_down_when_the_api_server_answers_again_is_an_outage_of_its_own(lent: "Bench") -> None:
    lent.api_down()
    _lasts(lent, 6)
    lent.kube.faults.clear()
    lent.kube.kueue_up = False
    _lasts(lent, 6)
    assert _told(lent) == [DOWN, BACK, KUEUE_DOWN]
    lent.kube.kueue_up = True
    _lasts(lent, 3)
    assert _told(lent) == [DOWN, BACK, KUEUE_DOWN, KUEUE_BACK]


def test_kueue_is_not_said_to_be_back_because_the_api_server_went_down_as_well(lent: "Bench") -> None:
    lent.kube.kueue_up = False
    _lasts(lent, 6)
    lent.api_down()
    _lasts(lent, 6)
    assert _told(lent) == [KUEUE_DOWN, DOWN]
    lent.kube.faults.clear()
    _lasts(lent, 3)
    assert _told(lent) == [KUEUE_DOWN, DOWN, BACK]
    lent.kube.kueue_up = True
    _lasts(lent, 3)
    assert _told(lent) == [KUEUE_DOWN, DOWN, BACK, KUEUE_BACK]


def test_an_interlude_does_not_make_an_outage_younger(lent: "Bench") -> None:
    """Kueue is down for 6 minutes, the API server for 1 of them: one outage is told, with its true begin."""
    lent.kube.kueue_up = False
    began = lent.clock()
    _lasts(lent, 3)
    lent.api_down()
    _lasts(lent, 1)
    lent.kube.faults.clear()
    _lasts(lent, 2)
    assert _told(lent) == [KUEUE_DOWN]
    (key,) = lent.keys("kueue_down:")
    assert lent.facts(key)["since"] == began.isoformat()


def test_the_end_of_an_outage_is_told_although_the_database_failed_then(lent: "Bench") -> None:
    def fail() -> None:
        raise Unavailable("database", "gone")

    _lasts(lent, 1)
    lent.api_down()
    _lasts(lent, 6)
    lent.kube.faults.clear()
    lent.gate.plan(fail, after=2, matches="store.commit")  # the step's own commit passes twice: before and after it
    with pytest.raises(Unavailable):
        lent.converge()
    _lasts(lent, 3)
    assert _told(lent) == [DOWN, BACK]
