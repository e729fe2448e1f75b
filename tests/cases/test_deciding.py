"""Cases of who decides, how often, and what everybody is told."""

import threading

import pytest

from bot.demo.slack import Delivery
from tests.support.marks import case
from tests.support.play import Play

ASKED = "4 a100 as borrow for 2d because decide"
"""Takes one approval of gpu-admins."""


def _outcomes(play: Play, number: int) -> list[str]:
    """What came of every press, from the audit."""
    return [outcome for _, what, outcome in play.audit(number) if what in {"approve", "deny"}]


@case("APP-01")
@pytest.mark.parametrize("again", ["double click", "same envelope", "retried by Slack", "three times"])
def test_a_press_that_comes_again_changes_nothing_more(play: Play, again: str) -> None:
    number = play.asks(ASKED)
    play.at_rest()
    card = play.card(number)
    ada = play.stage.people["ada"]
    first = play.slack.press(ada, card, "gpuq_card_approve")
    if again == "double click":
        said = play.answer("ada", lambda: play.slack.press(ada, card, "gpuq_card_approve"))
        assert "approved" in said
    else:
        for _ in range(3 if again == "three times" else 1):
            repeated = play.slack.redeliver(first) if again == "retried by Slack" else play.slack.repeat(first)
            assert repeated.acked
    play.card(number, "In force")
    play.limit_is("vision", 8)
    play.at_rest()
    lines = [play.stage.text(one) for one in play.slack.thread(play.card(number))]
    assert sum("approved" in one for one in lines) == 1
    assert sum("in force" in one for one in lines) == 1
    assert _outcomes(play, number).count("ok") == 1
    play.says("mira", f"/gpu-quota return Q-{number} 4")
    play.limit_is("vision", 4)


@case("APP-02")
@pytest.mark.parametrize("second", ["alan approves", "alan denies", "ada denies", "mira withdraws"])
def test_of_two_decisions_at_once_one_wins_and_both_are_in_the_audit(play: Play, second: str) -> None:
    number = play.asks(ASKED)
    who, does = second.split()
    if does == "denies":
        play.presses(who, number, "gpuq_card_deny")
        play.view(who, "gpuq_deny_form")
    play.at_rest()
    card = play.card(number)

    def other() -> Delivery:
        if does == "denies":
            return play.slack.submit_view(play.stage.people[who], {"gpuq_deny_words": "no room"})
        if does == "withdraws":
            return play.types("mira", f"/gpu-quota withdraw Q-{number}")
        return play.slack.press(play.stage.people[who], card, "gpuq_card_approve")

    racing = threading.Thread(target=other)
    racing.start()
    play.slack.press(play.stage.people["ada"], card, "gpuq_card_approve")
    racing.join()
    play.stage.wait("both handled", lambda: len(play.audit(number)) >= 3)
    play.at_rest()
    text = play.stage.text(play.card(number))
    if "Denied" in text or "Withdrawn" in text:
        play.limit_is("vision", 4)
        assert "In force" not in text
    else:
        play.card(number, "In force")
        play.limit_is("vision", 8)
        play.says("mira", f"/gpu-quota return Q-{number} 4")
        play.limit_is("vision", 4)
    decided = [outcome for _, what, outcome in play.audit(number) if what in {"approve", "deny", "withdraw"}]
    assert decided.count("ok") == 1 or (does == "withdraws" and decided.count("ok") == 2), decided


@case("APP-03")
def test_an_approval_is_seen_by_everybody_and_the_buttons_are_gone(play: Play) -> None:
    number = play.in_force("5 a100 as transfer from nlp for 3d because seen", "noor", "ada")
    text = play.stage.text(play.card(number))
    assert "[Approve]" not in text
    assert "@noor" in text
    assert "@ada" in text
    assert "ends " in text
    assert "5 a100 for vision until" in play.dm("mira", "5 a100 for vision until")
    assert "[Return]" in play.dm("mira", f"(Q-{number})")
    assert play.slack.notifications(play.stage.people["mira"])
    lead = [play.stage.text(one, "noor") for one in play.slack.dms(play.stage.people["noor"])]
    assert any("In force" in one and "[Approve]" not in one for one in lead), "the lead's copy follows too"
    play.says("mira", f"/gpu-quota return Q-{number} 5")
    play.queue_is("vision", 16)


