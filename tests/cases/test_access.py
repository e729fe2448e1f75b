"""What people may see and ask for, how much they may ask, and what the bot itself may do in the cluster."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.demo.kube.rbac import Rule
from tests.support.marks import case
from tests.support.stage import NOMINAL, CaseStage, Policy

READ = Rule(("get", "list"), ("clusterqueues", "cohorts", "localqueues", "workloads"))


def _own_queues_only(policy: Policy) -> None:
    policy["teams"]["sees"] = "own"


@pytest.fixture(scope="module")
def hidden() -> Iterator[CaseStage]:
    with CaseStage(3, edit=_own_queues_only) as stage:
        yield stage


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(8) as stage:
        yield stage


@case("SEC-05")
@pytest.mark.parametrize(
    "line", ["show {}", "status {}", "request 4 in {} for 2d because x", "request 4 from {} for 2d because x"]
)
@pytest.mark.parametrize("queue", ["nlp", "asks2", "robotics"])
def test_a_hidden_queue_is_answered_like_one_that_is_not_there(hidden: CaseStage, line: str, queue: str) -> None:
    told = hidden.says("mira", line.format(queue))
    invented = "q" * len(queue)
    assert told.replace(queue, invented) == hidden.says("mira", line.format(invented))


@case("SEC-05")
@pytest.mark.parametrize(
    ("who", "own", "queue"),
    [
        ("mira", "vision", "nlp"),
        ("mira", "vision", "robotics"),
        ("mira", "vision", "asks0"),
        ("ravi", "robotics", "vision"),
        ("noor", "nlp", "vision"),
    ],
)
def test_another_teams_queue_is_not_asked_for(stage: CaseStage, who: str, own: str, queue: str) -> None:
    told = stage.says(who, f"request 3 as borrow in {queue} for 2d because x")
    assert f"You can request for your own teams: {own}" in told
    assert not [one for one in stage.requests_of(who) if one.ask.queue == queue]


@case("SEC-05")
@pytest.mark.parametrize("queue", ["vision", "robotics", "asks0", "asks1"])
def test_an_admin_asks_for_any_team(stage: CaseStage, queue: str) -> None:
    request = stage.asks("ada", f"3 as borrow in {queue} for 2d because x")
    assert request.ask.queue == queue
    stage.says("ada", f"withdraw Q-{request.id}")


@case("SEC-08")
@pytest.mark.parametrize("line", ["4 for 2d because {}", "3 for 30h because {}", "4 from {lender} for 2d because {}"])
def test_a_flood_of_requests_stops_at_the_limit(stage: CaseStage, line: str) -> None:
    """200 lines: as many requests as one may have open, one card each, and every line is answered."""
    pair = stage.new_pair()
    user = stage.people[pair.asker]
    for number in range(200):
        stage.types(pair.asker, "request " + line.format(number, lender=pair.lender))

    read: dict[tuple[str, str | None], str] = {}

    def refused() -> int:
        """Not how many answers there are: one that is slow is told first that it comes. Each is read once."""
        for one in stage.slack.ephemerals(user):
            if (key := (one.ts, one.edited_ts)) not in read:
                read[key] = stage.text(one)
        limits = ("5 requests are open. Withdraw one first", "in an hour is the limit")
        return sum(any(limit in one for limit in limits) for one in read.values())

    stage.wait("200 answers", lambda: refused() >= 195)
    stored = stage.requests_of(pair.asker)
    assert len(stored) == 5
    for request in stored:
        stage.card(request.id)
    stage.all_said()
    assert stage.count("gpu-approvals", f"@{pair.asker} · ") == 5, "one card each"
    assert refused() == 195


@case("SEC-08")
@pytest.mark.parametrize("reason", ["word " * 4_000, "x" * 301, "x" * 20_480, "ü€😀" * 6_000, "<!channel> " * 1_800])
def test_a_very_long_reason_is_cut_where_it_is_shown(stage: CaseStage, reason: str) -> None:
    pair = stage.new_pair()
    number = stage.asks(pair.asker, f"4 for 2d because {reason}").id
    card = stage.text(stage.card(number))
    assert "… (cut, " in card
    assert len(card) < 1_200
    assert not any(one.why == "broadcast" for one in stage.slack.notifications(stage.people["ravi"]))


@case("SEC-06")
@pytest.mark.parametrize(
    ("line", "may_write", "missing"),
    [
        pytest.param("4 for 2d because x", ["vision", "nlp"], "asks0", id="other queues only"),
        pytest.param("4 for 2d because x", ["lends0"], "asks0", id="not the borrower"),
        pytest.param("4 from lends0 for 2d because x", ["lends0"], "asks0", id="the lender, not the borrower"),
        pytest.param("4 from lends0 for 2d because x", ["asks0"], "lends0", id="the borrower, not the lender"),
    ],
)
def test_a_missing_right_is_told_and_the_rights_on_two_queues_are_enough(
    line: str, may_write: list[str], missing: str
) -> None:
    """The bot may read what it needs, and patch the queues that are named."""
    stage = CaseStage(1, kube_token="of-the-bot")
    user = "system:serviceaccount:gpu:gpu-quota-bot"
    stage.kube.access.grant("of-the-bot", user, [READ, Rule(("patch",), ("clusterqueues",), tuple(may_write))])
    with stage:
        pair = stage.new_pair()
        number = stage.asks(pair.asker, line).id
        stage.card_says(number, f"The bot may not write ClusterQueue {missing}")
        stage.approved(number)
        told = stage.text(stage.channel_says("gpu-platform", "The bot may not write ClusterQueue", missing))
        assert "patch" in told
        assert "cluster-admin" not in told
        stage.card_says(number, "Approved", "not in force", f"may not write ClusterQueue {missing}")
        assert stage.nominals_of(pair.borrower) == [NOMINAL]
        loan = stage.loan(number)
        assert loan is not None
        assert loan.in_force_at is None
        assert stage.count("gpu-platform", "may not write") == 1

        both = Rule(("patch",), ("clusterqueues",), (pair.borrower, pair.lender))
        stage.kube.access.grant("of-the-bot", user, [READ, both])
        stage.clock.move(timedelta(minutes=11))
        stage.in_force(number)
