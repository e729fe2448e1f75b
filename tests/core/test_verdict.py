"""What a request takes: rules in order, why each held or not, consent, counting that cannot be split around."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.policy import Policy
from bot.core.request_facts import RequestFacts
from bot.core.requests import ApprovalStep, Ask, QuotaRequest, RequestState
from bot.core.verdict import Outcome, Verdict, evaluate, explain
from tests.support.quota import GPU, NOW, ask, documents, loan, policy, request, transfer, with_rules

REST = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
AUTO = {"name": "auto", "then": {"approve": "auto"}}
DAY = timedelta(days=1)


def facts(of: Ask, *loans: Loan, requests: tuple[QuotaRequest, ...] = (), **changes: Any) -> RequestFacts:
    return RequestFacts(**{"now": NOW, "ask": of, "loans": loans, "requests": requests, **changes})


def verdict(of: Ask, *loans: Loan, rules: Policy | None = None, **changes: Any) -> Verdict:
    return evaluate(rules or policy(), facts(of, *loans, **changes))


def test_the_first_rule_that_matches_decides() -> None:
    result = verdict(ask(8))
    assert (result.outcome, result.rule) == (Outcome.STEPS, "big")
    assert result.steps == (ApprovalStep("leads:vision"), ApprovalStep("group:gpu-admins"))
    assert [(one.name, one.matched) for one in result.tried] == [("small-and-short", False), ("big", True)]


def test_the_explanation_is_that_of_the_interface() -> None:
    assert explain(verdict(ask(8, duration=DAY))) == (
        "Needs 2 approvals: rule big, because 8 is more than 4.",
        "In this order: vision lead, then gpu-admins.",
        "Rules that did not match: small-and-short: 8 is more than 2 and covers 2 on loan; with this it is 8.",
    )


def test_an_automatic_approval_says_all_that_held() -> None:
    result = verdict(ask(2, duration=DAY))
    assert result.outcome is Outcome.AUTO
    assert explain(result) == (
        "Approved by rule small-and-short, because 2 is at most 2 and 1 day is at most 1 day"
        " and 2 on loan is at most 2.",
    )


def test_a_denial_says_the_words_of_the_rule() -> None:
    rules = with_rules(
        {"name": "freeze", "if": {"kind": "transfer"}, "then": {"deny": "No transfers this week."}}, REST
    )
    result = verdict(transfer(2), rules=rules)
    assert (result.outcome, result.rule, result.words) == (Outcome.DENIED, "freeze", "No transfers this week.")
    assert explain(result) == ("Denied by rule freeze: No transfers this week.",)


@pytest.mark.parametrize("amount", [1, 3, 8, 16])
def test_no_rule_means_no_and_says_so(amount: int) -> None:
    rules = with_rules({"name": "nlp-only", "if": {"team": "nlp"}, "then": {"approve": "auto"}})
    result = verdict(ask(amount), rules=rules)
    assert (result.outcome, result.rule, result.steps) == (Outcome.DENIED, None, ())
    assert explain(result) == (
        "Denied. No rule of the policy covers this request, so nobody can approve it. Admins: add a rule.",
        "Rules that did not match: nlp-only: the team is vision, not nlp.",
    )


MIDNIGHT = {"after": "22:00", "until": "06:00"}
WORK = {"after": "08:00", "until": "18:00", "days": ["mon", "tue", "wed", "thu", "fri"]}


@pytest.mark.parametrize(
    ("condition", "matched", "because"),
    [
        ({"team": "vision"}, True, "the team is vision"),
        ({"team": ["nlp", "robotics"]}, False, "the team is vision, not nlp or robotics"),
        ({"flavor": "a100"}, True, "the flavor is a100"),
        ({"flavor": ["h100"]}, False, "the flavor is a100, not h100"),
        ({"kind": "borrow"}, True, "the kind is borrow"),
        ({"kind": ["transfer"]}, False, "the kind is borrow, not transfer"),
        ({"amount": {"more_than": 4}}, True, "8 is more than 4"),
        ({"amount": {"more_than": 8}}, False, "8 is not more than 8"),
        ({"amount": {"at_most": 8}}, True, "8 is at most 8"),
        ({"amount": {"at_most": 7}}, False, "8 is more than 7"),
        ({"amount": {"more_than": 4, "at_most": 8}}, True, "8 is more than 4 and at most 8"),
        ({"duration": {"at_most": "3d"}}, True, "3 days is at most 3 days"),
        ({"duration": {"at_most": "36h"}}, False, "3 days is more than 36 h"),
        ({"duration": {"more_than": "1h30min"}}, True, "3 days is more than 1 h 30 min"),
        ({"on_loan": {"at_most": 13}}, True, "13 on loan is at most 13"),
        ({"on_loan": {"at_most": 12}}, False, "covers 12 on loan; with this it is 13"),
        ({"on_loan": {"more_than": 13}}, False, "13 on loan is not more than 13"),
        ({"loans_per_week": {"at_most": 3}}, True, "3 in 7 days is at most 3"),
        ({"loans_per_week": {"at_most": 2}}, False, "covers 2 loans in 7 days; with this it is 3"),
        ({"hours": WORK}, True, "wed 14:05 is in 08:00 to 18:00 on mon, tue, wed, thu, fri (Europe/Zurich)"),
        ({"hours": MIDNIGHT}, False, "wed 14:05 is outside 22:00 to 06:00 (Europe/Zurich)"),
        ({"hours": {**MIDNIGHT, "timezone": "Asia/Tokyo"}}, True, "wed 22:05 is in 22:00 to 06:00 (Asia/Tokyo)"),
    ],
)
def test_every_condition_says_why_it_holds_or_not(condition: dict[str, Any], matched: bool, because: str) -> None:
    rules = with_rules({"name": "one", "if": condition, "then": {"approve": "auto"}})
    open_loan, waits = loan(1, 2), request(2, of=ask(3))
    (result,) = verdict(ask(8), open_loan, requests=(waits,), rules=rules).tried
    assert (result.matched, result.because) == (matched, because)


@pytest.mark.parametrize(
    ("local", "inside"),
    [
        ("2026-12-01T22:00", True),
        ("2026-12-01T21:59", False),
        ("2026-12-02T05:59", True),
        ("2026-12-02T06:00", False),
        ("2026-12-02T23:00", False),  # a Wednesday night is not a Tuesday's
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(local: str, inside: bool) -> None:
    rules = with_rules(
        {"name": "tue", "if": {"hours": {**MIDNIGHT, "days": ["tue"], "timezone": "UTC"}}, "then": {"approve": "auto"}}
    )
    now = datetime.fromisoformat(local).replace(tzinfo=UTC)
    assert (verdict(ask(1), rules=rules, now=now).outcome is Outcome.AUTO) is inside


@pytest.mark.case("APP-07")
@pytest.mark.parametrize("second", [1, 2])
@pytest.mark.parametrize("first_stands_as", ["loan", "scheduled loan", "waiting request"])
def test_app_07_a_request_cannot_be_split_around_an_automatic_rule(second: int, first_stands_as: str) -> None:
    assert verdict(ask(2, duration=DAY)).outcome is Outcome.AUTO
    had: dict[str, tuple[Any, ...]] = {
        "loan": (loan(1, 2),),
        "scheduled loan": (loan(1, 2, state=LoanState.SCHEDULED, start=NOW + DAY, end=NOW + 2 * DAY),),
        "waiting request": (),
    }
    waits = (request(1, of=ask(2, duration=DAY)),) if first_stands_as == "waiting request" else ()
    result = verdict(ask(second, duration=DAY), *had[first_stands_as], requests=waits)
    assert (result.outcome, result.rule) == (Outcome.STEPS, "rest")
    assert result.words == (
        f"Rule small-and-short covers 2 on loan; with this it is {2 + second}, so a person decides."
    )
    assert result.words in explain(result)


@pytest.mark.case("APP-07")
@pytest.mark.parametrize(
    "over",
    [
        loan(1, 2, state=LoanState.CLOSED),
        loan(1, 2, state=LoanState.RETURNING),
        loan(1, 2, end=NOW),
        loan(1, 7, resource="nvidia.com/mig-1g.5gb"),
    ],
)
def test_app_07_what_is_over_or_counts_something_else_is_not_added_up(over: Loan) -> None:
    assert verdict(ask(2, duration=DAY), over).outcome is Outcome.AUTO


@pytest.mark.case("APP-07")
@pytest.mark.parametrize("flavor", ["a100", "h100", "l40"])
def test_app_07_another_flavor_of_the_same_resource_is_added_up(flavor: str) -> None:
    assert verdict(ask(2, duration=DAY), loan(1, 2, flavor=flavor)).outcome is Outcome.STEPS


@pytest.mark.case("APP-07")
@pytest.mark.parametrize("days", [0, 3, 6])
def test_app_07_asking_again_and_again_is_counted_per_week(days: int) -> None:
    small = {
        "name": "small",
        "if": {"amount": {"at_most": 2}, "loans_per_week": {"at_most": 2}},
        "then": {"approve": "auto"},
    }
    begun = [loan(n, 1, state=LoanState.CLOSED, start=NOW - timedelta(days=days, hours=n)) for n in (1, 2)]
    rules = with_rules(small, REST)
    assert verdict(ask(1), begun[0], rules=rules).outcome is Outcome.AUTO
    result = verdict(ask(1), *begun, rules=rules)
    assert result.words == "Rule small covers 2 loans in 7 days; with this it is 3, so a person decides."


def test_a_loan_of_more_than_a_week_ago_is_not_of_this_week() -> None:
    small = {"name": "small", "if": {"loans_per_week": {"at_most": 1}}, "then": {"approve": "auto"}}
    old = loan(1, 1, start=NOW - timedelta(days=7), end=NOW)
    assert verdict(ask(1), old, rules=with_rules(small)).outcome is Outcome.AUTO


def test_a_stored_request_and_its_loan_are_not_counted_twice() -> None:
    own = request(142, of=ask(2, duration=DAY))
    assert verdict(ask(2, duration=DAY), loan(142, 2), requests=(own,), request_id=142).outcome is Outcome.AUTO


@pytest.mark.parametrize("state", [one for one in RequestState if one is not RequestState.WAITING])
def test_a_decided_request_is_not_counted(state: RequestState) -> None:
    decided = request(1, of=ask(2), state=state)
    assert verdict(ask(2, duration=DAY), requests=(decided,)).outcome is Outcome.AUTO


@pytest.mark.parametrize(
    ("rule", "steps"),
    [
        (AUTO, ("leads:nlp",)),
        (REST, ("leads:nlp", "group:gpu-admins")),
        (
            {"name": "x", "then": {"steps": [{"who": "lender-leads"}, {"who": "team-leads"}]}},
            ("leads:nlp", "leads:vision"),
        ),
        (
            {"name": "x", "then": {"steps": [{"who": "team-leads"}, {"who": "lender-leads"}]}},
            ("leads:vision", "leads:nlp"),
        ),
    ],
)
def test_a_transfer_always_takes_the_lenders_lead(rule: dict[str, Any], steps: tuple[str, ...]) -> None:
    result = verdict(transfer(2), rules=with_rules(rule))
    assert (result.outcome, tuple(step.who for step in result.steps)) == (Outcome.STEPS, steps)


def test_a_denied_transfer_asks_nobody() -> None:
    rules = with_rules({"name": "no", "then": {"deny": "no"}})
    assert verdict(transfer(2), rules=rules).steps == ()


@pytest.mark.parametrize(("rule", "outcome"), [(AUTO, Outcome.AUTO), (REST, Outcome.STEPS)])
def test_a_queue_that_lends_freely_needs_no_consent(rule: dict[str, Any], outcome: Outcome) -> None:
    files = documents()
    files["clusters.yaml"]["clusters"]["default"]["lenders"]["nlp"] = {"consent": "none"}
    files["approvals.yaml"]["rules"] = [rule]
    result = verdict(transfer(2), rules=policy(files))
    assert result.outcome is outcome
    assert all(not step.who.startswith("leads:") for step in result.steps)


def test_a_lender_that_is_no_teams_is_nobodys_to_give() -> None:
    result = verdict(transfer(2, lender="spare"), rules=with_rules(AUTO))
    assert (result.outcome, result.steps) == (Outcome.STEPS, (ApprovalStep("leads:"),))


def test_a_step_of_the_lenders_lead_falls_away_for_a_borrow() -> None:
    steps = {"name": "x", "then": {"steps": [{"who": "lender-leads"}, {"who": "group gpu-admins", "count": 2}]}}
    assert verdict(ask(2), rules=with_rules(steps)).steps == (ApprovalStep("group:gpu-admins", 2),)


@pytest.mark.parametrize("amount", [1, 4, 16])
def test_a_rule_that_asks_nobody_else_never_becomes_an_automatic_approval(amount: int) -> None:
    only = with_rules({"name": "x", "then": {"steps": [{"who": "lender-leads"}]}})
    result = verdict(ask(amount), rules=only)
    assert (result.outcome, result.rule) == (Outcome.DENIED, "x")
    assert "has no lender" in result.words


def test_no_rule_alone_promises_more_than_the_nodes_have() -> None:
    files = documents()
    files["approvals.yaml"] |= {"kinds": ["extra"], "rules": [AUTO]}
    fits = verdict(ask(2, kind=LoanKind.EXTRA), rules=policy(files))
    over = verdict(ask(2, kind=LoanKind.EXTRA), rules=policy(files), overcommits=True)
    assert (fits.outcome, fits.rule) == (Outcome.AUTO, "auto")
    assert (over.outcome, over.rule, over.steps) == (Outcome.STEPS, "auto", (ApprovalStep("group:gpu-admins"),))
    assert over.words == "Rule auto does not promise more than the nodes have, so a person decides."


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (ask(17), "17 is over the limit of 16 per request for vision."),
        (ask(8, duration=timedelta(days=21)), "21 days is over the limit of 14 days for vision."),
        (ask(8, kind=LoanKind.EXTRA), "extra loans are off here."),
        (ask(8, duration=None, until=NOW), "This time has passed."),
    ],
)
def test_what_is_over_a_limit_is_denied_whatever_the_rules_say(of: Ask, words: str) -> None:
    result = verdict(of, rules=with_rules(AUTO))
    assert (result.outcome, result.rule, result.words) == (Outcome.DENIED, None, words)
    assert explain(result) == (f"Denied. {words}",)


ASKS = st.builds(
    ask,
    st.integers(1, 20),
    kind=st.sampled_from(LoanKind),
    duration=st.integers(1, 500).map(lambda hours: timedelta(hours=hours)),
)
RANGE = st.integers(0, 20).map(lambda bound: {"at_most": bound}) | st.integers(0, 20).map(
    lambda bound: {"more_than": bound}
)
RULES = st.lists(
    st.fixed_dictionaries(
        {"then": st.sampled_from([AUTO["then"], REST["then"], {"deny": "no"}, {"steps": [{"who": "lender-leads"}]}])},
        optional={"if": st.dictionaries(st.sampled_from(["amount", "on_loan", "loans_per_week"]), RANGE, min_size=1)},
    ),
    min_size=1,
    max_size=5,
)


def numbered(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With names, and nothing after a rule that matches everything."""
    until = next((n for n, rule in enumerate(rules, start=1) if "if" not in rule), len(rules))
    return [{"name": f"r{n}", **rule} for n, rule in enumerate(rules[:until])]


