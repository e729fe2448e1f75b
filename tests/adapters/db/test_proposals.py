"""Proposals: one of a queue is open at most, and each says later what came of it."""

from datetime import timedelta

import pytest

from bot.core.convergence.facts import FieldKey, FieldName, IntendedField
from bot.core.convergence.proposals import Proposal, ProposalEnd, ProposedField
from bot.core.errors import Stale

KEY = FieldKey("default", "vision", "a100", "nvidia.com/gpu", FieldName.NOMINAL)


def _proposal(make, name: str, queue: str = "vision") -> Proposal:
    key = KEY._replace(queue=queue)
    before = IntendedField(key, 3, 16, {}, 16, 4, 4)
    part = ProposedField(before, IntendedField(key, 4, 16, {"L1": 8}, 24, 4, 12))
    return Proposal(name, "default", queue, f"uid-{queue}", (part,), make.now)


def test_what_is_stored_is_read(store, make) -> None:
    one, other = _proposal(make, "a"), _proposal(make, "b", "nlp")
    with store.begin() as work:
        work.proposals.add(one)
        work.proposals.add(other)
        work.commit()
    with store.read() as work:
        assert work.proposals.open("default") == [one, other]
        assert work.proposals.open("eu-1") == []
        assert work.proposals.get("a") == one
        assert work.proposals.get("c") is None


def test_what_was_taken_back_is_known_for_a_while(store, make) -> None:
    ends = {"a": ProposalEnd.WITHDRAWN, "b": ProposalEnd.MERGED, "c": ProposalEnd.SUPERSEDED, "d": None}
    with store.begin() as work:
        for hours, (name, how) in enumerate(ends.items()):
            work.proposals.add(_proposal(make, name))
            if how is not None:
                work.proposals.end(name, how, make.now + timedelta(hours=hours))
        work.commit()
    with store.read() as work:
        assert [one.id for one in work.proposals.taken_back("default", make.now)] == ["c", "a"]
        assert [one.id for one in work.proposals.taken_back("default", make.now + timedelta(hours=1))] == ["c"]
        assert work.proposals.taken_back("eu-1", make.now) == []


def test_a_second_one_of_a_queue_waits_for_the_end_of_the_first(store, make) -> None:
    with store.begin() as work:
        work.proposals.add(_proposal(make, "a"))
        with pytest.raises(Stale):
            work.proposals.add(_proposal(make, "b"))
        work.proposals.end("a", ProposalEnd.SUPERSEDED, make.now)
        work.proposals.end("a", ProposalEnd.MERGED, make.now)
        work.proposals.add(_proposal(make, "b"))
        work.commit()
    with store.read() as work:
        assert [one.id for one in work.proposals.open("default")] == ["b"]
        ended = work.proposals.get("a")
        assert (ended.ended, ended.ended_at) == (ProposalEnd.SUPERSEDED, make.now)
