"""SIGKILL at chosen places, and a new process: nothing that was acknowledged is lost, nothing is told or done twice."""

from typing import TYPE_CHECKING

from bot.demo.kube.faults import Hang

if TYPE_CHECKING:
    from tests.support.outside import Outside

ASK = "/gpu-quota request 8 a100 from nlp for 3d because paper deadline"


def test_killed_with_a_command_in_work(outside: "Outside") -> None:
    """The cluster does not answer while the command is handled; the kill comes between claim and done."""
    process = outside.start_process()
    outside.kube.faults.plan(Hang(60), "list", "clusterqueues", times=None)
    assert outside.types("mira", ASK).acked
    outside.wait("the command is in work", lambda: outside.arrivals("claimed"))
    process.kill()
    outside.kube.faults.clear()
    outside.let_claims_age()
    outside.start_process()
    outside.card("8 a100 for vision")
    assert len(outside.told("gpu-approvals", "8 a100 for vision, 3 days, transfer")) == 1
    assert outside.said_twice() == []
