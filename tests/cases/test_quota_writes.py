"""What is written to a queue: two numbers at a time, everything else as it was, in both versions of Kueue's API."""

import threading
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from bot.demo.kube.faults import Refuse
from tests.support.marks import case
from tests.support.stage import ADMINS, GPU, LENT, NOMINAL, CaseStage, Policy

MIG = "nvidia.com/mig-1g.5gb"
TEAM = "vision"


def _resource(name: str, nominal: Any, **limits: Any) -> dict[str, Any]:
    return {"name": name, "nominalQuota": nominal, **limits}


def _group(*flavors: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    covered = [one["name"] for one in flavors[0][1]]
    return {"coveredResources": covered, "flavors": [{"name": name, "resources": list(of)} for name, of in flavors]}


MANY = [
    _group(
        ("gpu-a40", [_resource(GPU, "8", borrowingLimit=0), _resource("cpu", "64"), _resource("memory", "2Ti")]),
        ("gpu-a100", [_resource(GPU, 8, borrowingLimit=0), _resource("cpu", "500m"), _resource("memory", "1500Gi")]),
    ),
    _group(("fuse", [_resource("github.com/fuse", "10k")])),
    _group(("a100-mig", [_resource(MIG, "7", borrowingLimit="0")])),
]


def _with_queue(policy: Policy) -> None:
    policy["teams"]["teams"][TEAM]["queues"] = ["many"]
    policy["teams"]["teams"]["nlp"]["queues"] = ["nlp", "spare"]
    place = policy["clusters"]["clusters"]["default"]
    place["lenders"] = {"spare": {"at_most": 64}}
    place["accelerators"][MIG] = {"one": "slice", "many": "slices"}
    del place["default_flavor"]
    del place["flavors"]


class Writes(CaseStage):
    """Vision has one queue of several groups; nlp has another like it that lends."""

    def _furnish(self) -> None:
        super()._furnish()
        for flavor in ("gpu-a40", "gpu-a100", "fuse", "a100-mig"):
            self.kube.ensure("resourceflavors", flavor, {"spec": {}})
        for name in ("many", "spare"):
            spec = {"cohortName": "several", "namespaceSelector": {}, "resourceGroups": deepcopy(MANY)}
            self.kube.add("clusterqueues", name, {"spec": spec})
        self.kube.reconcile()


@pytest.fixture
def stage() -> Iterator[Writes]:
    with Writes(edit=_with_queue) as stage:
        yield stage


def _numbers(stage: CaseStage, queue: str) -> dict[tuple[str, str, str], Any]:
    return {
        (flavor["name"], resource["name"], key): value
        for group in stage.kube.queue(queue)["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for resource in flavor["resources"]
        for key, value in resource.items()
        if key != "name"
    }


def _approve(stage: CaseStage, number: int) -> None:
    people = ["noor" if step.who.startswith("leads") else "ada" for step in stage.request(number).steps]
    told = [stage.approves(who, number) for who in people]
    stage.wait(f"a loan Q-{number}, after {told}", lambda: stage.loan(number))


@case("QUO-12")
@pytest.mark.parametrize("line", ["2", "2 from spare", "2 as borrow", "2 GPUs"])
def test_without_a_flavor_it_is_asked_for(stage: Writes, line: str) -> None:
    asked = stage.says("mira", f"request {line} for 2d because paper")
    assert "Which flavor?" in asked
    assert "gpu-a40" in asked
    assert "gpu-a100" in asked
    assert not stage.requests_of("mira")


@case("QUO-12")
@pytest.mark.parametrize(("of", "resource"), [("gpu-a40", GPU), ("gpu-a100", GPU), ("a100-mig", MIG)])
@pytest.mark.parametrize("kind", ["from spare", "as borrow"])
def test_only_the_number_of_the_loan_changes(stage: Writes, of: str, resource: str, kind: str) -> None:
    """What is not touched is the same to the last character, when the loan begins and when it ends."""
    before = {queue: _numbers(stage, queue) for queue in ("many", "spare")}
    number = stage.asks("mira", f"2 {of} {kind} for 2d because paper").id
    _approve(stage, number)
    stage.in_force(number)
    field = (of, resource, "borrowingLimit" if kind == "as borrow" else "nominalQuota")
    for queue, by in (("many", 2), ("spare", 0 if kind == "as borrow" else -2)):
        now = _numbers(stage, queue)
        assert {key: value for key, value in now.items() if key != field} == {
            key: value for key, value in before[queue].items() if key != field
        }
        assert int(now[field]) == int(before[queue][field]) + by
        groups = stage.kube.queue(queue)["spec"]["resourceGroups"]
        assert [one["coveredResources"] for one in groups] == [one["coveredResources"] for one in MANY]

    stage.says("mira", f"return Q-{number} 2")
    stage.wait("the number of before", lambda: int(_numbers(stage, "many")[field]) == int(before["many"][field]))
    stage.wait("and the lender's", lambda: int(_numbers(stage, "spare")[field]) == int(before["spare"][field]))


@case("QUO-15")
@pytest.mark.parametrize("of", [MIG, "mig-1g.5gb", "MIG-1g.5gb", "a100-mig"])
def test_slices_of_a_device_are_lent_by_their_name(stage: Writes, of: str) -> None:
    loan = stage.asks("mira", f"7 {of} from spare for 2d because paper")
    assert (loan.ask.resource, loan.ask.flavor, loan.ask.amount) == (MIG, "a100-mig", 7)
    stage.card_says(loan.id, "7 a100-mig for many", "336 slice-h")
    for who in ("noor", "ada"):
        stage.presses(who, loan.id)
    stage.in_force(loan.id)
    assert int(_numbers(stage, "many")["a100-mig", MIG, "nominalQuota"]) == 14
    assert int(_numbers(stage, "many")["gpu-a100", GPU, "nominalQuota"]) == 8


@case("QUO-07")
@pytest.mark.parametrize(
    ("first", "second", "admins", "conflicts"),
    [
        pytest.param("gpu-a40", "gpu-a100", ADMINS, 0, id="the case itself"),
        pytest.param("gpu-a100", "gpu-a40", ADMINS, 1, id="a conflict on the way"),
        pytest.param("gpu-a40", MIG, ADMINS, 3, id="two groups, and several conflicts"),
        pytest.param("gpu-a100", "gpu-a100", ADMINS, 0, id="the same flavor"),
        pytest.param("gpu-a40", "gpu-a100", ("ada", "ada"), 0, id="one admin"),
    ],
)
def test_two_approvals_at_one_moment_both_land(
    stage: Writes, first: str, second: str, admins: tuple[str, str], conflicts: int
) -> None:
    who = ("mira", "tom")
    loans = [
        stage.asks(person, f"3 {of} from spare for 2d because paper").id
        for person, of in zip(who, (first, second), strict=True)
    ]
    for number in loans:
        if len(stage.request(number).steps) > 1:
            stage.presses("noor", number)
    cards = [stage.card(number) for number in loans]
    if conflicts:
        stage.kube.faults.plan(Refuse(409), "patch", "clusterqueues", times=conflicts)
    presses = [
        threading.Thread(target=stage.slack.press, args=(stage.people[admin], card, "gpuq_card_approve"))
        for admin, card in zip(admins, cards, strict=True)
    ]
    for press in presses:
        press.start()
    for press in presses:
        press.join()

    for number in loans:
        stage.in_force(number)
    before = {"gpu-a40": ("gpu-a40", GPU, 8), "gpu-a100": ("gpu-a100", GPU, 8), MIG: ("a100-mig", MIG, 7)}
    numbers = {queue: _numbers(stage, queue) for queue in ("many", "spare")}
    for of in {first, second}:
        flavor, resource, base = before[of]
        lent = 3 * (first, second).count(of)
        assert int(numbers["many"][flavor, resource, "nominalQuota"]) == base + lent
        assert int(numbers["spare"][flavor, resource, "nominalQuota"]) == base - lent


@case("QUO-17")
@pytest.mark.parametrize(
    "versions",
    [("v1beta1",), ("v1beta2",), ("v1beta1", "v1beta2"), ("v1beta2", "v1beta1")],
    ids=["old", "new", "both", "both, the new one first"],
)
def test_either_version_of_kueues_api_is_read_and_written(versions: tuple[str, ...]) -> None:
    stage = CaseStage(1)
    stage.kube.cluster.versions = versions
    with stage:
        pair = stage.new_pair()
        loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
        stage.card_says(loan.id, "In force since", f"{pair.borrower} 8 -> 12, {pair.lender} 24 -> 20")
        borrow = stage.asks(pair.mate, "4 as borrow for 2d because paper")
        stage.card_says(borrow.id, f"in {pair.cohort}", f"{pair.borrower}: may borrow 4 instead of 0")
        stage.says(pair.asker, f"return Q-{loan.id} 4")
        stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})
