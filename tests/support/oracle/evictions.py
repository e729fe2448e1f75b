"""Work at a loan's end: nobody is evicted unannounced, early, twice or beyond the loan, and only the bot's own eviction
is undone. Judged from the Workloads themselves.
"""

from collections import Counter
from collections.abc import Iterator

from tests.support.oracle.log import BOT, Event


class EvictionJudge:
    """Reads loans, evictions, notices and the versions of Workloads."""

    def __init__(self) -> None:
        self._gave: dict[int, int] = {}
        """By loan: the most it ever moved."""
        self._rows: dict[int, Event] = {}
        self._announced: set[int] = set()
        """Loans whose announcement is owed."""
        self._work: dict[str, Event] = {}
        self._last: dict[str, str] = {}
        """By workload, who wrote `active` last."""
        self._taken: dict[int, dict[str, int]] = {}
        """By loan: what the bot evicted, with the amounts."""
        self._undone: Counter[tuple[int, str]] = Counter()
        self._paused = False

    def judge(self, event: Event) -> Iterator[tuple[str, str]]:
        """Promise and words for everything that this event breaks."""
        kind = event["e"]
        if kind == "loan":
            self._gave[event["id"]] = max(event["amount"], self._gave.get(event["id"], 0))
        elif kind == "pause":
            self._paused = event["on"]
        elif kind == "notice" and event["kind"] == "eviction_announced":
            self._announced.add(int(event["key"].split(":")[1]))
        elif kind == "eviction":
            yield from self._stored(event)
        elif kind == "work":
            yield from self._written(event)
        elif kind == "rest" and event["over"]:
            yield from self._at_rest()

    def _stored(self, event: Event) -> Iterator[tuple[str, str]]:
        before = self._rows.get(event["loan"])
        self._rows[event["loan"]] = event
        known = before["works"] if before else {}
        for uid, state in event["works"].items():
            fresh = state in ("evicting", "restoring") and known.get(uid) != state
            if fresh and self._paused:
                yield "pause", f"{uid} is to be written for loan {event['loan']} while quota changes are paused"
            if fresh and state == "evicting" and (event["due"] is None or event["at"] < event["due"]):
                yield "evict", f"{uid} is to be evicted before the grace of loan {event['loan']} is over"
        if before and before["due"] is not None and event["due"] != before["due"]:
            yield "evict", f"the grace of loan {event['loan']} ended at {before['due']} and ends at {event['due']} now"
        if known and set(known) != set(event["works"]):
            yield "evict", f"what was announced for loan {event['loan']} changed"

    def _written(self, event: Event) -> Iterator[tuple[str, str]]:
        uid, before = event["uid"], self._work.get(event["uid"])
        self._work[uid] = event
        if before is None or before["active"] == event["active"]:
            return
        writer, last = event["who"], self._last.get(uid)
        self._last[uid] = writer
        if writer != BOT:
            return
        if event["active"]:
            loan = int(before["mark"].split(":")[0][1:]) if before["mark"] else 0
            self._undone[loan, uid] += 1
            if last != BOT:
                yield "P3", f"{uid} was set inactive by {last}, and active by the bot"
        else:
            yield from self._evicted(event, before)

    def _evicted(self, event: Event, before: Event) -> Iterator[tuple[str, str]]:
        uid = event["uid"]
        if not event["mark"]:
            yield "evict", f"{uid} was evicted by the bot, and nothing on it says so"
            return
        loan = int(event["mark"].split(":")[0][1:])
        taken = self._taken.setdefault(loan, {})
        if loan not in self._announced or uid not in self._rows.get(loan, {"works": {}})["works"]:
            yield "evict", f"{uid} was evicted for loan {loan} and nobody was told"
        if uid in taken:
            yield "evict", f"{uid} was evicted twice for loan {loan}"
        taken[uid] = before["holds"]
        most, whole = self._gave.get(loan, 0), sum(taken.values())
        if whole - max(taken.values()) >= most:
            yield "evict", f"{taken} were evicted for loan {loan}, which gave {most}"

    def _at_rest(self) -> Iterator[tuple[str, str]]:
        for loan, row in self._rows.items():
            may_land = any(state in ("evicting", "restoring") for state in row["works"].values())
            if row["state"] in ("due", "announced") and not may_land:
                yield "evict", f"the end of loan {loan} is still {row['state']} at rest"
            for uid, state in row["works"].items():
                if state in ("evicted", "restored") and uid not in self._taken.get(loan, {}):
                    yield "evict", f"{uid} counts as evicted for loan {loan} and never was"
                if state == "restored" and not self._undone[loan, uid] and self._last.get(uid) == BOT:
                    yield "evict", f"{uid} counts as active again and is not"
