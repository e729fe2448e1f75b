"""P7: anything may be down. What was acknowledged is kept, quota comes back on time, each outage is said plainly."""

import sqlite3
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.demo.kube.faults import Hang, Refuse
from tests.support.marks import case

if TYPE_CHECKING:
    from bot.demo.run_stage import Stage
    from bot.demo.slack import Message
    from bot.demo.slack.delivery import Delivery
    from tests.support.outside import Outside

pytestmark = pytest.mark.filterwarnings(
    # Slack's own client leaves a socket to the garbage collector when Slack refuses its handshake.
    r"ignore:Exception ignored in. <socket\.socket fd=-?\d+, family=2, type=1, proto=6:"
    "pytest.PytestUnraisableExceptionWarning"
)
ASK = "/gpu-quota request 8 a100 from nlp for 3d because paper deadline"


def _types(stage: "Stage", line: str = ASK) -> "Delivery":
    return stage.slack.type_command(stage.people["mira"], stage.channels["vision"], line)


def _card(stage: "Stage", words: str) -> "Message":
    def found() -> "Message | None":
        messages = stage.slack.messages(stage.channels["gpu-approvals"])
        return next((one for one in messages if not one.is_reply and words in stage.slack.render_text(one)), None)

    return stage.wait(f"a card with {words}", found)


def _approve(stage: "Stage") -> None:
    _types(stage)
    stage.slack.press(stage.people["noor"], _card(stage, "0 of 2 approvals"), "gpuq_card_approve")
    stage.slack.press(stage.people["ada"], _card(stage, "1 of 2 approvals"), "gpuq_card_approve")


def _in_force(stage: "Stage") -> None:
    _approve(stage)
    _card(stage, "In force since")
    stage.wait("the lender hears", lambda: stage.find_dm("noor", "nlp lends 8"))


def _queues(stage: "Stage") -> tuple[int, int]:
    return stage.nominal("nlp"), stage.nominal("vision")


def _heard(stage: "Stage", who: str) -> list[str]:
    return [stage.slack.render_text(one) for one in stage.slack.ephemerals(stage.people[who])]


def _owed(stage: "Stage", key: str) -> bool:
    with stage.bot.world.store.read() as uow:
        return uow.notices.get(key) is not None


def _attempts(stage: "Stage", key: str) -> int:
    with stage.bot.world.store.read() as uow:
        notice = uow.notices.get(key)
    return notice.attempts if notice else 0


def _count(stage: "Stage", channel: str, words: str) -> int:
    return sum(words in stage.slack.render_text(one) for one in stage.slack.messages(stage.channels[channel]))


@case("SLA-01")
def test_a_slow_cluster_is_acknowledged_at_once_and_said_once(stage: "Stage") -> None:
    stage.kube.faults.plan(Hang(60), "list", "clusterqueues", times=None)
    delivery = _types(stage, "/gpu-quota show")
    assert delivery.acked
    assert delivery.elapsed < 3
    stage.wait("mira hears that it takes long", lambda: "Asking the cluster" in str(_heard(stage, "mira")))
    stage.kube.faults.clear()
    stage.wait("the answer comes", lambda: len(_heard(stage, "mira")) == 2)
    first, second = _heard(stage, "mira")
    assert "Asking the cluster" in first
    assert "Quota 16" in second


def test_slack_is_down_when_a_loan_ends(stage: "Stage") -> None:
    """Quota goes back on time; afterwards everything is said, once, and the platform channel hears of the outage."""
    _in_force(stage)
    stage.slack.go_down()
    stage.clock.move(timedelta(days=3, seconds=1))
    stage.bot.world.wake_convergence()
    stage.wait("quota is back", lambda: _queues(stage) == (24, 16))
    stage.wait("and what is to be said is stored", lambda: _owed(stage, "loan_ended:1:U0REQUESTER"))
    stage.wait("the bot knows that Slack is down", lambda: stage.pace.silent_since)
    stage.clock.move(timedelta(minutes=20))
    stage.bot.world.wake_delivery()
    stage.slack.come_back()
    ended = stage.wait("mira hears", lambda: stage.find_dm("mira", "Ended: 8 a100"))
    assert "did not answer" not in stage.text(ended), "quota was not late"
    assert "Sent late" in stage.text(ended), "the message was"
    stage.wait("the platform channel hears", lambda: stage.find("gpu-platform", "Slack was not reachable"))
    assert "1 loan ended on time" in stage.text(stage.wait("so", lambda: stage.find("gpu-platform", "not reachable")))
    stage.wait("noor hears", lambda: stage.find_dm("noor", "back with nlp"))
    assert len([one for one in stage.slack.dms(stage.people["mira"]) if "Ended:" in stage.text(one)]) == 1


def test_the_websocket_is_cut_and_comes_back_by_itself(stage: "Stage") -> None:
    stage.slack.cut_connections()
    ends = time.monotonic() + 60
    while not _types(stage, "/gpu-quota list").acked:
        assert time.monotonic() < ends, "not connected again"
        stage.wait("a connection", lambda: stage.slack.connections)


def test_a_response_url_that_fails_sends_the_answer_by_dm(stage: "Stage") -> None:
    stage.slack.faults.http_500("response_url", times=None)
    assert _types(stage, "/gpu-quota list").acked
    stage.wait("the answer comes by DM", lambda: stage.slack.dms(stage.people["mira"]))
    assert len(stage.slack.dms(stage.people["mira"])) == 1


