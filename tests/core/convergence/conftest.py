"""What the tables of convergence start from: one lender, one borrower, one loan of 2."""

from collections.abc import Callable

import pytest

from bot.core.loans import Loan
from tests.support.convergence.play import Play
from tests.support.convergence.world import World, queue_of, transfer


@pytest.fixture
def play() -> Callable[..., Play]:
    """A play with these queues (name=nominal) and loans, all approved."""

    def make(*loans: Loan, **queues: int) -> Play:
        world = World.of(*(queue_of(name, nominal) for name, nominal in queues.items()))
        for loan in loans:
            world.approve(loan)
        return Play(world)

    return make


@pytest.fixture
def lent(play: Callable[..., Play]) -> Play:
    """a (8) has lent 2 to b (8); both are told, the numbers are 6 and 10."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.settle()
    made.findings.clear()
    return made
