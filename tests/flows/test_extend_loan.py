"""A loan is extended: by whom, when it cannot be, what the policy makes of it, and what moves when it is approved."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.flows.details_facts import details_facts
from bot.flows.end_loan import end_loan
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.lapse_requests import lapse_requests
from bot.flows.look_up import list_facts, requests_to_withdraw, status_facts
from bot.flows.record_decision import Press, approve, deny
from bot.flows.refused_with import RefusedWith
from bot.flows.remind_loans import remind_loans
from bot.flows.return_loan import return_loan
from bot.flows.show_queue import show_facts
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.withdraw_request import meant_to_withdraw, withdraw_request
from bot.views.details import details
from tests.support import quota
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
REQUESTER, LEAD, ADMIN, OTHER_ADMIN = "U0VISION", "U0LEADVISION", "U0ADMIN", "U0ADMINTWO"
ONE = {"steps": [{"who": "group gpu-admins"}]}
SMALL = {"name": "small-and-short", "if": {"amount": {"at_most": 2}, "duration": {"at_most": "24h"}}}


def lent(bench: "Bench", of: Ask | None = None) -> Loan:
    """A loan of vision that is in force: 8 a100 for three days, unless another is asked for."""
    number = bench.approved(of or quota.transfer(8))
    bench.converge()
    bench.deliver_all()
    return loan(bench, number)


def loan(bench: "Bench", number: int = 1) -> Loan:
    return bench.store.tables.loans[number]


def extension(bench: "Bench", number: int = 2) -> QuotaRequest:
    return bench.store.tables.requests[number]


def ask(bench: "Bench", number: int = 1, user: str = REQUESTER, **wish: Any) -> QuotaRequest:
    bench.pass_time(seconds=1)
    key = bench.arrival(f"extend:{bench.clock()}")
    return extend_loan(bench.world, MoreTime(number, **(wish or {"by": 2 * DAY})), user, key, key).request


def refused(bench: "Bench", number: int = 1, user: str = REQUESTER, **wish: Any) -> str:
    with pytest.raises(Refused) as caught:
        ask(bench, number, user, **wish)
    return caught.value.sentence


def press(bench: "Bench", what: str = "approve", user: str = ADMIN, number: int = 2) -> str:
    bench.pass_time(seconds=1)
    pressed = Press(number, extension(bench, number).revision, user, bench.arrival(f"press:{bench.clock()}"))
    return approve(bench.world, pressed) if what == "approve" else deny(bench.world, pressed, "no more this week")


def approve_all(bench: "Bench") -> None:
    """By the lender's lead, the team's and an admin, as the policy of these tests has it for 8 devices."""
    for user in ("U0LEADNLP", LEAD, ADMIN):
        press(bench, user=user)


def audit(bench: "Bench") -> list[tuple[str, str, str]]:
    return [(one.who, one.what, one.outcome) for one in bench.store.tables.audit if one.subject == "Q-1"]


def test_an_approved_extension_moves_the_end_and_nothing_else(bench: "Bench") -> None:
    before = lent(bench)
    asked = ask(bench)
    assert loan(bench) == before, "until it is approved the loan ends as it was to end"
    approve_all(bench)
    after = loan(bench)
    assert after.end == before.end + 2 * DAY == asked.ask.until
    assert (after.amount, after.start, after.state) == (before.amount, before.start, before.state)
    numbers = bench.number("vision"), bench.number("nlp")
    bench.converge()
    assert (bench.number("vision"), bench.number("nlp")) == numbers == (24, 16)
    noted = bench.world.clusters["default"].read().queues["vision"].annotations["gpu-quota-bot.io/loans"]
    assert after.end.strftime("%Y-%m-%dT%H:%M") in noted


def test_the_audit_has_it_under_the_loan_with_verbs_of_its_own(bench: "Bench") -> None:
    lent(bench)
    ask(bench)
    with pytest.raises(Refused):
        press(bench)
    approve_all(bench)
    first = "The nlp lead decides first. You are asked after that."
    assert audit(bench) == [
        (REQUESTER, "extend", "waiting"),
        (ADMIN, "approve extension", first),
        ("U0LEADNLP", "approve extension", "ok"),
        (LEAD, "approve extension", "ok"),
        (ADMIN, "approve extension", "ok"),
    ]


def test_its_people_hear_of_it(bench: "Bench") -> None:
    """A lead asked: both hear the outcome; the card in the channel and in the thread say what was asked."""
    lent(bench)
    ask(bench, user=LEAD)
    bench.deliver_all()
    assert any(text.startswith("+2 days for Q-1: 8 a100 for vision: ") for text in bench.texts("C0APPROVALS"))
    bench.policy = quota.with_rules({"name": "rest", "then": ONE})
    with pytest.raises(Refused, match="other people decide this now"):
        press(bench, user="U0LEADNLP")
    press(bench, user="U0LEADNLP")
    press(bench)
    bench.deliver_all()
    assert any(text.startswith("nlp lends 8 a100") and "2026-12-07" in text for text in bench.texts("U0LEADNLP"))
    for user in (REQUESTER, LEAD):
        assert sum(text.startswith("Q-1 now ends ") for text in bench.texts(user)) == 1
    assert any(text.startswith("Extended (by 2 days)") for text in bench.texts("C0APPROVALS"))


@pytest.mark.parametrize("user", ["U0NLP", ADMIN])
def test_only_its_people_ask(bench: "Bench", user: str) -> None:
    lent(bench)
    words = "Only u0vision can accept, withdraw, extend or return Q-1 (and the vision lead)."
    assert refused(bench, user=user) == words
    assert audit(bench) == [(user, "extend", words)]


def test_whoever_asks_does_not_approve_it(bench: "Bench") -> None:
    bench.policy = quota.with_rules({"name": "rest", "then": {"steps": [{"who": "team-leads"}]}})
    lent(bench, quota.ask(4))
    ask(bench, user=LEAD)
    with pytest.raises(Refused, match="Q-1's extension is yours: somebody else decides"):
        press(bench, user=LEAD)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"until": quota.NOW}, "Q-1 does not end before that: say a later time, like extend Q-1 by 2d."),
        ({"by": timedelta(0)}, "Q-1 does not end before that: say a later time, like extend Q-1 by 2d."),
        ({"by": 12 * DAY}, "15 days in all is over the limit of 14 days for vision."),
    ],
)
def test_an_end_that_cannot_be(bench: "Bench", wish: Mapping[str, Any], words: str) -> None:
    lent(bench)
    assert refused(bench, **wish) == words
    assert list(bench.store.tables.requests) == [1]


def test_a_second_one_waits_for_the_first(bench: "Bench") -> None:
    lent(bench)
    ask(bench)
    assert refused(bench, by=DAY) == "Q-1's extension by 2 days waits for a decision already."
    withdraw_request(bench.world, meant_to_withdraw(bench.world, 1), REQUESTER, bench.arrival("withdraw"))
    assert extension(bench).state is RequestState.WITHDRAWN
    assert audit(bench)[-1] == (REQUESTER, "withdraw extension", "ok")
    assert ask(bench, by=DAY).state is RequestState.WAITING


@pytest.mark.parametrize(("user", "words"), [(REQUESTER, None), (LEAD, None), ("U0NLP", "Only "), (ADMIN, "Only ")])
def test_what_a_lead_asked_for_is_taken_back_by_whose_loan_it_is(bench: "Bench", user: str, words: str | None) -> None:
    lent(bench)
    ask(bench, user=LEAD)
    if words is None:
        withdraw_request(bench.world, 2, user, bench.arrival("withdraw"))
    else:
        with pytest.raises(Refused, match=words):
            withdraw_request(bench.world, 2, user, bench.arrival("withdraw"))
    assert extension(bench).state is (RequestState.WITHDRAWN if words is None else RequestState.WAITING)


def test_an_old_withdraw_button_of_the_loan_leaves_its_extension_alone(bench: "Bench") -> None:
    """Drawn while the loan was not in force yet, on another card."""
    lent(bench)
    ask(bench)
    with pytest.raises(RefusedWith):
        withdraw_request(bench.world, 1, REQUESTER, bench.arrival("withdraw"))
    assert extension(bench).state is RequestState.WAITING
    assert loan(bench).ended_at is None
    assert audit(bench)[-1][:2] == (REQUESTER, "withdraw")


def test_it_can_be_extended_again_from_its_new_end(bench: "Bench") -> None:
    before = lent(bench)
    ask(bench)
    approve_all(bench)
    ask(bench, by=DAY)
    for user in ("U0LEADNLP", LEAD, ADMIN):
        press(bench, user=user, number=3)
    assert loan(bench).end == before.end + 3 * DAY


def test_the_reason_of_the_loan_stands_unless_another_is_given(bench: "Bench") -> None:
    lent(bench)
    assert ask(bench).ask.reason == quota.transfer(8).reason
    withdraw_request(bench.world, 2, REQUESTER, bench.arrival("withdraw"))
    assert ask(bench, by=DAY, reason="reviewers want more").ask.reason == "reviewers want more"


def test_extending_gains_nothing_over_a_rule_on_the_length(bench: "Bench") -> None:
    """What a rule approves for a day at most, a person decides when it becomes longer than a day."""
    bench.policy = quota.with_rules({**SMALL, "then": {"approve": "auto"}}, {"name": "rest", "then": ONE})
    short = lent(bench, quota.ask(2, duration=12 * HOUR))
    assert ask(bench, by=12 * HOUR).state is RequestState.APPROVED
    assert loan(bench).end == short.start + DAY
    assert ask(bench, by=timedelta(minutes=1)).state is RequestState.WAITING


@pytest.mark.parametrize("condition", [{"on_loan": {"at_most": 8}}, {"loans_per_week": {"at_most": 1}}])
def test_the_loan_and_its_extension_are_counted_once(bench: "Bench", condition: Mapping[str, Any]) -> None:
    lent(bench, quota.ask(8))
    bench.policy = quota.with_rules(
        {"name": "first", "if": condition, "then": {"approve": "auto"}}, {"name": "rest", "then": ONE}
    )
    assert ask(bench).state is RequestState.APPROVED


def test_an_extension_that_waits_asks_for_no_more_devices(bench: "Bench") -> None:
    """The team's next request is not held against it."""
    lent(bench)
    ask(bench)
    bench.policy = quota.with_rules(
        {"name": "first", "if": {"on_loan": {"at_most": 10}}, "then": {"approve": "auto"}},
        {"name": "rest", "then": ONE},
    )
    draft = quota.draft(2, flavor="a100")
    submitted = submit_request(bench.world, draft, "more", bench.arrival("more"))
    assert isinstance(submitted, Submitted)
    assert submitted.request.rule == "first"


