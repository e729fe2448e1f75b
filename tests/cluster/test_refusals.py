"""Everything that refuses a new queue or cohort: by whom, with which status, naming which field.

A 422 names its causes, and comes from the schema; a 403 that begins with "admission webhook" comes from Kueue; a right
that is missing is a 403 too, and has other words (test_rights).
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.api import MERGE_PATCH, Obj, Reply
from tests.cluster.places import GROUP
from tests.cluster.site import GPU, Site

AT = "spec.resourceGroups[0].flavors[0].resources[0]"
WEBHOOK = 'admission webhook "vclusterqueue.kb.io" denied the request: '


def _group(flavor: str, *resources: str, covered: tuple[str, ...] = ()) -> Obj:
    entries = [{"name": name, "nominalQuota": "1"} for name in resources]
    return {"coveredResources": list(covered or resources), "flavors": [{"name": flavor, "resources": entries}]}


def _groups(many: int, flavors: int = 1, resources: int = 1) -> Obj:
    """So many resource groups with so many flavors and resources each, no name twice."""
    return {
        "resourceGroups": [
            {
                "coveredResources": (names := [f"example.com/r{g}-{r}" for r in range(resources)]),
                "flavors": [_group(f"f{g}-{f}", *names)["flavors"][0] for f in range(flavors)],
            }
            for g in range(many)
        ]
    }


def _created(site: Site, spec: Obj, **query: str) -> Reply:
    body = site.named("clusterqueues", site.name("new"), spec)
    reply = site.api.request("POST", f"{site.kueue}/clusterqueues", body, query=query)
    if reply.status == 201:
        site.api.must("DELETE", f"{site.kueue}/clusterqueues/{site.name('new')}")
    return reply


SCHEMA: dict[str, tuple[Callable[[Site], Obj], str, str]] = {
    "R1 borrowingLimit without cohort": (
        lambda site: site.queue_spec("8", cohort=False, borrowingLimit="4"),
        "spec",
        "borrowingLimit must be nil when cohort is empty",
    ),
    "R2 a covered resource is missing": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), GPU, covered=("cpu", GPU))]),
        "spec.resourceGroups[0]",
        "flavors must have the same number of resources as the coveredResources",
    ),
    "R3 borrowWithinCohort without reclaim": (
        lambda site: site.queue_spec(
            "8", preemption={"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}
        ),
        "spec.preemption",
        "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
    ),
    "R4 preference with the default fungibility": (
        lambda site: site.queue_spec("8", flavorFungibility={"preference": "BorrowingOverPreemption"}),
        "spec.flavorFungibility",
        "preference",
    ),
    "R5 a flavor twice in one group": (
        lambda site: site.queue_spec(
            "8",
            resourceGroups=[
                {"coveredResources": [GPU], "flavors": [_group(site.flavor(), GPU)["flavors"][0] for _ in "12"]}
            ],
        ),
        "spec.resourceGroups[0].flavors[1]",
        "Duplicate value",
    ),
    "R5 a resource twice in one flavor": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), GPU, GPU, covered=("cpu", GPU))]),
        "spec.resourceGroups[0].flavors[0].resources[1]",
        "Duplicate value",
    ),
    "R5 a group without flavors": (
        lambda site: site.queue_spec("8", resourceGroups=[{"coveredResources": [GPU], "flavors": []}]),
        "spec.resourceGroups[0].flavors",
        "spec.resourceGroups[0].flavors in body should have at least 1 items",
    ),
    "R5 a flavor without resources": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), covered=(GPU,))]),
        "spec.resourceGroups[0].flavors[0].resources",
        "spec.resourceGroups[0].flavors[0].resources in body should have at least 1 items",
    ),
    "R5 a flavor's name that is too long": (
        lambda site: site.queue_spec("8", resourceGroups=[_group("f" * 254, GPU)]),
        "spec.resourceGroups[0].flavors[0].name",
        "Too long: may not be more than 253 bytes",
    ),
    "R5 a flavor's name that is none": (
        lambda site: site.queue_spec("8", resourceGroups=[_group("Not A Name", GPU)]),
        "spec.resourceGroups[0].flavors[0].name",
        "should match",
    ),
    "R5 too many groups": (
        lambda site: site.queue_spec("8", **_groups(17)),
        "spec.resourceGroups",
        "Too many: 17: must have at most 16 items",
    ),
    "R5 too many flavors in a group": (
        lambda site: site.queue_spec("8", **_groups(1, flavors=65)),
        "spec.resourceGroups[0].flavors",
        "Too many: 65: must have at most 64 items",
    ),
    "R5 too many resources in a group": (
        lambda site: site.queue_spec("8", **_groups(1, resources=65)),
        "spec.resourceGroups[0].coveredResources",
        "Too many: 65: must have at most 64 items",
    ),
    "an unknown policy": (
        lambda site: site.queue_spec("8", preemption={"reclaimWithinCohort": "Sometimes"}),
        "spec.preemption.reclaimWithinCohort",
        "Unsupported value",
    ),
    "an unknown stop policy": (
        lambda site: site.queue_spec("8", stopPolicy="Pause"),
        "spec.stopPolicy",
        "Unsupported value",
    ),
}


@pytest.mark.parametrize("case", SCHEMA)
def test_the_schema_refuses(site: Site, case: str) -> None:
    """422 with a cause that names the field."""
    spec, field, words = SCHEMA[case]
    reply = _created(site, spec(site))
    assert (reply.status, words in reply.message, field in reply.fields) == (422, True, True), str(reply)


KUEUES: dict[str, tuple[Callable[[Site], Obj], str]] = {
    "R7 a negative quota": (
        lambda site: site.queue_spec("-1"),
        f'{AT}.nominalQuota: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "R7 a negative borrowingLimit": (
        lambda site: site.queue_spec("8", borrowingLimit="-2"),
        f'{AT}.borrowingLimit: Invalid value: "-2": must be greater than or equal to 0',
    ),
    "R7 a negative lendingLimit": (
        lambda site: site.queue_spec("8", lendingLimit="-2"),
        f'{AT}.lendingLimit: Invalid value: "-2": must be greater than or equal to 0',
    ),
    "R8 lendingLimit without cohort": (
        lambda site: site.queue_spec("8", cohort=False, lendingLimit="4"),
        f'{AT}.lendingLimit: Invalid value: "4": must be nil when cohort is empty',
    ),
    "R9 lendingLimit above nominal": (
        lambda site: site.queue_spec("8", lendingLimit="9"),
        f'{AT}.lendingLimit: Invalid value: "9": must be less than or equal to the nominalQuota',
    ),
    "R10 resources in another order": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), GPU, "cpu", covered=("cpu", GPU))]),
        f'{AT}.name: Invalid value: "{GPU}": must match the name in coveredResources',
    ),
    "R11 a resource in two groups": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), GPU), _group(site.name("a100"), GPU)]),
        f'spec.resourceGroups[1].coveredResources[0]: Duplicate value: "{GPU}"',
    ),
    "R11 a flavor in two groups": (
        lambda site: site.queue_spec("8", resourceGroups=[_group(site.flavor(), GPU), _group(site.flavor(), "cpu")]),
        "spec.resourceGroups[1].flavors[0].name: Duplicate value",
    ),
    "R12 too many flavors in all": (
        lambda site: site.queue_spec("8", **_groups(5, flavors=52)),
        "spec.resourceGroups: Invalid value: 260: total number of flavors across all resourceGroups must be "
        "\u2264 256, got 260",
    ),
    "R12 too many resources in all": (
        lambda site: site.queue_spec("8", **_groups(5, resources=52)),
        "spec.resourceGroups: Invalid value: 260: total number of covered resources across all resourceGroups must be "
        "\u2264 256, got 260",
    ),
    "R12 too many quotas in a group": (
        lambda site: site.queue_spec("8", **_groups(1, flavors=27, resources=19)),
        "spec.resourceGroups[0]: Invalid value: 513: number of flavor-resource combinations in a resourceGroup must be "
        "\u2264 512, got 513",
    ),
    "R13 a weight next to nothing": (
        lambda site: site.queue_spec("8", fairSharing={"weight": "1n"}),
        "spec.fairSharing",
    ),
    "R13 a negative weight": (
        lambda site: site.queue_spec("8", fairSharing={"weight": "-1"}),
        "must be greater than or equal to 0",
    ),
    "R14 an admission check on a flavor that is not listed": (
        lambda site: site.queue_spec(
            "8", admissionChecksStrategy={"admissionChecks": [{"name": "check", "onFlavors": ["elsewhere"]}]}
        ),
        "spec.admissionChecksStrategy.admissionChecks",
    ),
}


@pytest.mark.parametrize("case", KUEUES)
def test_kueues_webhook_refuses(site: Site, case: str) -> None:
    """403, in the webhook's name, without causes."""
    spec, words = KUEUES[case]
    reply = _created(site, spec(site))
    assert (reply.status, reply.fields) == (403, set()), str(reply)
    assert reply.message.startswith(WEBHOOK)
    assert words in reply.message, str(reply)


