"""A counter-offer from the form to the loan: what it may ask, what accepting makes of it, and what makes it void."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import AlreadyHandled, Refused, Stale
from bot.core.loans import LoanKind
from bot.core.offers import Offer, OfferState
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.answer_offer import OfferPress, accept_offer, keep_request
from bot.flows.change_form import change_facts
from bot.flows.lapse_requests import lapse_requests
from bot.flows.make_offer import Change, make_offer
from bot.flows.pause_quota import pause_quota
from bot.flows.record_decision import Press, approve, deny
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.withdraw_request import withdraw_request
from bot.views.change_form import ChangeValues
from bot.views.ids import LENDER_BOT
from bot.views.kinds import NoticeKind
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

REQUESTER, LEAD, ADMIN, OTHER = "U0VISION", "U0LEADVISION", "U0ADMIN", "U0ADMINTWO"
LENDS = "U0LEADNLP"
ADMINS_ONLY = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}}
LEAD_THEN_ADMIN = {"name": "rest", "then": {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins"}]}}
TOO_SMALL = {"name": "no", "if": {"amount": {"at_most": 4}}, "then": {"deny": "Too small."}}
TWO_ADMINS = {"name": "rest", "then": {"steps": [{"who": "group gpu-admins", "count": 2}]}}


def ask(bench: "Bench", amount: int = 8, **changes: Any) -> int:
    key = f"ask:{len(bench.store.tables.requests)}"
    draft = quota.draft(amount, flavor="a100", **({"kind": LoanKind.BORROW} | changes))
    submitted = submit_request(bench.world, draft, key, bench.arrival(key))
    assert isinstance(submitted, Submitted)
    bench.deliver_all()
    return submitted.request.id


def request(bench: "Bench", number: int) -> QuotaRequest:
    return bench.store.tables.requests[number]


def new_key(bench: "Bench") -> str:
    return bench.arrival(f"press:{len(bench.store.tables.inbox)}")


def offer(bench: "Bench", number: int, user: str = ADMIN, amount: int = 4, **values: Any) -> Offer:
    now = request(bench, number)
    filled = ChangeValues(amount, values.pop("kind", now.ask.kind.value), now.ask.lender or LENDER_BOT)
    change = Change(number, now.revision, user, new_key(bench), replace(filled, **values))
    made = make_offer(bench.world, change)
    bench.deliver_all()
    return made


def accept(bench: "Bench", made: Offer, user: str = REQUESTER) -> str:
    said = accept_offer(bench.world, OfferPress(made.id, user, new_key(bench)))
    bench.deliver_all()
    return said


def keep(bench: "Bench", made: Offer, user: str = REQUESTER) -> str:
    return keep_request(bench.world, OfferPress(made.id, user, new_key(bench)))


def press(bench: "Bench", number: int, user: str) -> str:
    return approve(bench.world, Press(number, request(bench, number).revision, user, new_key(bench)))


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as error:
        act()
    return error.value.sentence


def state(bench: "Bench", made: Offer) -> OfferState:
    return bench.store.tables.offers[made.id].state


def approvals(bench: "Bench", number: int) -> list[tuple[str, int]]:
    with bench.world.store.read() as uow:
        return [(one.who, one.step) for one in uow.requests.approvals(number)]


def audit(bench: "Bench", what: str) -> list[tuple[str, str]]:
    return [(one.who, one.outcome) for one in bench.store.tables.audit if one.what == what]


# -- accepting --------------------------------------------------------------------------------------------------------


def test_accepting_is_enough_where_one_approval_is(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number, until="1d", words="nlp needs the rest")
    assert accept(bench, made) == f"Q-{number} is approved: 4 a100, 1 day, borrow."
    loan = bench.store.tables.loans[number]
    assert (loan.amount, loan.end - loan.start) == (4, timedelta(days=1))
    assert (request(bench, number).decided_by, approvals(bench, number)) == (ADMIN, [(ADMIN, 0)])
    assert state(bench, made) is OfferState.ACCEPTED


def test_everybody_is_told_with_the_number_first(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    made = offer(bench, ask(bench), words="no more")
    assert "4 a100 instead of 8 (Q-1)" in bench.texts(REQUESTER)
    assert any("changed, waits for u0vision" in text for text in bench.texts("C0APPROVALS"))
    accept(bench, made)
    assert any("Offer accepted: 4 a100" in text for text in bench.texts(REQUESTER))
    assert any("u0vision accepted the change" in text for text in bench.texts("C0APPROVALS"))
    assert any(text.startswith("4 a100 for vision: approved") for text in bench.texts("C0APPROVALS"))


@pytest.mark.parametrize(("answer", "words"), [(accept, "accepted"), (keep, "turned down")])
def test_the_offerer_hears_the_answer_once(bench: "Bench", answer: Callable[["Bench", Offer], str], words: str) -> None:
    number = ask(bench, 4)
    answer(bench, offer(bench, number, amount=3))
    bench.deliver_all()
    assert bench.texts(ADMIN) == [f"3 a100, 3 days, borrow: {words} (Q-{number})"]


def test_earlier_approvals_were_of_other_terms(bench: "Bench") -> None:
    """They stay stored; those who gave them are asked again, and may give them again."""
    bench.policy = quota.with_rules(
        {"name": "rest", "then": {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins"}]}}
    )
    number = ask(bench)
    press(bench, number, LEAD)
    made = offer(bench, number)
    assert accept(bench, made) == f"Q-{number} asks for 4 a100, 3 days, borrow now, and waits for approval."
    assert approvals(bench, number) == [(ADMIN, 1)], "the offerer's counts, in the step that is theirs"
    assert [one.who for one in bench.store.tables.approvals] == [LEAD, ADMIN]
    assert bench.keys(f"next:{number}:0") == [f"next:{number}:0", f"next:{number}:0:1"]
    assert press(bench, number, LEAD) == f"Q-{number} is approved."


def test_an_offerer_is_one_of_two(bench: "Bench") -> None:
    bench.policy = quota.with_rules(TWO_ADMINS)
    number = ask(bench)
    accept(bench, offer(bench, number))
    assert "You gave approval 1 of 2" in refused(lambda: press(bench, number, ADMIN))
    assert press(bench, number, OTHER) == f"Q-{number} is approved."
    assert bench.store.tables.loans[number].amount == 4


def test_the_new_terms_are_judged_by_the_policy_of_now(bench: "Bench") -> None:
    """8 takes the team's lead and an admin, 4 an admin: the lead, who offers, is not asked any more."""
    number = ask(bench)
    said = accept(bench, offer(bench, number, LEAD))
    assert said.endswith("waits for approval. These terms take the approval of gpu-admins.")
    assert [step.who for step in request(bench, number).steps] == ["group:gpu-admins"]
    assert request(bench, number).rule == "rest"
    assert press(bench, number, ADMIN) == f"Q-{number} is approved."


