"""The answer to `readiness`: how much work would be lost if its GPUs were taken back, whose, and what mends it."""

from bot.core.messages import Block, Message
from bot.core.readiness.facts import Finding, Readiness
from bot.views.kit import bullets, context, line, rich
from bot.views.parts import Clock, Code, Line, Reason, Theirs, sentence

_MOST = 6


def readiness_answer(readiness: Readiness, where: str) -> Message:
    """`where`: the namespaces that were looked at, in words."""
    first = line(headline_of(readiness), ", in ", Theirs(where, 150))
    blocks: list[Block] = [rich(first, bold_first=True)]
    if readiness.findings:
        blocks.append(bullets([_told(one) for one in readiness.findings[:_MOST]]))
    left = len(readiness.findings) - _MOST
    rest = [line(f"and {left:,} more: ", Code("gpu-quota-bot readiness"), " lists all")] if left > 0 else []
    notes = [line(Reason(note)) for note in readiness.notes]
    if rest or notes:
        blocks.append(rich(*rest, *notes))
    blocks.append(context("As of ", Clock(readiness.read_at)))
    return Message(sentence(first), tuple(blocks))


def headline_of(readiness: Readiness) -> str:
    """In numbers: the work that has a finding, then what else has one."""
    others = len({(one.cluster, one.thing) for one in readiness.findings}) - readiness.unready
    beside = f"; {others:,} other thing{'s' if others != 1 else ''} to mend" if others > 0 else ""
    they_are = "it is" if readiness.unready == 1 else "they are"
    return f"{readiness.unready:,} of {readiness.works:,} workloads should not be preempted as {they_are}{beside}"


def gpu_hours(one: Finding) -> str:
    """With one decimal."""
    return f"{one.gpu_seconds / 3600:,.1f}"


def _told(one: Finding) -> Line:
    hours = gpu_hours(one)
    risk = "" if hours == "0.0" else f" ({hours} GPU-hours at risk)"
    return line(Theirs(one.thing), f"{risk}: ", Reason(one.problem), ". ", Reason(one.mend), ".")
