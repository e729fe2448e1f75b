"""JSON Patch as the API server applies it: what passes, what fails, and that a failure changes nothing."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.kube.json_patch import PatchError, apply, same
from bot.demo.kube.sim import KubeSim

DOC = {"a": {"b": 1, "s": "8"}, "l": ["x", "y"], "m~n": {"o/p": True}, "n": None}

PASSES: dict[str, Any] = {
    "add a member": ([{"op": "add", "path": "/a/c", "value": 2}], ("a", {"b": 1, "s": "8", "c": 2})),
    "add replaces a member": ([{"op": "add", "path": "/a/b", "value": "2"}], ("a", {"b": "2", "s": "8"})),
    "add inserts into a list": ([{"op": "add", "path": "/l/1", "value": "z"}], ("l", ["x", "z", "y"])),
    "add at the end by index": ([{"op": "add", "path": "/l/2", "value": "z"}], ("l", ["x", "y", "z"])),
    "add at the end by dash": ([{"op": "add", "path": "/l/-", "value": "z"}], ("l", ["x", "y", "z"])),
    "replace in a list": ([{"op": "replace", "path": "/l/0", "value": "z"}], ("l", ["z", "y"])),
    "replace of an absent member adds it, as measured": (
        [{"op": "replace", "path": "/a/c", "value": 1}],
        ("a", {"b": 1, "s": "8", "c": 1}),
    ),
    "remove": ([{"op": "remove", "path": "/a/b"}], ("a", {"s": "8"})),
    "remove from a list": ([{"op": "remove", "path": "/l/0"}], ("l", ["y"])),
    "move": ([{"op": "move", "from": "/a/b", "path": "/l/0"}], ("l", [1, "x", "y"])),
    "copy": ([{"op": "copy", "from": "/a/s", "path": "/a/t"}], ("a", {"b": 1, "s": "8", "t": "8"})),
    "escapes": ([{"op": "add", "path": "/m~0n/o~1p", "value": False}], ("m~n", {"o/p": False})),
    "test of a string": ([{"op": "test", "path": "/a/s", "value": "8"}], ("a", DOC["a"])),
    "test of a whole object": ([{"op": "test", "path": "/a", "value": {"s": "8", "b": 1}}], ("a", DOC["a"])),
    "test for null": ([{"op": "test", "path": "/n", "value": None}], ("n", None)),
    "test for null of an absent member": ([{"op": "test", "path": "/a/none", "value": None}], ("a", DOC["a"])),
    "no operations": ([], ("a", DOC["a"])),
}
FAILS: dict[str, Any] = {
    "test of a number against a string": [{"op": "test", "path": "/a/s", "value": 8}],
    "test of true against 1": [{"op": "test", "path": "/a/b", "value": True}],
    "test of another value": [{"op": "test", "path": "/a/b", "value": 2}],
    "test of an absent member": [{"op": "test", "path": "/a/none", "value": 1}],
    "test in an absent object": [{"op": "test", "path": "/none/x", "value": None}],
    "index outside": [{"op": "replace", "path": "/l/2", "value": 1}],
    "index below": [{"op": "replace", "path": "/l/-1", "value": 1}],
    "index with a leading zero": [{"op": "replace", "path": "/l/00", "value": 1}],
    "index in foreign digits": [{"op": "replace", "path": "/l/١", "value": 1}],
    "dash for replace": [{"op": "replace", "path": "/l/-", "value": 1}],
    "add beyond the end": [{"op": "add", "path": "/l/3", "value": 1}],
    "add into an absent object": [{"op": "add", "path": "/none/x", "value": 1}],
    "add into a scalar": [{"op": "add", "path": "/a/b/c", "value": 1}],
    "remove of an absent member": [{"op": "remove", "path": "/a/none"}],
    "remove of everything": [{"op": "remove", "path": ""}],
    "move into itself": [{"op": "move", "from": "/a", "path": "/a/b"}],
    "move of nothing": [{"op": "move", "from": "/none", "path": "/l/0"}],
    "unknown operation": [{"op": "increment", "path": "/a/b", "value": 1}],
    "not an operation": ["replace"],
    "no value": [{"op": "add", "path": "/a/b"}],
    "no path": [{"op": "remove"}],
    "a path without its slash": [{"op": "remove", "path": "a/b"}],
    "the last of several": [{"op": "add", "path": "/a/b", "value": 9}, {"op": "test", "path": "/a/b", "value": 1}],
}


@pytest.mark.parametrize("case", PASSES)
def test_it_applies(case: str) -> None:
    operations, (member, expected) = PASSES[case]
    before = copy.deepcopy(DOC)
    assert same(apply(DOC, operations)[member], expected)
    assert same(DOC, before)


@pytest.mark.parametrize("case", FAILS)
def test_it_fails_and_changes_nothing(case: str) -> None:
    before = copy.deepcopy(DOC)
    with pytest.raises(PatchError):
        apply(DOC, FAILS[case])
    assert same(DOC, before)


QUOTA = "/spec/resourceGroups/0/flavors/0/resources/0"


@pytest.mark.parametrize(
    "failing",
    [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": None},
        {"op": "test", "path": "/spec/resourceGroups/0/flavors/0/name", "value": "a100"},
        {"op": "test", "path": f"{QUOTA}/nominalQuota", "value": 8},
        {"op": "add", "path": "/spec/resourceGroups/0/flavors/7/resources/0/nominalQuota", "value": "1"},
        {"op": "remove", "path": f"{QUOTA}/lendingLimit"},
        {"op": "increment", "path": f"{QUOTA}/nominalQuota", "value": 1},
        {"op": "remove", "path": "/metadata"},
        {"op": "replace", "path": "", "value": 7},
        "replace",
    ],
)
def test_over_the_api_it_is_422_without_a_hint_and_nothing_is_written(sim: KubeSim, failing: Any) -> None:
    sim.add_cluster_queue("q", {"h100": 8})
    before = sim.cluster.store.version
    headers = {"Content-Type": "application/json-patch+json"}
    good = {"op": "add", "path": f"{QUOTA}/nominalQuota", "value": "9"}
    status, _, body = sim.handle("PATCH", sim.path("clusterqueues", "", "q"), {}, headers, [good, failing])
    assert (status, body["message"]) == (422, "the server rejected our request due to an error in our request")
    assert (sim.nominal("q", "h100"), sim.cluster.store.version) == ("8", before)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~0", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~0", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(JSON, JSON)
def test_replacing_everything_gives_the_other_document(one: Any, other: Any) -> None:
    assert same(apply(one, [{"op": "replace", "path": "", "value": other}]), other)


@settings(deadline=None)
@given(st.dictionaries(st.text("ab/~0", max_size=2), JSON, min_size=1), JSON, st.data())
def test_only_the_member_written_changes(document: dict[str, Any], value: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(document)))
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    changed = apply(document, [{"op": "add", "path": pointer, "value": value}])
    assert same(changed, {**document, name: value})
    assert all(changed[other] is document[other] for other in document if other != name)
