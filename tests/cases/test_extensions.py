"""How loans are extended, played on the stage: typed, from a reminder's button, by a rule, denied, and too long."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.core.loans import Loan, LoanState
from bot.core.requests import QuotaRequest, RequestState
from bot.demo.slack import Message
from tests.support.marks import case
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    """Its leader looks for what is due more often, as the clock of these tests runs fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.app.duties.LOOK_EVERY", timedelta(seconds=0.5))
        with CaseStage(14) as stage:
            yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _extension(stage: CaseStage, loan: Loan) -> QuotaRequest:
    """The newest of this loan."""

    def found() -> QuotaRequest | None:
        with stage.bot.world.store.read() as uow:
            return next(iter(uow.requests.find(extends=loan.id)), None)

    return stage.wait(f"an extension of Q-{loan.id}", found)


def _card(stage: CaseStage, loan: Loan, *words: str) -> Message:
    """The extension's card in the approvers' channel, once it says this and shows what is stored."""
    block = f"card:{_extension(stage, loan).id}:{_extension(stage, loan).revision}"

    def drawn() -> Message | None:
        message = stage.find("gpu-approvals", f" for Q-{loan.id}: ")
        text = stage.text(message) if message else ""
        waits = _extension(stage, loan).state is RequestState.WAITING
        shown = message is not None and (not waits or any(one.get("block_id") == block for one in message.blocks))
        return message if shown and all(one in text for one in words) else None

    return stage.wait(f"{words} on the card of Q-{loan.id}'s extension", drawn)


def _presses(stage: CaseStage, who: str, loan: Loan, what: str = "approve") -> str:
    card = _card(stage, loan, "Waiting")
    return stage.answer(who, lambda: stage.slack.press(stage.people[who], card, f"gpuq_card_{what}"))


def _approved(stage: CaseStage, pair: Pair, loan: Loan) -> None:
    """By the lender's lead and an admin, as the default policy has it for any transfer."""
    counts = f"Your approval of Q-{loan.id}'s extension counts."
    assert _presses(stage, pair.lender_lead, loan) == counts
    assert _presses(stage, "ada", loan) == f"Q-{loan.id}'s extension is approved."


def _now(stage: CaseStage, loan: Loan) -> Loan:
    stored = stage.loan(loan.id)
    assert stored is not None
    return stored


@pytest.mark.parametrize(
    ("line", "longer"), [("by 2d", 2 * DAY), ("36h because reviewers want more", 1.5 * DAY), ("for 5 days", 5 * DAY)]
)
def test_a_loan_that_is_extended_runs_on_to_its_new_end(
    stage: CaseStage, pair: Pair, line: str, longer: timedelta
) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    told = stage.says(pair.asker, f"extend Q-{loan.id} {line}")
    assert f" for Q-{loan.id}, until " in told
    assert "Without a decision it ends " in told
    _card(stage, loan, f"4 a100 for {pair.borrower}, transfer", "Waiting: 0 of 2 approvals", "in all")
    stage.card_says(loan.id, " is waiting")
    stage.hears(pair.asker, f" for Q-{loan.id}: ", "Waiting: 0 of 2 approvals", "Withdraw")

    _approved(stage, pair, loan)

    assert _now(stage, loan).end == loan.end + longer
    _card(stage, loan, "Extended until ")
    stage.hears(pair.asker, f"Q-{loan.id} now ends ")
    stage.clock.move(2 * DAY + HOUR)
    assert _now(stage, loan).state is LoanState.RUNNING
    stage.becomes(**{pair.borrower: NOMINAL + 4, pair.lender: LENT - 4})
    stage.clock.move(longer)
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 4, NOMINAL], "extending itself changed no number"
    stage.hears(pair.asker, f"Ended: 4 a100 (Q-{loan.id})")


