"""Cases of the way in: a slow cluster, forged and replayed requests, missing rights, two processes."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.adapters.logs import configure_logs
from bot.core.pace import Pace
from bot.core.requests import RequestState
from bot.demo.kube.faults import Hang
from bot.demo.kube.rbac import Rule
from bot.demo.run_stage import Stage
from bot.demo.slack import Tamper
from tests.support.marks import case
from tests.support.play import Play

AT_ONCE = Pace(timedelta(0), timedelta(0))


@pytest.fixture(scope="module")
def http() -> Iterator[Play]:
    """The whole bot in HTTP mode."""
    configure_logs("WARNING", "json")
    with Stage(socket_mode=False, pace=AT_ONCE) as stage:
        stage.slack.pacer.on = False
        yield Play(stage)


@case("SLA-01")
@pytest.mark.parametrize("line", ["request 2 a100 as borrow for 2d because slow", "status", "show vision", "request"])
def test_a_cluster_that_hangs_delays_no_acknowledgement(http: Play, line: str) -> None:
    """The acknowledgement waits for the inbox alone; the answer comes where it was asked."""
    before = len(http.slack.ephemerals(http.stage.people["mira"]))
    http.kube.faults.plan(Hang(3600), verb="list", resource="clusterqueues", times=1)
    delivery = http.types("mira", f"/gpu-quota {line}")
    assert delivery.elapsed < 3
    assert delivery.shown is None
    http.kube.faults.clear()

    def answered() -> bool:
        user = http.stage.people["mira"]
        return len(http.slack.ephemerals(user)) > before or http.slack.open_view(user) is not None

    http.stage.wait("an answer all the same", answered)
    if http.slack.open_view(http.stage.people["mira"]) is not None:
        http.slack.close_view(http.stage.people["mira"])


FORGERIES = {
    "another secret": Tamper(secret="not-the-one"),
    "ten minutes old": Tamper(age=600),
    "from the future": Tamper(age=-600),
    "changed on the way": Tamper(suffix=b"&text=request+16"),
}


@case("SEC-02")
@pytest.mark.parametrize("tamper", FORGERIES.values(), ids=FORGERIES)
def test_what_slack_did_not_sign_is_turned_away(http: Play, tamper: Tamper, capfd: pytest.CaptureFixture[str]) -> None:
    before = _arrivals(http)
    delivery = http.slack.type_command(
        http.stage.people["mira"], http.stage.channels["vision"], "/gpu-quota request 2 a100", tamper=tamper
    )
    assert delivery.status == 401
    assert _arrivals(http) == before
    logged = "".join(capfd.readouterr())
    for secret in (http.slack.signing_secret, http.slack.bot_token):
        assert secret not in logged


@case("SEC-02")
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_replayed_body_does_nothing_again(http: Play, times: int) -> None:
    first = http.types("mira", "/gpu-quota request 3 a100 as borrow for 2d because replay")
    for _ in range(times):
        assert http.slack.repeat(first).status == 200
    http.stage.wait("the request", lambda: _waiting(http))
    http.at_rest()
    assert len(_waiting(http)) == 1
    http.says("mira", f"/gpu-quota withdraw Q-{_waiting(http)[0]}")


def _waiting(play: Play) -> list[int]:
    with play.stage.bot.world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
        return [one.id for one in waiting if one.ask.reason == "replay"]


def _arrivals(play: Play) -> int:
    """Rows in the inbox, as the store counts them by what was asked for."""
    with play.stage.bot.world.store.read() as uow:
        return len(uow.requests.find())


TOKEN = "service-account-token"
LEAST = [
    Rule(("get", "list"), ("clusterqueues", "cohorts", "localqueues", "workloads")),
    Rule(("patch",), ("clusterqueues",), ("nlp", "vision")),
]


@case("SEC-06")
@pytest.mark.parametrize("missing", ["robotics", "nobody", "vision"])
def test_a_missing_right_is_named_and_nothing_wider_is_asked_for(missing: str) -> None:
    names = tuple(name for name in ("nlp", "vision") if name != missing)
    rules = [LEAST[0], Rule(("patch",), ("clusterqueues",), names)]
    with Stage(pace=AT_ONCE, kube_token=TOKEN) as stage:
        stage.slack.pacer.on = False
        play = Play(stage)
        stage.kube.access.grant(TOKEN, "system:serviceaccount:gpu:quota-bot", rules)
        borrower, who = ("robotics", "ravi") if missing == "robotics" else ("vision", "mira")
        number = play.asks(f"2 a100 as transfer from nlp in {borrower} for 2d because rights", who=who)
        if missing == "nobody":
            play.approves(number, "noor", "ada")
            play.card(number, "In force")
            return
        assert f"The bot may not write ClusterQueue {borrower}" in stage.text(play.card(number))
        play.approves(number, "noor", "ada")
        told = stage.text(play.posted("gpu-platform", f"The bot may not write ClusterQueue {borrower}"))
        assert "patch" in told
        assert "cluster-admin" not in told
        play.card(number, f"may not write ClusterQueue {borrower}")
        assert max(play.numbers(borrower)) == (8 if borrower == "robotics" else 16)