@case("APP-03")
@pytest.mark.parametrize("words", ["no more before the deadline", "<!channel> & <@U0ADMIN> *no*", "nein, später"])
def test_a_denial_carries_its_reason_to_the_requester(play: Play, words: str) -> None:
    number = play.asks(ASKED)
    play.denies("ada", number, words)
    text = play.stage.text(play.card(number, "Denied by @ada"))
    assert words in text
    assert "[Approve]" not in text
    assert words in play.dm("mira", f"denied (Q-{number})")
    assert not [one for one in play.slack.notifications(play.stage.people["tom"]) if words in str(one)]


@case("APP-05")
@pytest.mark.parametrize("who", ["ada", "alan"])
def test_nobody_approves_what_they_asked_for(play: Play, who: str) -> None:
    number = play.asks("3 a100 as borrow in vision for 2d because mine", who=who)
    assert play.answer(who, lambda: play.presses(who, number)) == (
        f"Q-{number} is yours: somebody else decides. You can withdraw it."
    )
    assert "ok" not in _outcomes(play, number)
    assert "Waiting: 0 of 1" in play.stage.text(play.card(number))
    other = "alan" if who == "ada" else "ada"
    play.approves(number, other)
    play.card(number, "In force")
    play.says(who, f"/gpu-quota return Q-{number} 3")
    play.limit_is("vision", 4)


@case("APP-09")
def test_a_denied_request_stays_in_the_teams_list(play: Play) -> None:
    number = play.asks(ASKED)
    play.denies("ada", number, "not this week")
    play.card(number, "Denied")
    for who, line in (("mira", "list"), ("mira", "list mine"), ("tom", "list team"), ("lena", "list")):
        assert f"Q-{number}" in play.says(who, f"/gpu-quota {line}")
    assert f"Q-{number}" not in play.says("ravi", "/gpu-quota list"), "another team's"


STRANGERS: dict[str, dict[str, object]] = {
    "guest": {"is_restricted": True},
    "stranger": {"is_stranger": True, "team_id": "T0OTHER"},
    "elsewhere": {"team_id": "T0OTHER", "real_name": "ada"},
}


@case("SEC-01")
@pytest.mark.parametrize("who", ["mira", "tom", "ravi", "rosa", "noor", "guest", "stranger", "elsewhere"])
def test_anybody_may_press_and_only_approvers_decide(play: Play, who: str) -> None:
    """Authorised at the press by live data; refused where only they see it, and audited."""
    if who in STRANGERS:
        play.hire(who, "gpu-approvals", **STRANGERS[who])
    number = play.asks(ASKED)
    said = play.answer(who, lambda: play.presses(who, number))
    assert "approved" not in said
    assert [outcome for person, what, outcome in play.audit(number) if what == "approve"] == [said]
    assert "Waiting: 0 of 1" in play.stage.text(play.card(number))
    play.says("mira", f"/gpu-quota withdraw Q-{number}")
    play.card(number, "Withdrawn")


@case("SLA-06")
@pytest.mark.parametrize(
    ("name", "traits", "allowed"),
    [
        ("w-home", {"id": "W0123ABCD"}, True),
        ("w-foreign", {"id": "W0999ZZZZ", "team_id": "T0OTHER"}, False),
        ("same-name", {"id": "U0FAKEADA", "team_id": "T0OTHER"}, False),
        ("left", {"id": "U0LEFT", "deleted": True}, False),
    ],
)
def test_identity_is_the_account_and_its_own_workspace(
    play: Play, name: str, traits: dict[str, object], allowed: bool
) -> None:
    play.hire(name, "vision", **traits)
    said = play.says(name, "/gpu-quota request 2 a100 in vision for 1d because grid")
    assert ("You are in no team" in said or "your own teams" in said) is allowed, said
    assert ("Guests and people of other organisations" in said) is not allowed
