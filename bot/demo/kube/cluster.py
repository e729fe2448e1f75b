"""The state that every part of the simulator shares, and the few questions all of them ask of it."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.demo.kube.kinds import KINDS, KUEUE, NEW, OLD, Kind
from bot.demo.kube.managed_fields import Writer, updated
from bot.demo.kube.store import Store

Obj = dict[str, Any]
BY_PLURAL: dict[str, Kind] = {kind.plural: kind for kind in KINDS}
_UIDS = uuid.UUID("6f0d3c52-7a11-4a0e-9d0b-0c1f6c1b7a42")


@dataclass
class Cluster:
    """`versions` are the served versions of Kueue's group (none: Kueue is not installed); `kueue_up` is whether its
    controller and
    webhooks answer; `granular` chooses the reasons for pending workloads (Kueue main says why, 0.19 says Pending)."""

    clock: Callable[[], datetime]
    versions: tuple[str, ...] = (OLD, NEW)
    granular: bool = False
    kueue_up: bool = True
    store: Store = field(default_factory=Store)
    reserved: dict[str, int] = field(default_factory=dict)
    _uids: int = 0

    def now(self) -> str:
        """The time as the server writes it: UTC, whole seconds."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_uid(self) -> str:
        """Unique within the cluster, the same in every run."""
        self._uids += 1
        return str(uuid.uuid5(_UIDS, str(self._uids)))

    def serves(self, kind: Kind, version: str) -> bool:
        return version in (self.versions if kind.group == KUEUE else kind.versions)

    def kinds(self, group: str, version: str) -> list[Kind]:
        return [kind for kind in KINDS if kind.group == group and self.serves(kind, version)]

    def get(self, plural: str, namespace: str, name: str) -> Obj | None:
        return self.store.get(plural, namespace, name)

    def put(self, obj: Obj, plural: str, manager: str, *, status: bool = False) -> Obj:
        """Store an object as a controller does, past admission; no write and no new version when nothing changed."""
        kind = BY_PLURAL[plural]
        meta = obj["metadata"]
        old = self.store.get(kind, meta.get("namespace", ""), meta["name"])
        if old is None:
            counted = {"generation": 1} if kind.counts else {}
            meta = {"creationTimestamp": self.now(), **counted, "uid": self.new_uid(), **meta}
            obj = {"apiVersion": kind.api_version(kind.stored), "kind": kind.kind, **obj, "metadata": meta}
        elif old == obj:
            return old
        elif kind.counts and old.get("spec") != obj.get("spec"):
            obj = {**obj, "metadata": {**meta, "generation": meta.get("generation", 0) + 1}}
        writer = Writer(
            manager, "Update", kind.api_version(kind.stored), self.now(), subresource="status" if status else ""
        )
        fields = updated(old, obj, writer)
        return self.store.put(kind, {**obj, "metadata": {**obj["metadata"], "managedFields": fields}}, manager)

    def put_status(self, obj: Obj, plural: str, status: Obj, manager: str = "kueue") -> Obj:
        return self.put({**obj, "status": status}, plural, manager, status=True)

    def remove(self, obj: Obj, plural: str, manager: str) -> None:
        meta = obj["metadata"]
        self.store.remove(BY_PLURAL[plural], meta.get("namespace", ""), meta["name"], manager)
