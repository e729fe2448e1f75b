"""From a method and a path to what is asked: which kind, version, namespace, name and verb. Called by api.py."""

from dataclasses import dataclass
from functools import lru_cache

from bot.demo.kube.kinds import KINDS, Kind

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
METHODS = frozenset(_VERBS)
_BY_PATH: dict[tuple[str, str, str], Kind] = {
    (kind.group, version, kind.plural): kind for kind in KINDS for version in kind.versions
}


@dataclass(frozen=True, slots=True)
class Target:
    """A resource path. Empty `name` means the collection; empty `namespace` all namespaces or none."""

    kind: Kind
    version: str
    namespace: str
    name: str
    subresource: str

    def verb(self, method: str, *, watch: bool) -> str:
        """The verb that access rules know it by."""
        if method == "GET" and not self.name:
            return "watch" if watch else "list"
        if method == "DELETE" and not self.name:
            return "deletecollection"
        return _VERBS[method]


@lru_cache(maxsize=4096)
def target(path: str) -> Target | None:
    """The resource a path names, or None (discovery, health, nonsense)."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = _BY_PATH.get((group, version, rest[0]))
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        return None
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if subresource and not (subresource == "status" and kind.status):
        return None
    if name and kind.namespaced and not namespace:
        return None
    return Target(kind, version, namespace, name, subresource)
