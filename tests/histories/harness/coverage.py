"""Which pairs of step and fault the histories of one test run have met, over all its processes.

Each shard leaves its pairs in a folder that the processes of a run share; whoever finishes last sees all of them.
"""

import json
from collections import Counter
from pathlib import Path

from tests.histories.harness.faults import FAULTS
from tests.histories.harness.history import EVERY_STEP

Pairs = Counter[tuple[str, str]]


def leave(folder: Path, shard: int, pairs: Pairs) -> None:
    """Write one shard's pairs; they appear at once or not at all."""
    folder.mkdir(exist_ok=True)
    part = folder / f"{shard}.part"
    part.write_text(json.dumps([[*pair, times] for pair, times in pairs.items()]))
    part.rename(folder / f"{shard}.json")


def collect(folder: Path, shards: int) -> Pairs | None:
    """The pairs of all shards; None as long as one is missing."""
    found = sorted(folder.glob("*.json"))
    if len(found) < shards:
        return None
    together: Pairs = Counter()
    for path in found:
        for step, fault, times in json.loads(path.read_text()):
            together[step, fault] += times
    return together


def missing(pairs: Pairs) -> list[tuple[str, str]]:
    """Pairs that no history met."""
    return [(step, fault) for step in EVERY_STEP for fault in FAULTS if not pairs[step, fault]]


def table(pairs: Pairs) -> str:
    """Steps down, faults across, how often each fault happened in or after each step."""
    names = list(FAULTS)
    lines = [f"{number:>4}  {name}" for number, name in enumerate(names, start=1)]
    lines.append(" " * 24 + "".join(f"{number:>5}" for number in range(1, len(names) + 1)))
    lines += [f"{step:<24}" + "".join(f"{pairs[step, fault]:>5}" for fault in names) for step in EVERY_STEP]
    return "\n".join(lines)
