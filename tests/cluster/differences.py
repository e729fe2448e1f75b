"""Where an older Kueue has another rule or other words than the newest, with what it was seen to answer.

tests/cluster/conftest expects these tests to fail on these lines, strictly: one that begins to pass is a failure too,
so no row outlives its cause. tests/cluster/lines_summary prints them.
"""

from dataclasses import dataclass

OLD = ("kueue-0.8", "kueue-0.14")
OLDEST = ("kueue-0.8",)


@dataclass(frozen=True, slots=True)
class Difference:
    """`case` is the parameter of the test, empty if it has none. `seen`: what these lines do instead."""

    lines: tuple[str, ...]
    test: str
    case: str
    seen: str


DIFFERENCES = (
    Difference(
        OLD,
        "test_reclaim_evicts_what_was_borrowed_and_names_both_sides",
        "",
        "the message of Preempted ends after the reason: the paths of preemptor and preemptee are not in it",
    ),
    Difference(
        OLD,
        "test_the_schema_refuses",
        "R4 preference with the default fungibility",
        "201: flavorFungibility has no preference, the field is dropped",
    ),
    Difference(
        OLD,
        "test_kueues_webhook_refuses",
        "R14 an admission check on a flavor that is not listed",
        "201: there is no such rule",
    ),
    Difference(
        OLDEST,
        "test_kueues_webhook_refuses",
        "R10 resources in another order",
        "403 without quotes: [...].name: Invalid value: nvidia.com/gpu: must match the name in coveredResources",
    ),
    Difference(
        OLDEST,
        "test_kueues_webhook_refuses",
        "R11 a resource in two groups",
        "403 without quotes: spec.resourceGroups[1].coveredResources[0]: Duplicate value: nvidia.com/gpu",
    ),
    Difference(
        OLDEST,
        "test_what_can_never_fit_is_said_with_the_most_that_can",
        "",
        "insufficient unused quota in cohort for nvidia.com/gpu in flavor h100, 92 more needed: what is missing only",
    ),
    Difference(
        OLDEST,
        "test_a_workload_that_is_deactivated_is_evicted",
        "",
        "Evicted for InactiveWorkload, which later lines call Deactivated",
    ),
    Difference(OLDEST, "test_a_cohort_with_quota_of_its_own_is_read", "", "404: there are no Cohort objects yet"),
    Difference(OLDEST, "test_a_cohort_without_parent_has_no_limits", "", "404: there are no Cohort objects yet"),
)


def difference(line: str, test: str, case: str) -> Difference | None:
    """The one that a line has in a test."""
    rows = (row for row in DIFFERENCES if line in row.lines and row.test == test)
    return next((row for row in rows if row.case in {"", case}), None)
