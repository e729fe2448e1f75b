"""A world driven by hand, for tables and told stories."""

from dataclasses import dataclass, field

from bot.core.convergence.facts import AnswerKind, FieldKey, FieldRecord
from bot.core.convergence.findings import Finding
from bot.core.convergence.planner import Plan
from tests.support.convergence.world import World, number_of


@dataclass(slots=True)
class Play:
    """A world driven by hand, with an executor that only does what it is told."""

    world: World
    findings: list[Finding] = field(default_factory=list)

    def plan(self) -> Plan:
        """What would be planned now."""
        return self.world.plan_of(self.world.read())

    def store(self) -> Plan:
        """Plan and store, without sending anything."""
        seen = self.world.read()
        plan = self.world.plan_of(seen)
        self.world.commit(seen, plan, None)
        self.findings += plan.findings
        return plan

    def send(self, answer: str = "now", queue: str | None = None) -> Plan:
        """Plan, and send the first write (of one queue); its answer comes now, late, or is lost."""
        plan = self.launch(queue)
        self.world.land(self.world.flights[-1], answer)
        return plan

    def launch(self, queue: str | None = None) -> Plan:
        """Plan, and leave the write in flight."""
        seen = self.world.read()
        plan = self.world.plan_of(seen)
        self.findings += plan.findings
        writes = [write for write in plan.writes if queue in (None, write.change.queue.name)]
        assert self.world.commit(seen, plan, writes[0]) is not None
        return plan

    def settle(self) -> Plan:
        """Until there is nothing to do."""
        for _ in range(40):
            seen = self.world.read()
            plan = self.world.plan_of(seen)
            self.findings += plan.findings
            if not (plan.writes or plan.records or plan.loans or plan.closed_intents):
                return plan
            flight = self.world.commit(seen, plan, plan.writes[0] if plan.writes else None)
            if flight is not None:
                self.world.land(flight)
        raise AssertionError("does not come to rest")

    def number(self, key: FieldKey) -> int | None:
        return number_of(self.world.objects.get(key.queue), key)

    def record(self, key: FieldKey) -> FieldRecord:
        return self.world.db.records[key]

    def answer(self, key: FieldKey, kind: AnswerKind) -> None:
        assert self.world.answer(self.record(key), kind)

    def kinds(self) -> set[str]:
        """Kinds of everything found so far."""
        return {str(finding.kind) for finding in self.findings}
