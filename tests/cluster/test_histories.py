"""Random histories of loans on one cluster, with leaders that come and go and patches that arrive late.

After every version of every queue the sum of nominal quota is at most what it was before the bot came (P1), and when
all loans are over every number is what it was.
"""

import random
from datetime import timedelta

import pytest

from bot.core.errors import NotLeader
from bot.core.loans import LoanKind
from tests.cluster.delayed import Delayed
from tests.cluster.places import SIMULATOR
from tests.cluster.programs import OPTIONAL
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation, Replica
from tests.cluster.site import Site

HISTORIES, AT_ONCE = 200, 25
FEWER = 4
"""Of each 25 on the simulator, where tests/histories plays thousands without sockets, and on older lines: the run must
end in half an hour. Each history takes about a second."""
STEPS = 6
BASE = {"one": 8, "two": 6, "three": 4}


class _History:
    """One history; `replica` leads."""

    def __init__(self, bot: Installation, queues: list[str], chance: random.Random) -> None:
        self.bot = bot
        self.queues = queues
        self.chance = chance
        self.replica = bot.first
        self.delayed: list[Delayed] = []
        self.patches_lost = 0

    def step(self) -> None:
        """Something happens, and whoever leads converges."""
        self.chance.choice([self.lend, self.lend, self.borrow, self.wait, self.lose_the_lease, self.arrive_late])()
        self.converge()

    def lend(self) -> None:
        lender, borrower = self.chance.sample(self.queues, 2)
        self.bot.grant(LoanKind.TRANSFER, borrower, self.chance.randint(1, 4), lender)

    def borrow(self) -> None:
        self.bot.grant(LoanKind.BORROW, self.chance.choice(self.queues), self.chance.randint(1, 4))

    def wait(self) -> None:
        self.bot.clock.advance(timedelta(hours=self.chance.randint(1, 40)))

    def lose_the_lease(self) -> None:
        """The next patches of the leader are on their way when it is gone."""
        old: Replica = self.replica
        self.delayed.append(Delayed(old, self.chance.randint(1, 2), lambda: self.bot.release(old)))

    def arrive_late(self) -> None:
        for one in self.delayed:
            one.arrive()
        self.delayed.clear()

    def converge(self) -> None:
        try:
            self.replica.converge()
        except NotLeader:
            self.patches_lost += 1
            self.replica = self.bot.replica(f"leader-{self.chance.random()}")
            assert self.replica.lead()
            self.replica.converge()

    def end(self) -> None:
        """Every loan is over, and what was on its way has arrived."""
        self.bot.clock.advance(FOR)
        for _ in "123":
            self.arrive_late()
            self.converge()


CHUNKS = [(first, ("sqlite", "postgresql")[first // AT_ONCE % 2]) for first in range(0, HISTORIES, AT_ONCE)]
"""Half of them on each kind of database."""


@pytest.mark.parametrize(("first", "databases"), CHUNKS, indirect=["databases"])
def test_no_version_of_any_queue_breaks_the_sum(site: Site, bot: Installation, first: int) -> None:
    queues = [site.queue(word, nominal, borrowingLimit="2") for word, nominal in BASE.items()]
    seen = Recorder(site)
    lost = 0
    histories = FEWER if site.what in {SIMULATOR, *OPTIONAL} else AT_ONCE
    for seed in range(first, first + histories):
        history = _History(bot, queues, random.Random(seed))
        for _ in range(STEPS):
            history.step()
        history.end()
        bot.first = history.replica
        lost += history.patches_lost
        now = {queue: site.quota(queue) for queue in queues}
        assert [now[queue]["nominalQuota"] for queue in queues] == ["8", "6", "4"], f"history {seed}"
        assert {quota["borrowingLimit"] for quota in now.values()} == {"2"}, f"history {seed}"
        seen.catch_up()
    sums = seen.sums()
    assert max(sums) == sum(BASE.values())
    assert len(sums) > histories * 2, "something was lent"
    assert lost > 0
