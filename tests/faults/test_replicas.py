"""Two processes on one PostgreSQL: one outcome for each press, one leader, and an orderly end."""

from typing import TYPE_CHECKING

import pytest

from bot.demo.kube.faults import Hang
from tests.support.marks import case

if TYPE_CHECKING:
    from tests.support.outside import Outside

ASK = "/gpu-quota request 8 a100 from nlp for 3d because paper deadline"


@pytest.mark.one_database("several replicas are for PostgreSQL; SQLite admits one process")
@case("APP-01", "SLA-07")
def test_the_same_press_again_and_again_is_one_approval(replicas: "Outside") -> None:
    """The same envelope, a new envelope, a double click, on two replicas: one loan, one write, and words."""
    replicas.start_process()
    replicas.start_process()
    asked = replicas.types("mira", ASK)
    replicas.slack.repeat(asked)
    replicas.slack.redeliver(asked)
    replicas.presses("noor", "gpuq_card_approve", replicas.card("0 of 2 approvals"))
    card = replicas.card("1 of 2 approvals")
    first = replicas.presses("ada", "gpuq_card_approve", card)
    replicas.slack.repeat(first)
    replicas.slack.redeliver(first)
    replicas.presses("ada", "gpuq_card_approve", card)
    replicas.presses("alan", "gpuq_card_approve", card)
    replicas.await_queues(16, 24)
    replicas.card("In force since")
    replicas.wait("ada's second click is answered", lambda: "already approved" in str(replicas.heard("ada")))
    replicas.wait("the later of the two hears who was first", lambda: _later_one_heard(replicas))
    assert replicas.rows("SELECT count(*) FROM loan") == [(1,)]
    assert replicas.rows("SELECT count(*) FROM quota_request") == [(1,)]
    assert replicas.numbers("nlp") == [24, 16]
    assert replicas.numbers("vision") == [16, 24]
    assert replicas.said_twice() == []


def _later_one_heard(replicas: "Outside") -> bool:
    """Ada pressed first; which replica is quicker is nobody's promise."""
    return any(
        f"already approved by @{first}" in str(replicas.heard(second))
        for first, second in (("ada", "alan"), ("alan", "ada"))
    )


@pytest.mark.one_database("several replicas are for PostgreSQL; SQLite admits one process")
@pytest.mark.parametrize("queue", ["nlp", "vision"])
def test_the_leader_stands_still_in_the_middle_of_a_transfer(replicas: "Outside", queue: str) -> None:
    """Its lease runs out, the other finishes; when it goes on, what it still sends changes nothing."""
    old = replicas.start_process()
    replicas.wait("the first leads", lambda: old.logged("leads now"))
    new = replicas.start_process()
    replicas.types("mira", ASK)
    replicas.presses("noor", "gpuq_card_approve", replicas.card("0 of 2 approvals"))
    card = replicas.card("1 of 2 approvals")
    replicas.kube.faults.plan(Hang(1), "patch", "clusterqueues", queue, times=1)
    replicas.presses("ada", "gpuq_card_approve", card)
    replicas.wait("its write is under way", lambda: replicas.rows(f"SELECT 1 FROM intent WHERE queue = '{queue}'"))
    old.freeze()
    replicas.wait("the other leads", lambda: new.logged("leads now"))
    replicas.await_queues(16, 24)
    old.thaw()
    replicas.wait("the old one knows", lambda: old.logged("leads no more"))
    replicas.wait("mira hears", lambda: replicas.told("mira", "8 a100 for vision until"))
    replicas.wait("nothing is owed", lambda: not replicas.owed())
    assert replicas.queues() == (16, 24)
    assert replicas.most() == 48
    assert replicas.numbers("nlp") == [24, 16]
    assert replicas.said_twice() == []


def test_sigterm_while_busy_ends_in_time_and_the_next_start_works(outside: "Outside") -> None:
    """Nothing new is taken, what waits is left to the next one, the lease is free at once."""
    process = outside.start_process()
    outside.kube.faults.plan(Hang(4), "list", "clusterqueues", times=None)
    assert outside.types("mira", ASK).acked
    outside.wait("it is in work", lambda: outside.arrivals("claimed"))
    process.terminate()
    assert process.ended(within=20) == 0
    assert process.logged('"cleanly": true') == 1
    outside.kube.faults.clear()
    following = outside.start_process()
    outside.wait("it leads", lambda: following.logged("leads now"))
    outside.card("0 of 2 approvals")
    assert outside.said_twice() == []
