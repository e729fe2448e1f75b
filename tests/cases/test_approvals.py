"""Who decides, once, and who hears of it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.core.requests import RequestState
from tests.support.marks import case
from tests.support.stage import NOMINAL, CaseStage, Pair, Policy

ASK = "4 for 2d because paper"


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(50) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


@case("APP-01")
@pytest.mark.parametrize(
    "again", ["the same envelope", "three times", "a new envelope", "a second click", "much later"]
)
def test_a_press_that_comes_twice_decides_once(stage: CaseStage, pair: Pair, again: str) -> None:
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.presses(pair.lender_lead, number)
    card = stage.card(number)
    first = stage.slack.press(stage.people["ada"], card, "gpuq_card_approve")
    if again in {"the same envelope", "three times"}:
        assert all(stage.slack.repeat(first).acked for _ in range(3 if again == "three times" else 1))
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
    stage.all_said()
    lines = [stage.text(one) for one in stage.slack.thread(stage.card(number))]
    assert sum("approved" in one for one in lines) == 2, "the lender's lead and the admin, once each"
    assert sum("in force" in one for one in lines) == 1
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 4]
    assert sum(entry.outcome == "ok" for entry in stage.audit(number, "approve")) == 2


@case("APP-03")
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


@case("APP-03")
def test_a_leads_own_copy_of_the_card_follows(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, f"5 from {pair.lender} for 3d because paper").id
    stage.hears(pair.lender_lead, f"Q-{number}", "[Approve]")
    stage.approved(number)
    stage.in_force(number)
    copy = stage.hears(pair.lender_lead, f"· Q-{number}\n", "In force since", f"@{pair.lender_lead}", "@ada")
    assert "[Approve]" not in copy
    assert "[Deny]" not in copy
    assert "[Return]" in stage.hears(pair.asker, "until", f"(Q-{number})")


@case("APP-03")
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


@case("APP-05")
@pytest.mark.parametrize("what", ["approve", "deny"])
@pytest.mark.parametrize(("who", "other"), [("ada", "alan"), ("alan", "ada")])
def test_an_admin_does_not_decide_their_own_request(
    stage: CaseStage, pair: Pair, who: str, other: str, what: str
) -> None:
    number = stage.asks(who, f"4 in {pair.borrower} for 2d because paper").id
    theirs = f"Q-{number} is yours: somebody else decides. You can withdraw it."
    if what == "approve":
        assert stage.presses(who, number) == theirs
    else:
        stage.denies(who, number, "no")
        assert stage.hears(who, theirs) == theirs
    assert stage.request(number).state is RequestState.WAITING
    stage.card_says(number, "Waiting: 0 of 1 approval")
    assert stage.presses(other, number) == f"Q-{number} is approved."
    stage.in_force(number)


@case("APP-05")
@pytest.mark.parametrize("who", ["ada", "alan"])
def test_where_the_policy_lets_them_their_own_approval_is_flagged(who: str) -> None:
    with CaseStage(1, edit=lambda policy: policy["approvals"].update(self_approval=True)) as stage:
        pair = stage.new_pair()
        number = stage.asks(who, f"4 in {pair.borrower} for 2d because paper").id
        assert stage.presses(who, number) == f"Q-{number} is approved."
        stage.in_force(number)
        assert [entry.outcome for entry in stage.audit(number, "approve")] == ["self-approved"]
        stage.all_said()
        lines = [stage.text(one) for one in stage.slack.thread(stage.card(number))]
        assert any(f"{who} approved (self-approved)" in one for one in lines)
        stage.card_says(number, "In force since", f"Approved: @{who}", "(self-approved)")


@case("APP-07")
@pytest.mark.parametrize("second", ["2 for 24h", "1 for 1h", "2 as borrow for 24h", "1 for 24h", "2 for 30min"])
def test_a_second_small_request_goes_to_people(stage: CaseStage, pair: Pair, second: str) -> None:
    first = stage.asks(pair.asker, "2 for 24h because paper")
    assert (first.state, first.decided_by) == (RequestState.APPROVED, "rule:small-and-short")
    stage.in_force(first.id)
    stage.card_says(first.id, "In force since", "small-and-short")
    stage.clock.move(timedelta(hours=1))

    again = stage.asks(pair.mate, f"{second} because more")
    assert again.state is RequestState.WAITING
    stage.card_says(again.id, "Waiting: 0 of 1 approval", "gpu-admins", "so a person decides")


@case("APP-09")
@pytest.mark.parametrize("gone", ["left the team", "moved to the lender", "left the company", "stayed"])
def test_a_denial_stays_visible_and_goes_to_who_is_still_there(stage: CaseStage, pair: Pair, gone: str) -> None:
    number = stage.asks(pair.asker, ASK).id
    stage.card(number)
    if gone == "left the company":
        stage.slack.change_person(stage.people[pair.asker], deleted=True)
    elif gone != "stayed":
        asker = stage.people[pair.asker]

        def leave(policy: Policy) -> None:
            policy["teams"]["teams"][pair.borrower]["members"].remove(asker)
            if gone == "moved to the lender":
                policy["teams"]["teams"][pair.lender]["members"].append(asker)

        stage.change_policies(leave)
        stage.bot.reload_policy()
    stage.denies("ada", number, "no spare")
    stage.card_says(number, "Denied by @ada", "no spare")
    for who, line in ((pair.mate, "list"), (pair.mate, "list team"), (pair.lead, "list")):
        told = stage.says(who, line)
        assert f"Q-{number}" in told
        assert "denied" in told
    assert f"Q-{number}" not in stage.says("ravi", "list"), "of another team"
    if gone == "stayed":
        stage.hears(pair.asker, "denied", "no spare")
        assert f"Q-{number}" in stage.says(pair.asker, "list mine")
    else:
        stage.all_said()
        assert stage.count_dms(pair.asker, f"denied (Q-{number})") == 0


@case("SEC-01")
@pytest.mark.parametrize("who", ["ravi", "rosa", "mira", "noor", "mate", "lead"])
def test_who_is_no_approver_is_refused_to_their_face_alone(stage: CaseStage, pair: Pair, who: str) -> None:
    who = {"mate": pair.mate, "lead": pair.lead}.get(who, who)
    number = stage.asks(pair.asker, ASK).id
    told = stage.presses(who, number)
    assert "can decide" in told
    assert "Not recorded as a decision" in told
    assert stage.request(number).state is RequestState.WAITING
    assert stage.nominals_of(pair.borrower) == [NOMINAL]
    assert [(entry.who, entry.outcome) for entry in stage.audit(number, "approve")] == [(stage.people[who], told)]
    assert stage.count("gpu-approvals", "Not recorded as a decision") == 0


@case("SEC-01")
@pytest.mark.parametrize("line", ["withdraw Q-{}", "return Q-{} 4"])
@pytest.mark.parametrize("who", ["ravi", "noor"])
def test_who_may_not_take_back_is_refused_and_in_the_audit(stage: CaseStage, pair: Pair, who: str, line: str) -> None:
    loan = stage.lent(pair.asker, ASK)
    told = stage.says(who, line.format(loan.id))
    assert f"@{pair.asker}" in told or pair.asker in told
    refused = stage.audit(loan.id, line.partition(" ")[0])
    assert [(entry.who, entry.outcome) for entry in refused] == [(stage.people[who], told)]
    assert stage.loan(loan.id) == loan


@case("SLA-06")
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


@case("SLA-06")
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


@case("SLA-06")
@pytest.mark.parametrize(
    ("traits", "words"),
    [
        pytest.param({"id": "W0123ABCD"}, "You are in no team", id="of the grid, at home here"),
        pytest.param(
            {"id": "W0999ZZZZ", "team_id": "T0OTHER"}, "Guests and people of other", id="of the grid, elsewhere"
        ),
        pytest.param(
            {"id": "U0FAKEADA", "team_id": "T0OTHER", "real_name": "ada"},
            "Guests and people of other",
            id="an admin's name",
        ),
        pytest.param({"id": "U0GUEST", "is_restricted": True}, "Guests and people of other", id="a guest"),
    ],
)
def test_who_one_is_is_the_account_and_its_own_workspace(stage: CaseStage, traits: dict[str, str], words: str) -> None:
    name = traits["id"]
    stage.people[name] = stage.slack.add_person("somebody", **traits).id
    channel = stage.channels["gpu-approvals"]
    members = stage.slack.world.workspace.channel(channel).members
    stage.slack.change_channel(channel, members=members | {stage.people[name]})
    assert words in stage.says(name, "request 2 in vision for 1d because grid")
    assert not stage.requests_of(name)


@case("APP-07")
@pytest.mark.parametrize("amount", [1, 2])
def test_why_a_split_request_goes_to_a_person_is_explained(stage: CaseStage, amount: int) -> None:
    """Typed by the asker; somebody of another team is refused in words."""
    pair = stage.new_pair()
    stage.lent(pair.asker, "2 as borrow for 24h because x")
    number = stage.asks(pair.asker, f"{amount} as borrow for 24h because y").id
    told = stage.says(pair.asker, f"explain Q-{number}")
    assert f"Q-{number}" in told
    assert f"small-and-short: covers 2 on loan; with this it is {2 + amount}" in told
    assert "Still missing: 1 approval" in told
    assert "is explained to the requester" in stage.says("ravi", f"explain {number}")
    asked = len(stage.requests_of(pair.asker))
    assert "everything-else" in stage.says(pair.asker, "explain 3 as borrow for 2d")
    assert len(stage.requests_of(pair.asker)) == asked