@pytest.mark.parametrize("quantity", ["8 GPUs", "eight", ""])
def test_what_is_no_quantity_is_a_bad_request_of_the_mutating_webhook(site: Site, quantity: str) -> None:
    reply = _created(site, site.queue_spec(quantity))
    assert (reply.status, "quantities must match the regular expression" in reply.message) == (400, True), str(reply)


@pytest.mark.parametrize(("nominal", "stored"), [("500m", "500m"), ("0.5", "500m"), (8, "8"), ("8000m", "8")])
def test_what_is_accepted_is_written_back_canonically_on_create(site: Site, nominal: Any, stored: str) -> None:
    """Fractions too: that GPUs are whole is for the bot to hold."""
    assert site.quota(site.queue("odd", nominal))["nominalQuota"] == stored


@pytest.mark.parametrize("value", ["12", 12, "12000m"])
def test_a_patched_quantity_stays_as_it_was_written(site: Site, value: Any) -> None:
    """So a quantity is never tested by value."""
    queue = site.queue("typed", 8)
    site.edit(queue, "nominalQuota", value)
    assert site.quota(queue)["nominalQuota"] == value


def test_an_unknown_field_is_dropped_unless_the_writer_asks_for_strictness(site: Site) -> None:
    """The cohort as the other version calls it: the queue would silently be in no cohort."""
    spec = site.queue_spec("8", cohort=False)
    spec["spec"][site.other_cohort_field] = site.cohort
    assert _created(site, spec).status == 201
    reply = _created(site, spec, fieldValidation="Strict")
    words = f'unknown field "spec.{site.other_cohort_field}"'
    assert (reply.status, words in reply.message) == (400, True), str(reply)