def test_the_details_judge_the_whole_loan_and_count_it_once(bench: "Bench") -> None:
    lent(bench)
    facts = details_facts(bench.world, ask(bench).id, ADMIN)
    assert "rule big, because 8 is more than 4" in facts.why[0]
    assert (facts.on_loan, facts.others) == (0, ())
    assert "• The same quota for longer: no number of a queue changes" in seen(details(facts))


def test_a_rule_that_says_no_says_it_at_once(bench: "Bench") -> None:
    before = lent(bench)
    bench.policy = quota.with_rules({"name": "freeze", "then": {"deny": "No loans this week."}})
    assert ask(bench).state is RequestState.DENIED
    bench.deliver_all()
    assert any(text.startswith("+2 days for Q-1: 8 a100 for vision: denied") for text in bench.texts(REQUESTER))
    assert loan(bench) == before


def test_a_denial_leaves_the_end(bench: "Bench") -> None:
    before = lent(bench)
    ask(bench)
    assert press(bench, "deny") == "Q-1's extension is denied."
    assert loan(bench) == before
    assert audit(bench)[-1] == (ADMIN, "deny extension", "ok")


def _returned(bench: "Bench") -> None:
    return_loan(bench.world, 1, None, REQUESTER, bench.arrival("return"))


def _ended(bench: "Bench") -> None:
    end_loan(bench.world, 1, "maintenance", ADMIN, bench.arrival("end"))


