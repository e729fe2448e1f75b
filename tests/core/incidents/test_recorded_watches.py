"""The recorded watches of Kueue and kube-scheduler give exactly the incidents that were written down beforehand."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.kube.seen import read_event, read_pod, read_workload
from bot.core.incidents.classify import Ways, judge
from bot.core.incidents.facts import Change, Kind, Remembered, Wanted, What
from bot.core.incidents.looks import story_key

CAPTURES = Path(__file__).parents[2] / "captures"
WANTED = Wanted(frozenset({"nvidia.com/gpu"}))
AT_ONCE = Ways(WANTED.accelerators, {what.value: timedelta(0) for what in What if what is not What.WAITING})
NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)
READERS: dict[str, tuple[Kind, Callable[..., Any]]] = {
    "workloads": (Kind.WORKLOAD, read_workload),
    "pods": (Kind.POD, read_pod),
    "events": (Kind.EVENT, read_event),
}
STREAMS = sorted(path.stem for path in CAPTURES.glob("*.incidents"))


def expected(stream: str) -> list[str]:
    """The lines that were written down."""
    lines = (CAPTURES / f"{stream}.incidents").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def found(stream: str) -> Iterator[str]:
    """What is found, line by line, written the same way."""
    kind, read = READERS[stream.rpartition("-")[2]]
    memory: dict[str, Remembered] = {}
    for number, line in enumerate((CAPTURES / f"{stream}.ndjson").read_text().splitlines(), start=1):
        raw = json.loads(line)
        seen = read("prod", raw["object"], WANTED)
        if seen is None:
            continue
        uid = seen.owner.uid if kind is Kind.EVENT and seen.owner else seen.uid
        change = Change("prod", kind, uid, seen, gone=raw["type"] == "DELETED")
        judged = judge(memory.pop(uid, None), change, AT_ONCE, NOW)
        if judged.remembered is not None:
            memory[uid] = judged.remembered
        for move in judged.moves:
            story = "/".join(story_key(seen).split("/")[2:])
            yield f"{number} {story} {move.what} {move.why or '-'}"


@pytest.mark.parametrize("stream", STREAMS)
def test_a_recorded_watch_gives_exactly_the_incidents_that_were_written_down(stream: str) -> None:
    assert list(found(stream)) == expected(stream)


def test_every_recorded_watch_of_work_has_its_list() -> None:
    watches = {path.stem for path in CAPTURES.glob("*-watch-*.ndjson")}
    assert {one for one in watches if one.rpartition("-")[2] in ("workloads", "pods")} <= set(STREAMS)