def test_terms_that_a_rule_approves_need_nobody(bench: "Bench") -> None:
    number = ask(bench)
    assert accept(bench, offer(bench, number, LEAD, 2, until="8h")) == f"Q-{number} is approved: 2 a100, 8 h, borrow."
    assert request(bench, number).decided_by == "rule:small-and-short"


def test_another_kind_asks_the_lender_and_gives_its_lead_a_card(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number, kind="transfer", lender="nlp")
    assert made.terms.lender == "nlp"
    accept(bench, made)
    assert [step.who for step in request(bench, number).steps] == ["leads:nlp", "group:gpu-admins"]
    assert approvals(bench, number) == [(ADMIN, 1)]
    assert f"card:{number}:{LENDS}" in bench.keys("card:")
    assert press(bench, number, LENDS) == f"Q-{number} is approved."


def test_what_the_policy_refuses_now_is_refused_in_words_and_waits_on(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number)
    bench.policy = quota.with_rules({"name": "freeze", "then": {"deny": "No loans this week."}})
    assert refused(lambda: accept(bench, made)) == (
        f"Not accepted: rule freeze says no to this now: No loans this week. Q-{number} waits on as it was asked."
    )
    assert (request(bench, number).ask.amount, state(bench, made)) == (8, OfferState.OPEN)


