"""A loan that repeats, played on the stage: typed or by the form, decided once, over several of its times."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.core.loans import Loan, LoanState
from bot.demo.slack import View
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
ZURICH = ZoneInfo("Europe/Zurich")


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    """Its leader looks for what is due more often, as the clock of these tests runs fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.app.duties.LOOK_EVERY", timedelta(seconds=0.5))
        with CaseStage(4) as stage:
            yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _times(stage: CaseStage, number: int) -> list[Loan]:
    with stage.bot.world.store.read() as uow:
        return [loan for one in uow.requests.times_of(number) if (loan := uow.loans.get(one.id)) is not None]


def _now(stage: CaseStage) -> datetime:
    return stage.bot.world.clock().astimezone(ZURICH)


def _moves_to(stage: CaseStage, at: datetime) -> None:
    stage.clock.move(at - stage.bot.world.clock())


def _nightly(stage: CaseStage, pair: Pair, nights: int) -> int:
    """Asked for and approved: 2 a100 for 8 hours, each day from two hours after now."""
    begins = _now(stage) + 2 * HOUR
    last = begins + (nights - 1) * DAY
    line = f"2 a100 from {pair.lender} every day {begins:%H:%M} for 8h until {last:%Y-%m-%d} because nightly sweeps"
    number = stage.asks(pair.asker, line).id
    stage.card_says(number, f"every day {begins:%H:%M} for 8 h, {nights} times, last ends ", "nightly sweeps")
    assert stage.presses(pair.lender_lead, number) == f"Your approval of Q-{number} counts."
    assert stage.presses("ada", number) == f"Q-{number} is approved."
    return number


def test_a_series_is_lent_and_returned_time_after_time(stage: CaseStage, pair: Pair) -> None:
    number = _nightly(stage, pair, 3)
    stage.hears(pair.asker, f"approved (Q-{number})", "2 more, the next", "Stop series")
    nights = _times(stage, number)
    assert len(nights) == 3
    for place, night in enumerate(nights, start=1):
        _moves_to(stage, night.start + HOUR / 2)
        stage.becomes(**{pair.borrower: NOMINAL + 2, pair.lender: LENT - 2})
        stage.hears(pair.asker, f"(Q-{night.id}, {place} of 3)")
        stage.card_says(number, f"{place} of 3: In force")
        assert f"Q-{number}" in stage.says(pair.asker, "list")
        _moves_to(stage, night.end + HOUR / 2)
        stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
        stage.hears(pair.asker, f"Ended: 2 a100 (Q-{night.id}, {place} of 3)")
    stage.card_says(number, "3 of 3: Ended")
    assert {one.state for one in _times(stage, number)} == {LoanState.CLOSED}
    assert stage.nominals_of(pair.borrower) == [NOMINAL, *[NOMINAL + 2, NOMINAL] * 3]


def test_stop_series_leaves_what_runs(stage: CaseStage, pair: Pair) -> None:
    number = _nightly(stage, pair, 3)
    first = _times(stage, number)[0]
    _moves_to(stage, first.start + HOUR / 2)
    stage.becomes(**{pair.borrower: NOMINAL + 2, pair.lender: LENT - 2})
    stage.card_says(number, "1 of 3: In force")
    card = stage.find_dm(pair.asker, "nightly sweeps")
    assert card is not None

    def press() -> None:
        stage.slack.press(stage.people[pair.asker], card, "gpuq_request_withdraw")

    stopped = f"Q-{number} is stopped: what has not begun is called off. What is in force runs on."
    stage.wait("Stop series on the card", lambda: "Stop series" in stage.text(card))
    assert stage.answer(pair.asker, press) == stopped
    assert [one.ended_at is None for one in _times(stage, number)] == [True, False, False]
    _moves_to(stage, first.end + HOUR / 2)
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    stage.clock.move(2 * DAY)
    stage.card_says(number, "Ended")
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 2, NOMINAL]


def test_an_admin_ends_all_of_it(stage: CaseStage, pair: Pair) -> None:
    number = _nightly(stage, pair, 2)
    first = _times(stage, number)[0]
    _moves_to(stage, first.start + HOUR / 2)
    stage.becomes(**{pair.borrower: NOMINAL + 2, pair.lender: LENT - 2})
    stage.card_says(number, "1 of 2: In force")
    said = stage.says("ada", f"end Q-{number} because maintenance")
    assert said.startswith(f"Q-{number} is ended: 1 time called off. What was in force goes back.")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    stage.hears(pair.asker, f"stopped (Q-{number})")


def test_the_form_asks_for_a_series(stage: CaseStage, pair: Pair) -> None:
    """What it says at once stands on its field; what needs the zone of the asker comes back with the form."""
    user, begins = stage.people[pair.asker], _now(stage).replace(second=0, microsecond=0) + 2 * HOUR
    stage.types(pair.asker, "request")
    form = stage.wait("the form", lambda: _form(stage, user, "gpuq_form_amount"))
    stage.slack.press(user, form, "gpuq_form_more")
    stage.wait("more of it", lambda: _form(stage, user, "gpuq_form_repeat"))
    filled = {
        "gpuq_form_amount": "2",
        "gpuq_form_lender": pair.lender,
        "gpuq_form_until": "8h",
        "gpuq_form_repeat": "day",
        "gpuq_form_reason": "nightly sweeps",
    }
    unsaid = stage.slack.submit_view(user, filled)
    assert unsaid.field_errors == {
        "gpuq_form_start_at": "Say when the first one starts",
        "gpuq_form_repeat_until": "Say until when it repeats",
    }
    start, last = int(begins.timestamp()), int((begins + 2 * DAY).timestamp())
    too_soon = stage.slack.submit_view(
        user, filled | {"gpuq_form_start_at": start, "gpuq_form_repeat_until": start - 60}
    )
    assert too_soon.field_errors == {"gpuq_form_repeat_until": "This is before the first one starts"}
    timed = filled | {"gpuq_form_start_at": start, "gpuq_form_repeat_until": last}
    assert stage.slack.submit_view(user, timed).acked
    (request,) = stage.wait("the request", lambda: stage.requests_of(pair.asker))
    series = request.ask.series
    assert series is not None
    ends = begins + 8 * HOUR
    assert (series.words, len(series.spans)) == (f"every day {begins:%H:%M} to {ends:%H:%M}", 3)
    assert series.spans[0].start == begins
    stage.card_says(request.id, f"{series.words}, 3 times", "nightly sweeps")


def _form(stage: CaseStage, user: str, field: str) -> View | None:
    """The request form in front of somebody, once it has this field."""
    view = stage.slack.open_view(user)
    has = view is not None and any(block.get("block_id") == field for block in view.blocks)
    return view if has else None
