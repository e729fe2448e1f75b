"""A refusal is in the audit like what was done. Used by the flows that change something for a person."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.core.errors import Refused
from bot.core.requests import AuditEntry
from bot.flows.world import World


@contextmanager
def refusals_audited(world: World, user: str, what: str, subject: str) -> Iterator[None]:
    """Around all of a flow, outside its transaction: a Refused is written down with its sentence, and goes on."""
    try:
        yield
    except Refused as refused:
        note_refusal(world, user, what, subject, refused.sentence)
        raise


def note_refusal(world: World, user: str, what: str, subject: str, sentence: str) -> None:
    """One entry, in a transaction of its own."""
    with world.store.begin() as uow:
        uow.audit.add(AuditEntry(world.clock(), user, what, subject, sentence))
        uow.commit()
