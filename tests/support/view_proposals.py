"""A proposal for a queue that is written in Git, in its states: vision a100 16 -> 24."""

from dataclasses import replace

from bot.core.convergence.facts import FieldName
from bot.core.convergence.proposals import ProposalEnd
from bot.views.proposals import ProposalFacts, ProposedChange, ProposedLoan
from tests.support.view_facts import NAMES, Names, at

GPU = "nvidia.com/gpu"


def proposed(names: Names = NAMES) -> dict[str, ProposalFacts]:
    """Every state."""
    change = ProposedChange(names.flavor, GPU, FieldName.NOMINAL, 16, 24)
    brings = ProposedLoan(142, 8, borrows=True, end=at("14:20", 5))
    facts = ProposalFacts(names.queue, (change,), (brings,), at("14:02"))
    lends = replace(brings, adds=-8, borrows=False)
    lowered = replace(change, before=24, after=16, lending_before=20, lending_after=16)
    limit = replace(change, name=FieldName.BORROWING_LIMIT, before=None, after=4)
    flavors = [replace(change, flavor=f"{names.flavor}-{at:02}") for at in range(12)]
    states = {
        "open": facts,
        "lender": replace(facts, changes=(lowered,), loans=(lends,)),
        "over": replace(
            facts, changes=(replace(change, before=24, after=16),), loans=(replace(brings, adds=-8, over=True),)
        ),
        "part": replace(facts, loans=(replace(brings, adds=-2), replace(lends, id=143, adds=2))),
        "several": replace(facts, changes=(change, limit), cluster=names.cohort, tool=names.tool, annotated=True),
        "many": replace(facts, changes=tuple(flavors), loans=tuple(replace(brings, id=142 + at) for at in range(8))),
        "nobody's": replace(facts, loans=()),
    }
    for how in ProposalEnd:
        states[how.value] = replace(facts, ended=how, ended_at=at("14:40"))
    return states
