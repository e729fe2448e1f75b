"""A counter-offer as people see it: Change on the card, a form, a message with two answers, and what comes of it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.marks import case
from tests.support.offering import INSTEAD, LESS, answers, offer_to, offers, presses_change, sees_view
from tests.support.stage import NOMINAL, CaseStage, Pair

ASK = "4 for 2d because paper"
MOVED = "4 from {} for 2d because paper"


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(40) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


@case("APP-03")
def test_an_offer_is_made_accepted_and_lent(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, MOVED.format(pair.lender)).id
    stage.presses(pair.lender_lead, number)
    offers(stage, "ada", number)
    told = stage.hears(pair.asker, INSTEAD, "@ada: the rest is needed", "Nothing happens until you choose")
    assert "[Accept] [Keep mine] [Withdraw]" in told
    assert any(one.why == "dm" for one in stage.slack.notifications(stage.people[pair.asker]))
    stage.card_says(number, "Changed by @ada: 3 a100, 1 day", f"Waiting for @{pair.asker}", "Because: the rest")
    what = f"3 a100, 1 day, transfer from {pair.lender}"
    assert answers(stage, pair.asker, "accept") == f"Q-{number} asks for {what} now, and waits for approval."
    stage.card_says(number, f"3 a100 for {pair.borrower}, 1 day", "Waiting: 1 of 2 approvals", "Asked for at first: 4")
    assert stage.presses(pair.lender_lead, number) == f"Q-{number} is approved.", "of other terms than before"
    stage.in_force(number)
    stage.becomes(**{pair.borrower: NOMINAL + 3})
    stage.card_says(number, f"3 a100 for {pair.borrower}, 1 day", "In force since", "@ada", f"@{pair.lender_lead}")
    stage.hears(pair.asker, "Offer accepted: 3 a100, 1 day")
    stage.hears(pair.asker, f"3 a100 for {pair.borrower} until")
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 3]


@case("APP-03")
def test_the_teams_lead_accepts_by_typing_and_nobody_else_does(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, ASK).id
    assert f"Nobody offers a change of Q-{number}." in stage.says(pair.lead, f"accept Q-{number}")
    offers(stage, "ada", number)
    stage.hears(pair.asker, INSTEAD)
    for who in (pair.mate, "ada", "ravi"):
        assert "can accept" in stage.says(who, f"accept Q-{number}")
    assert f"Q-{number} is approved: 3 a100" in stage.says(pair.lead, f"accept {number}")
    stage.in_force(number)
    assert "This offer was accepted already" in stage.says(pair.asker, f"accept Q-{number}")


@case("APP-03")
def test_keeping_leaves_the_request_waiting_and_says_so(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, ASK).id
    offers(stage, "ada", number)
    assert answers(stage, pair.asker, "keep") == f"Q-{number} waits on as it was asked."
    stage.card_says(number, "Waiting: 0 of 1 approval")
    stage.hears(pair.asker, "Offer turned down: 3 a100", f"@{pair.asker} keeps what was asked for")
    lines = [stage.text(one) for one in stage.slack.thread(stage.card(number))]
    assert any(f"{pair.asker} keeps what was asked for" in one for one in lines)
    assert stage.presses("ada", number) == f"Q-{number} is approved."
    stage.in_force(number)
    assert stage.limit_of(pair.borrower) == 4


@case("APP-01")
@pytest.mark.parametrize("again", ["the same envelope", "a new envelope", "a second click", "much later"])
def test_an_acceptance_that_comes_twice_accepts_once(stage: CaseStage, pair: Pair, again: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    offers(stage, "ada", number)
    message, user = offer_to(stage, pair.asker), stage.people[pair.asker]
    first = stage.slack.press(user, message, "gpuq_offer_accept")
    if again == "the same envelope":
        assert stage.slack.repeat(first).acked
    elif again == "a new envelope":
        assert stage.slack.redeliver(first).acked
    else:
        stage.in_force(number)
        if again == "much later":
            stage.clock.move(timedelta(hours=2))
        assert answers(stage, pair.asker, "accept", message).startswith("This offer was accepted already")
    stage.in_force(number)
    stage.all_said()
    assert stage.limit_of(pair.borrower) == 3
    lines = [stage.text(one) for one in stage.slack.thread(stage.card(number))]
    assert sum("accepted the change" in one for one in lines) == 1
    assert stage.count_dms(pair.asker, f"3 a100 for {pair.borrower} until") == 1


@case("APP-01")
def test_a_form_that_is_sent_twice_makes_one_offer(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, ASK).id
    presses_change(stage, "ada", number)
    sent = stage.slack.submit_view(stage.people["ada"], LESS)
    assert stage.slack.repeat(sent).acked
    assert stage.slack.redeliver(sent).acked
    sees_view(stage, "ada", "Offered:")
    stage.slack.close_view(stage.people["ada"], everything=True)
    stage.all_said()
    assert stage.count_dms(pair.asker, INSTEAD) == 1
    assert len(stage.audit(number, "offer")) == 1


@case("SEC-01")
@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("ravi", "can decide"),
        ("asker", "is yours. To ask for less"),
        ("mate", "can decide"),
        ("lender_lead", "can decide"),
    ],
)
def test_who_may_not_decide_gets_words_instead_of_a_form(stage: CaseStage, pair: Pair, who: str, words: str) -> None:
    number = stage.asks(pair.asker, "4 as borrow for 2d because paper").id
    who = getattr(pair, who, who)
    view = presses_change(stage, who, number, words)
    assert "submit" not in view.body or view.body["submit"] is None
    stage.slack.close_view(stage.people[who], everything=True)
    assert [entry.who for entry in stage.audit(number, "offer")] == [stage.people[who]]


@case("APP-03")
def test_more_than_was_asked_is_refused_on_its_field(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, ASK).id
    presses_change(stage, "ada", number)
    user = stage.people["ada"]
    more = stage.slack.submit_view(user, {"gpuq_change_amount": "5"})
    assert "gpuq_change_amount" in more.field_errors
    late = stage.clock() + timedelta(days=3)
    longer = stage.slack.submit_view(user, {"gpuq_change_amount": "4", "gpuq_change_until_at": int(late.timestamp())})
    assert longer.field_errors == {"gpuq_change_until_at": "A change can only be shorter: 2 days at most"}
    same = stage.slack.submit_view(user, {"gpuq_change_amount": "4", "gpuq_change_until_at": None})
    assert same.acked
    sees_view(stage, "ada", "Nothing is changed. To agree, press Approve on the card.")
    assert stage.slack.submit_view(user, {"gpuq_change_amount": "1"}).acked, "the form came back, and is sent again"
    sees_view(stage, "ada", "Offered: 1 a100")
    stage.slack.close_view(user, everything=True)
    stage.hears(pair.asker, "1 a100 instead of 4")


@case("APP-03")
def test_another_lender_or_kind_is_offered_and_its_lead_is_asked(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, "4 as borrow for 2d because paper").id
    offers(stage, "ada", number, {"gpuq_change_kind": "transfer", "gpuq_change_lender": pair.lender})
    words = f"4 a100 by transfer from {pair.lender} instead of by borrow"
    told = answers(stage, pair.asker, "accept", offer_to(stage, pair.asker, words))
    assert told.startswith(f"Q-{number} asks for 4 a100, 2 days, transfer from {pair.lender} now, and waits")
    stage.card_says(number, "Waiting: 1 of 2 approvals", "Asked for at first: 4 a100, 2 days, borrow")
    stage.hears(pair.lender_lead, f"Q-{number}", "[Approve]")
    assert stage.presses(pair.lender_lead, number) == f"Q-{number} is approved."
    stage.becomes(**{pair.borrower: NOMINAL + 4})


@case("APP-03")
def test_an_old_offer_is_answered_in_words(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, ASK).id
    offers(stage, "ada", number)
    old = offer_to(stage, pair.asker)
    offers(stage, "alan", number, {"gpuq_change_amount": "1"})
    stage.hears(pair.asker, "1 a100 instead of 4")
    assert "A newer offer replaced this one" in answers(stage, pair.asker, "accept", old)
    newer = offer_to(stage, pair.asker, "1 a100 instead of 4")
    stage.hears(pair.asker, "Offer replaced: 3 a100", "@alan made a newer one")
    stage.denies("ada", number, "no spare")
    assert f"Q-{number} was already denied by @ada" in answers(stage, pair.asker, "accept", newer)
    assert stage.loan(number) is None


@case("APP-03")
@pytest.mark.parametrize("words", ["ask again <!channel> & *soon*", "ü" * 300, "=cmd|' /C calc'!A0 `code` :tada:"])
def test_the_offerers_words_are_text(stage: CaseStage, pair: Pair, words: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    offers(stage, "ada", number, {"gpuq_change_amount": "3", "gpuq_change_words": words})
    stage.card_says(number, words[:100])
    stage.hears(pair.asker, "3 a100 instead of 4", words[:100])
    assert not any(one.why == "broadcast" for one in stage.slack.notifications(stage.people["ravi"]))
