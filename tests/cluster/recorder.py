"""Every version of every queue of a test, as a watch tells them: P1 is about all of them, not about the last one."""

from collections.abc import Collection, Iterator

from tests.cluster.api import Obj
from tests.cluster.site import Site


class Recorder:
    """Make it when the queues are there; ask it when all is over. The server replays what lies between."""

    def __init__(self, site: Site, names: Collection[str] = ()) -> None:
        """`names`: of the queues; none for all that have the site's mark."""
        self._site = site
        self._names = names
        listed = site.api.must("GET", f"{site.kueue}/clusterqueues")
        self._since = listed["metadata"]["resourceVersion"]
        self._first = {one["metadata"]["name"]: one for one in listed["items"] if self._is_ours(one)}

    def versions(self) -> Iterator[Obj]:
        """In the order of writing, the first ones included."""
        yield from self._first.values()
        listed = self._site.api.must("GET", f"{self._site.kueue}/clusterqueues")
        last = {_version(one) for one in listed["items"] if self._is_ours(one)}
        missing = last - {_version(one) for one in self._first.values()}
        if not missing:
            return
        for event in self._site.api.watch(f"{self._site.kueue}/clusterqueues", self._since):
            if self._is_ours(event["object"]):
                yield event["object"]
                missing.discard(_version(event["object"]))
            if not missing:
                return
        raise AssertionError(f"the watch ended without {missing}")

    def sums(self) -> list[int]:
        """All nominal quota of the test's queues, after each version."""
        now = {name: _nominal(one) for name, one in self._first.items()}
        sums = []
        for version in self.versions():
            now[version["metadata"]["name"]] = _nominal(version)
            sums.append(sum(now.values()))
        return sums

    def _is_ours(self, queue: Obj) -> bool:
        name = str(queue["metadata"]["name"])
        return name in self._names if self._names else name.endswith(self._site.mark)


def _version(queue: Obj) -> str:
    return str(queue["metadata"]["resourceVersion"])


def _nominal(queue: Obj) -> int:
    return int(queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])
