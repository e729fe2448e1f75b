"""What people may see and ask for, how much they may ask, and what the bot itself may do in the cluster."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.demo.kube.rbac import Rule
from tests.support.stage import NOMINAL, CaseStage, Policy

READ = Rule(("get", "list", "watch"), ("*",))


def _own_queues_only(policy: Policy) -> None:
    policy["teams"]["sees"] = "own"


@pytest.fixture(scope="module")
def hidden() -> Iterator[CaseStage]:
    with CaseStage(3, edit=_own_queues_only) as stage:
        yield stage


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize("line", ["show {}", "request 4 in {} for 2d because x", "request 4 from {} for 2d because x"])
@pytest.mark.parametrize("queue", ["nlp", "asks2", "robotics"])
def test_a_hidden_queue_is_answered_like_one_that_is_not_there(hidden: CaseStage, line: str, queue: str) -> None:
    told = hidden.says("mira", line.format(queue))
    invented = "q" * len(queue)
    assert told.replace(queue, invented) == hidden.says("mira", line.format(invented))
    assert "that you can see" in told


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize("queue", ["nlp", "robotics", "asks0"])
def test_another_teams_queue_is_not_asked_for(queue: str, flood: CaseStage) -> None:
    told = flood.says("mira", f"request 4 in {queue} for 2d because x")
    assert "You can request for your own teams: vision" in told
    assert not [one for one in flood.requests_of("mira") if one.ask.queue == queue]


@pytest.fixture(scope="module")
def flood() -> Iterator[CaseStage]:
    with CaseStage(8) as stage:
        yield stage


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize("line", ["4 for 2d because {}", "3 for 30h because {}", "4 from {lender} for 2d because {}"])
def test_a_flood_of_requests_stops_at_the_limit(flood: CaseStage, line: str) -> None:
    """200 lines: as many requests as one may have open, one card each, and every line is answered."""
    pair = flood.new_pair()
    user = flood.people[pair.asker]
    for number in range(200):
        flood.types(pair.asker, "request " + line.format(number, lender=pair.lender))
    flood.wait("200 answers", lambda: len(flood.slack.ephemerals(user)) >= 200)
    stored = flood.requests_of(pair.asker)
    assert len(stored) == 5
    for request in stored:
        flood.card(request.id)
    assert flood.count("gpu-approvals", f"a100 for {pair.borrower}, ") == 5
    told = [flood.text(one) for one in flood.slack.ephemerals(user)]
    assert sum("5 requests are open. Withdraw one first" in one or "in an hour is the limit" in one for one in told) == 195


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize("reason", ["word " * 4_000, "x" * 20_000, "ü€😀" * 6_000, "<!channel> " * 1_800])
def test_a_very_long_reason_is_cut_where_it_is_shown(flood: CaseStage, reason: str) -> None:
    pair = flood.new_pair()
    number = flood.asks(pair.asker, f"4 for 2d because {reason}").id
    card = flood.text(flood.card(number))
    assert "(cut, " in card
    assert len(card) < 2_000
    assert not any(one.why == "broadcast" for one in flood.slack.notifications(flood.people["ravi"]))


@pytest.mark.case("SEC-06")
@pytest.mark.parametrize("named", [("vision",), ("nlp",), ("robotics",)])
def test_a_missing_right_is_told_to_the_admins(named: tuple[str, ...]) -> None:
    """May read everything, and patch only the queues that are named."""
    stage = CaseStage(1, kube_token="of-the-bot")
    rules = [READ, Rule(("patch",), ("clusterqueues",), named)]
    user = "system:serviceaccount:gpu:gpu-quota-bot"
    stage.kube.access.grant("of-the-bot", user, rules)
    with stage:
        pair = stage.new_pair()
        number = stage.asks(pair.asker, "4 for 2d because paper").id
        stage.presses("ada", number)
        told = stage.text(stage.channel_says("gpu-platform", "The bot may not write ClusterQueue", pair.borrower))
        assert "patch" in told
        assert "cluster-admin" not in told
        card = stage.card_says(number, "not in force")
        assert "Approved" in card
        assert stage.nominals_of(pair.borrower) == [NOMINAL]
        loan = stage.loan(number)
        assert loan is not None
        assert loan.in_force_at is None
        assert stage.count("gpu-platform", "may not write") == 1

        stage.kube.access.grant("of-the-bot", user, [READ, Rule(("patch",), ("clusterqueues",))])
        stage.clock.move(timedelta(minutes=11))
        stage.in_force(number)
