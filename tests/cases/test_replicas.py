"""Two processes of the bot on one PostgreSQL database, both connected in Socket Mode."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest

from bot.app.run import Bot
from bot.core.pace import Pace
from bot.core.requests import AuditEntry, RequestState
from bot.demo.slack import Delivery, Message
from tests.support.marks import case
from tests.support.offering import offer_to, offers
from tests.support.stage import ADMINS, NOMINAL, QUICK, CaseStage, Pair

pytestmark = [
    pytest.mark.one_database("a second process is kept from an SQLite file"),
    pytest.mark.parametrize("database", ["postgresql"], indirect=True, scope="module"),
]


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(16) as stage:
        second = Bot(stage.settings(), stage.clock, pace=Pace(QUICK, QUICK))
        second.start()
        try:
            stage.wait("two connections", lambda: stage.slack.connections == 2)
            yield stage
        finally:
            second.stop()


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _together(*acts: threading.Thread) -> None:
    for act in acts:
        act.start()
    for act in acts:
        act.join()


@case("APP-02")
@pytest.mark.parametrize("kinds", [("approve", "deny"), ("deny", "approve"), ("approve", "approve"), ("deny", "deny")])
def test_of_two_decisions_at_one_moment_one_wins(stage: CaseStage, pair: Pair, kinds: tuple[str, str]) -> None:
    number = stage.asks(pair.asker, "4 for 2d because paper").id
    card, people = stage.card(number), dict(zip(ADMINS, kinds, strict=True))
    for who, kind in people.items():
        if kind == "deny":
            stage.fills_in_denial(who, number)
    _together(*(_decides(stage, who, kind, card) for who, kind in people.items()))
    stage.wait("both in the audit", lambda: len(_decisions(stage, number)) == 2)

    request = stage.request(number)
    won = next(who for who in people if stage.people[who] == request.decided_by)
    lost = next(who for who in people if who != won)
    already = f"Q-{number} was already {request.state.value} by"
    assert request.state is (RequestState.APPROVED if people[won] == "approve" else RequestState.DENIED)
    by = {entry.who: entry.outcome for entry in _decisions(stage, number)}
    assert by[stage.people[won]] == "ok"
    assert by[stage.people[lost]].startswith(already)
    stage.wait(f"{lost} is told", lambda: f"{already} @{won}" in _told(stage, lost, people[lost]))
    if people[won] == "approve":
        stage.in_force(number)
        card_text = stage.card_says(number, "In force since", f"Approved: @{won}")
    else:
        card_text = stage.card_says(number, f"Denied by @{won}", "no spare")
        assert stage.loan(number) is None
    assert f"@{lost}" not in card_text


@case("APP-02")
@pytest.mark.parametrize("kind", ["approve", "deny"])
def test_of_a_decision_and_a_withdrawal_at_one_moment_both_are_in_the_audit(
    stage: CaseStage, pair: Pair, kind: str
) -> None:
    """A loan that was approved first and is not in force yet is withdrawn all the same: then both count."""
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.presses(pair.lender_lead, number)
    card = stage.card(number)
    if kind == "deny":
        stage.fills_in_denial("ada", number)
    withdraws = threading.Thread(target=stage.types, args=(pair.asker, f"withdraw Q-{number}"))
    _together(_decides(stage, "ada", kind, card), withdraws)
    stage.wait("both in the audit", lambda: len(_of_both(stage, number)) == 2)
    outcomes = {entry.what: entry.outcome for entry in _of_both(stage, number)}
    state = stage.request(number).state
    assert "ok" in outcomes.values(), outcomes
    if state is RequestState.APPROVED:
        loan = stage.loan(number)
        assert loan is not None
    else:
        assert outcomes[kind if state is RequestState.DENIED else "withdraw"] == "ok"
        assert stage.loan(number) is None
        assert stage.nominals_of(pair.borrower) == [NOMINAL]


@case("APP-02")
@pytest.mark.parametrize("kind", ["approve", "deny", "keep", "accept"])
def test_an_offer_is_accepted_or_the_request_decided_never_both(stage: CaseStage, pair: Pair, kind: str) -> None:
    """At one moment, in two processes: the loan is of the terms that won, and the other press is told how it was."""
    number = stage.asks(pair.asker, "4 for 2d because paper").id
    offers(stage, "ada", number)
    offer, user = offer_to(stage, pair.asker), stage.people[pair.asker]
    if kind == "deny":
        stage.fills_in_denial("alan", number)
    accepts = threading.Thread(target=stage.slack.press, args=(user, offer, "gpuq_offer_accept"))
    if kind in {"approve", "deny"}:
        other = _decides(stage, "alan", kind, stage.card(number))
    else:
        other = threading.Thread(target=stage.slack.press, args=(user, offer, f"gpuq_offer_{kind}"))
    _together(other, accepts)
    presses = {"accept", kind}
    by_offer = "by the offer that was accepted"

    def noted() -> list[AuditEntry]:
        return [one for one in stage.audit(number) if one.what in presses and one.outcome != by_offer]

    stage.wait("both in the audit", lambda: len(noted()) == 2)
    done = [one for one in noted() if one.outcome in {"ok", "3 a100, 1 day, borrow"}]
    assert len(done) == 1, noted()
    loan = stage.loan(number)
    amounts = {"accept": 3, "approve": 4, "deny": None, "keep": None}
    assert (loan.amount if loan else None) == amounts[done[0].what]
    stage.wait("the offer is settled", lambda: stage.count_dms(pair.asker, "[Accept]") == 0)


def _of_both(stage: CaseStage, number: int) -> list[AuditEntry]:
    """After the approval of the lender's lead."""
    return [entry for entry in stage.audit(number) if entry.what in {"approve", "deny", "withdraw"}][1:]