def test_hours_of_the_day_are_those_of_the_acceptance(bench: "Bench") -> None:
    """And stay so at a later approval: the policy has not changed only because time went on."""
    late = {"name": "late", "if": {"hours": {"after": "18:00", "until": "08:00"}}, "then": TWO_ADMINS["then"]}
    bench.policy = quota.with_rules(late, ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number)
    bench.pass_time(hours=5)  # 19:05 in Zurich
    accept(bench, made)
    assert (request(bench, number).rule, approvals(bench, number)) == ("late", [(ADMIN, 0)])
    bench.pass_time(hours=15)
    assert press(bench, number, OTHER) == f"Q-{number} is approved."


def test_a_cluster_that_got_worse_takes_the_offerers_approval_away(bench: "Bench") -> None:
    bench.policy = quota.with_rules({"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}})
    number = ask(bench, kind=LoanKind.TRANSFER, lender="nlp")
    press(bench, number, LENDS)
    made = offer(bench, number)
    bench.set_nominal("vision", 15)
    said = accept(bench, made)
    assert said.endswith("waits for approval. The cluster changed since the offer, so an approver looks at it again.")
    assert (request(bench, number).ask.amount, approvals(bench, number)) == (4, [])
    assert any("changed, look again" in text for text in bench.texts("C0APPROVALS"))
    press(bench, number, LENDS)
    assert press(bench, number, ADMIN) == f"Q-{number} is approved."


def test_without_live_figures_an_approver_looks_again(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number)
    bench.api_down()
    said = accept(bench, made)
    assert said.endswith("The API server is not answering, so an approver looks at it again.")
    assert (request(bench, number).state, approvals(bench, number)) == (RequestState.WAITING, [])


def test_an_offerer_who_may_not_approve_any_more_does_not_count(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number)
    bench.policy = quota.with_rules(ADMINS_ONLY, groups={"gpu-admins": [OTHER], "nobody": []})
    assert accept(bench, made).endswith("These terms take the approval of gpu-admins.")
    assert (request(bench, number).state, approvals(bench, number)) == (RequestState.WAITING, [])


def test_who_may_approve_is_never_guessed(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY, groups={"gpu-admins": ["S0ADMINS"], "nobody": []})
    bench.slack.groups["S0ADMINS"] = frozenset({ADMIN})
    number = ask(bench)
    made = offer(bench, number)
    bench.slack.down = True
    assert "Slack did not say" in refused(lambda: accept(bench, made))
    bench.slack.down = False
    assert (request(bench, number).ask.amount, state(bench, made)) == (8, OfferState.OPEN)


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        ("U0ROBOTICS", "Only u0vision can accept, withdraw, extend or return Q-1 (and the vision lead)."),
        (OTHER, "Only u0vision can accept, withdraw, extend or return Q-1 (and the vision lead)."),
        (ADMIN, "Only u0vision can accept, withdraw, extend or return Q-1 (and the vision lead)."),
    ],
)
def test_only_the_requesters_side_answers(bench: "Bench", who: str, sentence: str) -> None:
    made = offer(bench, ask(bench, 4), amount=3)
    assert refused(lambda: accept(bench, made, who)) == refused(lambda: keep(bench, made, who)) == sentence
    assert audit(bench, "accept") == audit(bench, "keep") == [(who, sentence)]


def test_the_teams_lead_answers_for_the_requester_but_not_what_they_offered_themselves(bench: "Bench") -> None:
    own, others = offer(bench, ask(bench), LEAD), offer(bench, ask(bench, 4), amount=3)
    yours = "This offer is yours: somebody else answers it."
    assert refused(lambda: accept(bench, own, LEAD)) == refused(lambda: keep(bench, own, LEAD)) == yours
    assert accept(bench, others, LEAD).startswith("Q-2 is approved")