UNSAID = {
    "kind": "the object provided is unrecognized (must be of type ClusterQueue): Object 'Kind' is missing in ",
    "apiVersion": "the API version in the data () does not match the expected API version (kueue.x-k8s.io/{version})",
}


@pytest.mark.parametrize("missing", UNSAID)
def test_a_new_object_of_kueues_says_what_it_is(site: Site, missing: str) -> None:
    """Unlike one of a built-in kind, which is known by its path."""
    body = site.named("clusterqueues", site.name("new"), site.queue_spec("8"))
    del body[missing]
    reply = site.api.request("POST", f"{site.kueue}/clusterqueues", body)
    words = UNSAID[missing].format(version=site.version)
    assert (reply.status, words in reply.message) == (400, True), str(reply)


def test_an_object_of_another_version_is_not_taken(site: Site) -> None:
    other = f"{GROUP}/{site.other_version}"
    body = {**site.named("clusterqueues", site.name("new"), site.queue_spec("8")), "apiVersion": other}
    reply = site.api.request("POST", f"{site.kueue}/clusterqueues", body)
    words = f"the API version in the data ({other}) does not match the expected API version"
    assert (reply.status, words in reply.message) == (400, True), str(reply)


def _cohort(site: Site, name: str, parent: str = "", **limits: str) -> Reply:
    entry = {"name": GPU, "nominalQuota": "8", **limits}
    group = {"coveredResources": [GPU], "flavors": [{"name": site.flavor(), "resources": [entry]}]}
    spec = {"resourceGroups": [group], **({"parentName": parent} if parent else {})}
    reply = site.api.request("POST", f"{site.kueue}/cohorts", site.named("cohorts", name, {"spec": spec}))
    if reply.status == 201:
        site.api.must("DELETE", f"{site.kueue}/cohorts/{name}")
    return reply


def test_a_cohort_without_parent_has_no_limits(site: Site) -> None:
    """R8, in the cohort's words."""
    for limit in ("borrowingLimit", "lendingLimit"):
        reply = _cohort(site, site.cohort, **{limit: "2"})
        words = f'{AT}.{limit}: Invalid value: "2": must be nil when parent is empty'
        assert (reply.status, words in reply.message) == (403, True), str(reply)


def test_a_cohort_may_lend_more_than_its_own(site: Site) -> None:
    """R9 is about queues only."""
    reply = _cohort(site, site.cohort, site.name("parent"), lendingLimit="9")
    assert reply.status == 201, str(reply)


UNCHECKED: dict[str, Callable[[Site], Obj]] = {
    "more than any node has": lambda site: site.queue_spec("100000"),
    "a borrowingLimit above all there is to borrow": lambda site: site.queue_spec("8", borrowingLimit="100000"),
    "a flavor that does not exist": lambda site: site.queue_spec("8", resourceGroups=[_group(site.name("none"), GPU)]),
    "a resource that no node has": lambda site: site.queue_spec(
        "8", resourceGroups=[_group(site.flavor(), "example.com/none")]
    ),
}


@pytest.mark.parametrize("case", UNCHECKED)
def test_what_nobody_checks_is_taken(site: Site, case: str) -> None:
    """These are for the bot to hold."""
    reply = _created(site, UNCHECKED[case](site))
    assert reply.status == 201, str(reply)


def test_a_local_queue_stays_with_its_cluster_queue(site: Site) -> None:
    queue = site.queue("first", 8)
    path = f"{site.kueue}/namespaces/{site.namespace}/localqueues/{queue}"
    reply = site.api.request("PATCH", path, {"spec": {"clusterQueue": "other"}}, MERGE_PATCH)
    assert (reply.status, "field is immutable" in reply.message) == (422, True), str(reply)
