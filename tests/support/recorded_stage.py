"""What the cluster and the database say of a story that is played on the stage. The base of support/stage.CaseStage."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.core.loans import Loan
from bot.core.requests import AuditEntry, QuotaRequest
from bot.demo.run_stage import Stage


class RecordedStage(Stage):
    """As Stage; it only reads."""

    # in the cluster

    def becomes(self, **nominals: int) -> None:
        """Wait until these queues (`_` for `-`) have these numbers."""
        wanted = {name.replace("_", "-"): number for name, number in nominals.items()}

        def is_so() -> bool:
            return all(self.nominal(name) == number for name, number in wanted.items())

        self.wait(f"{wanted}; they are { {name: self.nominal(name) for name in wanted} }", is_so)

    def nominals_of(self, queue: str, flavor: str = "a100") -> list[int]:
        """Every number the queue ever had, in order, repetitions left out."""
        found = [
            int(entry["resources"][0]["nominalQuota"])
            for version in self.kube.history
            if version.name == queue
            for group in version.obj["spec"]["resourceGroups"]
            for entry in group["flavors"]
            if entry["name"] == flavor
        ]
        return [number for number, _ in itertools.groupby(found)]

    def limit_of(self, queue: str) -> int | None:
        """borrowingLimit of a100, as the cluster has it."""
        for group in self.kube.queue(queue)["spec"]["resourceGroups"]:
            for entry in group["flavors"]:
                if entry["name"] == "a100":
                    limit = entry["resources"][0].get("borrowingLimit")
                    return None if limit is None else int(limit)
        raise LookupError(queue)

    # in the database

    def request(self, number: int) -> QuotaRequest:
        """As stored now."""
        with self.bot.world.store.read() as uow:
            found = uow.requests.get(number)
        assert found is not None, f"there is no Q-{number}"
        return found

    def requests_of(self, who: str) -> Sequence[QuotaRequest]:
        """Newest first."""
        with self.bot.world.store.read() as uow:
            return uow.requests.find(requester=self.people[who])

    def loan(self, number: int) -> Loan | None:
        """As stored now."""
        with self.bot.world.store.read() as uow:
            return uow.loans.get(number)

    def all_said(self) -> None:
        """Wait until no message is owed any more."""

        def quiet() -> bool:
            with self.bot.world.store.read() as uow:
                return not uow.notices.waiting(self.clock(), -1, 1)

        self.wait("everything said", quiet)

    def led_since(self) -> datetime:
        """When somebody took the lead again after nobody had it."""
        with self.bot.world.store.read() as uow:
            gap = uow.leadership.gap()
        return gap[1] if gap else datetime.min.replace(tzinfo=UTC)

    def audit(self, number: int, what: str = "") -> list[AuditEntry]:
        """What the journal has about a request."""
        with self.bot.world.store.read() as uow:
            return [entry for entry in uow.audit.of(f"Q-{number}") if what in ("", entry.what)]
