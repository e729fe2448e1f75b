"""Queues whose quota Kueue itself writes: refused in words before, hands off during a loan, and what comes after."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.stage import LENT, NOMINAL, CaseStage, Pair

BY = {False: "MultiKueue quota automation", True: "effectiveQuotas"}


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(16) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


@pytest.mark.parametrize("effective", [False, True])
@pytest.mark.parametrize("side", ["borrower", "lender"])
def test_it_is_refused_in_words_before_anybody_is_asked(
    stage: CaseStage, pair: Pair, side: str, effective: bool
) -> None:
    queue = getattr(pair, side)
    stage.kube.automate(queue, effective=effective)
    words = f"{queue}'s quota is written by Kueue itself ({BY[effective]}). The bot does not change it."
    asked = f"4 from {pair.lender} for 2d because paper"
    told = stage.says(pair.asker, f"request {asked}")
    assert words in told
    assert ("Ask on the worker clusters' queues." in told) is not effective
    assert words in stage.says(pair.asker, f"explain {asked}")
    assert not stage.requests_of(pair.asker)


@pytest.mark.parametrize("side", ["borrower", "lender"])
def test_nobody_approves_it_at_the_click_either(stage: CaseStage, pair: Pair, side: str) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    queue = getattr(pair, side)
    stage.kube.automate(queue)
    told = stage.presses(pair.lender_lead, number)
    assert f"{queue}'s quota is written by Kueue itself" in told
    assert f"Q-{number} waits on" in told
    assert not stage.loan(number)
    stage.kube.let_go(queue)
    stage.approved(number)
    stage.in_force(number)


def test_hands_off_while_kueue_writes_and_one_message(stage: CaseStage, pair: Pair) -> None:
    """The borrower is Kueue's: it is left alone, the loan's end is not written, and the admins are reminded."""
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    stage.kube.automate(pair.borrower)
    stage.kube.hand_edit(pair.borrower, "a100", nominal=20, manager="kueue")
    took_over = f"{pair.borrower}'s quota is now written by Kueue itself"
    told = stage.text(stage.channel_says("gpu-platform", took_over))
    assert "Ask on the worker clusters' queues" in told
    assert f"Q-{loan.id}" in told
    stage.hears(pair.asker, "may not be in force", took_over)
    stage.card_says(loan.id, "May not be in force", took_over)
    stage.kube.hand_edit(pair.borrower, "a100", nominal=15, manager="kueue")
    stage.clock.move(timedelta(days=2, minutes=1))

    stage.channel_says("gpu-platform", took_over, f"Ended, not returned: Q-{loan.id}")
    stage.card_says(loan.id, "not returned", took_over)
    stage.hears(pair.lender_lead, "are not back with", took_over)
    stage.clock.move(timedelta(days=7))
    stage.wait("a reminder", lambda: stage.count("gpu-platform", took_over) == 3)
    own = [one for one in stage.kube.history if one.name == pair.borrower and one.manager == "gpu-quota-bot"]
    assert [int(one.obj["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]) for one in own] == [
        12
    ], "nothing but the loan itself was ever written"
    assert stage.count("gpu-platform", f"{pair.borrower} a100 is") == 0, "its numbers are nobody's edit"
    assert stage.nominal(pair.lender) == LENT - 4

    stage.kube.let_go(pair.borrower)
    stage.channel_says("gpu-platform", f"Kueue writes {pair.borrower}'s quota no more")
    question = stage.channel_says("gpu-platform", f"{pair.borrower} a100 is 15, expected 12")
    stage.slack.press(stage.people["ada"], question, "gpuq_drift_base")
    stage.becomes(**{pair.borrower: 15, pair.lender: LENT})
    stage.hears(pair.asker, "Ended: 4 a100")


def test_a_lender_is_kept_lowered_until_kueue_stops(stage: CaseStage, pair: Pair) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    stage.kube.automate(pair.lender, effective=True)
    stage.channel_says("gpu-platform", f"{pair.lender}'s quota is now written by Kueue itself", "By effectiveQuotas")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.becomes(**{pair.borrower: NOMINAL})
    stage.channel_says("gpu-platform", f"Ended, not returned: Q-{loan.id}")
    assert stage.nominal(pair.lender) == LENT - 4
    stage.stop_bot()
    stage.start_bot()
    stage.kube.let_go(pair.lender)
    stage.channel_says("gpu-platform", f"Kueue writes {pair.lender}'s quota no more")
    stage.becomes(**{pair.lender: LENT})
    said = f"{pair.lender}'s quota is now written"
    stage.wait("no message says so any more", lambda: stage.count("gpu-platform", said) == 0)