@pytest.mark.parametrize("over", [_returned, _ended])
def test_what_is_over_is_neither_extended_nor_waits_for_it(bench: "Bench", over: Any) -> None:
    lent(bench)
    ask(bench)
    press(bench, user="U0LEADNLP")
    press(bench, user=LEAD)
    over(bench)
    with pytest.raises(Refused, match="Q-1 is over already"):
        press(bench)
    assert refused(bench) == "Q-1 is over already. To get it again make a new request."
    lapse_requests(bench.world, bench.epoch)
    assert extension(bench).state is RequestState.LAPSED
    bench.converge()
    bench.deliver_all()
    assert loan(bench).state is LoanState.CLOSED
    assert not any("lapsed" in text for text in bench.texts(REQUESTER) if not text.startswith("+2 days"))
    assert not any("nobody decided" in text for text in bench.texts("C0APPROVALS"))


def test_undecided_it_lapses_with_the_end(bench: "Bench") -> None:
    before = lent(bench)
    asked = ask(bench)
    assert asked.lapses_at == before.end
    bench.clock.advance(before.end - bench.clock())
    bench.epoch = bench.lead("P1") or bench.epoch
    lapse_requests(bench.world, bench.epoch)
    bench.converge()
    bench.deliver_all()
    assert extension(bench).state is RequestState.LAPSED
    assert any(text.startswith("Q-1's extension lapsed: nobody decided") for text in bench.texts(REQUESTER))
    assert bench.number("vision") == 16


