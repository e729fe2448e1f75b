"""Every version of every queue of a test, as a watch tells them: P1 is about all of them, not about the last one."""

from collections.abc import Collection

from tests.cluster.api import Obj
from tests.cluster.site import Site


class Recorder:
    """Make it when the queues are there; ask it when all is over. The server replays what lies between, but not for
    ever (some minutes): a long test calls `catch_up` now and then.
    """

    def __init__(self, site: Site, names: Collection[str] = ()) -> None:
        """`names`: of the queues; none for all that have the site's mark."""
        self._site = site
        self._names = names
        listed = site.api.must("GET", f"{site.kueue}/clusterqueues")
        self._since: str = listed["metadata"]["resourceVersion"]
        self._versions = [one for one in listed["items"] if self._is_ours(one)]
        self._first = len(self._versions)

    def catch_up(self) -> None:
        """Read all versions there are by now. Raises AssertionError if the watch does not tell the last ones."""
        listed = self._site.api.must("GET", f"{self._site.kueue}/clusterqueues")
        ours = {_version(one) for one in listed["items"] if self._is_ours(one)}
        missing = ours - {_version(one) for one in self._versions}
        if not missing:
            return
        for event in self._site.api.watch(f"{self._site.kueue}/clusterqueues", self._since):
            assert event["type"] != "ERROR", event["object"]
            self._since = _version(event["object"])
            if self._is_ours(event["object"]):
                self._versions.append(event["object"])
                missing.discard(self._since)
            if not missing:
                return
        raise AssertionError(f"the watch ended without {missing}")

    def sums(self) -> list[int]:
        """All nominal quota of the test's queues: as it was at first, and after each version since."""
        self.catch_up()
        now = {_name(one): _nominal(one) for one in self._versions[: self._first]}
        sums = [sum(now.values())]
        for version in self._versions[self._first :]:
            now[_name(version)] = _nominal(version)
            sums.append(sum(now.values()))
        return sums

    def _is_ours(self, queue: Obj) -> bool:
        name = _name(queue)
        return name in self._names if self._names else name.endswith(self._site.mark)


def _name(queue: Obj) -> str:
    return str(queue["metadata"]["name"])


def _version(queue: Obj) -> str:
    return str(queue["metadata"]["resourceVersion"])


def _nominal(queue: Obj) -> int:
    return int(queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])
