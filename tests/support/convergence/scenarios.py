"""The worlds that are explored: small, and each with something that once went wrong in it."""

from bot.core.kueue import Quota
from tests.support.convergence.explorer import Scenario
from tests.support.convergence.world import (
    A100,
    H100,
    borrow,
    extra,
    hard_of,
    key_of,
    limit_of,
    queue_of,
    resource_quota,
    transfer,
)

EVERYTHING = {
    "lost answer": 3,
    "drop": 2,
    "reject": 2,
    "crash": 1,
    "edit": 3,
    "strip": 2,
    "touch": 2,
    "remove": 1,
    "put": 1,
    "delete": 1,
    "create": 1,
    "move": 2,
    "lose": 1,
    "lending": 2,
    "resume": 1,
}
"""How often each fault may happen in a random walk."""

NETWORK = {"lost answer": 5, "drop": 3, "reject": 3, "crash": 2}
EDITS = {"lost answer": 3, "drop": 1, "edit": 3, "strip": 2}
PAUSES = {"lost answer": 4, "drop": 2, "reject": 1, "edit": 1, "strip": 1, "pause": 3}
SURPLUS = {"lost answer": 3, "drop": 1, "reject": 1, "edit": 2}

_TWO = {H100: Quota(4, lending_limit=3), A100: Quota(3, borrowing_limit=1)}

PAIR = Scenario(
    "pair",
    (queue_of("a", 4), queue_of("b", 4)),
    (transfer(1, "a", "b", 2), transfer(2, "a", "b", 1)),
    (key_of("a"), key_of("b")),
    budgets=EVERYTHING,
)
BACK_AND_FORTH = Scenario(
    "back and forth",
    (queue_of("a", 2), queue_of("b", 2)),
    (transfer(1, "a", "b", 2), transfer(2, "b", "a", 2)),
    (key_of("a"), key_of("b")),
    budgets=EVERYTHING,
)
CHAIN = Scenario(
    "chain",
    (queue_of("a", 3), queue_of("b", 0), queue_of("c", 1)),
    (transfer(1, "a", "b", 2), transfer(2, "b", "c", 1), extra(3, "b", 1)),
    (key_of("a"), key_of("b"), key_of("c")),
    budgets=EVERYTHING,
)
GIVE_AND_TAKE = Scenario(
    "give and take",
    (queue_of("a", 2), queue_of("b", 2), queue_of("c", 1)),
    (transfer(1, "a", "b", 1), extra(2, "a", 2), transfer(3, "c", "a", 1)),
    (key_of("a"), key_of("c")),
    budgets=EVERYTHING,
)
TWO_FLAVORS = Scenario(
    "two flavors and a limit",
    (queue_of("a", _TWO), queue_of("b", _TWO)),
    (transfer(1, "a", "b", 2), transfer(2, "b", "a", 2, A100), borrow(3, "b", 2, A100)),
    (key_of("a"), key_of("b"), key_of("a", A100), key_of("b", A100), limit_of("b", A100)),
    budgets=EVERYTHING,
)
RESOURCE_QUOTA = Scenario(
    "a ResourceQuota beside the borrower",
    (queue_of("a", _TWO), queue_of("b", _TWO), resource_quota("ns/gpu", 4)),
    (transfer(1, "a", "b", 2), borrow(2, "b", 1, A100), extra(3, "b", 1), transfer(4, "b", "a", 1)),
    (key_of("b"), hard_of("ns/gpu"), limit_of("b", A100)),
    budgets=EVERYTHING,
    beside={"b": "ns/gpu"},
)
SCENARIOS = (PAIR, BACK_AND_FORTH, CHAIN, GIVE_AND_TAKE, TWO_FLAVORS, RESOURCE_QUOTA)

_ONE = (transfer(1, "a", "b", 1),)
_AB = (queue_of("a", 2), queue_of("b", 2))
LATE = Scenario("late patches", _AB, (*_ONE, transfer(2, "a", "b", 1)), (), budgets={"lost answer": 2, "drop": 1})
HIDDEN = Scenario(
    "a hidden return",
    (*_AB, queue_of("c", 2)),
    (*_ONE, transfer(2, "a", "c", 1)),
    (),
    budgets={"drop": 1},
)
GONE = Scenario(
    "gone and back",
    _AB,
    _ONE,
    (key_of("a"), key_of("b")),
    (1, 2, 3),
    {"remove": 2, "put": 2, "lost answer": 1},
)
DOUBT = Scenario("in doubt", _AB, (*_ONE, transfer(2, "a", "b", 1)), (key_of("b"),), (2, 3, 4), {"drop": 1, "edit": 2})
BEHIND = Scenario(
    "behind a question",
    (queue_of("a", 3), queue_of("b", 0), queue_of("c", 1)),
    (transfer(1, "a", "b", 2), transfer(2, "b", "c", 1)),
    (key_of("c"),),
    budgets={"edit": 2},
)
QUOTA_LATE = Scenario(
    "a ResourceQuota and late patches",
    (*_AB, resource_quota("ns/gpu", 2)),
    (*_ONE, extra(2, "b", 1)),
    (),
    budgets={"lost answer": 3, "drop": 2},
    beside={"b": "ns/gpu"},
)
QUOTA_GONE = Scenario(
    "a ResourceQuota, gone and back",
    (*_AB, resource_quota("ns/gpu", 2)),
    _ONE,
    (hard_of("ns/gpu"),),
    (1, 2, 3),
    {"remove": 2, "put": 2, "edit": 1, "lost answer": 1},
    beside={"b": "ns/gpu"},
)
QUOTA_ALONE = Scenario(
    "a ResourceQuota alone",
    (resource_quota("ns/gpu", 2),),
    (extra(1, "ns/gpu", 2), extra(2, "ns/gpu", 1)),
    (hard_of("ns/gpu"),),
    (0, 2, 3, 4),
    {"edit": 2, "strip": 1, "remove": 1, "put": 1, "lost answer": 2, "drop": 1, "lose": 1},
)
NARROW = (LATE, HIDDEN, GONE, DOUBT, BEHIND, QUOTA_LATE, QUOTA_GONE, QUOTA_ALONE)
"""Few things happen here, so that rare things happen often."""