def test_two_presses_accept_once(bench: "Bench") -> None:
    made = offer(bench, ask(bench, 4), amount=3)
    accept(bench, made)
    assert refused(lambda: accept(bench, made)) == "This offer was accepted already: Q-1 is approved."
    assert refused(lambda: keep(bench, made)) == "This offer was accepted already: Q-1 is approved."
    assert len(bench.store.tables.loans) == 1


def test_a_redelivered_press_changes_nothing(bench: "Bench") -> None:
    bench.policy = quota.with_rules(TWO_ADMINS)
    number = ask(bench)
    made, key = offer(bench, number), new_key(bench)
    keep_request(bench.world, OfferPress(made.id, REQUESTER, key))
    newer = offer(bench, number, amount=3)
    with pytest.raises(AlreadyHandled):
        accept_offer(bench.world, OfferPress(newer.id, REQUESTER, key))
    assert (request(bench, number).ask.amount, state(bench, newer)) == (8, OfferState.OPEN)


# -- keeping, and what makes an offer void ----------------------------------------------------------------------------


def test_keeping_leaves_the_request_and_its_approvals(bench: "Bench") -> None:
    number = ask(bench)
    press(bench, number, LEAD)
    made = offer(bench, number)
    assert keep(bench, made) == f"Q-{number} waits on as it was asked."
    assert (request(bench, number).ask.amount, approvals(bench, number)) == (8, [(LEAD, 0)])
    assert "turned down already" in refused(lambda: accept(bench, made))
    bench.deliver_all()
    assert any("Offer turned down: 4 a100" in text for text in bench.texts(REQUESTER))
    assert press(bench, number, ADMIN) == f"Q-{number} is approved."


def test_a_newer_offer_replaces_the_older(bench: "Bench") -> None:
    number = ask(bench, 4)
    older, newer = offer(bench, number, amount=3), offer(bench, number, OTHER, 2)
    assert (state(bench, older), state(bench, newer)) == (OfferState.REPLACED, OfferState.OPEN)
    assert "A newer offer replaced this one: answer that one." in refused(lambda: accept(bench, older))
    assert any("Offer replaced: 3 a100" in text for text in bench.texts(REQUESTER))
    assert (OTHER, "3 a100, 3 days, borrow: replaced") in audit(bench, "close offer")
    accept(bench, newer)
    assert bench.store.tables.loans[number].amount == 2


def test_approving_what_was_asked_makes_the_offer_void_and_says_so(bench: "Bench") -> None:
    bench.policy = quota.with_rules(TWO_ADMINS)
    number = ask(bench)
    made = offer(bench, number)
    press(bench, number, OTHER)
    bench.deliver_all()
    assert "approved what was asked for" in refused(lambda: accept(bench, made))
    assert any("approved as asked, the offer is void" in text for text in bench.texts(REQUESTER))
    assert audit(bench, "close offer") == [(OTHER, "4 a100, 3 days, borrow: void")]
    assert approvals(bench, number) == [(OTHER, 0)]


@pytest.mark.parametrize("how", ["approved", "denied", "withdrawn", "lapsed", "closed by the policy"])
def test_a_request_that_is_decided_takes_its_offer_along(bench: "Bench", how: str) -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    made = offer(bench, number)
    if how == "approved":
        press(bench, number, OTHER)
    elif how == "denied":
        deny(bench.world, Press(number, 0, OTHER, new_key(bench)), "no")
    elif how == "withdrawn":
        withdraw_request(bench.world, number, REQUESTER, new_key(bench))
    elif how == "lapsed":
        bench.pass_time(days=4)
        lapse_requests(bench.world, bench.epoch)
    else:
        bench.policy = quota.with_rules({"name": "freeze", "then": {"deny": "No."}})
        refused(lambda: press(bench, number, OTHER))
    assert state(bench, made) is OfferState.VOID
    assert f"Q-{number} was already " in refused(lambda: accept(bench, made))
    bench.deliver_all()
    assert any("Offer void: 4 a100" in text for text in bench.texts(REQUESTER))
    assert NoticeKind.OFFER_VOID not in {row.notice.draft.kind for row in bench.store.tables.notices.values()}


