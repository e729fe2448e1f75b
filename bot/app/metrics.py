"""What `/metrics` shows: gauges read from the database and the process at each scrape. Built by app/run, served by web.

docs/metrics.md lists them; a test holds it to `METRICS`.
"""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.core.errors import Unavailable
from bot.core.loans import LoanState
from bot.core.requests import RequestState
from bot.flows.world import World

METRICS: Mapping[str, str] = {
    "gpuq_leader": "1 if this process leads: converges, delivers and keeps the timetable.",
    "gpuq_policy_good": "0 while the policy files cannot be used and the last good policy stays in force.",
    "gpuq_database_up": "0 while the database does not answer; then the ones below are missing.",
    "gpuq_requests_waiting": "Requests that wait for a decision.",
    "gpuq_loans": "Loans that are not closed, by state.",
    "gpuq_paused": "1 while quota changes are paused by an admin: nothing new is raised.",
    "gpuq_questions_open": "Numbers that somebody changed outside the bot and nobody has explained, by cluster.",
}
_OPEN = (LoanState.SCHEDULED, LoanState.RUNNING, LoanState.RETURNING)


class _BotCollector(Collector):
    def __init__(self, world: World, leads: Callable[[], bool], policy_is_good: Callable[[], bool]) -> None:
        self._world = world
        self._leads = leads
        self._policy_is_good = policy_is_good

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Registering must not ask the database."""
        for name, text in METRICS.items():
            yield GaugeMetricFamily(name, text)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield _gauge("gpuq_leader", self._leads())
        yield _gauge("gpuq_policy_good", self._policy_is_good())
        try:
            stored = list(self._stored())
        except Unavailable:
            yield _gauge("gpuq_database_up", 0)
            return
        yield _gauge("gpuq_database_up", 1)
        yield from stored

    def _stored(self) -> Iterator[GaugeMetricFamily]:
        with self._world.store.read() as uow:
            paused = uow.pauses.get() is not None
            waiting = len(uow.requests.find(states={RequestState.WAITING}))
            states = [loan.state for loan in uow.loans.find(states=_OPEN)]
            open_questions = {
                name: sum(record.question is not None for record in uow.fields.records(name).values())
                for name in self._world.clusters
            }
        yield _gauge("gpuq_requests_waiting", waiting)
        yield _gauge("gpuq_paused", paused)
        loans = GaugeMetricFamily("gpuq_loans", METRICS["gpuq_loans"], labels=["state"])
        for state in _OPEN:
            loans.add_metric([state.value], states.count(state))
        yield loans
        questions = GaugeMetricFamily("gpuq_questions_open", METRICS["gpuq_questions_open"], labels=["cluster"])
        for name, count in open_questions.items():
            questions.add_metric([name], count)
        yield questions


def make_metrics(world: World, leads: Callable[[], bool], policy_is_good: Callable[[], bool]) -> Callable[[], bytes]:
    """A function that writes them in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_BotCollector(world, leads, policy_is_good))
    return lambda: generate_latest(registry)


def _gauge(name: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, METRICS[name], value=float(value))