def _decisions(stage: CaseStage, number: int) -> list[AuditEntry]:
    return stage.audit(number, "approve") + stage.audit(number, "deny")


def _decides(stage: CaseStage, who: str, kind: str, card: Message) -> threading.Thread:
    if kind == "deny":
        return threading.Thread(target=stage.submits_denial, args=(who, "no spare"))
    return threading.Thread(target=stage.slack.press, args=(stage.people[who], card, "gpuq_card_approve"))


def _told(stage: CaseStage, who: str, kind: str) -> str:
    """What only they see: under the button, or, for a form, in a direct message."""
    user = stage.people[who]
    messages = stage.slack.dms(user) if kind == "deny" else stage.slack.ephemerals(user)
    return "\n".join(stage.text(one) for one in messages)


@case("SLA-07")
@pytest.mark.parametrize("how", ["once", "redelivered", "ten at once", "both connections cut first"])
def test_each_interaction_is_handled_once(stage: CaseStage, pair: Pair, how: str) -> None:
    """Whichever process it comes to, and however often."""
    line = f"request 1 from {pair.lender} for 2d because paper"
    if how == "ten at once":
        _together(*(threading.Thread(target=stage.types, args=(who, line)) for who in (pair.asker, pair.mate) * 5))
        wanted = 5
    else:
        if how == "both connections cut first":
            stage.slack.cut_connections()
        typed = _types_until_taken(stage, pair.asker, line)
        if how == "redelivered":
            stage.slack.repeat(typed)
            stage.slack.redeliver(typed)
        wanted = 1
    people = (pair.asker, pair.mate) if wanted > 1 else (pair.asker,)
    for who in people:
        stage.wait(f"{wanted} answers to {who}", partial(_heard, stage, who, wanted))
        assert len(stage.requests_of(who)) == wanted
    for request in stage.requests_of(pair.asker):
        stage.card(request.id)
        assert stage.count("gpu-approvals", f"· Q-{request.id}\n") == 1
    number = stage.requests_of(pair.asker)[0].id
    stage.presses(pair.lender_lead, number)
    stage.presses("ada", number)
    stage.in_force(number)
    assert stage.nominals_of(pair.borrower) == [NOMINAL, NOMINAL + 1]
    stage.hears(pair.asker, f"(Q-{number})")
    assert stage.count_dms(pair.asker, f"(Q-{number})") == 1


def _heard(stage: CaseStage, who: str, times: int) -> bool:
    return len(stage.slack.ephemerals(stage.people[who])) >= times


def _types_until_taken(stage: CaseStage, who: str, line: str) -> Delivery:
    """As people do while the bot has no connection: Slack says that it failed, and they try again."""
    for _ in range(10):
        with suppress(AssertionError):  # the bot may take longer to notice than a stage waits for anything
            stage.wait("a connection", lambda: stage.slack.connections)
        typed = stage.slack.type_command(stage.people[who], stage.channels["gpu-approvals"], f"/gpu-quota {line}")
        if typed.acked:
            return typed
    raise AssertionError(f"Slack showed {who}: {typed.shown}")
