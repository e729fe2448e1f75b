"""The Cluster role over a real API server: discovery, fresh reads, one patch. Built by app/parts for each cluster."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.adapters.kube.answers import classify, words
from bot.adapters.kube.client import Answer, KubeApi
from bot.adapters.kube.notes import notes_above
from bot.adapters.kube.objects import (
    cohort_snapshot,
    is_multikueue,
    node_labels,
    node_snapshot,
    queue_snapshot,
    workload_snapshot,
)
from bot.adapters.kube.ownership import FIELD_MANAGER
from bot.adapters.kube.patches import active_operations, operations
from bot.adapters.kube.readiness import CORE_LISTS, KUEUE_LISTS, Read, cluster_facts
from bot.adapters.kube.resource_quotas import path_of, resource_quota_snapshot
from bot.adapters.kube.served import GROUP, NOT_INSTALLED, failure, kueue_base
from bot.adapters.kube.shared import Shared
from bot.adapters.kube.watching import KubeSource
from bot.core.convergence.changes import PatchOutcome, PatchResult, QueueChange
from bot.core.errors import NoRight, Rejected, Unavailable
from bot.core.evictions import ActiveChange
from bot.core.incidents.facts import Kind, Owner
from bot.core.kueue import ClusterPicture, CohortSnapshot, QueueSnapshot, WorkloadSnapshot
from bot.core.overcommit import Hardware
from bot.core.readiness.facts import ClusterFacts
from bot.core.resource_quotas import is_resource_quota
from bot.ports.clock import Clock

PAGE = 500
_NOTHING: Mapping[str, list[Mapping[str, Any]] | None] = {name: [] for name in KUEUE_LISTS}
"""What a cluster without Kueue has of it."""


class KubeCluster:
    """Implements ports.cluster.Cluster."""

    def __init__(self, name: str, api: KubeApi, clock: Clock) -> None:
        self._name = name
        self._api = api
        self._clock = clock
        self._kueue: str | None = None
        self._cohorts: tuple[datetime, Mapping[str, CohortSnapshot]] | None = None
        self._fresh = Shared(self._read_all)

    @property
    def name(self) -> str:
        """The cluster's name in clusters.yaml."""
        return self._name

    def close(self) -> None:
        """Let go of the connections."""
        self._api.close()

    def source(self, kind: Kind, chance: Callable[[], float]) -> KubeSource:
        """A watch of one kind. `chance` gives numbers from 0 to 1."""
        return KubeSource(self._name, self._api, kind, chance)

    def read(
        self,
        *,
        cohorts_within: timedelta = timedelta(0),
        resource_quotas: Collection[str] = (),
        kueue: bool = True,
    ) -> ClusterPicture:
        """One LIST of ClusterQueues and one of Cohorts, without resourceVersion: the newest that etcd has.

        Cohorts read at most `cohorts_within` ago are good enough for a look that will write nothing. Complete reads
        that are asked for while another is under way are one. Then one GET for each ResourceQuota.
        """
        picture = self._read(cohorts_within) if kueue else ClusterPicture(self._name, self._clock(), {})
        return replace(picture, **self._resource_quotas(resource_quotas)) if resource_quotas else picture

    def _read(self, cohorts_within: timedelta) -> ClusterPicture:
        read_at, kept = self._clock(), self._cohorts
        if kept is None or not timedelta(0) <= read_at - kept[0] < cohorts_within:
            return self._fresh.get()
        return ClusterPicture(self._name, read_at, self._queues(), kept[1])

    def _read_all(self) -> ClusterPicture:
        read_at = self._clock()
        queues = self._queues()
        cohorts = {raw["metadata"]["name"]: cohort_snapshot(raw) for raw in self._list("cohorts")}
        self._cohorts = read_at, cohorts
        return ClusterPicture(self._name, read_at, queues, cohorts)

    def _queues(self) -> dict[str, QueueSnapshot]:
        return {raw["metadata"]["name"]: queue_snapshot(self._name, raw) for raw in self._list("clusterqueues")}

    def _resource_quotas(self, names: Collection[str]) -> dict[str, Any]:
        """Those that are there, and those that the bot may not read: that is no reason to write no queue."""
        found: dict[str, QueueSnapshot] = {}
        unread: dict[str, str] = {}
        for name in sorted(names):
            answer = self._api.request("GET", path_of(name))
            if answer.status == 200:
                found[name] = resource_quota_snapshot(self._name, answer.body)
            elif answer.status == 403:
                unread[name] = words(answer)
            elif answer.status != 404:
                raise failure(answer, "get", "resourcequotas")
        return {"resource_quotas": found, "unread": unread}

    def workloads(self, queues: Collection[str]) -> list[WorkloadSnapshot]:
        """Unfinished Workloads that hold or wait for quota in these queues."""
        queue_of = {
            (raw["metadata"]["namespace"], raw["metadata"]["name"]): raw["spec"]["clusterQueue"]
            for raw in self._list("localqueues")
        }
        snapshots = (workload_snapshot(raw, queue_of) for raw in self._list("workloads"))
        return [snapshot for snapshot in snapshots if snapshot is not None and snapshot.queue in queues]

    def hardware(self, resource: str) -> Hardware:
        """One LIST of ResourceFlavors, if Kueue is there, and one of nodes, both fresh."""
        try:
            flavors = {raw["metadata"]["name"]: node_labels(raw) for raw in self._list("resourceflavors")}
        except Rejected as error:
            if error.code != NOT_INSTALLED:
                raise
            flavors = {}
        return Hardware(flavors, [node_snapshot(raw, resource) for raw in self._pages("/api/v1/nodes", "nodes")])

    def multikueue_checks(self) -> frozenset[str]:
        """One LIST of AdmissionChecks."""
        return frozenset(raw["metadata"]["name"] for raw in self._list("admissionchecks") if is_multikueue(raw))

    def preemption_facts(self, devices: Collection[str]) -> ClusterFacts:
        """One LIST of each kind. What the bot may not list is said in the facts, and is no reason to fail."""
        read_at, lists, unread = self._clock(), dict[str, list[Mapping[str, Any]] | None](), list[str]()
        picture: ClusterPicture | None = None
        try:
            picture = self.read()
        except NoRight as error:
            unread.append(error.resource)
        except Rejected as error:
            if error.code != NOT_INSTALLED:
                raise
        wanted = {name: (name, f"{name}.{GROUP}") for name in KUEUE_LISTS if picture is not None or unread}
        wanted |= {name: (path, f"{name}.{path.split('/')[2]}") for name, path in CORE_LISTS.items()}
        for name, (where, resource) in wanted.items():
            try:
                lists[name] = list(self._pages(where, resource))
            except NoRight:
                lists[name] = None
                unread.append(resource)
        return cluster_facts(Read(self._name, read_at, picture, {**_NOTHING, **lists}, devices), unread)

    def patch(self, change: QueueChange, *, dry_run: bool = False) -> PatchResult:
        """Send it once. A queue, entry or version that is gone is a CONFLICT: read again."""
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        try:
            answer = self._api.request("PATCH", self._path(change.queue.name), query, operations(change))
        except Unavailable as error:
            return PatchResult(PatchOutcome.UNKNOWN, error.why)
        outcome = classify(answer)
        if outcome is PatchOutcome.APPLIED:
            snapshot = resource_quota_snapshot if is_resource_quota(change.queue.name) else queue_snapshot
            return PatchResult(outcome, queue=snapshot(self._name, answer.body))
        if answer.status == 404:
            self._kueue = None
        return PatchResult(outcome, words(answer))

    def notes_above(self, namespace: str, owner: Owner) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """One LIST of the one object, so that the right to list is enough, and one GET."""
        return notes_above(self._api, namespace, owner)

    def set_active(self, change: ActiveChange) -> PatchResult:
        """Send it once. A Workload that is gone is a CONFLICT: read again."""
        one = change.workload
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        try:
            path = f"{self._base()}/namespaces/{one.namespace}/workloads/{one.name}"
            answer = self._api.request("PATCH", path, query, active_operations(change))
        except Unavailable as error:
            return PatchResult(PatchOutcome.UNKNOWN, error.why)
        outcome = classify(answer)
        return PatchResult(outcome, "" if outcome is PatchOutcome.APPLIED else words(answer))

    def _path(self, queue: str) -> str:
        return path_of(queue) if is_resource_quota(queue) else f"{self._base()}/clusterqueues/{queue}"

    def _list(self, resource: str) -> Iterator[Mapping[str, Any]]:
        return self._pages(resource, f"{resource}.{GROUP}")

    def _pages(self, where: str, resource: str) -> Iterator[Mapping[str, Any]]:
        """`where`: a path, or the plural of one of Kueue's kinds, whose version is found out."""
        query = {"limit": str(PAGE)}
        while True:
            answer = self._api.request("GET", where, query) if where.startswith("/") else self._get(where, query)
            if answer.status == 404 and where == "cohorts":
                return  # Kueue 0.12 and older serve none in this version: every cohort is a root
            if answer.status != 200:
                raise failure(answer, "list", resource)
            yield from answer.body.get("items") or ()
            token = (answer.body.get("metadata") or {}).get("continue")
            if not token:
                return
            query = {**query, "continue": token}

    def _get(self, resource: str, query: Mapping[str, str]) -> Answer:
        answer = self._api.request("GET", f"{self._base()}/{resource}", query)
        if answer.status == 404 and self._kueue is not None:
            # The version may have been removed by an upgrade: discover once more.
            self._kueue = None
            answer = self._api.request("GET", f"{self._base()}/{resource}", query)
        return answer

    def _base(self) -> str:
        if self._kueue is None:
            self._kueue = kueue_base(self._api)
        return self._kueue
