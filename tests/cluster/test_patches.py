"""The bot's own patch: what it writes, and what becomes of it when anything has changed since it was planned."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.adapters.kube.cluster import KubeCluster
from bot.core.convergence.annotation import FENCE
from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.kueue import FlavorResource, QueueSnapshot, Quota
from tests.cluster.api import JSON_PATCH
from tests.cluster.landing import land
from tests.cluster.site import GPU, Site


def _entry(site: Site) -> FlavorResource:
    return FlavorResource(site.flavor(), GPU)


def _key(site: Site, queue: str, name: FieldName = FieldName.NOMINAL) -> FieldKey:
    return FieldKey("default", queue, site.flavor(), GPU, name)


def _seen(bot: KubeCluster, queue: str) -> QueueSnapshot:
    return bot.read().queues[queue]


def _raise(site: Site, queue: QueueSnapshot, nominal: int = 12) -> QueueChange:
    return QueueChange(queue, {_key(site, queue.name): nominal})


def test_numbers_limits_and_annotations_travel_in_one_patch(site: Site) -> None:
    queue, bot = site.queue("one", "8", borrowingLimit="2", lendingLimit="8"), site.bot()
    numbers = {_key(site, queue): 6, _key(site, queue, FieldName.BORROWING_LIMIT): None}
    _, result = land(bot, lambda: QueueChange(_seen(bot, queue), numbers, {_entry(site): 5}, {FENCE: "1.1"}))
    assert result.outcome is PatchOutcome.APPLIED, result.words
    assert site.quota(queue) == {"name": GPU, "nominalQuota": "6", "lendingLimit": "5"}
    live = site.get_queue(queue)
    assert live["metadata"]["annotations"] == {FENCE: "1.1"}
    assert result.queue is not None
    assert result.queue.generation == live["metadata"]["generation"] == 2


def test_an_annotation_is_added_to_others_and_removed_again(site: Site) -> None:
    queue, bot = site.queue("noted", "8"), site.bot()
    site.merge(queue, {"metadata": {"annotations": {"theirs": "stays"}}})
    _, added = land(bot, lambda: QueueChange(_seen(bot, queue), annotations={FENCE: "1.1"}))
    assert added.outcome is PatchOutcome.APPLIED
    assert site.get_queue(queue)["metadata"]["annotations"] == {"theirs": "stays", FENCE: "1.1"}
    _, removed = land(bot, lambda: QueueChange(_seen(bot, queue), annotations={FENCE: None}))
    assert removed.outcome is PatchOutcome.APPLIED
    assert site.get_queue(queue)["metadata"]["annotations"] == {"theirs": "stays"}


def test_a_limit_that_was_unset_is_set_and_unset(site: Site) -> None:
    queue, bot = site.queue("limit", "8"), site.bot()
    key = _key(site, queue, FieldName.BORROWING_LIMIT)
    _, was_set = land(bot, lambda: QueueChange(_seen(bot, queue), {key: 3}))
    assert was_set.outcome is PatchOutcome.APPLIED
    assert site.quota(queue)["borrowingLimit"] == "3"
    _, was_unset = land(bot, lambda: QueueChange(_seen(bot, queue), {key: None}))
    assert was_unset.outcome is PatchOutcome.APPLIED
    assert "borrowingLimit" not in site.quota(queue)


def test_the_bots_writes_are_booked_under_its_name_and_others_stay_known(site: Site) -> None:
    queue, bot = site.queue("booked", "8"), site.bot()
    land(bot, lambda: _raise(site, _seen(bot, queue)))
    managers = {entry["manager"]: entry["apiVersion"] for entry in site.get_queue(queue)["metadata"]["managedFields"]}
    assert managers["gpu-quota-bot"] == f"kueue.x-k8s.io/{site.version}", "in the newest version that is served"
    site.edit(queue, "nominalQuota", "7", manager="somebody")
    assert _seen(bot, queue).spec_manager == "somebody"


Meddle = Callable[[Site, QueueSnapshot], QueueSnapshot]


def _edited(site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    site.edit(queue.name, "nominalQuota", "9")
    return queue


def _annotated(site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    """Numbers as before, and another version."""
    site.merge(queue.name, {"metadata": {"annotations": {"some": "thing"}}})
    return queue


def _other_uid(_site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    return replace(queue, uid="00000000-0000-0000-0000-000000000000")


def _moved(_site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    """As if the flavor had stood at another index when it was read."""
    ((entry, _),) = queue.quotas.items()
    return replace(queue, quotas={entry: Quota(8, path=(0, 1, 0))})


def _renamed(_site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    """As if another flavor had stood there."""
    return replace(queue, quotas={FlavorResource("a100", GPU): Quota(8)})


def _deleted(site: Site, queue: QueueSnapshot) -> QueueSnapshot:
    site.api.must("DELETE", f"{site.kueue}/namespaces/{site.namespace}/localqueues/{queue.name}")
    site.api.must("DELETE", f"{site.kueue}/clusterqueues/{queue.name}")
    site.until_gone(f"{site.kueue}/clusterqueues/{queue.name}")
    return queue


@pytest.mark.parametrize("meddle", [_edited, _annotated, _other_uid, _moved, _renamed, _deleted])
def test_a_patch_dies_if_anything_is_not_as_planned(site: Site, meddle: Meddle) -> None:
    """A CONFLICT: it did not land, read again."""
    name, bot = site.queue("planned", "8"), site.bot()
    queue = meddle(site, _seen(bot, name))
    (entry,) = queue.quotas
    key = FieldKey("default", name, entry.flavor, GPU, FieldName.NOMINAL)
    before = site.api.try_get(f"{site.kueue}/clusterqueues/{name}")
    result = bot.patch(QueueChange(queue, {key: 12}))
    assert result.outcome is PatchOutcome.CONFLICT, result.words
    after = site.api.try_get(f"{site.kueue}/clusterqueues/{name}")
    assert (after or {}).get("spec") == (before or {}).get("spec")


def test_the_same_patch_lands_once(site: Site) -> None:
    queue, bot = site.queue("once", "8"), site.bot()
    change, first = land(bot, lambda: _raise(site, _seen(bot, queue)))
    assert [first.outcome, bot.patch(change).outcome] == [PatchOutcome.APPLIED, PatchOutcome.CONFLICT]


def test_a_rule_of_kueues_is_a_refusal_in_its_words(site: Site) -> None:
    queue, bot = site.queue("ruled", "8", lendingLimit="6"), site.bot()
    for dry_run in (True, False):
        _, result = land(bot, lambda: _raise(site, _seen(bot, queue), 5), dry_run=dry_run)
        assert result.outcome is PatchOutcome.REFUSED
        assert "must be less than or equal to the nominalQuota" in result.words


def test_a_rule_of_the_schema_is_a_refusal_in_its_words(site: Site) -> None:
    queue, bot = site.queue("alone", "8", cohort=False), site.bot()
    key = _key(site, queue, FieldName.BORROWING_LIMIT)
    _, result = land(bot, lambda: QueueChange(_seen(bot, queue), {key: 2}))
    assert result.outcome is PatchOutcome.REFUSED
    assert "borrowingLimit must be nil when cohort is empty" in result.words


def test_a_dry_run_is_applied_and_changes_nothing(site: Site) -> None:
    queue, bot = site.queue("dry", "8"), site.bot()
    _, result = land(bot, lambda: _raise(site, _seen(bot, queue)), dry_run=True)
    assert result.outcome is PatchOutcome.APPLIED
    assert site.quota(queue)["nominalQuota"] == "8"


def test_numbers_are_kept_in_whatever_form_they_stand_beside_ours(site: Site) -> None:
    """A sibling that is a JSON number stays one: the patch touches its own path only."""
    queue, bot = site.queue("beside", "8", lendingLimit="4"), site.bot()
    site.edit(queue, "lendingLimit", 3)
    land(bot, lambda: _raise(site, _seen(bot, queue)))
    assert site.quota(queue) == {"name": GPU, "nominalQuota": "12", "lendingLimit": 3}


def test_json_patch_replaces_an_absent_limit(site: Site) -> None:
    """This server adds it; the bot says `add` all the same."""
    queue = site.queue("absent", "8")
    body = [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/lendingLimit", "value": "1"}]
    site.api.must("PATCH", f"{site.kueue}/clusterqueues/{queue}", body, JSON_PATCH)
    assert site.quota(queue)["lendingLimit"] == "1"
