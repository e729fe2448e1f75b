"""The Home tab: what waits first, words that teach, Slack's limits however much there is, and text that stays text."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.messages import Home
from bot.demo.slack.limits import check_view
from bot.views.home import home_json
from bot.views.ids import Action
from tests.support.slack_limits import home_faults
from tests.support.view_facts import NAMES, Names
from tests.support.view_home import LINK, homes, many
from tests.support.view_text import buttons, seen
from tests.support.view_walk import HOSTILE, HOSTILE_TEXT, walk

SHOWN = homes()
REQUEST = "[Request quota] [Refresh]"


def test_a_member_sees_what_waits_then_their_own_then_their_team() -> None:
    assert seen(SHOWN["member"]) == [
        "# Waiting for you",
        "Nothing waits for you.",
        "# Your requests and loans",
        "Q-142: 8 a100 for vision, 3 days, waiting, 0 of 2 approvals",
        "[Withdraw]",
        "Q-142: 8 a100 for vision, in force, ends Sat 5 Dec 14:20",
        "[Extend] [Return]",
        "# Your team",
        "vision: 20 of 16 a100 reserved, 12 waiting",
        REQUEST,
    ]


def test_an_offer_and_a_loan_asked_back_wait_for_an_answer_with_its_buttons() -> None:
    assert seen(SHOWN["offered"])[:5] == [
        "# Waiting for you",
        "Q-142: 8 a100 asked back by nlp, Lead of nlp: paper deadline, last ablation runs",
        "[Return] [Keep]",
        "Q-142: changed to 4 a100, 2 days, transfer from nlp by Admin: no more before the deadline week",
        "[Accept] [Keep mine] [Withdraw]",
    ]
    assert "# Your requests and loans" not in seen(SHOWN["offered"])


def test_a_lead_decides_on_the_card_and_sees_what_is_on_loan_and_lent() -> None:
    assert seen(SHOWN["lead"])[:5] == [
        "# Waiting for you",
        "Q-142: 8 a100 for vision, 3 days: Requester asks, 0 of 2 approvals, since Wed 2 Dec 14:05",
        "[Open card] [Details]",
        "Q-150: +2 days for Q-142: 8 a100 for vision: Requester asks, 0 of 2 approvals, since Wed 2 Dec 14:05",
        "[Details]",
    ]
    text = seen(SHOWN["lead"])
    assert text[-12:] == [
        "# Your team's loans",
        "Q-142: 8 a100 for vision, in force, ends Sat 5 Dec 14:20 · Requester",
        "[Extend] [Return]",
        "Q-142: 8 a100 for vision, in force, ends Sat 5 Dec 14:20 · Requester",
        "[Extend] [Return]",
        "# Lent out",
        "Q-142: 8 a100 of nlp to vision, ends Sat 5 Dec 14:20",
        "[Ask back]",
        "# Your teams",
        "vision: 20 of 16 a100 reserved, 12 waiting",
        "nlp: no live figures",
        REQUEST,
    ]
    assert [one["url"] for one in buttons(SHOWN["lead"]) if one["action_id"] == Action.CARD_OPEN] == [LINK]


@pytest.mark.parametrize("name", SHOWN)
def test_nobody_approves_or_denies_where_the_picture_is_not(name: str) -> None:
    pressed = {one["action_id"] for one in buttons(SHOWN[name])}
    assert not pressed & {Action.CARD_APPROVE, Action.CARD_DENY, Action.CARD_CHANGE}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("new member", "No loans. When your work waits, request quota: you name an amount and an end, approvers see"),
        ("new lead", "Nothing waits for you. Nobody asks for your team's quota."),
        ("nobody's", "You are in no team yet. Ask an admin to add you."),
        ("admin", "vision a100 is 20, expected 24, since Wed 2 Dec 14:23"),
        ("admin", "vision a100 is not set, since Wed 2 Dec 14:23"),
        ("not well", "No live figures of default: the API server is not answering"),
        ("not well", "Quota changes are paused by Admin"),
        ("not well", "Observe mode: approving writes nothing"),
    ],
)
def test_what_there_is_to_say(name: str, words: str) -> None:
    assert words in "\n".join(seen(SHOWN[name]))


@pytest.mark.parametrize(("name", "may"), [("nobody's", False), ("admin in no team", True), ("new member", True)])
def test_who_cannot_request_is_not_offered_it(name: str, may: bool) -> None:
    assert (Action.OPEN_REQUEST in {one["action_id"] for one in buttons(SHOWN[name])}) is may


def test_a_guest_sees_a_sentence_and_nothing_else() -> None:
    assert seen(SHOWN["guest"]) == ["Guests cannot request."]


def test_how_old_it_is_stands_first() -> None:
    blocks = home_json(SHOWN["member"])["blocks"]
    assert blocks[0]["elements"][0]["text"] == "As of"
    assert blocks[1:] == list(SHOWN["member"].blocks)


def _wrong(shown: Home) -> list[str]:
    return [
        *home_faults(shown),
        *check_view(home_json(shown), "home"),
        *(one for each in shown.blocks for one in walk(each)),
    ]


def test_slack_takes_everybodys() -> None:
    assert len(SHOWN) > 50
    assert {name: wrong for name, one in SHOWN.items() if (wrong := _wrong(one))} == {}


@pytest.mark.parametrize("count", [1, 4, 60, 300])
def test_slack_takes_it_however_much_there_is_and_what_is_left_out_is_said(count: int) -> None:
    shown = many(NAMES, count)
    assert _wrong(shown) == []
    text = "\n".join(seen(shown))
    assert (f"and {count * 6 - 10:,} more: /gpu-quota list waiting" in text) is (count > 1)
    assert (f"and {count - 10:,} more: /gpu-quota list team" in text) is (count > 10)
    assert (f"and {count * 3 - 10:,} more: /gpu-quota list team" in text) is (count > 3)
    assert (f"and {count * 2 - 10:,} more: /gpu-quota list mine" in text) is (count > 5)
    assert (f"and {count * 2 - 5:,} more teams: /gpu-quota status TEAM" in text) is (count > 2)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(text: str) -> None:
    shown = {**homes(Names.all_of(text)), "many": many(Names.all_of(text), 20)}
    assert {name: wrong for name, one in shown.items() if (wrong := _wrong(one))} == {}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=HOSTILE_TEXT, count=st.integers(1, 40))
def test_any_text_stays_text(text: str, count: int) -> None:
    assert _wrong(many(Names.all_of(text), count)) == []
