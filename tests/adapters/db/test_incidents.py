"""Stories of work, storms and what is remembered of objects, in the database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.errors import NotLeader, Stale
from bot.core.incidents.facts import Kind, Move, Remembered, What
from bot.core.incidents.stories import Audience, Incident
from bot.core.incidents.storms import Storm


def story(make, key="default/vision-train/Job/a", **changes) -> Incident:
    cluster, namespace, kind, name = key.split("/")
    facts = {"devices": {"nvidia.com/gpu": 8}, "notes": {"k": "<!channel>\x00"}}
    usual = {
        "facts": facts,
        "message": "ours\n\x00",
        "audience": Audience("C0VISION", "U1", "vision", "annotation on Job"),
        "told_at": make.now,
    }
    made = Incident(0, key, cluster, namespace, kind, name, What.PREEMPTED, make.now, make.now, make.now)
    return replace(made, **{**usual, **changes})


def pod(uid, make, **changes) -> Remembered:
    held = Move(What.NO_ROOM, make.now, "Unschedulable", "0/3 nodes", {"nodes": 3})
    usual = {
        "story": "s",
        "version": "7",
        "state": What.NO_ROOM,
        "since": make.now,
        "told": ("a@1",),
        "due": make.now,
        "held": held,
        "devices": 2,
    }
    return Remembered("default", Kind.POD, uid, **{**usual, **changes})


def test_what_is_remembered_is_what_is_got(store, make) -> None:
    plain = Remembered("default", Kind.POD, "b", "s")
    with store.begin() as work:
        for one in (pod("a", make), plain, pod("a", make, devices=3)):
            work.memory.put(one)
        work.memory.put(replace(plain, kind=Kind.EVENT))
        work.commit()
    with store.read() as work:
        many = [f"u{number}" for number in range(1200)]
        got = work.memory.get("default", Kind.POD, ["a", *many, "b"])
        assert got == {"a": pod("a", make, devices=3), "b": plain}
        assert work.memory.get("other", Kind.POD, ["a"]) == {}
        assert work.memory.uids("default", Kind.POD) == {"a", "b"}
        assert list(work.memory.refusals("s")) == [replace(plain, kind=Kind.EVENT)]
        assert list(work.memory.due(make.now - timedelta(seconds=1), 9)) == []
        assert [one.uid for one in work.memory.due(make.now, 9)] == ["a"]


def test_pods_count_as_troubled_once_that_was_told(store, make) -> None:
    told = {"due": None, "held": None}
    with store.begin() as work:
        for one in (
            pod("a", make, **told),
            pod("b", make, state=What.UNSCHEDULABLE, **told),
            pod("c", make),
            pod("d", make, state=What.REMOVED, **told),
            pod("e", make, story="other", **told),
        ):
            work.memory.put(one)
        assert work.memory.troubled("s") == (2, 4)
        work.memory.forget("default", Kind.POD, "a")
        work.memory.forget("default", Kind.POD, "a")
        assert work.memory.troubled("s") == (1, 2)
        assert work.memory.troubled("nobody's") == (0, 0)


def test_a_story_is_stored_with_all_that_is_said_of_it(store, make) -> None:
    with store.begin() as work:
        first = work.incidents.add(story(make))
        after = {"stage": What.RUNNING, "stage_at": make.now, "open": False, "storm": 3, "times": 4, "lines": 2}
        changed = work.incidents.update(replace(first, **after))
        other = work.incidents.add(story(make, "default/n/Job/b", mention=True, late=True))
        again = work.incidents.add(story(make))
        work.commit()
    assert changed == replace(first, **after, version=2)
    with store.read() as work:
        assert [work.incidents.get(one.id) for one in (changed, other, again)] == [changed, other, again]
        assert work.incidents.latest(first.key) == again
        assert work.incidents.latest("none") is None
        assert work.incidents.open_keys("default") == {first.key, other.key}
        assert work.incidents.open_keys("other") == frozenset()
        assert list(work.incidents.of_storm(3)) == [changed]
        assert list(work.incidents.recent("C0VISION", "preempted", make.now)) == [changed, other, again]
        assert list(work.incidents.recent("C0VISION", "evicted", make.now)) == []
        assert list(work.incidents.recent("C0VISION", "preempted", make.now + timedelta(seconds=1))) == []


def test_a_story_that_changed_meanwhile_is_not_written_over(store, make) -> None:
    with store.begin() as work:
        first = work.incidents.add(story(make))
        work.incidents.update(first)
        with pytest.raises(Stale):
            work.incidents.update(first)


def test_a_storm_goes_on(store, make) -> None:
    with store.begin() as work:
        work.storms.add(Storm(0, "C0VISION", What.PREEMPTED, make.now, make.now))
        second = work.storms.add(Storm(0, "C0VISION", What.PREEMPTED, make.now, make.now))
        later = make.now + timedelta(minutes=1)
        work.storms.touch(second.id, later)
        assert work.storms.latest("C0VISION", "preempted") == replace(second, last=later)
        assert work.storms.get(second.id) == replace(second, last=later)
        assert work.storms.latest("C0VISION", "evicted") is None


def test_nothing_is_kept_of_a_leader_that_is_none_any_more(shared_store, make) -> None:
    with shared_store.begin() as work:
        epoch = work.leadership.acquire("a", timedelta(seconds=30))
        work.commit()
    with shared_store.begin() as work:
        work.incidents.add(story(make))
        with pytest.raises(NotLeader):
            work.leadership.check(epoch + 1)
    with shared_store.read() as work:
        assert work.incidents.latest(story(make).key) is None
