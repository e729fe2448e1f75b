"""Answers to `readiness` for the gallery (tests/support/view_gallery)."""

from collections.abc import Iterator

from bot.core.messages import Message
from bot.core.readiness.facts import Finding, Readiness
from bot.core.readiness.judge import PDB_NOTE
from bot.views.answers.readiness import readiness_answer
from tests.support.view_facts import World, at


def readiness_gallery(world: World) -> Iterator[tuple[str, Message]]:
    """With nothing, with something, and with more than fits."""
    names = world.names
    finding = Finding("default", "Job", names.queue, names.work, "checkpoint-missing", names.reason, names.vendor, 7200)
    beside = Finding("default", "PriorityClass", "", names.lead, "class-differs", names.reason, names.vendor)
    yield "answer readiness, nothing", readiness_answer(Readiness(14, 0, (), (), at("14:05")), names.queue)
    one = Readiness(14, 1, (finding, beside), (PDB_NOTE, names.vendor), at("14:05"))
    yield "answer readiness", readiness_answer(one, names.queue)
    many = Readiness(1_400, 900, (finding,) * 900, (), at("14:05"))
    yield "answer readiness, many", readiness_answer(many, names.queue)
