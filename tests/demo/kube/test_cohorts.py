"""Quota over a tree of cohorts: the worked numbers of the reference, and properties that hold for any numbers."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.kube.cohorts import Tree, build

AT = ("a100", "nvidia.com/gpu")


def _spec(nominal: int | str, borrowing: int | None = None, lending: int | None = None) -> dict[str, Any]:
    quota: dict[str, Any] = {"name": AT[1], "nominalQuota": nominal}
    if borrowing is not None:
        quota["borrowingLimit"] = borrowing
    if lending is not None:
        quota["lendingLimit"] = lending
    flavors = [{"name": AT[0], "resources": [quota]}]
    return {"resourceGroups": [{"coveredResources": [AT[1]], "flavors": flavors}]}


def _queue(name: str, cohort: str, *numbers: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {**_spec(*numbers), **({"cohortName": cohort} if cohort else {})}}


def _cohort(name: str, parent: str = "", nominal: int | None = None, *limits: Any) -> dict[str, Any]:
    spec = _spec(nominal, *limits) if nominal is not None else {}
    return {"metadata": {"name": name}, "spec": {**spec, **({"parentName": parent} if parent else {})}}


def _worked(nlp: int = 24, vision: int = 16) -> Tree:
    """The queues of the reference: a pool of 8 above vision, nlp and robotics, which use 20, 16 and 8."""
    queues = [
        _queue("vision", "ml", vision, 8, 12),
        _queue("nlp", "ml", nlp),
        _queue("robotics", "ml", 8, 0),
    ]
    usage = {"vision": {AT: 20}, "nlp": {AT: 16}, "robotics": {AT: 8}}
    return build(queues, [_cohort("ml", "", 8)], usage)


def test_the_worked_example() -> None:
    tree = _worked()
    pool = tree.cohorts["ml"]
    assert (pool.subtree(AT), pool.used(AT), pool.available(AT)) == (52, 40, 12)
    vision = tree.queues["vision"]
    assert (vision.local(AT), vision.available(AT), vision.borrowed(AT)) == (4, 4, 4)
    assert tree.queues["nlp"].available(AT) == 12
    assert tree.queues["robotics"].available(AT) == 0


def test_the_worked_transfer_protects_what_was_borrowed() -> None:
    tree = _worked(nlp=20, vision=20)
    assert tree.queues["vision"].borrowed(AT) == 0
    assert tree.queues["vision"].local(AT) == 8
    nlp = tree.queues["nlp"]
    assert nlp.quota(AT).nominal - nlp.used(AT) == 4


@pytest.mark.parametrize(
    ("queues", "cohorts", "usage", "available", "potential"),
    [
        ([("q", "", 8)], [], {}, 8, 8),
        ([("q", "", 8)], [], {"q": 12}, -4, 8),
        ([("q", "c", 8), ("other", "c", 8)], [], {}, 16, 16),
        ([("q", "c", 8, 4), ("other", "c", 8)], [], {}, 12, 12),
        ([("q", "c", 8, 0), ("other", "c", 8)], [], {"q": 3}, 5, 8),
        ([("q", "c", 8), ("other", "c", 8, None, 2)], [], {}, 10, 10),
        ([("q", "c", 8), ("other", "c", 8, None, 0)], [], {"other": 8}, 8, 8),
        ([("q", "c", 2), ("other", "c", 8)], [], {"q": 8, "other": 8}, -6, 10),
        ([("q", "c", 0), ("other", "c", 8)], [], {"other": 3}, 5, 8),
        ([("q", "c", 4)], [("c", "root"), ("root", "", 10)], {}, 14, 14),
        ([("q", "c", 4), ("far", "d", 6)], [("c", "root", 0, 2), ("d", "root")], {}, 6, 6),
        ([("q", "c", 4), ("far", "d", 6)], [("c", "root"), ("d", "root", 0, None, 1)], {}, 5, 5),
        ([("q", "c", "0.5")], [], {}, 1, 1),
    ],
)
def test_available_now_and_at_most(
    queues: list[Any], cohorts: list[Any], usage: dict[str, int], available: int, potential: int
) -> None:
    used = {name: {AT: units} for name, units in usage.items()}
    tree = build([_queue(*numbers) for numbers in queues], [_cohort(*numbers) for numbers in cohorts], used)
    node = tree.queues["q"]
    assert (node.available(AT), node.potential(AT)) == (available, potential)


@pytest.mark.parametrize("parents", [{"c": "c"}, {"c": "d", "d": "c"}, {"c": "d", "d": "e", "e": "d"}])
def test_members_of_a_circle_are_set_apart(parents: dict[str, str]) -> None:
    cohorts = [_cohort(name, parent) for name, parent in parents.items()]
    tree = build([_queue("q", "c", 8), _queue("free", "x", 8)], cohorts, {})
    assert tree.cyclic == {"q"}
    assert tree.queues["free"].path == "/x/free"


NUMBERS = st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9), st.none() | st.integers(0, 9))


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(st.integers(0, 12), min_size=5, max_size=5))
def test_what_is_taken_is_never_more_than_there_is(numbers: list[Any], wanted: list[int]) -> None:
    """Whoever takes what `available` allows, one after another: the cohort as a whole stays within its nominal."""
    tree = build([_queue(str(n), "c", *quota) for n, quota in enumerate(numbers)], [], {})
    for n, units in enumerate(wanted[: len(numbers)]):
        node = tree.queues[str(n)]
        node.take({AT: max(0, min(units, node.available(AT)))})
        assert node.used(AT) <= node.potential(AT)
    total = sum(node.used(AT) for node in tree.queues.values())
    assert total <= sum(nominal for nominal, _, _ in numbers)
    assert all(node.available(AT) >= 0 for node in tree.queues.values())


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=4), st.integers(0, 8))
def test_a_transfer_leaves_the_total_of_the_cohort(numbers: list[Any], units: int) -> None:
    before = build([_queue(str(n), "c", *quota[:1]) for n, quota in enumerate(numbers)], [], {})
    nominal = [quota[0] for quota in numbers]
    units = min(units, nominal[0])
    nominal[0] -= units
    nominal[1] += units
    after = build([_queue(str(n), "c", quota) for n, quota in enumerate(nominal)], [], {})
    assert after.cohorts["c"].subtree(AT) == before.cohorts["c"].subtree(AT)
