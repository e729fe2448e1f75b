"""How loans end, played on the stage: late after a stop, one of several, with work still running."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.core.loans import LoanState
from tests.support.marks import case
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(20) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _away(stage: CaseStage, patch: pytest.MonkeyPatch, before: timedelta, away: timedelta) -> None:
    """The bot is stopped after `before` and started `away` later; the database's clock goes with everybody's."""
    with patch.context() as context:
        context.setattr("bot.adapters.db.leadership.database_now", lambda _: stage.clock())
        stage.clock.move(before)
        stage.stop_bot()
        stage.clock.move(away)
        back = stage.clock()
        stage.start_bot()
        stage.wait("a leader after the gap", lambda: stage.led_since() >= back)


@case("QUO-01")
@pytest.mark.parametrize(
    ("length", "before", "away", "late"),
    [
        pytest.param("2d", 2 * DAY - 10 * MINUTE, 30 * MINUTE, "20 min late", id="the case itself"),
        pytest.param("26h", timedelta(hours=25), timedelta(hours=3), "2 h late", id="hours"),
        pytest.param("2d", timedelta(0), 5 * DAY, "3 days late", id="away from the approval on"),
        pytest.param("30h", 30 * timedelta(hours=1) - MINUTE, 2 * MINUTE, "", id="too little to speak of"),
    ],
)
def test_an_overdue_loan_is_taken_back_once_at_start(
    stage: CaseStage,
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
    length: str,
    before: timedelta,
    away: timedelta,
    late: str,
) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for {length} because paper")
    stage.becomes(**{pair.borrower: NOMINAL + 4, pair.lender: LENT - 4})

    _away(stage, monkeypatch, before, away)

    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    why = [f"{late}: the bot was down"] if late else []
    card = stage.card_says(loan.id, "Ended ", f"{pair.borrower} {NOMINAL + 4} -> {NOMINAL}", *why)
    told = stage.hears(pair.asker, "Ended: 4 a100", f"Quota of {pair.borrower} is {NOMINAL} again", *why)
    assert bool(late) is ("late" in card) is ("late" in told)
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 4, NOMINAL]
    assert stage.nominals_of(pair.lender) == [LENT, LENT - 4, LENT]
    assert stage.count_dms(pair.asker, f"(Q-{loan.id})") == 2, "in force, ended"
    closed = stage.loan(loan.id)
    assert closed is not None
    assert (closed.state, closed.end) == (LoanState.CLOSED, loan.end), "the end is an instant, wherever the bot was"


@case("QUO-01")
def test_several_overdue_loans_are_all_taken_back(stage: CaseStage, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [stage.new_pair() for _ in range(2)]
    for pair, days in zip(pairs, (1, 2), strict=True):
        stage.lent(pair.asker, f"4 from {pair.lender} for {days}d because paper")
        stage.lent(pair.asker, f"3 from {pair.lender} for 9d because paper")

    _away(stage, monkeypatch, timedelta(0), 3 * DAY)

    for pair in pairs:
        stage.becomes(**{pair.borrower: NOMINAL + 3, pair.lender: LENT - 3})
        assert stage.nominals_of(pair.borrower)[-2:] == [NOMINAL + 7, NOMINAL + 3]
        overdue = stage.requests_of(pair.asker)[1]
        stage.hears(pair.asker, f"Ended: 4 a100 (Q-{overdue.id})", "late: the bot was down")
    stage.channel_says("gpu-platform", "The bot was down")


@case("QUO-02")
@pytest.mark.parametrize(
    ("loans", "numbers"),
    [
        pytest.param([(4, 1), (8, 3)], [8, 12, 20, 16, 8], id="the case itself"),
        pytest.param([(8, 3), (4, 1)], [8, 16, 20, 16, 8], id="lent the other way round"),
        pytest.param([(8, 1), (4, 3)], [8, 16, 20, 12, 8], id="the larger one ends first"),
        pytest.param([(2, 3), (3, 2), (5, 1)], [8, 10, 13, 18, 13, 10, 8], id="three, the last one first"),
    ],
)
def test_each_end_takes_its_own_part(
    stage: CaseStage, pair: Pair, loans: list[tuple[int, int]], numbers: list[int]
) -> None:
    for amount, days in loans:
        stage.lent(pair.asker, f"{amount} from {pair.lender} for {days}d because paper")
    for day in range(1, 4):
        stage.clock.move(DAY)
        left = sum(amount for amount, days in loans if days > day)
        stage.becomes(**{pair.borrower: NOMINAL + left, pair.lender: LENT - left})

    assert stage.nominals_of(pair.borrower) == numbers


@case("QUO-02")
@pytest.mark.parametrize("first", ["older", "younger"])
def test_what_is_returned_early_is_its_own_part_too(stage: CaseStage, pair: Pair, first: str) -> None:
    """In any order, and a part before the rest."""
    older = stage.lent(pair.asker, f"6 from {pair.lender} for 2d because paper").id
    younger = stage.lent(pair.mate, f"3 from {pair.lender} for 4d because paper").id
    returns = [(pair.asker, older, 2), (pair.asker, older, 4), (pair.mate, younger, 3)]
    lent = 9
    for who, number, amount in returns if first == "older" else reversed(returns):
        stage.says(who, f"return Q-{number} {amount}")
        lent -= amount
        stage.becomes(**{pair.borrower: NOMINAL + lent, pair.lender: LENT - lent})
        if amount == 2 and first == "older":
            stage.card_says(number, "In force: 4 of 6")


@case("QUO-11")
@pytest.mark.parametrize(
    ("jobs", "above"),
    [
        pytest.param([4, 4, 4], "4 GPUs run on above quota, likely ", id="the case itself"),
        pytest.param([12], "4 GPUs run on above quota, likely ", id="one large job"),
        pytest.param([8, 2, 1], "3 GPUs run on above quota, likely ", id="not all of it"),
        pytest.param([8, 1], "1 GPU runs on above quota, likely ", id="one"),
        pytest.param([8], "", id="nothing above"),
    ],
)
def test_the_end_says_what_runs_on(stage: CaseStage, pair: Pair, jobs: list[int], above: str) -> None:
    """Quota is lowered, nothing is evicted, and nobody is told that devices are back."""
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    names = [stage.runs(pair.borrower, gpus) for gpus in jobs]
    stage.clock.move(2 * DAY)

    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    told = stage.hears(pair.asker, "Ended: 4 a100", f"Quota of {pair.borrower} is {NOMINAL} again")
    back = stage.hears(pair.lender_lead, f"4 a100 of quota are back with {pair.lender}")
    if above:
        assert above in told
        assert any(name in told for name in names)
        assert "Kueue takes them back when" in told
        assert "still in use" in back
        stage.card_says(loan.id, "in use above it")
    else:
        assert "Nothing runs above it" in told
        assert "Nothing of" in back
    for name in names:
        conditions = stage.kube.workload(f"{pair.borrower}-ns", name)["status"]["conditions"]
        assert any(one["type"] == "Admitted" and one["status"] == "True" for one in conditions)
