"""Whether work that is preempted comes back to where it was: checkpoints, the time to save one, and SIGTERM.

Called by core/readiness/judge for work that can be preempted; alerts ask when it was saved last (flows/incident_facts).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from bot.core.durations import format_duration
from bot.core.readiness.facts import CHECKPOINT_AT, CHECKPOINT_INTERVAL, CHECKPOINT_TAKES, ON_SIGTERM, Work

NOTHING_SAVED = "none"
"""As an interval: starting again from the beginning is meant."""
SIGTERM_WORDS = ("checkpoint", "drain")
_LENGTH = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?:in)?)?(?:(\d{1,6})s)?", re.ASCII)
_CLOCKS_DIFFER = timedelta(minutes=5)
_MISSED = 2
"""Intervals without a checkpoint that are too many."""

Fault = tuple[str, str, str]
"""(check, problem, mend)."""


def length(text: str) -> timedelta | None:
    """`90s`, `5m` or `5min`, `2h`, `1d12h`, as people write them into annotations; None for all else, and for 0."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds) or None


def saved_at(annotations: Mapping[str, str]) -> datetime | None:
    """When work last saved itself, as it says; None where it says nothing, no instant, or one without its offset."""
    try:
        at = datetime.fromisoformat(annotations.get(CHECKPOINT_AT, "").strip())
    except ValueError:
        return None
    return at if at.tzinfo else None


def unsaved_seconds(work: Work, now: datetime) -> int:
    """GPU-seconds that are lost if it is preempted now. What serves has nothing to save."""
    if work.running_since is None or not work.ends:
        return 0
    saved = saved_at(work.annotations)
    since = max(work.running_since, saved) if saved and saved <= now else work.running_since
    return max(0, int((now - since).total_seconds())) * work.gpus


def checkpoint_faults(work: Work, now: datetime) -> Iterator[Fault]:
    """For work that ends. Whoever says `none` is asked nothing more."""
    said = work.annotations.get(CHECKPOINT_INTERVAL)
    if said is None:
        problem = "No checkpoint annotation: it may start from the beginning"
        yield "checkpoint-missing", problem, f"Set {CHECKPOINT_INTERVAL}, such as 30min, or none if that is fine"
        return
    if said.strip() == NOTHING_SAVED:
        return
    interval = length(said)
    if interval is None:
        problem = f"Its checkpoint interval {_quoted(said)} is not a length of time"
        yield "interval-unreadable", problem, f"Write {CHECKPOINT_INTERVAL} as 30min, 2h or none"
    else:
        yield from _age(work, interval, now)
    yield from _time_to_save(work)


def sigterm_faults(work: Work) -> Iterator[Fault]:
    """Kubernetes says SIGTERM first, and SIGKILL when the grace period is over."""
    if work.ends and work.annotations.get(CHECKPOINT_INTERVAL, "").strip() == NOTHING_SAVED:
        return
    said = work.annotations.get(ON_SIGTERM)
    word = SIGTERM_WORDS[0] if work.ends else SIGTERM_WORDS[1]
    if said is None and not work.pre_stop:
        problem = "Does not say what it does on SIGTERM, so it may just be killed"
        yield "sigterm-missing", problem, f"Handle SIGTERM, then set {ON_SIGTERM}: {word}"
    elif said is not None and said.strip() not in SIGTERM_WORDS:
        problem = f"What it does on SIGTERM, {_quoted(said)}, is not known here"
        yield "sigterm-unreadable", problem, f"Write {ON_SIGTERM} as {' or '.join(SIGTERM_WORDS)}"


def _age(work: Work, interval: timedelta, now: datetime) -> Iterator[Fault]:
    said = work.annotations.get(CHECKPOINT_AT)
    mend = f"See why it does not save; it sets {CHECKPOINT_AT} each time it has"
    saved = saved_at(work.annotations)
    if said is not None and saved is None:
        problem = f"When it last saved, {_quoted(said)}, is not an instant"
        yield "checkpoint-unreadable", problem, f"Write {CHECKPOINT_AT} as 2026-12-05T14:05:00Z"
    elif saved and saved > now + _CLOCKS_DIFFER:
        ahead = format_duration(saved - now)
        yield "checkpoint-in-future", f"Its last checkpoint is {ahead} in the future", "Set the clock of its node right"
    elif work.running_since is not None:
        since = max(work.running_since, saved) if saved else work.running_since
        if now - since > _MISSED * interval:
            what = "No checkpoint" if saved is None else "Last checkpoint"
            when = f"in {format_duration(now - since)}" if saved is None else f"{format_duration(now - since)} old"
            problem = f"{what} {when}, though it says one every {format_duration(interval)}"
            yield ("checkpoint-never" if saved is None else "checkpoint-old"), problem, mend


def _time_to_save(work: Work) -> Iterator[Fault]:
    said = work.annotations.get(CHECKPOINT_TAKES)
    grace = format_duration(work.grace)
    if said is None:
        problem = f"Does not say how long saving takes, so whether {grace} of grace are enough is not known"
        yield "takes-missing", problem, f"Set {CHECKPOINT_TAKES}, such as 2min"
        return
    takes = length(said)
    if takes is None:
        problem = f"How long saving takes, {_quoted(said)}, is not a length of time"
        yield "takes-unreadable", problem, f"Write {CHECKPOINT_TAKES} as 90s or 2min"
    elif work.grace < takes:
        problem = f"Grace period {grace}, saving takes {format_duration(takes)}"
        seconds = 2 * int(takes.total_seconds())
        yield "grace-short", problem, f"Set terminationGracePeriodSeconds: {seconds} on its pods"


def _quoted(text: str) -> str:
    shown = text.strip()
    return f'"{shown if len(shown) <= 40 else shown[:39] + "…"}"'
