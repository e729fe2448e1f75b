"""Names that the policy lost: each is missing once at a time, and is missed anew after it was back."""

import pytest

from bot.core.errors import Stale
from bot.core.lost_names import LostName


def test_a_name_is_missing_until_it_is_back(store, make) -> None:
    with store.begin() as work:
        assert work.lost_names.open() == []
        team = work.lost_names.begin("team vision", make.now)
        queue = work.lost_names.begin("team Vision", make.later(hours=1))
        assert team == LostName(team.id, "team vision", make.now)
        work.commit()
    with store.begin() as work:
        assert work.lost_names.open() == [team, queue]
        work.lost_names.end(team.id, make.later(hours=2))
        work.lost_names.end(team.id, make.later(hours=3))
        work.commit()
    with store.begin() as work:
        assert work.lost_names.open() == [queue]
        again = work.lost_names.begin("team vision", make.later(hours=4))
        work.commit()
    with store.read() as work:
        assert work.lost_names.open() == [queue, again]


def test_the_same_name_is_not_missing_twice(store, make) -> None:
    with store.begin() as work:
        work.lost_names.begin("team vision", make.now)
        work.commit()
    with store.begin() as work, pytest.raises(Stale):
        work.lost_names.begin("team vision", make.later(hours=1))
