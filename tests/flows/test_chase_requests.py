"""A request that nobody answers: a reminder, then others may decide too, and at once if nobody asked is there."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import NotLeader, Refused
from bot.core.loans import LoanKind
from bot.core.requests import RequestState
from bot.flows.change_form import may_offer
from bot.flows.chase_requests import chase_requests
from bot.flows.explain_request import explain_stored
from bot.flows.record_decision import Press, approve, deny
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota
from tests.support.fakes.chat import Trouble
from tests.support.fakes.gate import Killed, kill
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

ONE = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
TWO = {"name": "rest", "then": {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins"}]}}
GROUPS = {"gpu-admins": ["U0ADMIN", "U0ADMINTWO"], "platform-oncall": ["U0ONCALL", "U0VISION"], "nobody": []}
ESCALATES = {"escalate_to": "platform-oncall"}


def use(bench: "Bench", *rules: dict[str, Any], **approvals: Any) -> None:
    """Another policy, as after a reload."""
    known = {"groups": GROUPS, "unanswered": ESCALATES, **approvals}
    bench.policy = quota.with_rules(*(rules or (ONE,)), **known)


@pytest.fixture(autouse=True)
def people(bench: "Bench") -> None:
    bench.slack.people["U0ONCALL"] = quota.person("U0ONCALL")
    use(bench)


def asks(bench: "Bench", kind: LoanKind = LoanKind.BORROW, **changes: Any) -> Submitted:
    key = f"ask:{bench.new_id()}"
    lender = "nlp" if kind is LoanKind.TRANSFER else None
    submitted = submit_request(
        bench.world, quota.draft(4, kind=kind, lender=lender, flavor="a100", **changes), key, bench.arrival(key)
    )
    assert isinstance(submitted, Submitted)
    bench.deliver_all()
    return submitted


def hours_pass(bench: "Bench", hours: float) -> None:
    """The leader looks every half hour."""
    for _ in range(int(hours * 2)):
        bench.pass_time(minutes=30)
        bench.epoch = bench.lead("P1")
        chase_requests(bench.world, bench.epoch)
        bench.deliver_all(within=0)


def press(bench: "Bench", who: str, what: str = "approve", number: int = 1) -> str:
    stored = bench.store.tables.requests[number]
    made = Press(number, stored.revision, who, bench.arrival(f"press:{bench.new_id()}"))
    return approve(bench.world, made) if what == "approve" else deny(bench.world, made, "no")


def card(bench: "Bench", to: str = "C0APPROVALS") -> list[str]:
    return seen(bench.posted(to)[0].message)


def thread(bench: "Bench", words: str) -> list[str]:
    return [line for one in bench.posted("C0APPROVALS") for line in seen(one.message) if words in line]


def test_remind_then_escalate_each_once_and_the_card_says_so(bench: "Bench") -> None:
    asks(bench)
    hours_pass(bench, 3.5)
    assert thread(bench, "still waiting") == []
    hours_pass(bench, 4)
    reminded = thread(bench, "still waiting")
    assert len(reminded) == 1
    assert reminded[0].endswith("still waiting for your approval since Wed 2 Dec 14:05, 4 a100 for vision (Q-1)")
    with pytest.raises(Refused, match="Only gpu-admins can decide Q-1"):
        press(bench, "U0ONCALL")
    hours_pass(bench, 20)
    assert card(bench)[1] == "Waiting: 0 of 1 approval, since 22:05 also with platform-oncall (8 h without an answer)"
    assert len(thread(bench, "still waiting")) == 1
    assert len(thread(bench, "you may decide this too")) == 1
    assert "Asked first: gpu-admins (8 h without an answer)" in thread(bench, "you may decide this too")[0]
    notes = [(one.who, one.outcome) for one in bench.store.tables.audit if one.what == "escalate"]
    assert notes == [("bot", "platform-oncall too: 8 h without an answer")]
    assert press(bench, "U0ONCALL") == "Q-1 is approved."


def test_who_may_then_decide_and_who_still_may_not(bench: "Bench") -> None:
    """The requester is in the escalation group, and it is still their own request."""
    asks(bench)
    hours_pass(bench, 8)
    for who, words in (
        ("U0VISION", "is yours: somebody else decides"),
        ("U0LEADNLP", "Only gpu-admins and platform-oncall can decide"),
    ):
        for what in ("approve", "deny"):
            with pytest.raises(Refused, match=words):
                press(bench, who, what)
    assert may_offer(bench.world, 1, "U0ONCALL").request.id == 1
    assert "u0oncall" in str(explain_stored(bench.world, 1, "U0ONCALL"))
    assert press(bench, "U0ONCALL", "deny") == "Q-1 is denied."


def test_it_is_authorised_at_the_press_by_the_policy_of_now(bench: "Bench") -> None:
    asks(bench)
    hours_pass(bench, 8)
    use(bench, unanswered={})
    with pytest.raises(Refused, match="Only gpu-admins can decide"):
        press(bench, "U0ONCALL")
    use(bench, groups={**GROUPS, "platform-oncall": ["U0VISION"]})
    with pytest.raises(Refused, match="Only gpu-admins and platform-oncall"):
        press(bench, "U0ONCALL")
    use(bench)
    assert press(bench, "U0ONCALL") == "Q-1 is approved."


def test_a_group_that_slack_does_not_say_refuses(bench: "Bench") -> None:
    bench.slack.groups["S0ONCALL"] = frozenset({"U0ONCALL"})
    use(bench, groups={**GROUPS, "platform-oncall": ["S0ONCALL"]})
    asks(bench)
    hours_pass(bench, 8)
    bench.slack.troubles.append(Trouble.GROUPS_FAIL)
    with pytest.raises(Refused, match="Slack did not say who is in user group S0ONCALL"):
        press(bench, "U0ONCALL")
    assert press(bench, "U0ONCALL") == "Q-1 is approved."


def test_one_person_still_gives_one_step_only(bench: "Bench") -> None:
    """Each step is escalated by itself, 8 h after the one before it was given."""
    use(bench, TWO)
    asks(bench)
    hours_pass(bench, 8)
    assert press(bench, "U0ONCALL") == "Your approval of Q-1 counts."
    with pytest.raises(Refused, match="You gave approval 1 of 2"):
        press(bench, "U0ONCALL")
    hours_pass(bench, 7.5)
    bench.deliver_all()
    assert card(bench)[1] == "Waiting: 1 of 2 approvals"
    hours_pass(bench, 1)
    assert card(bench)[1].startswith("Waiting: 1 of 2 approvals, since 06:05 also with platform-oncall")
    with pytest.raises(Refused, match="You gave approval 1 of 2"):
        press(bench, "U0ONCALL")
    assert press(bench, "U0ADMIN") == "Q-1 is approved."


def test_the_lenders_consent_is_reminded_and_never_given_by_others(bench: "Bench") -> None:
    asks(bench, LoanKind.TRANSFER)
    hours_pass(bench, 30)
    assert len(thread(bench, "still waiting")) == 1
    assert bench.store.tables.escalations == ()
    with pytest.raises(Refused, match="Only the nlp lead and gpu-admins"):
        press(bench, "U0ONCALL")


def test_without_a_group_it_is_reminded_only(bench: "Bench") -> None:
    use(bench, unanswered={})
    asks(bench)
    hours_pass(bench, 30)
    assert len(thread(bench, "still waiting")) == 1
    assert bench.store.tables.escalations == ()


def test_a_rule_may_name_another_group(bench: "Bench") -> None:
    use(bench, {**ONE, "escalate_to": "other"}, groups={**GROUPS, "other": ["U0LEADROBOTICS"]})
    asks(bench)
    hours_pass(bench, 8)
    assert [one.to for one in bench.store.tables.escalations] == ["group:other"]
    assert press(bench, "U0LEADROBOTICS") == "Q-1 is approved."


def test_only_working_hours_count(bench: "Bench") -> None:
    """Asked on Wednesday at 14:05; 4 h of work are over on Thursday at 10:05, 8 h at 14:05."""
    office = {"after": "09:00", "until": "17:00", "days": ["mon", "tue", "wed", "thu", "fri"]}
    use(bench, unanswered={**ESCALATES, "hours": office})
    asks(bench)
    hours_pass(bench, 19.5)
    assert thread(bench, "still waiting") == []
    hours_pass(bench, 1)
    assert len(thread(bench, "still waiting")) == 1
    hours_pass(bench, 3)
    assert bench.store.tables.escalations == ()
    hours_pass(bench, 1)
    day = timedelta(hours=24)
    assert [one.at - quota.NOW - day < timedelta(minutes=1) for one in bench.store.tables.escalations] == [True]


def test_a_reload_moves_what_is_still_to_come_and_not_what_was(bench: "Bench") -> None:
    asks(bench)
    hours_pass(bench, 4)
    use(bench, unanswered={**ESCALATES, "remind_after": "1h", "escalate_after": "5h"})
    hours_pass(bench, 1)
    assert len(bench.store.tables.escalations) == 1
    use(bench, unanswered={**ESCALATES, "remind_after": "1d", "escalate_after": "2d"})
    hours_pass(bench, 12)
    assert (len(bench.store.tables.escalations), len(thread(bench, "you may decide"))) == (1, 1)
    assert press(bench, "U0ONCALL") == "Q-1 is approved."


def test_after_an_outage_the_reminder_that_is_too_late_is_left_out(bench: "Bench") -> None:
    asks(bench)
    bench.pass_time(hours=20)
    hours_pass(bench, 0.5)
    assert (len(thread(bench, "still waiting")), len(thread(bench, "you may decide"))) == (0, 1)


@pytest.mark.parametrize("how", ["approved", "denied", "withdrawn", "lapsed"])
def test_a_settled_request_is_left_alone(bench: "Bench", how: str) -> None:
    number = asks(bench).request.id
    stored = bench.store.tables.requests[number]
    bench.store.tables.requests[number] = replace(stored, state=RequestState(how))
    hours_pass(bench, 20)
    assert (len(thread(bench, "still waiting")), bench.store.tables.escalations) == (0, ())


def test_an_old_leader_does_nothing_and_a_new_one_does_not_repeat(bench: "Bench") -> None:
    asks(bench)
    bench.pass_time(hours=8)
    old = bench.epoch
    bench.epoch = bench.lead("P2")
    with pytest.raises(NotLeader):
        chase_requests(bench.world, old)
    chase_requests(bench.world, bench.epoch)
    bench.pass_time(minutes=2)
    bench.epoch = bench.lead("P3")
    hours_pass(bench, 0)
    chase_requests(bench.world, bench.epoch)
    bench.deliver_all()
    assert len(thread(bench, "you may decide")) == 1


def test_a_kill_at_any_passage_escalates_once(new_bench: "Callable[[], Bench]") -> None:
    for passage in range(14):
        bench = new_bench()
        bench.slack.people["U0ONCALL"] = quota.person("U0ONCALL")
        use(bench)
        asks(bench)
        bench.pass_time(hours=8)
        bench.epoch = bench.lead("P1")
        bench.gate.plan(kill, after=passage)
        with suppress(Killed):
            chase_requests(bench.world, bench.epoch)
        bench.gate.clear()
        hours_pass(bench, 1)
        assert (len(bench.store.tables.escalations), len(thread(bench, "you may decide"))) == (1, 1)


# -- nobody there -----------------------------------------------------------------------------------------------------


def gone(bench: "Bench", how: str, *who: str) -> None:
    """Out of reach, one way or another."""
    for user in who:
        if how == "deactivated":
            bench.slack.people[user] = replace(bench.slack.people[user], full_member=False)
        elif how == "unknown to Slack":
            del bench.slack.people[user]
    if how == "away":
        use(bench, away=dict.fromkeys(who, "2026-12-02"))
    if how == "an empty group":
        use(bench, groups={**GROUPS, "gpu-admins": []})


@pytest.mark.parametrize("how", ["deactivated", "unknown to Slack", "away", "an empty group"])
def test_nobody_there_escalates_at_once_and_the_requester_hears_who_else_can(bench: "Bench", how: str) -> None:
    gone(bench, how, "U0ADMIN", "U0ADMINTWO")
    submitted = asks(bench)
    words = "gpu-admins cannot be reached now (away, deactivated or nobody). platform-oncall can decide too"
    assert any(note.startswith(words) for note in submitted.notes)
    why = "nobody who was asked can be reached"
    assert card(bench)[1] == f"Waiting: 0 of 1 approval, since 14:05 also with platform-oncall ({why})"
    assert press(bench, "U0ONCALL") == "Q-1 is approved."


def test_who_is_away_may_decide_all_the_same(bench: "Bench") -> None:
    gone(bench, "away", "U0ADMIN", "U0ADMINTWO")
    asks(bench)
    assert press(bench, "U0ADMIN") == "Q-1 is approved."


def test_one_who_is_there_is_enough_and_two_are_where_it_takes_two(bench: "Bench") -> None:
    use(bench, away={"U0ADMIN": "2026-12-24"})
    assert asks(bench).notes == ()
    assert bench.store.tables.escalations == ()
    two = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins", "count": 2}]}}
    use(bench, two, away={"U0ADMIN": "2026-12-24"})
    assert "gpu-admins cannot be reached" in asks(bench).notes[0]


def test_the_day_after_the_last_one_they_are_back(bench: "Bench") -> None:
    use(bench, away={"U0ADMIN": "2026-12-01", "U0ADMINTWO": "2026-12-01"})
    assert asks(bench).notes == ()


@pytest.mark.parametrize("escalates", [{}, {"escalate_to": "nobody"}])
def test_if_nobody_at_all_may_the_requester_and_the_admins_hear_it_once(
    bench: "Bench", escalates: dict[str, str]
) -> None:
    use(bench, unanswered=escalates, groups={**GROUPS, "gpu-admins": []})
    submitted = asks(bench)
    assert any(one.startswith("Nobody who may decide can be reached now: gpu-admins") for one in submitted.notes)
    hours_pass(bench, 5)
    for to in ("U0VISION", "C0PLATFORM"):
        told = [text for text in bench.texts(to) if "nobody who may decide" in text]
        assert told == ["4 a100 for vision: nobody who may decide can be reached (Q-1)"]
    assert thread(bench, "still waiting") == []
    with pytest.raises(Refused):
        press(bench, "U0ONCALL")


def test_the_requester_is_not_among_those_who_can_be_reached(bench: "Bench") -> None:
    use(bench, groups={**GROUPS, "gpu-admins": ["U0VISION"], "platform-oncall": ["U0VISION"]})
    assert any("Nobody who may decide" in note for note in asks(bench).notes)


def test_a_lender_whose_leads_are_away_is_told_and_not_passed_over(bench: "Bench") -> None:
    use(bench, away={"U0LEADNLP": "2026-12-24"})
    submitted = asks(bench, LoanKind.TRANSFER)
    assert any("can be reached now: nlp lead" in note for note in submitted.notes)
    assert bench.store.tables.escalations == ()


def test_while_slack_is_silent_everybody_is_there(bench: "Bench") -> None:
    bench.slack.groups["S0GONE"] = frozenset()
    use(bench, groups={**GROUPS, "gpu-admins": ["S0GONE"]})
    bench.slack.troubles.append(Trouble.GROUPS_FAIL)
    asks(bench)
    hours_pass(bench, 0.5)
    assert len(bench.store.tables.escalations) == 1, "once it says that nobody is in it"


def test_the_next_step_is_looked_at_when_it_is_asked(bench: "Bench") -> None:
    use(bench, TWO, away={"U0ADMIN": "2026-12-24", "U0ADMINTWO": "2026-12-24"})
    assert asks(bench).notes == ()
    press(bench, "U0LEADVISION")
    hours_pass(bench, 0.5)
    assert [(one.step, one.asked) for one in bench.store.tables.escalations] == [(1, "group:gpu-admins")]
