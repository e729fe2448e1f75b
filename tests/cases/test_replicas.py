"""Two processes of the bot on one PostgreSQL database, both connected in Socket Mode."""

import threading
from collections.abc import Iterator

import pytest

from bot.app.run import Bot
from bot.core.pace import Pace
from bot.core.requests import RequestState
from tests.support.postgres import PostgresServer
from tests.support.stage import NOMINAL, QUICK, CaseStage, Pair


@pytest.fixture(scope="module")
def stage(postgres: PostgresServer) -> Iterator[CaseStage]:
    with postgres.database() as url, CaseStage(12, environment={"DATABASE_URL": url}) as stage:
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


@pytest.mark.case("APP-02")
@pytest.mark.parametrize("kinds", [("approve", "deny"), ("deny", "approve"), ("approve", "approve"), ("deny", "deny")])
def test_of_two_decisions_at_one_moment_one_wins(stage: CaseStage, pair: Pair, kinds: tuple[str, str]) -> None:
    number = stage.asks(pair.asker, "4 for 2d because paper").id
    card, people = stage.card(number), {"ada": kinds[0], "alan": kinds[1]}
    acts = []
    for who, kind in people.items():
        user = stage.people[who]
        if kind == "deny":
            stage.slack.press(user, card, "gpuq_card_deny")
            stage.wait(f"a form for {who}", lambda user=user: stage.slack.open_view(user))
            act = threading.Thread(target=stage.slack.submit_view, args=(user, {"gpuq_deny_words": "no spare"}))
        else:
            act = threading.Thread(target=stage.slack.press, args=(user, card, "gpuq_card_approve"))
        acts.append(act)
    seen = {who: len(stage.slack.ephemerals(stage.people[who])) for who in people}
    _together(*acts)
    stage.wait("two entries in the audit", lambda: len(stage.audit(number)) == 3)
    told = {
        who: stage.wait(
            f"an answer to {who}",
            lambda who=who: [stage.text(one) for one in stage.slack.ephemerals(stage.people[who])[seen[who] :]],
        )
        for who in people
    }

    request = stage.request(number)
    won = next(who for who in people if stage.people[who] == request.decided_by)
    lost = next(who for who in people if who != won)
    assert request.state is (RequestState.APPROVED if people[won] == "approve" else RequestState.DENIED)
    by = {entry.who: entry.outcome for entry in stage.audit(number)[1:]}
    assert by[stage.people[won]] == "ok"
    assert by[stage.people[lost]].startswith(f"Q-{number} was already {request.state.value} by")
    assert any(f"Q-{number} was already {request.state.value} by @{won}" in text for text in told[lost])
    if people[won] == "approve":
        stage.in_force(number)
        card_text = stage.card_says(number, "In force since", f"Approved: @{won}")
    else:
        card_text = stage.card_says(number, f"Denied by @{won}")
        assert stage.loan(number) is None
    assert f"@{lost}" not in card_text


@pytest.mark.case("SLA-07")
@pytest.mark.parametrize("how", ["once", "redelivered", "both connections cut first", "ten at once"])
def test_each_interaction_is_handled_once(stage: CaseStage, pair: Pair, how: str) -> None:
    """Whichever process it comes to, and however often."""
    if how == "both connections cut first":
        stage.slack.cut_connections()
        stage.wait("both are back", lambda: stage.slack.connections == 2)
    line = f"request 1 from {pair.lender} for 2d because paper"
    if how == "ten at once":
        _together(*(threading.Thread(target=stage.types, args=(who, line)) for who in (pair.asker, pair.mate) * 5))
        wanted = 5
    else:
        typed = stage.types(pair.asker, line)
        if how == "redelivered":
            stage.slack.repeat(typed)
            stage.slack.redeliver(typed)
        wanted = 1
    people = (pair.asker, pair.mate) if wanted > 1 else (pair.asker,)
    for who in people:
        stage.wait(f"{wanted} answers to {who}", lambda who=who: len(stage.slack.ephemerals(stage.people[who])) >= wanted)
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
