"""A loan that repeats: its one decision gives one loan for each time that is not over, no other, and none twice."""

from collections import defaultdict
from collections.abc import Iterator

from tests.support.oracle.log import Event

Span = tuple[float, float]


class SeriesJudge:
    """Reads requests and loans, and holds each time of a series against what was asked and decided."""

    def __init__(self) -> None:
        self._asked: dict[int, Event] = {}
        """Series, as they were stored last."""
        self._approved: dict[int, float] = {}
        self._times: dict[int, dict[Span, int]] = defaultdict(dict)
        self._of: dict[int, tuple[int, Span]] = {}
        """By the number of one time: its series, and which."""
        self._loans: set[int] = set()

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        if event["e"] == "request" and event.get("spans"):
            if event["state"] == "approved":
                self._approved.setdefault(event["id"], event["at"])
            self._asked[event["id"]] = event
        elif event["e"] == "request" and event.get("series") is not None:
            yield from self._time(event)
        elif event["e"] == "loan":
            yield from self._loan(event)
        elif event["e"] == "rest":
            yield from self._at_rest()

    def _time(self, event: Event) -> Iterator[tuple[str, str]]:
        number, series = event["id"], self._asked.get(event["series"])
        if number in self._of:
            return
        span = event["ask"]["start"], event["ask"]["until"]
        if series is None or series["state"] != "approved" or event["by"] != series["by"]:
            yield "P4", f"Q-{number} is a time of Q-{event['series']}, which {event['by']} did not approve"
            return
        known = self._times[event["series"]]
        if span not in series["spans"] or span in known:
            yield "P4", f"Q-{number} is {span} of Q-{event['series']}, of {series['spans']} and after {known}"
        same = ("amount", "kind", "lender")
        if [event["ask"][one] for one in same] != [series["ask"][one] for one in same]:
            yield "P4", f"Q-{number} is {event['ask']} of Q-{event['series']}, which asks for {series['ask']}"
        known[span] = number
        self._of[number] = event["series"], span

    def _loan(self, event: Event) -> Iterator[tuple[str, str]]:
        number = event["id"]
        if number in self._asked:
            yield "P4", f"Q-{number} repeats and has a loan itself"
        if number in self._loans or number not in self._of:
            return
        self._loans.add(number)
        series, (start, end) = self._of[number]
        latest = max(start, self._approved[series])  # whoever decides reads the clock before it is stored
        if event["end"] != end or not start <= event["start"] <= latest:
            yield "P4", f"Q-{number} is {start} to {end} and its loan is {event['start']} to {event['end']}"

    def _at_rest(self) -> Iterator[tuple[str, str]]:
        for series, at in self._approved.items():
            wanted = {span for span in self._asked[series]["spans"] if span[1] > at}
            times = self._times[series]
            if not wanted <= set(times) or not set(times.values()) <= self._loans:
                yield "P4", f"Q-{series} was approved for {sorted(wanted)} and has {times}"