def test_a_reminders_button_opens_a_form_and_the_new_end_is_reminded_of_anew(stage: CaseStage, pair: Pair) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 3d because paper")
    user = stage.people[pair.asker]
    stage.clock.move(2 * DAY + HOUR)
    stage.hears(pair.asker, "4 a100 end ", f"(Q-{loan.id})", "Extend")
    reminder = stage.find_dm(pair.asker, f"(Q-{loan.id})")
    assert reminder is not None
    stage.slack.press(user, reminder, "gpuq_loan_extend")
    form = stage.wait("the form", lambda: stage.slack.open_view(user))
    assert form.body["callback_id"] == "gpuq_extend_form"
    passed = stage.slack.submit_view(user, {"gpuq_extend_until_at": int(loan.start.timestamp())})
    assert passed.field_errors == {"gpuq_extend_until_at": "This time has passed"}
    sent = stage.slack.submit_view(
        user, {"gpuq_extend_until_at": int((loan.end + DAY).timestamp()), "gpuq_extend_words": "one more table"}
    )
    assert sent.acked
    _card(stage, loan, "+1 day for ", "one more table")
    _approved(stage, pair, loan)
    stage.hears(pair.asker, f"Q-{loan.id} now ends ", "(+1 day)")
    reminded = stage.count_dms(pair.asker, "4 a100 end ")
    stage.clock.move(DAY)
    stage.wait("another reminder", lambda: stage.count_dms(pair.asker, "4 a100 end ") > reminded)


@case("APP-07")
@pytest.mark.parametrize(
    ("length", "more", "people"),
    [("24h", "1h", True), ("12h", "13h", True), ("30min", "2d", True), ("12h", "12h", False), ("1h", "23h", False)],
)
def test_extending_gains_nothing_over_an_automatic_rule(
    stage: CaseStage, pair: Pair, length: str, more: str, people: bool
) -> None:
    """A small loan of at most a day is approved by a rule; what an extension makes longer is a person's to decide."""
    asked = stage.asks(pair.asker, f"2 for {length} because paper")
    assert asked.decided_by == "rule:small-and-short"
    stage.in_force(asked.id)
    loan = stage.loan(asked.id)
    assert loan is not None
    told = stage.says(pair.asker, f"extend by {more}")
    if people:
        assert "With the approvers" in told
        assert _now(stage, loan).end == loan.end
        _card(stage, loan, "Waiting: 0 of 1 approval", "gpu-admins")
    else:
        assert told.endswith("approved by rule small-and-short.")
        assert _now(stage, loan).end > loan.end
        stage.hears(pair.asker, f"Q-{loan.id} now ends ", "Approved by rule small-and-short")


def test_what_cannot_be_extended_is_refused_in_words(stage: CaseStage, pair: Pair) -> None:
    assert stage.says(pair.asker, "extend by 2d") == "You have no loan to extend."
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    name = f"Q-{loan.id}"
    assert stage.says(pair.asker, f"extend {name} by 13d").endswith(
        f"15 days in all is over the limit of 14 days for {pair.borrower}."
    )
    assert stage.says(pair.mate, f"extend {name} by 1d").startswith(f"Only {pair.asker} can accept, withdraw, extend")
    assert "How much longer?" in stage.says(pair.asker, f"extend {name}")
    stage.says(pair.lead, f"extend {name} by 1d")
    assert f"{name}'s extension by 1 day waits for a decision already." in stage.says(pair.asker, "extend by 2d")
    assert stage.says(pair.lead, f"withdraw {name}").startswith(f"{name}'s extension is withdrawn")
    _card(stage, loan, f"Withdrawn by @{pair.lead}")
    stage.says(pair.asker, f"return {name} 4")
    assert (
        stage.says(pair.asker, f"extend {name} by 1d") == f"{name} is over already. To get it again make a new request."
    )


def test_a_denied_extension_leaves_the_end(stage: CaseStage, pair: Pair) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    stage.says(pair.asker, f"extend {loan.id} by 1d")
    user = stage.people["ada"]
    stage.slack.press(user, _card(stage, loan, "Waiting"), "gpuq_card_deny")
    form = stage.wait("the form", lambda: stage.slack.open_view(user))
    assert form.body["title"]["text"] == f"Deny Q-{loan.id}'s extension"
    assert stage.slack.submit_view(user, {"gpuq_deny_words": "others wait"}).acked
    stage.hears(pair.asker, f" for Q-{loan.id}: 4 a100 for {pair.borrower}: denied", "others wait", "Still ends ")
    _card(stage, loan, "Denied by @ada", "others wait")
    assert [entry.outcome for entry in stage.audit(loan.id, "deny extension")] == ["ok"]
    stage.clock.move(2 * DAY)
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
