"""Where an older Kueue has another rule or other words than the newest, with what it answered.

tests/cluster/conftest lets these tests fail on these lines, each with the captured answer and with no other; one that
passes is a failure too, so no row outlives its cause. tests/cluster/lines_summary prints them.
"""

from dataclasses import dataclass

from tests.cluster.programs import NotBuilt, programs

OLD = ("kueue-0.8", "kueue-0.14")
OLDEST = ("kueue-0.8",)


@dataclass(frozen=True, slots=True)
class Difference:
    """`case` is the parameter of the test, empty if it has none. `means`: in words. `captured`: what these lines
    answered, which the failed assertion has to show; the names in it are without the mark that makes them unique.
    `kubernetes`: the version that answers so, where it is not Kueue that does.
    """

    lines: tuple[str, ...]
    test: str
    case: str
    means: str
    captured: str
    kubernetes: str = ""


_SCHEMA, _WEBHOOK = "test_the_schema_refuses", "test_kueues_webhook_refuses"
_OTHER = "test_a_pod_of_higher_priority_takes_the_place_of_a_lower_one"
_NAMED = "test_an_eviction_names_the_other_job_and_both_sides_by_their_path"
_DENIED = '403 admission webhook "vclusterqueue.kb.io" denied the request: '
_INVALID = '422 ClusterQueue.kueue.x-k8s.io "new" is invalid: [spec.resourceGroups[0].'
_FUNGIBILITY = '"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"TryNextFlavor"},'
_FEWER = "the lists are shorter: at most 16"
_UNQUOTED = "the value is not in quotes"
_NO_COHORTS = "there are no Cohort objects yet"

DIFFERENCES = (
    Difference(
        ("kueue-0.14",),
        _NAMED,
        "",
        "there are no paths yet",
        "Preempted to accommodate a workload (UID: ..., JobUID: ...) due to reclamation within the cohort\n",
    ),
    Difference(
        OLDEST,
        _NAMED,
        "",
        "there are no paths and no JobUID yet",
        "Preempted to accommodate a workload (UID: ...) due to reclamation within the cohort\n",
    ),
    Difference(
        OLD,
        _SCHEMA,
        "R4 preference with the default fungibility",
        "flavorFungibility has no preference yet: the field is dropped",
        f'201 {{"cohort":"pool",{_FUNGIBILITY}"namespaceSelector":{{}},',
    ),
    Difference(
        OLDEST,
        _SCHEMA,
        "R5 too many flavors in a group",
        _FEWER,
        f"{_INVALID}flavors: Too many: 65: must have at most 16 items, ",
    ),
    Difference(
        OLDEST,
        _SCHEMA,
        "R5 too many resources in a group",
        _FEWER,
        "spec.resourceGroups[0].coveredResources: Too many: 65: must have at most 16 items, ",
    ),
    Difference(
        OLDEST,
        _SCHEMA,
        "R5 a flavor's name that is too long",
        "Kubernetes 1.29 has other words",
        f"{_INVALID}flavors[0].name: Too long: may not be longer than 253, ",
        "v1.29",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R10 resources in another order",
        _UNQUOTED,
        f"{_DENIED}[spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: nvidia.com/gpu: must match the "
        "name in coveredResources, spec.resourceGroups[0].flavors[0].resources[1].name: Invalid value: cpu: must match "
        "the name in coveredResources]",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R11 a resource in two groups",
        _UNQUOTED,
        f"{_DENIED}spec.resourceGroups[1].coveredResources[0]: Duplicate value: nvidia.com/gpu",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R12 too many flavors in all",
        _FEWER,
        f"{_INVALID}flavors: Too many: 52: must have at most 16 items, ",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R12 too many resources in all",
        _FEWER,
        "spec.resourceGroups[0].coveredResources: Too many: 52: must have at most 16 items, ",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R12 too many quotas in a group",
        _FEWER,
        "spec.resourceGroups[0].flavors[0].resources: Too many: 19: must have at most 16 items, ",
    ),
    Difference(
        OLDEST,
        _WEBHOOK,
        "R13 a weight next to nothing",
        "there is no such rule yet",
        f'201 {{"cohort":"pool","fairSharing":{{"weight":"1n"}},{_FUNGIBILITY}',
    ),
    Difference(
        OLD,
        _WEBHOOK,
        "R14 an admission check on a flavor that is not listed",
        "there is no such rule yet",
        '201 {"admissionChecksStrategy":{"admissionChecks":[{"name":"check","onFlavors":["elsewhere"]}]},',
    ),
    Difference(
        OLDEST,
        "test_what_can_never_fit_is_said_with_the_most_that_can",
        "",
        "only what is missing is said",
        "couldn't assign flavors to pod set main: insufficient unused quota in cohort for nvidia.com/gpu in flavor "
        "h100, 92 more needed",
    ),
    Difference(
        OLDEST,
        "test_a_workload_that_is_deactivated_is_evicted",
        "",
        "the reason has another name",
        "InactiveWorkload: The workload is deactivated",
    ),
    Difference(
        OLDEST,
        "test_a_cohort_with_quota_of_its_own_is_read",
        "",
        _NO_COHORTS,
        "POST /apis/kueue.x-k8s.io/v1beta1/cohorts: 404 ",
    ),
    Difference(
        OLDEST,
        _OTHER,
        "",
        "Kubernetes 1.29 names the other pod in the event",
        "who took its place is told by uid only, and not by name: urgent",
        "v1.29",
    ),
    Difference(OLDEST, "test_a_cohort_may_lend_more_than_its_own", "", _NO_COHORTS, "404 null"),
    Difference(OLDEST, "test_a_cohort_without_parent_has_no_limits", "", _NO_COHORTS, "404 null"),
    Difference(
        OLDEST,
        "test_a_job_that_does_not_say_how_often_it_saves_is_warned_about_first_and_refused_later",
        "",
        "Kubernetes 1.29 has admission policies in beta, and off",
        "admissionregistration.k8s.io/v1 has no ValidatingAdmissionPolicy",
        "v1.29",
    ),
)


def difference(line: str, test: str, case: str) -> Difference | None:
    """The one that a line has in a test."""
    rows = (row for row in differences(line) if row.test == test)
    return next((row for row in rows if row.case in {"", case}), None)


def differences(line: str) -> list[Difference]:
    """All that it has, on the Kubernetes that it runs on here."""
    rows = [row for row in DIFFERENCES if line in row.lines]
    try:
        kubernetes = programs(line).kubernetes if rows else ""
    except NotBuilt:
        return []
    return [row for row in rows if kubernetes.startswith(row.kubernetes)]