def test_an_offer_of_a_request_that_lapsed_unseen_is_not_accepted(bench: "Bench") -> None:
    made = offer(bench, ask(bench, 4), amount=3)
    bench.pass_time(days=4)
    assert "was already lapsed" in refused(lambda: accept(bench, made))


@pytest.mark.parametrize("passage", range(1, 5))
def test_an_offer_that_is_made_void_in_the_middle_is_not_accepted(bench: "Bench", passage: int) -> None:
    """Whatever was read before: the offer itself is compared when it is settled."""
    bench.policy = quota.with_rules(TWO_ADMINS)
    number = ask(bench)
    made = offer(bench, number)
    bench.gate.plan(lambda: press(bench, number, OTHER), after=passage, matches="store.read")
    with pytest.raises((Stale, Refused)):
        accept(bench, made)
    assert (request(bench, number).ask.amount, state(bench, made)) == (8, OfferState.VOID)
    assert approvals(bench, number) == [(OTHER, 0)]


# -- offering ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({"amount": 9}, "amount", "A change can only ask for less: 8 at most."),
        ({"amount": None}, "amount", "Whole numbers from 1, like 8."),
        ({"until": "4d"}, "until", "A change can only be shorter: 3 days at most."),
        ({"until": "soon"}, "until", "Choose how long."),
        ({"until_at": quota.NOW + timedelta(days=4)}, "until", "A change can only be shorter: 3 days at most."),
        ({"until_at": quota.NOW - timedelta(hours=1)}, "until", "This time has passed."),
        ({"kind": "grant"}, "kind", "There is no such kind of loan."),
        ({"kind": "transfer", "lender": "nobody"}, "lender", "No queue nobody that you can see."),
        ({"amount": 8}, "amount", "Nothing is changed. To agree, press Approve on the card."),
    ],
)
def test_what_cannot_be_offered_is_refused_on_its_field(
    bench: "Bench", values: dict[str, Any], field: str, sentence: str
) -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench)
    with pytest.raises(Refused) as error:
        offer(bench, number, **values)
    assert (error.value.field, error.value.sentence[: len(sentence)]) == (field, sentence)
    assert audit(bench, "offer") == [(ADMIN, error.value.sentence)]
    assert not bench.store.tables.offers


def test_an_earlier_start_is_more_than_was_asked(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    number = ask(bench, start=quota.NOW + timedelta(hours=9))
    assert "can only start later" in refused(lambda: offer(bench, number, start_at=None))
    assert offer(bench, number, amount=8, start_at=quota.NOW + timedelta(hours=12)).terms.amount == 8


@pytest.mark.parametrize("until", [True, False])
def test_the_length_is_what_counts_whether_asked_as_one_or_as_an_end(bench: "Bench", until: bool) -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    end = quota.NOW + timedelta(days=3)
    number = ask(bench, **({"duration": None, "until": end} if until else {}))
    assert offer(bench, number, amount=8, until="1d").terms.duration == timedelta(days=1)
    assert offer(bench, number, amount=8, until_at=end - timedelta(hours=1)).terms.until == end - timedelta(hours=1)


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        (REQUESTER, "Q-1 is yours. To ask for less, withdraw it and request again."),
        ("U0ROBOTICS", "Only the vision lead and gpu-admins can decide Q-1. Not recorded as a decision."),
        (ADMIN, "The vision lead decides first. You are asked after that."),
    ],
)
def test_only_who_may_decide_the_open_step_offers(bench: "Bench", who: str, sentence: str) -> None:
    number = ask(bench)
    assert refused(lambda: offer(bench, number, who)) == sentence
    assert refused(lambda: change_facts(bench.world, number, who)) == sentence
    assert audit(bench, "offer") == [(who, sentence)] * 2