def test_a_suspended_loan_is_not_extended(bench: "Bench") -> None:
    lent(bench)
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/nlp"
    bench.kube.handle("DELETE", path, headers={"content-type": "application/json"})
    bench.converge()
    assert refused(bench).startswith("Q-1 is suspended, so there is nothing to extend: ")


def test_reminders_come_before_the_new_end_and_not_for_one_that_was_just_agreed_on(bench: "Bench") -> None:
    before = lent(bench)

    def reminded(at: datetime) -> list[str]:
        bench.clock.advance(at - bench.clock())
        bench.epoch = bench.lead("P1") or bench.epoch
        remind_loans(bench.world, bench.epoch)
        return bench.keys("ends_")

    bench.clock.advance(before.end - 30 * HOUR - bench.clock())
    ask(bench, by=20 * HOUR)
    approve_all(bench)
    assert reminded(before.end - DAY) == []
    (day,) = reminded(before.end - 4 * HOUR)
    assert day == f"ends_in_a_day:1:{loan(bench).end.isoformat()}:{REQUESTER}"
    bench.clock.advance(before.end - HOUR - bench.clock())
    ask(bench, by=2 * HOUR)
    for user in ("U0LEADNLP", LEAD, ADMIN):
        press(bench, user=user, number=3)
    assert reminded(before.end) == [day], "less than a day of it was left when it was agreed on"


def test_lists_show_it_while_it_waits_and_never_beside_its_loan(bench: "Bench") -> None:
    lent(bench)
    ask(bench)
    rows = list_facts(bench.world, REQUESTER, None, closed=False).rows
    assert [(row.request.name, row.request.state) for row in rows] == [
        ("Q-1's extension", RequestState.WAITING),
        ("Q-1", RequestState.APPROVED),
    ]
    (team,) = status_facts(bench.world, REQUESTER, None).teams
    assert ([row.request.id for row in team.requests], [row.request.id for row in team.loans]) == ([2], [1])
    assert [one.id for one in requests_to_withdraw(bench.world, REQUESTER)] == [2]
    assert show_facts(bench.world, REQUESTER, "vision", None).flavors[0].requests == ()
    approve_all(bench)
    assert [row.request.id for row in list_facts(bench.world, REQUESTER, None, closed=True).rows] == [1]
    (team,) = status_facts(bench.world, REQUESTER, None).teams
    assert [row.request.id for row in team.loans] == [1]