@pytest.mark.parametrize("what", ["API server", "Kueue"])
def test_down_at_approval(stage: "Stage", what: str) -> None:
    """The card says so plainly, the platform channel after five minutes; back, it is put in force, and said once."""
    _types(stage)
    stage.slack.press(stage.people["noor"], _card(stage, "0 of 2 approvals"), "gpuq_card_approve")
    card = _card(stage, "1 of 2 approvals")
    if what == "Kueue":
        stage.kube.kueue_up = False
    else:
        stage.kube.faults.plan(Refuse(503), "list", times=None)
    stage.slack.press(stage.people["ada"], card, "gpuq_card_approve")
    _card(stage, "not in force")
    stage.wait("mira hears that it waits", lambda: stage.find_dm("mira", "approved, not in force yet"))
    assert _queues(stage) == (24, 16)
    assert _count(stage, "gpu-platform", "not answering") == 0
    stage.clock.move(timedelta(minutes=6))
    stage.bot.world.wake_convergence()
    stage.wait("the platform channel hears", lambda: stage.find("gpu-platform", "not answering since"))
    stage.kube.kueue_up = True
    stage.kube.faults.clear()
    stage.bot.world.wake_convergence()
    stage.wait("it is in force", lambda: _queues(stage) == (16, 24))
    stage.wait("mira hears", lambda: stage.find_dm("mira", "in force now"))
    stage.wait("the platform channel hears the end", lambda: stage.find("gpu-platform", f"{what} back"))
    assert _count(stage, "gpu-platform", "not answering since") == 1
    assert _count(stage, "gpu-platform", f"{what} back") == 1


def test_the_cluster_is_down_when_a_loan_ends(stage: "Stage") -> None:
    """Taken back when it is there again, and said with how late it is."""
    _in_force(stage)
    stage.kube.faults.plan(Refuse(503), "list", times=None)
    stage.clock.move(timedelta(days=3, minutes=1))
    stage.bot.world.wake_convergence()
    stage.wait("the bot notices", lambda: stage.bot._duties._converged.outages)
    stage.clock.move(timedelta(minutes=30))
    assert _queues(stage) == (16, 24)
    stage.kube.faults.clear()
    stage.bot.world.wake_convergence()
    stage.wait("quota is back", lambda: _queues(stage) == (24, 16))
    ended = stage.wait("mira hears", lambda: stage.find_dm("mira", "Ended: 8 a100"))
    assert "31 min late: the API server did not answer" in stage.text(ended)


@pytest.mark.one_database("only SQLite's database is a file that can be locked")
def test_the_database_file_is_locked_by_somebody_else(alone: "Outside") -> None:
    """Nothing is acknowledged that is not stored, the person reads so in time, and nothing is written meanwhile."""
    alone.start_process()
    path = alone.environment()["DATABASE_URL"].removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    versions = len(alone.kube.history)
    delivery = alone.types("mira", ASK)
    assert delivery.acked, "within Slack's three seconds"
    alone.wait("mira reads so", lambda: any("Not recorded" in one for one in alone.heard("mira")))
    other.execute("ROLLBACK")
    other.close()
    assert alone.arrivals("waiting") + alone.arrivals("claimed") + alone.arrivals("done") == 0
    assert len(alone.kube.history) == versions
    alone.types("mira", ASK)
    alone.card("0 of 2 approvals")
    assert alone.rows("SELECT count(*) FROM quota_request") == [(1,)]


@case("SLA-02")
def test_retry_after_is_waited_out(stage: "Stage") -> None:
    """429 with 30 s: no post to that channel before, by the bot's own clock; nothing is lost."""
    stage.slack.faults.rate_limited("chat.postMessage", retry_after=30, times=1)
    _types(stage)
    stage.wait("one post was limited", lambda: [one for one in stage.slack.calls("chat.postMessage") if not one.ok])
    keys = [f"card:1:{to}" for to in (stage.channels["gpu-approvals"], "U0REQUESTER", "U0LEADNLP")]
    stage.wait("and put off", lambda: any(_attempts(stage, key) for key in keys))
    limited = next(one for one in stage.slack.calls("chat.postMessage") if not one.ok)
    stage.clock.move(timedelta(seconds=31))
    stage.bot.world.wake_delivery()
    _card(stage, "0 of 2 approvals")
    stage.wait("mira has her copy", lambda: stage.find_dm("mira", "0 of 2 approvals"))

    def again() -> list[Any]:
        same = [one for one in stage.slack.calls("chat.postMessage") if one.args["channel"] == limited.args["channel"]]
        return same[1:]

    assert stage.wait("it is posted", again)[0].at - limited.at >= timedelta(seconds=30)


def test_an_approvals_channel_that_is_archived(stage: "Stage") -> None:
    """The card goes to everybody who may decide, by DM; the platform channel hears once; the DM's buttons work."""
    stage.slack.change_channel(stage.channels["gpu-approvals"], is_archived=True)
    _types(stage)
    card = stage.wait("ada has a card", lambda: stage.find_dm("ada", "0 of 2 approvals"))
    stage.wait("and it says why", lambda: stage.find_dm("ada", "cannot be reached"))
    stage.wait("the platform channel hears", lambda: stage.find("gpu-platform", "cannot post to"))
    noors = stage.wait("noor has one", lambda: stage.find_dm("noor", "cannot be reached"))
    stage.slack.press(stage.people["noor"], noors, "gpuq_card_approve")
    card = stage.wait("one is given", lambda: stage.find_dm("ada", "1 of 2 approvals"))
    stage.slack.press(stage.people["ada"], card, "gpuq_card_approve")
    stage.wait("in force", lambda: _queues(stage) == (16, 24))
    assert _count(stage, "gpu-platform", "cannot post to") == 1