def test_a_request_that_changed_while_the_form_was_open_is_looked_at_again(bench: "Bench") -> None:
    bench.policy = quota.with_rules(TWO_ADMINS)
    number = ask(bench)
    change = Change(number, request(bench, number).revision, ADMIN, new_key(bench), ChangeValues(4, "borrow"))
    press(bench, number, OTHER)
    assert "changed while the form was open" in refused(lambda: make_offer(bench.world, change))
    assert not bench.store.tables.offers


def test_what_the_cluster_or_the_policy_would_refuse_is_not_offered(bench: "Bench") -> None:
    number = ask(bench, 8, kind=LoanKind.TRANSFER, lender="nlp")
    bench.set_nominal("robotics", 3)
    assert "robotics can lend at most 3" in refused(lambda: offer(bench, number, LENDS, lender="robotics"))
    bench.policy = quota.with_rules(
        {"name": "no", "if": {"amount": {"at_most": 4}}, "then": {"deny": "Too small."}}, ADMINS_ONLY
    )
    assert refused(lambda: offer(bench, number, LENDS)) == "Rule no says no to this: Too small."
    bench.api_down()
    assert "The API server is not answering, so nothing was offered." in refused(lambda: offer(bench, number, LENDS, 5))
    assert not bench.store.tables.offers


def test_the_form_offers_no_lender_that_the_requester_may_not_see(bench: "Bench") -> None:
    number = ask(bench, kind=LoanKind.TRANSFER, lender="nlp")
    assert [one.queue for one in change_facts(bench.world, number, LENDS).lenders] == ["nlp", "robotics"]
    documents = quota.documents()
    documents["teams.yaml"]["sees"] = "own"
    bench.policy = quota.policy(documents)
    assert [one.queue for one in change_facts(bench.world, number, LENDS).lenders] == ["nlp"]
    assert "No queue robotics" in refused(lambda: offer(bench, number, LENDS, lender="robotics"))


def test_the_form_is_filled_with_the_requests_terms(bench: "Bench") -> None:
    facts = change_facts(bench.world, ask(bench, kind=LoanKind.TRANSFER, lender="nlp"), LENDS)
    assert facts.values == ChangeValues(8, "transfer", "nlp")
    assert facts.longest == timedelta(days=3)
    assert set(facts.kinds) == {LoanKind.BORROW, LoanKind.TRANSFER}


def test_who_accepts_while_quota_changes_are_paused_hears_that_it_waits(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    made = offer(bench, ask(bench))
    pause_quota(bench.world, "maintenance", OTHER, new_key(bench))
    assert accept(bench, made).endswith("It waits: quota changes are paused by u0admintwo.")


@pytest.fixture
def late(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Nothing is delivered until this is called: then it says who was pinged."""
    deliver_all = bench.deliver_all
    monkeypatch.setattr(bench, "deliver_all", lambda: None)

    def pinged() -> list[str]:
        deliver_all()
        texts = bench.texts("C0APPROVALS")
        return sorted(text.partition(":")[0] for text in texts if "your approval is next" in text)

    return pinged


def test_nobody_is_pinged_late_for_a_step_that_was_given(bench: "Bench", late: Callable[[], list[str]]) -> None:
    bench.policy = quota.with_rules(LEAD_THEN_ADMIN)
    press(bench, ask(bench), LEAD)
    assert late() == ["gpu-admins"]


def test_nobody_is_pinged_twice_late_because_the_terms_changed(bench: "Bench", late: Callable[[], list[str]]) -> None:
    bench.policy = quota.with_rules(LEAD_THEN_ADMIN)
    number = ask(bench)
    press(bench, number, LEAD)
    accept(bench, offer(bench, number))
    assert late() == ["vision lead"]


def test_an_offer_that_is_accepted_late_ends_no_later_than_what_was_asked_for(bench: "Bench") -> None:
    bench.policy = quota.with_rules(ADMINS_ONLY)
    end = quota.NOW + timedelta(days=3)
    number = ask(bench, duration=None, until=end)
    made = offer(bench, number, until="2d")
    bench.pass_time(hours=30)
    accept(bench, made)
    assert bench.store.tables.loans[number].end == end
