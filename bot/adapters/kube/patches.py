"""A QueueChange, of a ClusterQueue or a ResourceQuota, or a Workload's ActiveChange as JSON Patch operations. Called by
adapters/kube/cluster.

The tests at its head make the patch die if the object changed since it was read: uid, resourceVersion, and the names at
the indices that are written. Quantities are never tested: "8", 8 and "8000m" are one number and three values.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.convergence.changes import QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.evictions import MARK, ActiveChange
from bot.core.kueue import FlavorResource
from bot.core.resource_quotas import counting_key

Operation = Mapping[str, Any]

_SPEC_NAMES = {FieldName.NOMINAL: "nominalQuota", FieldName.BORROWING_LIMIT: "borrowingLimit"}


def operations(change: QueueChange) -> list[Operation]:
    """The patch. Raises KeyError if the change names an entry that its queue does not have."""
    return [
        _test("/metadata/resourceVersion", change.queue.resource_version),
        _test("/metadata/uid", change.queue.uid),
        *_name_tests(change),
        *_numbers(change),
        *_annotations(change),
    ]


def active_operations(change: ActiveChange) -> list[Operation]:
    """The patch that sets a Workload inactive and marks it, or takes the bot's own mark away and sets it active."""
    workload, at = change.workload, _annotation_path(MARK)
    tests = [
        _test("/metadata/resourceVersion", workload.resource_version),
        _test("/metadata/uid", workload.uid),
    ]
    if change.active:
        mark: list[Operation] = [_test(at, change.mark), {"op": "remove", "path": at}]
    elif workload.annotated:
        mark = [{"op": "add", "path": at, "value": change.mark}]
    else:
        mark = [{"op": "add", "path": "/metadata/annotations", "value": {MARK: change.mark}}]
    return [*tests, *mark, {"op": "add", "path": "/spec/active", "value": change.active}]


def _annotation_path(key: str) -> str:
    return f"/metadata/annotations/{_escaped(key)}"


def _name_tests(change: QueueChange) -> Iterator[Operation]:
    in_lists = (key for key in change.numbers if key.name is not FieldName.HARD)  # spec.hard is a map
    touched = {key.flavor_resource for key in in_lists} | set(change.lending_limits)
    for entry in sorted(touched):
        i, j, _ = change.queue.quotas[entry].path
        yield _test(f"/spec/resourceGroups/{i}/flavors/{j}/name", entry.flavor)
        yield _test(f"{_entry_path(change, entry)}/name", entry.resource)


def _numbers(change: QueueChange) -> Iterator[Operation]:
    for key, number in sorted(change.numbers.items()):
        if key.name is FieldName.HARD:
            yield from _write(f"/spec/hard/{_escaped(counting_key(key.resource))}", number, present=True)
            continue
        present = key.name is FieldName.NOMINAL or _quota_limit(change, key) is not None
        yield from _write(f"{_entry_path(change, key.flavor_resource)}/{_SPEC_NAMES[key.name]}", number, present)
    for entry, limit in sorted(change.lending_limits.items()):
        present = change.queue.quotas[entry].lending_limit is not None
        yield from _write(f"{_entry_path(change, entry)}/lendingLimit", limit, present)


def _annotations(change: QueueChange) -> Iterator[Operation]:
    wanted = {key: value for key, value in change.annotations.items() if value is not None}
    if wanted and not change.queue.annotated:
        yield {"op": "add", "path": "/metadata/annotations", "value": wanted}
        return
    for key, value in sorted(change.annotations.items()):
        path = _annotation_path(key)
        if value is not None:
            yield {"op": "add", "path": path, "value": value}
        elif key in change.queue.annotations:
            yield {"op": "remove", "path": path}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _write(path: str, number: int | None, present: bool) -> Iterator[Operation]:
    """`add` replaces what is there; `remove` of what is absent would fail the whole patch."""
    if number is not None:
        yield {"op": "add", "path": path, "value": str(number)}
    elif present:
        yield {"op": "remove", "path": path}


def _quota_limit(change: QueueChange, key: FieldKey) -> int | None:
    return change.queue.quotas[key.flavor_resource].borrowing_limit


def _entry_path(change: QueueChange, entry: FlavorResource) -> str:
    i, j, k = change.queue.quotas[entry].path
    return f"/spec/resourceGroups/{i}/flavors/{j}/resources/{k}"


def _test(path: str, value: str) -> Operation:
    return {"op": "test", "path": path, "value": value}
