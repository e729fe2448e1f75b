"""Every change of a queue that is refused, by whom and in which words, and what a patch does that changes nothing.

What a new queue must not be is in test_refusals; the bot's own patch in test_patches.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.api import APPLY, JSON, JSON_PATCH, MERGE_PATCH, Obj
from tests.cluster.site import GPU, Site

AT = "spec.resourceGroups[0].flavors[0].resources[0]"
QUOTA = "/spec/resourceGroups/0/flavors/0/resources/0"
Write = tuple[str, Any, str, dict[str, str]]
"""Method, body, content type, query."""


def _one_flavor(site: Site) -> Obj:
    flavor = {"name": site.flavor(), "resources": [{"name": GPU, "nominalQuota": "9"}]}
    return site.named("clusterqueues", site.name("q"), {"spec": {"resourceGroups": [{"flavors": [flavor]}]}})


def _whole_list(site: Site, live: Obj) -> Obj:
    (group,) = live["spec"]["resourceGroups"]
    changed = {"name": GPU, "nominalQuota": "9"}
    groups = [{**group, "flavors": [{"name": site.flavor(), "resources": [changed]}]}]
    return site.named("clusterqueues", live["metadata"]["name"], {"spec": {"resourceGroups": groups}})


UPDATES: dict[str, tuple[Callable[[Site, Obj], Write], int, str]] = {
    "a failed test, value": (
        lambda _site, _live: _patch({"op": "test", "path": f"{QUOTA}/nominalQuota", "value": "999"}),
        422,
        "the server rejected our request due to an error in our request",
    ),
    "a failed test, string against number": (
        lambda _site, _live: _patch({"op": "test", "path": f"{QUOTA}/nominalQuota", "value": 8}),
        422,
        "the server rejected our request due to an error in our request",
    ),
    "a failed test, resourceVersion": (
        lambda _site, _live: _patch({"op": "test", "path": "/metadata/resourceVersion", "value": "1"}),
        422,
        "the server rejected our request due to an error in our request",
    ),
    "a path that is not there": (
        lambda _site, _live: _patch({"op": "replace", "path": "/spec/resourceGroups/0/flavors/7/name", "value": "x"}),
        422,
        "the server rejected our request due to an error in our request",
    ),
    "no quota at all": (
        lambda _site, _live: _patch({"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": None}),
        422,
        "Required value",
    ),
    "nominal below lendingLimit": (
        lambda _site, _live: _patch({"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": "3"}),
        403,
        f'{AT}.lendingLimit: Invalid value: "4": must be less than or equal to the nominalQuota',
    ),
    "a negative limit": (
        lambda _site, _live: _patch({"op": "replace", "path": f"{QUOTA}/borrowingLimit", "value": "-1"}),
        403,
        f'{AT}.borrowingLimit: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "an operation that there is not": (
        lambda _site, _live: _patch({"op": "set", "path": f"{QUOTA}/nominalQuota", "value": "9"}),
        422,
        "the server rejected our request due to an error in our request",
    ),
    "a negative number": (
        lambda _site, _live: _patch({"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": "-1"}),
        403,
        f'{AT}.nominalQuota: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "R6 what is no quantity": (
        lambda _site, _live: _patch({"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": "8 GPUs"}),
        422,
        f'{AT}.nominalQuota: Invalid value: "8 GPUs": {AT}.nominalQuota in body should match ',
    ),
    "a JSON Patch that is sent as a merge patch": (
        lambda _site, _live: ("PATCH", [{"op": "remove", "path": f"{QUOTA}/lendingLimit"}], MERGE_PATCH, {}),
        400,
        "cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    "a stop policy that there is not": (
        lambda _site, _live: ("PATCH", {"spec": {"stopPolicy": "Pause"}}, MERGE_PATCH, {}),
        422,
        "spec.stopPolicy",
    ),
    "leaving the cohort with a lendingLimit set": (
        lambda site, _live: (
            "PATCH",
            [
                {"op": "remove", "path": f"{QUOTA}/borrowingLimit"},
                {"op": "remove", "path": f"/spec/{site.cohort_field}"},
            ],
            JSON_PATCH,
            {},
        ),
        403,
        f'{AT}.lendingLimit: Invalid value: "4": must be nil when cohort is empty',
    ),
    "leaving the cohort with limits set": (
        lambda site, _live: ("PATCH", {"spec": {site.cohort_field: None}}, MERGE_PATCH, {}),
        422,
        "borrowingLimit must be nil when cohort is empty",
    ),
    "a merge patch with part of the list": (
        lambda site, _live: ("PATCH", {"spec": _one_flavor(site)["spec"]}, MERGE_PATCH, {}),
        422,
        "spec.resourceGroups[0].coveredResources: Required value",
    ),
    "a merge patch with a stale resourceVersion": (
        lambda _site, _live: ("PATCH", {"metadata": {"resourceVersion": "1"}, "spec": {}}, MERGE_PATCH, {}),
        409,
        "the object has been modified",
    ),
    "a PUT with a stale resourceVersion": (
        lambda _site, live: (
            "PUT",
            {**live, "metadata": {**live["metadata"], "resourceVersion": "1"}},
            JSON,
            {},
        ),
        409,
        "the object has been modified",
    ),
    "a strategic merge patch": (
        lambda _site, _live: ("PATCH", {"spec": {}}, "application/strategic-merge-patch+json", {}),
        415,
        "the body of the request was in an unknown format",
    ),
    "server-side apply of one flavor": (
        lambda site, _live: ("PATCH", _one_flavor(site), APPLY, {"fieldManager": "other"}),
        409,
        ".spec.resourceGroups",
    ),
    "server-side apply of one flavor, by force": (
        lambda site, _live: ("PATCH", _one_flavor(site), APPLY, {"fieldManager": "other", "force": "true"}),
        422,
        "coveredResources",
    ),
    "server-side apply of the whole list": (
        lambda site, live: ("PATCH", _whole_list(site, live), APPLY, {"fieldManager": "other"}),
        409,
        ".spec.resourceGroups",
    ),
    "server-side apply by nobody": (
        lambda site, live: ("PATCH", _whole_list(site, live), APPLY, {}),
        422,
        "fieldManager: Required value",
    ),
    "an unknown field, strictly": (
        lambda _site, _live: ("PATCH", {"spec": {"foo": 1}}, MERGE_PATCH, {"fieldValidation": "Strict"}),
        422,
        'unknown field "spec.foo"',
    ),
}


def _patch(*operations: Obj) -> Write:
    return "PATCH", list(operations), JSON_PATCH, {}


@pytest.mark.parametrize("case", UPDATES)
def test_a_change_is_refused(site: Site, case: str) -> None:
    """And nothing is changed."""
    write, status, words = UPDATES[case]
    queue = site.queue("q", "8", borrowingLimit="2", lendingLimit="4")
    before = site.get_queue(queue)
    method, body, content_type, query = write(site, before)
    reply = site.api.request(method, f"{site.kueue}/clusterqueues/{queue}", body, content_type, query)
    assert (reply.status, words in reply.message) == (status, True), str(reply)
    assert site.get_queue(queue)["spec"] == before["spec"]


def test_a_queue_that_is_not_there(site: Site) -> None:
    reply = site.api.request("PATCH", f"{site.kueue}/clusterqueues/{site.name('none')}", [], JSON_PATCH)
    assert (reply.status, "not found" in reply.message) == (404, True)


def test_a_watch_from_too_long_ago_is_told_so(site: Site) -> None:
    """Status 200, and one event with the error."""
    site.queue("any", "8")
    (event,) = site.api.watch(f"{site.kueue}/clusterqueues", "1")
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_a_patch_that_changes_nothing_makes_no_version(site: Site) -> None:
    queue = site.queue("same", "8")
    before = site.get_queue(queue)["metadata"]["resourceVersion"]
    site.edit(queue, "nominalQuota", "8")
    assert site.get_queue(queue)["metadata"]["resourceVersion"] == before


def test_a_dry_run_meets_the_same_rules_and_stores_nothing(site: Site) -> None:
    queue = site.queue("dry", "8", lendingLimit="4")
    path = f"{site.kueue}/clusterqueues/{queue}"
    answers = []
    for value in ("20", "3"):
        body = [{"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": value}]
        answers.append(site.api.request("PATCH", path, body, JSON_PATCH, {"dryRun": "All"}).status)
    assert answers == [200, 403]
    assert site.quota(queue)["nominalQuota"] == "8"
