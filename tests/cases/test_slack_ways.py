"""Slack's own rules: three seconds, its pace, its signatures; and what phones make of a line."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.demo.kube.faults import Hang
from bot.demo.slack.delivery import Tamper
from tests.support.stage import CaseStage, Pair

ACK = 3.0


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(16) as stage:
        yield stage


@pytest.fixture(scope="module")
def http() -> Iterator[CaseStage]:
    with CaseStage(12, socket_mode=False) as stage:
        yield stage


@pytest.mark.case("SLA-01")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("request 4 for 2d because paper", "4 a100 for"),
        ("status", "of 8 a100 reserved"),
        ("show {queue}", "{queue}"),
        ("request 4 from {lender} for 2d because paper", "4 a100 for"),
    ],
)
def test_a_slow_cluster_delays_the_answer_and_not_the_acknowledgement(http: CaseStage, line: str, words: str) -> None:
    """The cluster takes longer than Slack's three seconds."""
    pair = http.new_pair()
    names = {"queue": pair.borrower, "lender": pair.lender}
    http.kube.faults.plan(Hang(3.5), "list", "clusterqueues")
    before = len(http.slack.ephemerals(http.people[pair.asker]))
    delivery = http.types(pair.asker, line.format(**names))
    assert delivery.error is None
    assert delivery.elapsed < ACK
    wanted = words.format(**names)
    http.wait(
        f"{wanted} in an answer",
        lambda: any(wanted in http.text(one) for one in http.slack.ephemerals(http.people[pair.asker])[before:]),
    )


@pytest.mark.case("SLA-02")
@pytest.mark.parametrize("seconds", [1, 2, 3])
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


@pytest.mark.case("SLA-04")
@pytest.mark.parametrize(
    "line",
    [
        "request 4 –for 2d –reason “paper deadline”",
        "request 4 —for 2d —reason ‘paper deadline’",
        "request 4 --for 2d --reason „paper deadline“",
        "request 4 --for=2d --reason «paper deadline»",
        'request 4 for 2d because "paper deadline"',
    ],
)
def test_a_line_from_a_phone_asks_for_the_same(stage: CaseStage, line: str) -> None:
    pair = stage.new_pair()
    ask = stage.asks(pair.asker, line).ask
    assert (ask.amount, ask.duration, ask.reason) == (4, timedelta(days=2), "paper deadline")


@pytest.mark.case("SEC-02")
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
@pytest.mark.parametrize("what", ["a command", "a press"])
def test_what_slack_did_not_sign_just_now_changes_nothing(
    http: CaseStage, capfd: pytest.CaptureFixture[str], tamper: Tamper, what: str
) -> None:
    pair = Pair("vision", "nlp", "mira", "tom", "lena", "noor", "gpu-pool")
    command = http.slack.type_command(http.people[pair.mate], http.channels["vision"], "/gpu-quota help")
    if what == "a press":
        if not http.requests_of(pair.asker):
            http.asks(pair.asker, "4 for 2d because paper")
        number = http.requests_of(pair.asker)[0].id
        action = "gpuq_card_approve"
        refused = http.slack.press(http.people["ada"], http.card(number), action, tamper=tamper)
        before = http.audit(number)
    else:
        before = list(http.requests_of(pair.mate))
        payload = {**command.payload, "text": "request 8 for 2d because forged"}
        forged = replace(command, parcel=replace(command.parcel, payload=payload, envelope_id=None, signed=None))
        refused = http.slack.forge(forged, tamper)
    assert refused.status == 401
    assert http.says(pair.mate, "help")
    assert (http.audit(number) if what == "a press" else list(http.requests_of(pair.mate))) == before
    said = "".join(capfd.readouterr())
    for secret in (http.slack.signing_secret, http.slack.bot_token, "another-secret"):
        assert secret not in said


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize("how", ["the same bytes", "signed anew"])
def test_a_replayed_body_does_nothing_twice(http: CaseStage, how: str) -> None:
    pair = http.new_pair()
    typed = http.types(pair.asker, "request 4 for 2d because paper")
    http.wait("the request", lambda: http.requests_of(pair.asker))
    again = http.slack.repeat(typed) if how == "the same bytes" else http.slack.forge(typed, Tamper())
    assert again.status == 200
    number = http.requests_of(pair.asker)[0].id
    pressed = http.slack.press(http.people["ada"], http.card(number), "gpuq_card_approve")
    again = http.slack.repeat(pressed) if how == "the same bytes" else http.slack.forge(pressed, Tamper())
    assert again.status == 200
    http.in_force(number)
    assert http.says(pair.asker, "help")
    assert len(http.requests_of(pair.asker)) == 1
    assert sum(entry.outcome == "ok" for entry in http.audit(number, "approve")) == 1
