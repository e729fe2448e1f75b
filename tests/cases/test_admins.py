"""What admins do with the whole bot: explain, log, pause and resume, over a restart."""

from collections.abc import Iterator

import pytest

from tests.support.stage import LENT, NOMINAL, CaseStage


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(6) as stage:
        yield stage


@pytest.fixture
def running(stage: CaseStage) -> Iterator[CaseStage]:
    """The same, and never paused afterwards."""
    yield stage
    stage.says("ada", "resume")


@pytest.mark.parametrize("line", ["4 from {} for 2d because x", "3 as borrow for 2d because x"])
def test_a_pause_holds_over_a_restart_and_what_was_approved_comes_into_force_after_it(
    running: CaseStage, line: str
) -> None:
    stage, pair = running, running.new_pair()
    returned = stage.lent(pair.asker, f"2 from {pair.lender} for 2d because first")
    assert "Quota changes are paused by ada since" in stage.says("ada", "pause because node maintenance")
    assert "Nothing changed" in stage.says("alan", "pause")
    stage.channel_says("gpu-platform", "Quota changes are paused by", "node maintenance")
    number = stage.asks(pair.asker, line.format(pair.lender)).id
    stage.card_says(number, "An approval waits until they go on")
    stage.approved(number)
    stage.card_says(number, "not in force: quota changes are paused by ada")
    stage.hears(pair.asker, "approved, not in force yet", "Quota changes are paused by ada")
    stage.stop_bot()
    stage.start_bot()
    assert "Quota changes are paused by ada" in stage.says(pair.asker, "status")
    assert "Quota changes are paused by ada" in stage.says(pair.asker, f"show {pair.borrower}")
    assert "Quota changes are paused by ada" in stage.says(pair.asker, "help")
    stage.says(pair.asker, f"return Q-{returned.id} 2")
    back = NOMINAL, LENT
    stage.wait("the return is there", lambda: (stage.nominal(pair.borrower), stage.nominal(pair.lender)) == back)
    loan = stage.loan(number)
    assert loan is not None
    assert loan.in_force_at is None
    assert "Quota changes go on" in stage.says("alan", "resume")
    stage.in_force(number)
    stage.channel_says("gpu-platform", "Quota changes go on: resumed by alan")


@pytest.mark.parametrize("who", ["mira", "lena", "ravi"])
@pytest.mark.parametrize("line", ["pause", "resume", "log"])
def test_only_admins(stage: CaseStage, who: str, line: str) -> None:
    assert stage.says(who, line).startswith("Only gpu-admins can")


def test_the_log_is_read_by_request_person_team_and_time(stage: CaseStage) -> None:
    pair = stage.new_pair()
    number = stage.asks(pair.asker, "5 as borrow for 2d because x").id
    stage.presses(pair.lead, number)
    told = stage.says("ada", f"log Q-{number}")
    assert f"The log of Q-{number}: 2 entries" in told
    assert f"{pair.lead}: approve Q-{number}" in told
    assert f"The log of {pair.lead}, last 1 h: 1 entry" in stage.says("ada", f"log @{pair.lead} last 1h")
    assert f"The log of {pair.borrower}, last 1 h: 2 entries" in stage.says("ada", f"log {pair.borrower} last 1h")
    assert "Sent to you by DM as CSV: 2 entries." in stage.says("ada", f"log Q-{number} csv")
    file = stage.slack.files()[-1]
    assert file.name.endswith(".csv")
    assert f'"approve","Q-{number}"'.encode() in file.content
    assert file.id in {one.id for message in stage.slack.dms(stage.people["ada"]) for one in message.files}
    assert "Pick the name from the list" in stage.says("ada", "log @nobody-at-all")


@pytest.mark.parametrize("line", ["2 from {} for 2d because x", "2 as borrow for 2d because x"])
def test_an_admin_ends_a_loan_with_the_button_on_its_card(stage: CaseStage, line: str) -> None:
    """Whoever else presses it is refused in words, and the loan goes on."""
    pair = stage.new_pair()
    number = stage.lent(pair.asker, line.format(pair.lender)).id
    stage.card_says(number, "In force since")

    def press(who: str) -> str:
        return stage.answer(who, lambda: stage.slack.press(stage.people[who], stage.card(number), "gpuq_loan_end"))

    assert press(pair.lender_lead).startswith("Only gpu-admins can end somebody's loan")
    assert press(pair.asker).startswith("Only gpu-admins can end somebody's loan")
    assert f"Q-{number} is ended" in press("alan")
    stage.card_says(number, "Ended by @alan")
    stage.hears(pair.asker, "Ended")
    assert stage.nominal(pair.borrower) == NOMINAL
