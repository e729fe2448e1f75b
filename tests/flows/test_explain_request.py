"""`explain`: the rule and why, who may approve, what is missing; and who may hear it."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.core.people import Person
from bot.flows.answer_offer import OfferPress, accept_offer
from bot.flows.explain_request import explain_draft, explain_number, explain_stored
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.make_offer import Change, make_offer
from bot.flows.record_decision import Press, approve
from bot.flows.submit_request import Submitted, submit_request
from bot.views.answers.explain import explained, what_if
from bot.views.change_form import ChangeValues
from bot.views.ids import LENDER_BOT
from tests.support import quota
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

ADMINS_RULE = {"name": "two-admins", "then": {"steps": [{"who": "group gpu-admins", "count": 2}]}}


@pytest.fixture
def number(bench: "Bench") -> int:
    """8 a100 of nlp for vision: the lead of nlp, the lead of vision, an admin."""
    bench.slack.people["U0GUEST"] = Person("U0GUEST", "guest", full_member=False)
    draft = quota.draft(8, kind=quota.transfer().kind, lender="nlp", flavor="a100")
    submitted = submit_request(bench.world, draft, "test:ask", bench.arrival("ask"))
    assert isinstance(submitted, Submitted)
    return submitted.request.id


def said(bench: "Bench", number: int, who: str = "U0VISION") -> list[str]:
    return seen(explained(explain_stored(bench.world, number, who)))


def press(bench: "Bench", number: int, who: str) -> None:
    stored = bench.store.tables.requests[number]
    approve(bench.world, Press(number, stored.revision, who, bench.arrival(f"{who}:{number}")))


def test_it_names_the_rule_those_before_it_who_may_and_what_is_missing(bench: "Bench", number: int) -> None:
    press(bench, number, "U0LEADNLP")
    lines = said(bench, number)
    assert lines == [
        f"Q-{number}: 8 a100 for vision, waiting, 1 of 3 approvals",
        "Needs 3 approvals: rule big, because 8 is more than 4.",
        "In this order: nlp lead, then vision lead, then gpu-admins.",
        "Rules that did not match: small-and-short: 8 is more than 2 and 3 days is more than 1 day"
        " and covers 2 on loan; with this it is 8.",
        "Step 1, nlp lead: approved by u0leadnlp",
        "Step 2, vision lead: 1 missing, u0leadvision may approve",
        "Step 3, gpu-admins: 1 missing, u0admin and u0admintwo may approve",
        "Still missing: 2 approvals (vision lead, then gpu-admins)",
    ]


@pytest.mark.parametrize("who", ["U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ADMIN", "U0ADMINTWO"])
def test_the_requester_their_lead_approvers_and_admins_hear_it(bench: "Bench", number: int, who: str) -> None:
    assert any("rule big" in one for one in said(bench, number, who))


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("U0NLP", "is explained to the requester, the vision lead"),
        ("U0ROBOTICS", "is explained to the requester, the vision lead"),
        ("U0LEADROBOTICS", "is explained to the requester, the vision lead"),
        ("U0GUEST", "Guests and people of other organisations"),
    ],
)
def test_others_are_refused_in_words(bench: "Bench", number: int, who: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        explain_stored(bench.world, number, who)


def test_a_group_that_cannot_be_looked_up_refuses_strangers_and_is_said_to_the_others(
    bench: "Bench", number: int
) -> None:
    del bench.slack.groups["S0ADMINS"]
    assert any("who may approve beside u0admin and u0admintwo is not known" in one for one in said(bench, number))
    with pytest.raises(Refused, match="Slack did not say who is in user group S0ADMINS"):
        explain_stored(bench.world, number, "U0NLP")


def test_an_unknown_number_is_refused(bench: "Bench", number: int) -> None:
    with pytest.raises(Refused, match=f"There is no Q-{number + 1}"):
        explain_stored(bench.world, number + 1, "U0ADMIN")


def test_it_explains_by_what_the_team_had_when_it_was_asked(bench: "Bench") -> None:
    """The second of two that together pass the rule's bound goes to a person, also after the first is over."""
    for at in range(2):
        made = submit_request(
            bench.world, quota.draft(2, duration=quota.loan().end - quota.NOW), f"test:{at}", bench.arrival(f"a{at}")
        )
        assert isinstance(made, Submitted)
    bench.pass_time(days=2)
    bench.converge()
    lines = said(bench, made.request.id)
    assert lines[1].startswith("Needs 1 approval: rule rest")
    assert any("small-and-short: the team's loans at that time did not fit it" in one for one in lines)


def test_a_policy_that_has_changed_since_is_said(bench: "Bench", number: int) -> None:
    bench.policy = quota.with_rules(ADMINS_RULE)
    lines = said(bench, number)
    assert any("rule two-admins" in one for one in lines)
    assert "The policy has changed since: rule big decided then." in lines


def test_a_dead_end_is_said(bench: "Bench") -> None:
    bench.policy = quota.with_rules({"name": "nobody", "then": {"steps": [{"who": "group nobody"}]}})
    made = submit_request(bench.world, quota.draft(8), "test:ask", bench.arrival("ask"))
    assert isinstance(made, Submitted)
    lines = said(bench, made.request.id)
    assert "Step 1, nobody: 1 missing, nobody may approve" in lines
    assert any("No approver is configured for vision" in one for one in lines)


