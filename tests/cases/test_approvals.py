"""Who decides, once, and who hears of it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.core.requests import RequestState
from tests.support.stage import NOMINAL, CaseStage, Pair, Policy

ASK = "4 for 2d because paper"


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(40) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


@pytest.mark.case("APP-01")
@pytest.mark.parametrize("again", ["the same envelope", "a new envelope", "a second click", "much later"])
def test_a_press_that_comes_twice_decides_once(stage: CaseStage, pair: Pair, again: str) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.presses(pair.lender_lead, number)
    card = stage.card(number)
    first = stage.slack.press(stage.people["ada"], card, "gpuq_card_approve")
    if again == "the same envelope":
        assert stage.slack.repeat(first).acked
    elif again == "a new envelope":
        assert stage.slack.redeliver(first).acked
    else:
        stage.in_force(number)
        if again == "much later":
            stage.clock.move(timedelta(hours=2))
        told = stage.answer("ada", lambda: stage.slack.press(stage.people["ada"], card, "gpuq_card_approve"))
        assert f"Q-{number} was already approved by @ada at" in told

    stage.in_force(number)
    stage.card_says(number, "In force since")
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 4]
    assert sum(entry.outcome == "ok" for entry in stage.audit(number, "approve")) == 2


@pytest.mark.case("APP-03")
@pytest.mark.parametrize("line", ["4 for 2d because paper", "3 as borrow for 30h because demo", "2 for 3d because x"])
def test_an_approval_changes_the_card_and_is_told(stage: CaseStage, pair: Pair, line: str) -> None:
    number = stage.asks(pair.asker, line).id
    amount = stage.request(number).ask.amount
    stage.presses("ada", number)
    stage.in_force(number)
    card = stage.card_says(number, "In force since", "ends ", "Approved: @ada")
    assert "[Approve]" not in card
    assert "[Deny]" not in card
    told = stage.hears(pair.asker, f"{amount} a100 for {pair.borrower} until", "Approved by @ada")
    loan = stage.loan(number)
    assert loan is not None
    ends = loan.end + timedelta(hours=1)
    assert f"{ends:%-I:%M %p}" in told, "the end is in the reader's own time zone, here UTC+1"
    user = stage.people[pair.asker]
    assert any(one.why == "dm" for one in stage.slack.notifications(user)), "the requester is notified"


@pytest.mark.case("APP-03")
@pytest.mark.parametrize("words", ["no spare this week", "ask again <!channel> & *soon*", "ü" * 300, "no `code`"])
def test_a_denial_carries_its_reason(stage: CaseStage, pair: Pair, words: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    stage.denies("ada", number, words)
    card = stage.card_says(number, "Denied by @ada", words[:100])
    assert "[Approve]" not in card
    stage.hears(pair.asker, "denied", "@ada", words[:100])
    assert stage.loan(number) is None
    assert stage.nominals_of(pair.borrower) == [NOMINAL]
    assert not any(one.why == "broadcast" for one in stage.slack.notifications(stage.people["ravi"]))


@pytest.mark.case("APP-05")
@pytest.mark.parametrize("what", ["approve", "deny"])
@pytest.mark.parametrize("who", ["ada", "alan"])
def test_an_admin_does_not_decide_their_own_request(stage: CaseStage, pair: Pair, who: str, what: str) -> None:
    number = stage.asks(who, f"4 in {pair.borrower} for 2d because paper").id
    told = stage.presses(who, number) if what == "approve" else stage.denies(who, number, "no")
    assert f"Q-{number} is yours: somebody else decides. You can withdraw it." in told
    assert stage.request(number).state is RequestState.WAITING
    stage.says(who, f"withdraw Q-{number}")


@pytest.mark.case("APP-07")
@pytest.mark.parametrize("second", ["2 for 24h", "1 for 1h", "2 as borrow for 24h", "1 for 24h"])
def test_a_second_small_request_goes_to_people(stage: CaseStage, pair: Pair, second: str) -> None:
    first = stage.asks(pair.asker, "2 for 24h because paper")
    assert (first.state, first.decided_by) == (RequestState.APPROVED, "rule:small-and-short")
    stage.in_force(first.id)
    stage.card_says(first.id, "In force since", "small-and-short")
    stage.clock.move(timedelta(hours=1))

    again = stage.asks(pair.mate, f"{second} because more")
    assert again.state is RequestState.WAITING
    stage.card_says(again.id, "Waiting: 0 of 1 approval", "gpu-admins")


@pytest.mark.case("APP-09")
@pytest.mark.parametrize("gone", ["left the team", "left the company", "stayed"])
def test_a_denial_stays_visible_and_goes_to_who_is_still_there(stage: CaseStage, pair: Pair, gone: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    stage.card(number)
    if gone == "left the company":
        stage.slack.change_person(stage.people[pair.asker], deleted=True)
    elif gone == "left the team":
        asker = stage.people[pair.asker]

        def leave(policy: Policy) -> None:
            policy["teams"]["teams"][pair.borrower]["members"].remove(asker)

        stage.change_policies(leave)
        stage.bot.reload_policy()
    stage.denies("ada", number, "no spare")
    stage.card_says(number, "Denied by @ada")
    assert "denied" in stage.says(pair.mate, "list")
    assert f"Q-{number}" in stage.says(pair.mate, "list")
    if gone == "stayed":
        stage.hears(pair.asker, "denied", "no spare")


@pytest.mark.case("SEC-01")
@pytest.mark.parametrize("who", ["ravi", "rosa", "mira", "noor"])
def test_who_is_no_approver_is_refused_to_their_face_alone(stage: CaseStage, pair: Pair, who: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    told = stage.presses(who, number)
    assert "can decide" in told
    assert "Not recorded as a decision" in told
    assert stage.request(number).state is RequestState.WAITING
    assert stage.nominals_of(pair.borrower) == [NOMINAL]
    entry = stage.audit(number, "approve")[-1]
    assert (entry.who, entry.outcome != "ok") == (stage.people[who], True)
    assert stage.count("gpu-approvals", "Not recorded as a decision") == 0


@pytest.mark.case("SLA-06")
@pytest.mark.parametrize(
    "traits",
    [
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_stranger": True, "team_id": "T0ELSEWHERE"},
        {"team_id": "T0ELSEWHERE"},
        {"deleted": True},
        {"is_bot": True},
    ],
    ids=["guest", "guest of one channel", "of another organisation", "of another workspace", "gone", "a bot"],
)
def test_who_is_no_full_member_decides_nothing(stage: CaseStage, pair: Pair, traits: dict[str, object]) -> None:
    """Whatever list they are on. The bot may know an account for a minute before it asks Slack again."""
    number = stage.asks(pair.asker, ASK).id
    card, user = stage.card(number), stage.people["alan"]
    known = stage.slack.world.workspace.person(user)
    stage.slack.change_person(user, **traits)
    stage.clock.move(timedelta(seconds=61))
    try:
        told = stage.answer("alan", lambda: stage.slack.press(user, card, "gpuq_card_approve"))
    finally:
        stage.slack.change_person(user, **{key: getattr(known, key) for key in traits})
        stage.clock.move(timedelta(seconds=61))
    assert "Guests and people of other organisations cannot" in told
    assert stage.request(number).state is RequestState.WAITING
    assert [entry.who for entry in stage.audit(number, "approve")] == [user]


@pytest.mark.case("SLA-06")
@pytest.mark.parametrize("name", ["ada", "U0ADMIN", "gpu-admins"])
def test_a_name_like_an_approvers_makes_no_approver(stage: CaseStage, pair: Pair, name: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    user = stage.slack.add_person(name, id=f"W{pair.borrower.upper()}").id
    stage.people[user] = user
    channel = stage.channels["gpu-approvals"]
    members = stage.slack.world.workspace.channel(channel).members
    stage.slack.change_channel(channel, members=members | {user})
    assert "can decide" in stage.presses(user, number)
    assert stage.request(number).state is RequestState.WAITING
