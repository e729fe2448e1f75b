"""SIGKILL at chosen places, and a new process: nothing that was acknowledged is lost, nothing is told or done twice."""

from typing import TYPE_CHECKING

import pytest

from bot.demo.kube.faults import Hang, ResetAfter, ResetBefore
from tests.support.marks import case

if TYPE_CHECKING:
    from bot.demo.kube.faults import Fault
    from tests.support.outside import Outside, Process

ASK = "/gpu-quota request 8 a100 from nlp for 3d because paper deadline"
WORKERS = 16


def test_killed_with_commands_in_work_and_more_waiting(outside: "Outside") -> None:
    """All workers wait for the cluster, two more commands are stored behind them: every one is answered, once."""
    process = outside.start_process()
    outside.kube.faults.plan(Hang(60), "list", "clusterqueues", times=None)
    for _ in range(WORKERS + 2):
        assert outside.types("mira", "/gpu-quota show").acked
    outside.wait("all workers are at it", lambda: outside.arrivals("claimed") == WORKERS)
    assert outside.arrivals("waiting") == 2
    process.kill()
    outside.kube.faults.clear()
    outside.let_claims_age()
    outside.slack.reload(outside.people["mira"])
    outside.start_process()
    outside.wait("all are done", lambda: outside.arrivals("done") == WORKERS + 2)
    assert len(outside.heard("mira")) == WORKERS + 2


def test_killed_with_a_request_in_work(outside: "Outside") -> None:
    process = outside.start_process()
    outside.kube.faults.plan(Hang(60), "list", "clusterqueues", times=None)
    delivery = outside.types("mira", ASK)
    assert delivery.acked
    outside.wait("the command is in work", lambda: outside.arrivals("claimed"))
    process.kill()
    outside.kube.faults.clear()
    outside.let_claims_age()
    outside.start_process()
    outside.card()
    assert outside.slack.redeliver(delivery).acked, "and Slack delivers it once more"
    outside.wait("mira has her copy", lambda: outside.told("mira", "8 a100 for vision"))
    assert outside.rows("SELECT count(*) FROM quota_request") == [(1,)]
    assert len(outside.told("gpu-approvals", "Waiting: 0 of 2 approvals")) == 1
    assert outside.said_twice() == []


def _copies(world: "Outside") -> list[str]:
    """Of the card, wherever the first one went."""
    return [text for place in ("gpu-approvals", "mira", "noor") for text in world.told(place, "Waiting: 0 of 2")]


@pytest.mark.parametrize("where", ["answer on its way", "handled after the kill"])
def test_killed_between_post_and_record(outside: "Outside", where: str) -> None:
    """The card stands in the channel and the database does not know: the next process finds it there."""
    process = outside.start_process()
    if where == "answer on its way":
        outside.slack.faults.slow("chat.postMessage", 60)
        outside.types("mira", ASK)
        outside.wait("something is posted", lambda: _copies(outside))
        process.kill()
    else:
        gate = outside.slack.faults.hold("chat.postMessage", times=1)
        outside.types("mira", ASK)
        gate.wait_for_arrival(20)
        process.kill()
        gate.release()
        outside.wait("it is posted", lambda: _copies(outside))
    outside.start_process()
    outside.card()
    outside.wait("mira has a copy", lambda: outside.told("mira", "Waiting: 0 of 2 approvals"))
    outside.wait("noor has a copy", lambda: outside.told("noor", "Waiting: 0 of 2 approvals"))
    outside.wait("nothing is owed", lambda: not outside.owed())
    assert outside.said_twice() == []
    for place in ("gpu-approvals", "mira", "noor"):
        assert len(outside.told(place, "Waiting: 0 of 2 approvals")) == 1


@pytest.mark.parametrize("queue", ["nlp", "vision"])
@pytest.mark.parametrize("fault", [Hang(2), ResetAfter(), ResetBefore()], ids=["hangs", "answer lost", "not reached"])
def test_killed_in_the_middle_of_a_write(outside: "Outside", queue: str, fault: "Fault") -> None:
    """A request that is under way lands when it likes; each queue is written once and the sum never exceeds."""
    process = outside.start_process()
    _approved_once(outside)
    outside.kube.faults.plan(fault, "patch", "clusterqueues", queue, times=1)
    outside.presses("ada", "gpuq_card_approve")
    outside.wait("the write is under way", lambda: _intents(outside, queue))
    process.kill()
    outside.start_process()
    outside.await_queues(16, 24)
    outside.wait("in force is said", lambda: outside.told("mira", "8 a100 for vision until"))
    assert outside.numbers("nlp") == [24, 16]
    assert outside.numbers("vision") == [16, 24]
    assert outside.most() == 48
    assert outside.said_twice() == []


@case("QUO-01")
def test_down_when_the_loan_ends(outside: "Outside") -> None:
    """Taken back exactly once at the next start, and said so, late and why."""
    process = outside.start_process()
    _in_force(outside)
    process.kill()
    outside.let_the_loan_end(minutes_ago=20, down_for=30)
    outside.start_process()
    outside.await_queues(24, 16)
    late = outside.wait("mira hears of it", lambda: outside.told("mira", "20 min late"))
    assert ["the bot was down" in one for one in late] == [True]
    outside.wait("the platform channel hears", lambda: outside.told("gpu-platform", "The bot was down"))
    assert outside.numbers("nlp") == [24, 16, 24]
    assert outside.numbers("vision") == [16, 24, 16]
    assert outside.most() == 48
    assert outside.said_twice() == []


def test_killed_again_and_again_the_story_comes_out_the_same(outside: "Outside") -> None:
    """A kill after each step, in whatever is then under way, and the next step at once with the next process."""
    process = outside.start_process()
    outside.types("mira", ASK)
    process = _restart(outside, process)
    outside.card("Waiting: 0 of 2 approvals")
    outside.presses("noor", "gpuq_card_approve")
    process = _restart(outside, process)
    outside.card("Waiting: 1 of 2 approvals")
    outside.presses("ada", "gpuq_card_approve")
    process = _restart(outside, process)
    outside.await_queues(16, 24)
    process = _restart(outside, process)
    outside.wait("mira hears", lambda: outside.told("mira", "8 a100 for vision until"))
    outside.types("mira", "/gpu-quota return Q-1 8")
    process = _restart(outside, process)
    outside.await_queues(24, 16)
    process = _restart(outside, process)
    outside.card("Returned by")
    outside.wait("nothing is owed", lambda: not outside.owed())
    assert outside.said_twice() == []
    assert outside.numbers("nlp") == [24, 16, 24]
    assert outside.most() == 48


def _restart(outside: "Outside", process: "Process") -> "Process":
    process.kill()
    outside.let_claims_age()
    return outside.start_process()


def _approved_once(outside: "Outside") -> None:
    outside.types("mira", ASK)
    outside.presses("noor", "gpuq_card_approve")
    outside.card("Waiting: 1 of 2 approvals")


def _in_force(outside: "Outside") -> None:
    _approved_once(outside)
    outside.presses("ada", "gpuq_card_approve")
    outside.await_queues(16, 24)
    outside.card("In force since")
    outside.wait("mira hears", lambda: outside.told("mira", "8 a100 for vision until"))


def _intents(outside: "Outside", queue: str) -> bool:
    return bool(outside.rows(f"SELECT 1 FROM intent WHERE queue = '{queue}'"))