def test_what_was_decided_says_by_whom_and_nothing_is_missing(bench: "Bench", number: int) -> None:
    for who in ("U0LEADNLP", "U0LEADVISION", "U0ADMIN"):
        press(bench, number, who)
    lines = said(bench, number)
    assert "Step 3, gpu-admins: approved by u0admin" in lines
    assert not any("missing" in one for one in lines)


def test_what_nobody_asked_for_is_explained_and_not_stored(bench: "Bench") -> None:
    before = bench.store.tables
    lines = seen(what_if(explain_draft(bench.world, quota.draft(8, kind=quota.transfer().kind, lender="nlp"))))
    assert lines[0] == "If you asked for 8 a100 for vision from nlp, 3 days, transfer:"
    assert "Needs 3 approvals: rule big, because 8 is more than 4." in lines
    assert "Step 1, nlp lead: 1 missing, u0leadnlp may approve" in lines
    assert lines[-1] == "Nothing was asked for."
    assert bench.store.tables is before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queue": "nlp", "team": None}, "You can request for your own teams: vision"),
        ({"amount": None}, "How many"),
        ({"flavor": "h100"}, "h100"),
    ],
)
def test_what_cannot_be_asked_or_is_not_clear_is_said(bench: "Bench", changes: dict[str, object], words: str) -> None:
    amount = changes.pop("amount", 8)
    with pytest.raises(Refused, match=words):
        explain_draft(bench.world, quota.draft(amount, **changes))  # type: ignore[arg-type]


def test_more_time_is_explained_as_it_was_judged_and_under_the_name_that_people_know(bench: "Bench") -> None:
    """With the whole of its loan, which is not also counted beside it."""
    loan = bench.approved(quota.transfer(2))
    bench.pass_time(seconds=1)
    key = bench.arrival("extend")
    asked = extend_loan(bench.world, MoreTime(loan, timedelta(hours=12)), "U0VISION", key, key).request
    lines = said(bench, asked.id)
    assert lines[0] == f"+12 h for Q-{loan}: 2 a100 for vision, waiting, 0 of 2 approvals"
    assert "Rules that did not match: small-and-short: 84 h is more than 1 day; big: 2 is not more than 4." in lines
    with pytest.raises(Refused, match=f"^Q-{loan}'s extension is explained to"):
        explain_stored(bench.world, asked.id, "U0ROBOTICS")


def test_a_loans_number_means_its_extension_while_that_waits(bench: "Bench") -> None:
    """To those who may hear of it; who asked for the loan itself hears of the loan."""
    loan = bench.approved(quota.ask(2, requester="U0NLP"))
    assert explain_number(bench.world, loan, "U0NLP").card.request.id == loan
    key = bench.arrival("extend")
    asked = extend_loan(bench.world, MoreTime(loan, timedelta(hours=12)), "U0LEADVISION", key, key).request
    assert explain_number(bench.world, loan, "U0ADMIN").card.request.id == asked.id
    assert explain_number(bench.world, asked.id, "U0ADMIN").card.request.id == asked.id
    assert explain_number(bench.world, loan, "U0NLP").card.request.ask.requester == "U0NLP"
    press(bench, asked.id, "U0ADMIN")
    assert explain_number(bench.world, loan, "U0ADMIN").card.request.id == loan
    with pytest.raises(Refused, match=r"There is no Q-99\."):
        explain_number(bench.world, 99, "U0ADMIN")


def test_accepted_terms_are_explained_by_the_hour_at_which_they_were_judged(bench: "Bench") -> None:
    at_night = {"hours": {"after": "20:00", "until": "06:00"}}
    rest = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
    bench.policy = quota.with_rules({"name": "night", "if": at_night, "then": {"steps": [{"who": "team-leads"}]}}, rest)
    made = submit_request(bench.world, quota.draft(8, kind=LoanKind.BORROW), "test:ask", bench.arrival("ask"))
    assert isinstance(made, Submitted)
    bench.pass_time(hours=9)
    waits = bench.store.tables.requests[made.request.id]
    less = ChangeValues(4, "borrow", LENDER_BOT)
    offer = make_offer(bench.world, Change(waits.id, waits.revision, "U0ADMIN", bench.arrival("offer"), less))
    accept_offer(bench.world, OfferPress(offer.id, "U0VISION", bench.arrival("accept")))
    bench.pass_time(hours=9)
    lines = said(bench, waits.id)
    assert any("rule night, because" in one for one in lines)
    assert not any("The policy has changed since" in one for one in lines)


def test_a_rule_that_does_not_promise_more_than_there_is_is_not_said_to_approve(bench: "Bench") -> None:
    """Neither of a request nor of what nobody has asked for: 48 a100 are promised, and there are 48."""
    files = quota.documents()
    files["approvals.yaml"] |= {"kinds": ["extra"], "rules": [{"name": "auto", "then": {"approve": "auto"}}]}
    bench.policy = quota.policy(files)
    bench.kube.add_node("all", "a100", 48)
    draft = quota.draft(2, kind=LoanKind.EXTRA, flavor="a100")
    made = submit_request(bench.world, draft, "test:ask", bench.arrival("ask"))
    assert isinstance(made, Submitted)
    for lines in (said(bench, made.request.id), seen(what_if(explain_draft(bench.world, draft)))):
        assert "Needs 1 approval: rule auto, because it covers every request." in lines
        assert "Rule auto does not promise more than the nodes have, so a person decides." in lines
