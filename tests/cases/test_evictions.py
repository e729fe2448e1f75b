"""Work that is evicted at a loan's end, played on the stage: announced, done, or extended before."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.stage import LENT, NOMINAL, CaseStage, Pair, Policy

HOUR = timedelta(hours=1)


def _evicts(policy: Policy) -> None:
    for rule in policy["approvals"]["rules"]:
        rule |= {"at_end": "evict", "grace": "2h"}


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(4, edit=_evicts) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _ended(stage: CaseStage, pair: Pair) -> tuple[int, str]:
    """A loan that is over, and the one job on it that is announced."""
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 1d because paper")
    stage.runs(pair.borrower, NOMINAL)
    stage.clock.move(timedelta(minutes=1))
    sweep = stage.runs(pair.borrower, 4)
    stage.clock.move(timedelta(days=1))
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    told = stage.hears(pair.asker, f"{sweep} (4 GPUs) is evicted", f"The loan Q-{loan.id} ended")
    assert "its policy gives 2 h" in told
    return loan.id, sweep


def _is_active(stage: CaseStage, pair: Pair, job: str) -> bool:
    return bool(stage.kube.workload(f"{pair.borrower}-ns", job)["spec"].get("active", True))


def test_the_card_says_it_before_anybody_approves(stage: CaseStage, pair: Pair) -> None:
    request = stage.asks(pair.asker, f"4 from {pair.lender} for 1d because paper")
    stage.card_says(request.id, "At its end work above quota is evicted, after a grace of 2 h")


def test_it_is_announced_done_and_said(stage: CaseStage, pair: Pair) -> None:
    number, sweep = _ended(stage, pair)
    assert "After a grace of 2 h the bot evicts it" in stage.hears(pair.asker, "Ended: 4 a100")
    stage.clock.move(HOUR)
    assert _is_active(stage, pair, sweep)
    stage.clock.move(HOUR)
    said = stage.hears(pair.asker, f"{sweep} evicted: 4 a100, loan Q-{number} ended")
    assert "resubmit" in said
    assert not _is_active(stage, pair, sweep)
    assert stage.count_dms(pair.asker, f"{sweep} evicted: ") == 1


def test_extended_by_its_button_it_runs_on(stage: CaseStage, pair: Pair) -> None:
    number, sweep = _ended(stage, pair)
    answer = stage.says(pair.asker, f"extend Q-{number} by 1d because nearly there")
    again = max(one.id for one in stage.requests_of(pair.asker))
    assert f"Q-{again}" in answer
    stage.approved(again)
    stage.becomes(**{pair.borrower: NOMINAL + 4, pair.lender: LENT - 4})
    stage.hears(pair.asker, "Nothing is evicted", f"Because extended by Q-{again}")
    stage.clock.move(3 * HOUR)
    assert _is_active(stage, pair, sweep)


def test_a_restart_in_the_middle_of_the_grace_forgets_nothing(stage: CaseStage, pair: Pair) -> None:
    number, sweep = _ended(stage, pair)
    stage.stop_bot()
    stage.clock.move(3 * HOUR)
    stage.start_bot()
    stage.hears(pair.asker, f"{sweep} evicted: 4 a100, loan Q-{number} ended")
    assert stage.count_dms(pair.asker, f"{sweep} evicted: ") == 1
