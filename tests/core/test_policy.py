"""What policy documents may say, and what is said about those that say something else."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.loans import LoanKind
from bot.core.policy import FILES, Finding, Policy, read_policy
from tests.support.quota import GPU, documents, policy

Change = Callable[[dict[str, Any]], Any]


def team(name: str = "nlp", **keys: Any) -> Change:
    return lambda files: files["teams.yaml"]["teams"][name].update(keys)


def alerts(**keys: Any) -> Change:
    return lambda files: files["alerts.yaml"].update(keys)


def approvals(**keys: Any) -> Change:
    return lambda files: files["approvals.yaml"].update(keys)


def rule(number: int = 0, **keys: Any) -> Change:
    return lambda files: files["approvals.yaml"]["rules"][number].update(keys)


def cluster(**keys: Any) -> Change:
    return lambda files: files["clusters.yaml"]["clusters"]["default"].update(keys)


def found(*changes: Change) -> tuple[Finding, ...]:
    files = documents()
    for change in changes:
        change(files)
    result = read_policy(files, "v1")
    assert not isinstance(result, Policy), "this policy should not be accepted"
    return result


UNKNOWN_NAMES = [
    (approvals(admins="gpu-admin"), ("admins",), 'no group "gpu-admin"; did you mean gpu-admins?'),
    (rule(1, then={"steps": [{"who": "group gpu-amdins"}]}), ("rules", 1, "then", "steps", 0, "who"), "gpu-amdins"),
    (rule(0, **{"if": {"team": ["nlp", "visoin"]}}), ("rules", 0, "if", "team", 1), 'no team "visoin"; did you mean'),
    (team(sees=["robotic"]), ("teams", "nlp", "sees", 0), 'no team "robotic"; did you mean robotics?'),
    (lambda files: files["teams.yaml"].update(sees=["x"]), ("sees", 0), 'no team "x"'),
    (team(queues={"prod": ["nlp"]}), ("teams", "nlp", "queues", "prod"), 'no cluster "prod"'),
    (
        cluster(lenders={"nlq": {}}),
        ("clusters", "default", "lenders", "nlq"),
        "did you mean nlp?: nobody could consent",
    ),
    (
        team(namespaces=["nlp-train"], resource_quota={"namespace": "nlp-trian", "name": "gpu"}),
        ("teams", "nlp", "resource_quota", "namespace"),
        'no namespace of the team "nlp-trian"; did you mean nlp-train?',
    ),
    (cluster(default_flavors={"nlq": "a100"}), ("clusters", "default", "default_flavors", "nlq"), 'no queue "nlq"'),
    (cluster(queues={"nlq": {"write": "propose"}}), ("clusters", "default", "queues", "nlq"), 'no queue "nlq"'),
]


@pytest.mark.parametrize(("change", "where", "words"), UNKNOWN_NAMES)
def test_a_name_that_is_not_there_is_found_with_the_near_and_the_allowed_ones(
    change: Change, where: tuple[str | int, ...], words: str
) -> None:
    findings = [one for one in found(change) if one.where == where]
    assert len(findings) == 1
    assert words in findings[0].message
    assert findings[0].allowed


def test_an_alias_that_means_another_resource_already_is_found() -> None:
    """Whatever its case, and also where the other resource is only called so by the end of its own name."""
    for alias in ("CARD", "gpu"):
        both = {GPU: {**UNIT, "alias": "card"}, "amd.com/card": {**UNIT, "alias": alias}}
        (finding,) = found(cluster(accelerators=both))
        assert finding.where == ("clusters", "default", "accelerators", "amd.com/card", "alias")
        assert finding.message == f'"{alias}" means {GPU} already; an alias belongs to one resource'


NIGHT = {"after": "22:00", "until": "06:00"}
UNIT = {"one": "GPU", "many": "GPUs"}
DEFAULT = ("clusters", "default")
UNKNOWN_KEYS = [
    (team(chanel="C1"), ("teams", "nlp", "chanel"), "channel"),
    (approvals(self_aproval=True), ("self_aproval",), "self_approval"),
    (approvals(limits={"longst": "3d"}), ("limits", "longst"), "longest"),
    (rule(0, **{"if": {"ammount": {"at_most": 2}}}), ("rules", 0, "if", "ammount"), "amount"),
    (rule(0, **{"if": {"amount": {"atmost": 2}}}), ("rules", 0, "if", "amount", "atmost"), "at_most"),
    (rule(0, **{"if": {"hours": {"day": "mon", **NIGHT}}}), ("rules", 0, "if", "hours", "day"), "days"),
    (rule(0, then={"steps": [{"who": "team-leads", "cuont": 2}]}), ("rules", 0, "then", "steps", 0, "cuont"), "count"),
    (rule(0, iff={}), ("rules", 0, "iff"), "if"),
    (cluster(lenders={"nlp": {"atmost": 1}}), ("clusters", "default", "lenders", "nlp", "atmost"), "at_most"),
    (cluster(queues={"nlp": {"wriet": "propose"}}), (*DEFAULT, "queues", "nlp", "wriet"), "write"),
    (cluster(accelerators={GPU: {**UNIT, "alais": "c"}}), (*DEFAULT, "accelerators", GPU, "alais"), "alias"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "near"), UNKNOWN_KEYS)
def test_an_unknown_key_is_found_with_the_keys_that_could_stand_there(
    change: Change, where: tuple[str | int, ...], near: str
) -> None:
    (finding,) = found(change)
    assert finding.where == where
    assert finding.message == f'unknown key "{where[-1]}"; did you mean {near}?'
    assert near in finding.allowed


def test_a_team_named_like_a_key_does_not_confuse_the_allowed_keys() -> None:
    files = documents()
    files["teams.yaml"]["teams"]["channel"] = {"channel": "C0X", "members": [], "leeds": []}
    result = read_policy(files, "v1")
    assert isinstance(result, tuple)
    assert "leads" in result[0].allowed


WRONG_VALUES = [
    (team(channel="#nlp"), '"#nlp" is no Slack channel id'),
    (cluster(queues={"nlp": {"write": "git"}}), '"git" is not allowed here'),
    (cluster(queues={"nlp": {"write": "proposed"}}), 'did you mean propose?'),
    (cluster(queues={"Nlp Queue": {}}), "is no name that Kubernetes allows"),
    (team(members=7), '"7" is not a list'),
    (team(members=["@anna"]), '"@anna" is no Slack user id'),
    (team(members=["U0NLP", "U0NLP"]), '"U0NLP" is there twice'),
    (team(members=["U0NLP\n"]), "is no Slack user id"),
    (team(queues=["Nlp Queue"]), '"Nlp Queue" is no name that Kubernetes allows'),
    (team(timezone="Europe/Zuerich"), '"Europe/Zuerich" is no time zone; did you mean Europe/Zurich?'),
    (team(timezone="../../etc/passwd"), "is no time zone"),
    (team(timezone=""), '"" is no time zone'),
    (team(sees="some"), '"some" is neither all, own nor a list of teams'),
    (team("vision", queues=["nlp"]), "is team nlp's already"),
    (approvals(self_approval="yes"), '"yes" is not true or false'),
    (approvals(lapse_after=3), '"3" is not a duration'),
    (approvals(lapse_after="3 moons"), '"3 moons" is not a duration'),
    (approvals(lapse_after="1h1h"), '"1h1h" is not a duration'),
    (approvals(lapse_after="0d"), '"0d" is no time at all'),
    (approvals(lapse_after="9999w"), '"9999w" is longer than ten years'),
    (approvals(limits={"most_per_request": "16"}), '"16" is not a whole number'),
    (approvals(limits={"most_per_request": True}), '"true" is not a whole number'),
    (approvals(limits={"most_per_request": 0}), "greater than or equal to 1"),
    (approvals(kinds=["grant"]), '"grant" is not allowed here'),
    (approvals(kinds=[]), "at least one is needed"),
    (approvals(rules={}), "a mapping is not a list"),
    (rule(0, then={}), "needs exactly one of approve, deny and steps"),
    (rule(0, then={"approve": "auto", "deny": "no"}), "needs exactly one of approve, deny and steps"),
    (rule(0, then={"approve": "always"}), '"always" is not allowed here'),
    (rule(0, then={"steps": []}), "at least one is needed"),
    (rule(0, then={"steps": [{"who": "everybody"}]}), '"everybody" is nobody'),
    (rule(0, then={"steps": [{"who": "group "}]}), '"group " is nobody'),
    (rule(0, then={"steps": [{"who": "team-leads", "count": 0}]}), "greater than or equal to 1"),
    (rule(0, **{"if": {"amount": {}}}), "needs more_than, at_most or both"),
    (rule(0, **{"if": {"amount": {"more_than": 4, "at_most": 4}}}), "nothing is between them"),
    (rule(0, **{"if": {"amount": 4}}), '"4" is not a mapping'),
    (rule(0, **{"if": {"kind": "grant"}}), '"grant" is not allowed here'),
    (rule(0, **{"if": {"hours": {"after": "8", "until": "18:00"}}}), '"8" is no time of day'),
    (rule(0, **{"if": {"hours": {"after": "08:00", "until": "24:00"}}}), '"24:00" is no time of day'),
    (rule(0, **{"if": {"hours": {"after": "08:00", "until": "08:00"}}}), "are the same time"),
    (rule(1, name="small-and-short"), 'there is a rule "small-and-short" already'),
    (rule(0, **{"if": {}}), 'rule "big" is never reached: "small-and-short" before it matches everything'),
    (cluster(accelerators={}), "at least one is needed"),
    (approvals(rules=[]), "at least one is needed"),
    (cluster(lenders={"nlp": {"consent": "maybe"}}), '"maybe" is not allowed here'),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG_VALUES)
def test_a_wrong_value_is_found_in_words(change: Change, words: str) -> None:
    assert words in "\n".join(one.message for one in found(change))


@pytest.mark.parametrize("key", ["channel", "members"])
def test_a_missing_key_is_found_where_it_belongs(key: str) -> None:
    (finding,) = found(lambda files: files["teams.yaml"]["teams"]["nlp"].pop(key))
    assert (finding.where, finding.message) == (("teams", "nlp"), f'"{key}" is missing')


def test_everything_wrong_is_found_at_once_over_all_files() -> None:
    findings = found(
        team(chanel="x"),
        team("vision", timezone="Mars"),
        approvals(lapse_after=3),
        cluster(accelerator={}),
        alerts(mentoin=[]),
    )
    assert {one.file for one in findings} == set(FILES)
    assert len(findings) == 5


def test_what_alerts_may_not_say_is_found_with_what_they_may() -> None:
    (key,) = found(alerts(mentoin=["never"]))
    assert "did you mean mention?" in key.message
    assert "preemptor" in key.allowed
    (word,) = found(alerts(mention=["preemptd"]))
    assert "preempted" in word.allowed
    (name,) = found(alerts(routes=[{"teams": ["visoin"], "to": "C0NLP"}]))
    assert (name.file, name.where) == ("alerts.yaml", ("routes", 0, "teams", 0))
    assert "did you mean vision" in name.message


def test_each_queue_that_two_teams_have_is_found_once() -> None:
    eu = {"clusters": {name: {"accelerators": {GPU: UNIT}} for name in ("default", "eu-1")}}
    twice = team("vision", queues=["nlp", "robotics", "vision"])
    findings = found(twice, lambda files: files["clusters.yaml"].update(eu))
    assert [one.message for one in findings] == [
        'queue "nlp" is team nlp\'s already; a queue belongs to one team',
        'queue "robotics" is team vision\'s already; a queue belongs to one team',
    ]


def test_a_document_that_is_no_mapping_is_found() -> None:
    wrong: Any
    for wrong in (None, [], "teams", 7):
        result = read_policy({**documents(), "teams.yaml": wrong}, "v1")
        assert isinstance(result, tuple)
        assert "is not a mapping (key: value)" in result[0].message


def test_one_name_stands_for_a_list_of_one() -> None:
    files = documents()
    files["teams.yaml"]["teams"]["nlp"]["queues"] = "nlp"
    files["approvals.yaml"]["rules"][0]["if"] = {"team": "nlp", "kind": "borrow", "flavor": "a100"}
    read = policy(files)
    conditions = read.approvals.rules[0].when
    assert (read.queues_of("nlp", "default"), conditions.team, conditions.kind) == (("nlp",), ("nlp",), ("borrow",))


def test_queues_may_differ_between_clusters() -> None:
    files = documents()
    files["clusters.yaml"]["clusters"]["eu-1"] = {"accelerators": {GPU: {"one": "GPU", "many": "GPUs"}}}
    files["teams.yaml"]["teams"]["nlp"]["queues"] = {"default": ["nlp"], "eu-1": ["text", "text-batch"]}
    read = policy(files)
    assert read.queues_of("nlp", "eu-1") == ("text", "text-batch")
    assert (read.team_of("eu-1", "text"), read.team_of("default", "text"), read.team_of("eu-1", "vision")) == (
        "nlp",
        None,
        "vision",
    )


def test_the_defaults_are_the_careful_ones() -> None:
    read = policy()
    assert read.approvals.self_approval is False
    assert read.approvals.limits.reason_required is True
    assert read.approvals.lapse_after == timedelta(days=3)
    assert not read.approvals.allows(LoanKind.EXTRA)
    assert read.cluster("default") is not None
    assert not read.clusters.clusters["default"].lends_freely("nlp")


@pytest.mark.case("QUO-15")
@pytest.mark.parametrize(
    ("word", "resource"),
    [
        ("gpu", GPU),
        ("GPU", GPU),
        ("nvidia.com/gpu", GPU),
        ("mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("NVIDIA.com/MIG-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("a100", None),
        ("", None),
    ],
)
def test_quo_15_a_resource_is_found_by_its_name_its_alias_or_its_last_part(word: str, resource: str | None) -> None:
    assert policy().clusters.clusters["default"].resource_named(word) == resource


@pytest.mark.parametrize(
    ("resource", "amount", "word"),
    [(GPU, 1, "GPU"), (GPU, 8, "GPUs"), ("nvidia.com/mig-1g.5gb", 7, "slices"), ("amd.com/gpu", 2, "amd.com/gpu")],
)
def test_units_come_from_configuration_only(resource: str, amount: int, word: str) -> None:
    assert policy().clusters.clusters["default"].unit(resource, amount) == word


def test_a_grace_is_for_rules_that_evict() -> None:
    files = documents()
    files["approvals.yaml"]["rules"][0]["grace"] = "2h"
    found = read_policy(files, "v1")
    assert isinstance(found, tuple)
    assert [str(one.message) for one in found] == ["grace is for at_end: evict; work that runs on needs none"]
    files["approvals.yaml"]["rules"][0]["at_end"] = "evict"
    read = read_policy(files, "v1")
    assert isinstance(read, Policy)
    assert [one.grace_at_end for one in read.approvals.rules] == [timedelta(hours=2), None, None]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.text(max_size=8) | st.sampled_from(["nlp", "U0NLP", "3d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(FILES), st.data())
def test_no_document_makes_it_crash(name: str, data: st.DataObject) -> None:
    """Anything in the place of anything gives a policy or findings, each with words."""
    files = documents()
    target: Any = files[name]
    while isinstance(target, dict) and target and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(target)))
        if not isinstance(target[key], dict):
            break
        target = target[key]
    if target:
        target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JSON)
    result = read_policy(files, "v1")
    assert isinstance(result, Policy) or all(one.message and one.file in FILES for one in result)


BOTH = {"namespaces": ["train"], "resource_quota": {"namespace": "train", "name": "gpu"}}


def test_a_resource_quota_goes_with_one_team() -> None:
    (one,) = found(team("nlp", **BOTH), team("vision", **BOTH))
    assert one.where == ("teams", "vision", "resource_quota")
    assert "is team nlp's already; a ResourceQuota goes with one team" in one.message


@pytest.mark.parametrize(
    ("quota", "words"),
    [
        ({"namespace": "train"}, '"name" is missing'),
        ({"namespace": "train", "name": "gpu", "resource": GPU}, "resource"),
        ({"namespace": "train", "name": "GPU"}, "GPU"),
        ("train/gpu", "train/gpu"),
    ],
    ids=["no name", "another key", "no name of Kubernetes", "text"],
)
def test_a_resource_quota_has_a_namespace_and_a_name(quota: Any, words: str) -> None:
    (one, *_) = found(team(namespaces=["train"], resource_quota=quota))
    assert words in one.message


def test_a_team_without_queues_asks_for_its_resource_quota() -> None:
    files = documents()
    files["teams.yaml"]["teams"]["nlp"] |= BOTH
    files["teams.yaml"]["teams"]["vision"] |= {"namespaces": ["v"], "resource_quota": {"namespace": "v", "name": "q"}}
    del files["teams.yaml"]["teams"]["vision"]["queues"]
    del files["clusters.yaml"]["clusters"]["default"]["lenders"]
    made = policy(files)
    assert (made.queues_of("nlp", "default"), made.queues_of("vision", "default")) == (("nlp",), ("v/q",))
    assert made.resource_quota_beside("default", "nlp") == "train/gpu"
    assert made.resource_quota_beside("default", "v/q") is None, "nothing stands beside it"
    assert made.team_of("default", "v/q") == "vision"
