"""Slack's own rules: three seconds, its pace, its signatures."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.adapters.logs import configure_logs
from bot.demo.kube.faults import Hang
from bot.demo.slack import Delivery, Tamper
from tests.support.marks import case
from tests.support.stage import NOMINAL, CaseStage

ACK = 3.0


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(16) as stage:
        yield stage


@pytest.fixture(scope="module")
def http() -> Iterator[CaseStage]:
    configure_logs("INFO", "json")
    with CaseStage(15, socket_mode=False) as stage:
        yield stage


@case("SLA-01")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("request 4 for 2d because paper", "4 a100 for"),
        ("request 4 from {lender} for 2d because paper", "4 a100 for"),
        ("request 2 as borrow for 2d because slow", "2 a100 for"),
        ("status", "0 of 8 a100 reserved"),
        ("show {queue}", "Quota 8 = 8 base + 0 on loan"),
    ],
)
def test_a_slow_cluster_delays_the_answer_and_not_the_acknowledgement(http: CaseStage, line: str, words: str) -> None:
    """The cluster says nothing until everybody has been told that it takes long."""
    pair = http.new_pair()
    user = http.people[pair.asker]
    http.kube.faults.plan(Hang(3600), "list", "clusterqueues", times=None)
    try:
        delivery = http.types(pair.asker, line.format(queue=pair.borrower, lender=pair.lender))
        assert (delivery.error, delivery.shown) == (None, None)
        assert delivery.elapsed < ACK
        http.clock.move(timedelta(seconds=4))
        first = http.wait("that it takes long", lambda: [http.text(one) for one in http.slack.ephemerals(user)])
        assert "Asking the cluster" in first[0]
    finally:
        http.kube.faults.clear()
    http.wait(f"{words} in an answer", lambda: words in http.text(http.slack.ephemerals(user)[-1]))
    assert len(http.slack.ephemerals(user)) == 2


@case("SLA-02")
@pytest.mark.parametrize("seconds", [1, 2, 3, 4])
def test_a_429_is_waited_out_and_nothing_is_lost(stage: CaseStage, seconds: int) -> None:
    """No call of the method before Slack's Retry-After is over; every message arrives once."""
    pairs = [stage.new_pair() for _ in range(2)]
    calls = len(stage.slack.calls("chat.postMessage"))
    stage.slack.faults.rate_limited("chat.postMessage", retry_after=seconds)
    numbers = [stage.asks(pair.asker, "4 for 2d because paper").id for pair in pairs]
    for number in numbers:
        stage.card(number)
        assert stage.count("gpu-approvals", f"· Q-{number}\n") == 1
    for pair, number in zip(pairs, numbers, strict=True):
        stage.hears(pair.asker, f"· Q-{number}", "Waiting")
    made = stage.slack.calls("chat.postMessage")[calls:]
    refused = next(one for one in made if one.status == 429)
    to = refused.args["channel"]
    later = [one.at for one in made if one.ok and one.args["channel"] == to and one.at > refused.at]
    assert later
    assert min(later) - refused.at >= timedelta(seconds=seconds)


@case("SEC-02")
@pytest.mark.parametrize(
    "tamper",
    [
        Tamper(secret="another-secret"),
        Tamper(age=600),
        Tamper(age=-600),
        Tamper(age=301),
        Tamper(suffix=b"&text=request+16"),
        Tamper(secret=""),
    ],
    ids=["another secret", "ten minutes old", "from the future", "just too old", "changed body", "empty secret"],
)
def test_what_slack_did_not_sign_just_now_changes_nothing(
    http: CaseStage, caplog: pytest.LogCaptureFixture, tamper: Tamper
) -> None:
    pair = http.new_pair()
    number = http.asks(pair.asker, "4 for 2d because paper").id
    before = http.audit(number)
    line = "/gpu-quota request 8 for 2d because forged"
    command = http.slack.type_command(http.people[pair.asker], http.channels["vision"], line, tamper=tamper)
    press = http.slack.press(http.people["ada"], http.card(number), "gpuq_card_approve", tamper=tamper)
    assert (command.status, press.status) == (401, 401)
    assert http.says(pair.mate, "help"), "what came later has been handled"
    assert http.audit(number) == before
    assert [one.id for one in http.requests_of(pair.asker)] == [number]
    assert caplog.text.count("Invalid request signature") == 2
    for secret in (http.slack.signing_secret, http.slack.bot_token, "another-secret"):
        assert secret not in caplog.text


@case("SEC-02")
@pytest.mark.parametrize("how", ["the same bytes", "twice", "five times", "signed anew"])
def test_a_replayed_body_does_nothing_again(http: CaseStage, how: str) -> None:
    pair = http.new_pair()

    def replay(delivery: Delivery) -> None:
        for _ in range({"twice": 2, "five times": 5}.get(how, 1)):
            again = http.slack.forge(delivery, Tamper()) if how == "signed anew" else http.slack.repeat(delivery)
            assert again.status == 200

    typed = http.types(pair.asker, "request 4 for 2d because paper")
    replay(typed)
    number = http.wait("the request", lambda: http.requests_of(pair.asker))[0].id
    pressed = http.slack.press(http.people["ada"], http.card(number), "gpuq_card_approve")
    replay(pressed)
    http.in_force(number)
    replay(typed)
    assert http.says(pair.asker, "help")
    http.all_said()
    assert [one.id for one in http.requests_of(pair.asker)] == [number]
    assert [entry.outcome for entry in http.audit(number, "approve")] == ["ok"]
    assert http.nominals_of(pair.borrower) == [NOMINAL]
    assert http.limit_of(pair.borrower) == 4
    assert http.count_dms(pair.asker, f"(Q-{number})") == 1
