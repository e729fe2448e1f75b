"""People who are asked and do not answer, played on the stage: a loan that is asked back, a request nobody decides."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.demo.slack import Message
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair, Policy


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    """Its leader looks for what is due more often, as the clock of these tests runs fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.app.duties.LOOK_EVERY", timedelta(seconds=0.5))
        made: list[CaseStage] = []

        def to_ravi(policy: Policy) -> None:
            """He is in no team."""
            policy["approvals"]["groups"]["on-call"] = [made[0].people["ravi"]]
            policy["approvals"]["unanswered"] = {"escalate_to": "on-call"}

        made.append(CaseStage(6, edit=to_ravi))
        with made[0] as stage:
            yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _dm(stage: CaseStage, who: str, words: str) -> Message:
    return stage.wait(f"{words} in a DM to {who}", lambda: stage.find_dm(who, words))


def test_a_loan_is_asked_back_by_button_kept_and_returned_the_next_day(stage: CaseStage, pair: Pair) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 3d because paper")
    lent = _dm(stage, pair.lender_lead, f"lends 4 a100 to {pair.borrower}")
    press = stage.slack.press
    said = stage.answer(pair.lender_lead, lambda: press(stage.people[pair.lender_lead], lent, "gpuq_loan_ask_back"))
    assert said.startswith(f"4 a100 asked back (Q-{loan.id}). The requester and the {pair.borrower} lead hear it")
    for who in (pair.asker, pair.lead):
        stage.hears(who, f"4 a100 asked back by {pair.lender}", "without a reason", "[Return] [Keep]")
    asked = _dm(stage, pair.asker, "asked back by")
    said = stage.answer(pair.asker, lambda: press(stage.people[pair.asker], asked, "gpuq_ask_back_keep"))
    assert said.startswith("Kept until")
    stage.hears(pair.lender_lead, f"4 a100 stay with {pair.borrower} until", f"Kept by @{pair.asker}")
    assert (stage.nominal(pair.lender), stage.nominal(pair.borrower)) == (LENT - 4, NOMINAL + 4)
    again = f"ask-back Q-{loan.id} because our own deadline <!channel>"
    assert "it is kept. Once in 24 h" in stage.says(pair.lender_lead, again)
    stage.clock.move(timedelta(hours=25))
    assert "asked back" in stage.says(pair.lender_lead, again)
    stage.hears(pair.asker, "our own deadline <!channel>", "[Return] [Keep]")
    stage.says(pair.asker, f"return Q-{loan.id} 1")
    stage.hears(pair.lender_lead, f"1 a100 go back to {pair.lender}", "3 stay with")
    stage.becomes(**{pair.lender: LENT - 3})
    whats = [entry.what for entry in stage.audit(loan.id, "ask back")]
    assert len(whats) == 3, "the refused one too"


@pytest.mark.parametrize("who", ["asker", "lead", "ada", "ravi"])
def test_others_are_told_who_can(stage: CaseStage, who: str) -> None:
    pair = stage.new_pair()
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 3d because paper")
    said = stage.says(getattr(pair, who, who), f"ask-back Q-{loan.id}")
    words = "is your own team's loan" if who in {"asker", "lead"} else f"Only the {pair.lender} lead can ask"
    assert words in said


def test_after_a_working_day_without_an_answer_others_decide_over_a_restart(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, "4 as borrow for 2d because paper").id
    assert "can decide" in stage.presses("ravi", number)
    stage.clock.move(timedelta(hours=8, minutes=1))
    stage.card_says(number, "also with on-call (8 h without an answer)")
    stage.stop_bot()
    stage.start_bot()
    assert stage.presses("ravi", number) == f"Q-{number} is approved."
    stage.in_force(number)
    assert stage.count("gpu-approvals", f"(Q-{number}). Asked first: gpu-admins (8 h without an answer)") == 1