def test_the_same_submission_again_makes_no_second(bench: "Bench") -> None:
    lent(bench)
    wish, key = MoreTime(1, by=DAY), bench.arrival("form")
    first = extend_loan(bench.world, wish, REQUESTER, "extend:V1", key)
    again = extend_loan(bench.world, wish, REQUESTER, "extend:V1", bench.arrival("form again"))
    assert again.request == first.request
    assert len(bench.store.tables.requests) == 2


def test_of_two_at_one_moment_the_second_is_told_of_the_first(bench: "Bench") -> None:
    lent(bench)
    bench.gate.plan(lambda: ask(bench, by=3 * DAY), after=1, matches="store.begin")
    assert refused(bench, by=DAY) == "Q-1's extension by 3 days waits for a decision already."
    assert [one.ask.until for one in bench.store.tables.requests.values() if one.extends] == [loan(bench).end + 3 * DAY]


def test_a_loan_that_was_extended_meanwhile_is_looked_at_again(bench: "Bench") -> None:
    """Who asks for a day more means from the end that they know of."""
    before = lent(bench, quota.ask(4))
    bench.policy = quota.with_rules({"name": "all", "then": {"approve": "auto"}})
    bench.gate.plan(lambda: ask(bench, by=3 * DAY), after=1, matches="store.begin")
    with pytest.raises(Stale):
        ask(bench, by=DAY)
    assert loan(bench).end == before.end + 3 * DAY


def test_more_time_is_asked_for_what_is_still_on_loan(bench: "Bench") -> None:
    """A part that goes back meanwhile is neither shown nor lent for longer, and the waiting card says so."""
    lent(bench)
    ask(bench)
    bench.deliver_all()
    return_loan(bench.world, 1, 5, REQUESTER, bench.arrival("a part"))
    bench.deliver_all()
    assert "+2 days for Q-1: 3 a100 for vision: u0vision asks, 0 of 3 approvals" in bench.texts("C0APPROVALS")
    approve_all(bench)
    bench.deliver_all()
    assert "u0leadnlp approved (nlp lends 3)" in bench.texts("C0APPROVALS")
    told = next(one.message for one in bench.posted(REQUESTER) if one.message.text.startswith("Q-1 now ends"))
    assert any("3 a100 for vision" in line for line in seen(told))


def test_the_details_of_more_extra_quota_say_what_the_policy_said(bench: "Bench") -> None:
    """A tick is for the time that was asked for: no rule gives more of it, whatever the nodes have."""
    files = quota.documents()
    files["approvals.yaml"] |= {"kinds": ["extra"], "rules": [{"name": "auto", "then": {"approve": "auto"}}]}
    bench.policy = quota.policy(files)
    lent(bench, quota.ask(4, kind=LoanKind.EXTRA))
    asked = ask(bench)
    assert [step.who for step in asked.steps] == ["group:gpu-admins"]
    shown = seen(details(details_facts(bench.world, asked.id, ADMIN)))
    assert "Needs 1 approval: rule auto, because it covers every request." in shown
    assert "Rule auto does not give more time with extra quota, so a person decides." in shown


def test_no_step_of_an_extension_is_given_once_its_loan_is_over(bench: "Bench") -> None:
    """Nor is the next one asked, until it lapses."""
    lent(bench)
    ask(bench)
    return_loan(bench.world, 1, None, REQUESTER, bench.arrival("all"))
    with pytest.raises(Refused, match="Q-1 is over already"):
        press(bench, user="U0LEADNLP")
    assert bench.keys("next:2:") == ["next:2:0"]
