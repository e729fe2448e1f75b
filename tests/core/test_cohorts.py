"""Quota arithmetic: the worked numbers, Kueue's rules one by one, and a naive oracle on random trees."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.cohorts import QuotaTree, quota_tree
from bot.core.kueue import ClusterPicture, CohortSnapshot, FlavorResource, Quota
from bot.core.trees import roots
from tests.support.quota import A100, NOW, picture, queue

ML = picture(
    queue("vision", 16, 20, borrowing=8, lending=12),
    queue("nlp", 24, 16),
    queue("robotics", 8, 8, borrowing=0),
    cohorts=(CohortSnapshot("gpu-pool", quotas={A100: Quota(8)}),),
)
"""Three queues and a shared pool of 8: 52 visible to all, 40 of it in use."""


@pytest.mark.parametrize(
    ("what", "number"),
    [
        (lambda tree: tree.pool_free("vision"), 12),
        (lambda tree: tree.available("vision"), 4),
        (lambda tree: tree.nominal("vision"), 56),
        (lambda tree: tree.available("nlp"), 12),
        (lambda tree: tree.available("robotics"), 0),
        (lambda tree: tree.potential("vision"), 24),
        (lambda tree: tree.potential("nlp"), 52),
        (lambda tree: tree.potential("robotics"), 8),
    ],
)
def test_worked_numbers(what: Callable[[QuotaTree], int], number: int) -> None:
    assert what(quota_tree(ML, A100)) == number


def test_the_figures_of_the_messages_add_up() -> None:
    tree = quota_tree(picture(), A100)
    assert (tree.nominal("vision"), tree.free("vision"), tree.potential("vision")) == (48, 4, 20)


def test_without_cohort_a_queue_is_alone() -> None:
    tree = quota_tree(picture(queue("nlp", 24, 4, cohort=None), queue("vision", 16)), A100)
    assert (tree.cohort("nlp"), tree.available("nlp"), tree.pool_free("nlp"), tree.members("nlp")) == (
        None,
        20,
        20,
        ("nlp",),
    )


def test_more_reserved_than_there_is_shows_as_nothing_free_but_is_known() -> None:
    tree = quota_tree(picture(queue("nlp", 4, 9)), A100)
    assert (tree.pool_free("nlp"), tree.free("nlp"), tree.available("nlp")) == (-5, 0, -5)


def test_a_queue_that_does_not_list_the_entry_gets_nothing_and_its_old_usage_is_lost() -> None:
    other = queue("vision", 16, 3, quotas={FlavorResource("h100", A100.resource): Quota(16)})
    tree = quota_tree(picture(queue("nlp", 24), other), A100)
    assert (tree.available("vision"), tree.potential("vision")) == (0, 0)
    assert tree.pool_free("nlp") == 24


def test_limits_of_a_cohort_in_the_middle_bind() -> None:
    tree = quota_tree(
        picture(
            queue("a", 4, 0, cohort="left"),
            queue("b", 10, 0, cohort="right"),
            cohorts=(
                CohortSnapshot("left", "top", {A100: Quota(0, borrowing_limit=3)}),
                CohortSnapshot("right", "top", {A100: Quota(0, lending_limit=6)}),
            ),
        ),
        A100,
    )
    assert tree.pool_free("a") == 10  # 4 of the left, 6 that the right lets go
    assert tree.available("a") == 7  # 4, and 3 that the left may borrow
    assert tree.potential("b") == 14  # 4 that the right keeps, and 10 at the top


@pytest.mark.parametrize("cycle", [("x",), ("x", "y"), ("x", "y", "z")])
def test_a_cycle_of_cohorts_disables_its_queues_and_nobody_else(cycle: tuple[str, ...]) -> None:
    cohorts = tuple(CohortSnapshot(one, cycle[index - 1]) for index, one in enumerate(cycle))
    world = picture(queue("lost", 8, cohort="x"), queue("well", 8), cohorts=cohorts)
    tree = quota_tree(world, A100)
    assert (tree.cohort("lost"), tree.available("lost"), tree.free("lost")) == (None, 0, 0)
    assert (tree.available("well"), roots(world)) == (8, {"lost": "x", "well": "gpu-pool"})


def test_a_queue_may_have_the_name_of_its_cohort() -> None:
    tree = quota_tree(picture(queue("gpu-pool", 5), queue("nlp", 3)), A100)
    assert (tree.cohort("gpu-pool"), tree.available("gpu-pool"), tree.nominal("nlp")) == ("gpu-pool", 8, 8)


def test_a_chain_of_a_thousand_cohorts_is_no_problem() -> None:
    chain = tuple(CohortSnapshot(f"c{n}", f"c{n + 1}") for n in range(1000))
    world = picture(queue("deep", 8, cohort="c0"), cohorts=chain)
    assert (quota_tree(world, A100).available("deep"), roots(world)["deep"]) == (8, "c1000")


# A naive oracle: Kueue's definitions as they are written, recursive and without any sharing of work.


def naive_available(world: ClusterPicture, name: str, *, is_cohort: bool = False) -> int:
    quota, parent = _own(world, name, is_cohort)
    if parent is None:
        return _subtree(world, name, is_cohort) - _usage(world, name, is_cohort)
    subtree, usage = _subtree(world, name, is_cohort), _usage(world, name, is_cohort)
    local = _local(quota, subtree)
    above = naive_available(world, parent, is_cohort=True)
    if quota.borrowing_limit is not None:
        above = min(above, (subtree - local) - max(0, usage - local) + quota.borrowing_limit)
    return max(0, local - usage) + above


def naive_potential(world: ClusterPicture, name: str, *, is_cohort: bool = False) -> int:
    quota, parent = _own(world, name, is_cohort)
    subtree = _subtree(world, name, is_cohort)
    if parent is None:
        return subtree
    most = _local(quota, subtree) + naive_potential(world, parent, is_cohort=True)
    return most if quota.borrowing_limit is None else min(most, subtree + quota.borrowing_limit)


def _own(world: ClusterPicture, name: str, is_cohort: bool) -> tuple[Quota, str | None]:
    if not is_cohort:
        return world.queues[name].quotas.get(A100, Quota(0)), world.queues[name].cohort
    found = world.cohorts.get(name, CohortSnapshot(name))
    return found.quotas.get(A100, Quota(0)), found.parent


def _children(world: ClusterPicture, name: str) -> list[tuple[str, bool]]:
    queues = [(one.name, False) for one in world.queues.values() if one.cohort == name]
    return queues + [(one.name, True) for one in world.cohorts.values() if one.parent == name]


def _local(quota: Quota, subtree: int) -> int:
    return 0 if quota.lending_limit is None else max(0, subtree - quota.lending_limit)


def _subtree(world: ClusterPicture, name: str, is_cohort: bool) -> int:
    own = _own(world, name, is_cohort)[0].nominal
    if not is_cohort:
        return own
    total = own
    for child, sort in _children(world, name):
        subtree = _subtree(world, child, sort)
        total += subtree - _local(_own(world, child, sort)[0], subtree)
    return total


def _usage(world: ClusterPicture, name: str, is_cohort: bool) -> int:
    if not is_cohort:
        return world.queues[name].reserved.get(A100, 0)
    total = 0
    for child, sort in _children(world, name):
        local = _local(_own(world, child, sort)[0], _subtree(world, child, sort))
        total += max(0, _usage(world, child, sort) - local)
    return total


LIMIT = st.none() | st.integers(0, 12)


@st.composite
def trees(draw: st.DrawFn) -> ClusterPicture:
    """Up to four cohorts, each under an earlier one or a root, and up to five queues in them or in none."""
    cohorts = []
    for number in range(draw(st.integers(0, 4))):
        parent = draw(st.sampled_from([None, *(f"c{n}" for n in range(number))]))
        limits = (draw(LIMIT), draw(LIMIT)) if parent else (None, None)
        cohorts.append(CohortSnapshot(f"c{number}", parent, {A100: Quota(draw(st.integers(0, 12)), *limits)}))
    queues = []
    for number in range(draw(st.integers(1, 5))):
        cohort = draw(st.none() | st.sampled_from([*(one.name for one in cohorts), "only-named"]))
        nominal = draw(st.integers(0, 16))
        limits = (draw(LIMIT), draw(LIMIT)) if cohort else (None, None)
        quota = Quota(nominal, *limits)
        queues.append(queue(f"q{number}", 0, draw(st.integers(0, 24)), quotas={A100: quota}, cohort=cohort))
    return ClusterPicture("default", NOW, {one.name: one for one in queues}, {one.name: one for one in cohorts})


@given(trees())
def test_agrees_with_the_naive_reading_of_kueues_definitions(world: ClusterPicture) -> None:
    tree = quota_tree(world, A100)
    for name in world.queues:
        assert tree.available(name) == naive_available(world, name)
        assert tree.potential(name) == naive_potential(world, name)


@given(trees())
def test_never_more_free_than_capacity_and_never_more_now_than_ever(world: ClusterPicture) -> None:
    tree = quota_tree(world, A100)
    for name in world.queues:
        assert 0 <= tree.free(name) <= tree.nominal(name)
        assert tree.available(name) <= tree.potential(name) <= tree.nominal(name)


@given(trees())
def test_what_is_free_and_what_is_held_is_never_more_than_there_is(world: ClusterPicture) -> None:
    tree = quota_tree(world, A100)
    for name in world.queues:
        held = sum(world.queues[one].reserved[A100] for one in tree.members(name))
        assert held + tree.pool_free(name) <= tree.nominal(name)


@given(trees())
def test_the_members_of_a_tree_have_the_same_root(world: ClusterPicture) -> None:
    tree = quota_tree(world, A100)
    tops = roots(world)
    for name in world.queues:
        assert {tops[one] for one in tree.members(name)} == {tops[name]}
        assert tree.cohort(name) == tops[name]
