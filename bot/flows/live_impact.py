"""What a loan means at this moment, read from the cluster. Used when a card is drawn and again at the click."""

from dataclasses import replace

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.errors import Rejected, Unavailable
from bot.core.impact import Impact, Move, assess
from bot.core.kueue import ClusterPicture
from bot.core.loans import LoanKind
from bot.core.requests import Ask
from bot.flows.gather import picture_of
from bot.flows.world import World


def live_impact(world: World, ask: Ask, picture: ClusterPicture | None = None) -> Impact | None:
    """None if there are no live figures, or a queue of the loan is not there any more."""
    picture = picture or picture_of(world, ask.cluster)
    if picture is None:
        return None
    queues = {ask.queue, ask.lender} - {None}
    if not all(queue in picture.queues for queue in queues):
        return None
    try:
        workloads = world.clusters[ask.cluster].workloads([ask.lender] if ask.lender else [])
    except (Unavailable, Rejected):
        return None
    return _with_bases(world, ask, assess(ask, picture, workloads))


def _with_bases(world: World, ask: Ask, impact: Impact) -> Impact:
    """The numbers without the bot's loans, where it keeps a record of them."""
    with world.store.read() as uow:
        records = uow.fields.records(ask.cluster)

    def with_base(move: Move, name: FieldName) -> Move:
        record = records.get(FieldKey(ask.cluster, move.queue, ask.flavor, ask.resource, name))
        return replace(move, base=record.base) if record is not None and record.legs else move

    field = FieldName.BORROWING_LIMIT if ask.kind is LoanKind.BORROW else FieldName.NOMINAL
    lender = with_base(impact.lender, FieldName.NOMINAL) if impact.lender else None
    return replace(impact, borrower=with_base(impact.borrower, field), lender=lender)