@given(
    ASKS,
    RULES,
    st.lists(st.builds(loan, st.integers(1, 9), st.integers(1, 8)), max_size=3, unique_by=lambda one: one.id),
)
def test_every_verdict_has_a_reason_and_only_an_automatic_rule_approves(
    of: Ask, rules: list[dict[str, Any]], loans: list[Loan]
) -> None:
    of = of if of.kind is not LoanKind.TRANSFER else transfer(of.amount, duration=of.duration)
    result = verdict(of, *loans, rules=with_rules(*numbered(rules)))
    assert all(line.endswith(".") and len(line) > 10 for line in explain(result))
    assert all(one.because for one in result.tried)
    assert (result.outcome is Outcome.STEPS) == bool(result.steps)
    if result.outcome is Outcome.AUTO:
        decided = next(one for one in numbered(rules) if one["name"] == result.rule)
        assert decided["then"] == {"approve": "auto"}
        assert of.kind is not LoanKind.TRANSFER
    if of.kind is LoanKind.TRANSFER and result.outcome is Outcome.STEPS:
        assert ApprovalStep("leads:nlp") in result.steps


@pytest.mark.case("APP-07")
@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_app_07_however_it_is_split_no_more_is_approved_automatically_than_in_one(parts: list[int]) -> None:
    had: list[Loan] = []
    for number, amount in enumerate(parts, start=1):
        if verdict(ask(amount, duration=DAY), *had).outcome is Outcome.AUTO:
            had.append(loan(number, amount))
    assert sum(one.amount for one in had) <= 2


def test_the_resource_is_what_is_counted() -> None:
    assert facts(ask(2), loan(1, 4, resource=GPU)).on_loan == 6
