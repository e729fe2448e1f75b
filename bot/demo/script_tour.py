"""The tour of the page: ask, a counter-offer, approve, the queues change, an edit by hand, a reminder, the return.

Told by demo/run_page to the page, which plays it. It begins where the furnished stage stands.
"""

from collections.abc import Mapping
from typing import NamedTuple

from bot.demo.page import Control, Press, Step
from bot.views.ids import Action, Field

ASKED, OFFERED = "12 a100 for vision", "8 a100 for vision"
LINE = "/gpu-quota request 12 a100 from nlp for 3d because paper deadline"


class _Cast(NamedTuple):
    """Ids of who plays, and where."""

    mira: str
    noor: str
    ravi: str
    ada: str
    vision: str
    approvals: str
    platform: str


def tour(people: Mapping[str, str], channels: Mapping[str, str]) -> tuple[Step, ...]:
    """Ids by name."""
    who = (people[name] for name in ("mira", "noor", "ravi", "ada"))
    at = _Cast(*who, *(channels[name] for name in ("vision", "gpu-approvals", "gpu-platform")))
    return (*_asks(at), *_agrees(at), *_takes_force(at), *_is_edited(at), *_goes_back(at))


def _asks(at: _Cast) -> tuple[Step, ...]:
    """She asks, and the lender offers less."""
    return (
        Step(
            at.mira,
            at.vision,
            "mira trains models in the vision team. Her job resnet-sweep needs 8 GPUs, but all 16 of vision are in "
            "use: it waits. Above you see the whole cohort. nlp has 8 that nobody uses.",
            look=True,
        ),
        Step(
            at.mira,
            at.vision,
            "She asks for 12 of nlp's GPUs for three days, in words. A form would do as well.",
            line=LINE,
            until="With the approvers",
        ),
        Step(
            at.noor,
            at.approvals,
            "noor leads nlp, which would lend. Before anybody decides, the card says what it means: which numbers "
            "change, and what of nlp's work could be preempted then.",
        ),
        Step(
            at.noor,
            at.approvals,
            "12 is too many. noor presses Change and offers 8.",
            press=Press(ASKED, Action.CARD_CHANGE),
            fill={Field.CHANGE_AMOUNT: "8", Field.CHANGE_WORDS: "nlp needs 16 this week"},
            until="Changed by",
        ),
    )


def _agrees(at: _Cast) -> tuple[Step, ...]:
    """Who counts, and what comes of it."""
    return (
        Step(
            at.mira,
            "dm",
            "mira finds the offer in her messages, and accepts it.",
            press=Press("8 a100 instead of 12", Action.OFFER_ACCEPT),
            until=OFFERED,
        ),
        Step(
            at.ravi,
            at.approvals,
            "ravi of robotics sees the card too. He decides nothing here, and presses Approve all the same.",
            press=Press(OFFERED, Action.CARD_APPROVE),
            until="can decide",
        ),
        Step(at.ravi, at.approvals, "Only he sees why it does not count. What policy says is checked at every press."),
    )


def _takes_force(at: _Cast) -> tuple[Step, ...]:
    """The admin's approval, and the queues."""
    return (
        Step(
            at.ada,
            at.approvals,
            "noor's offer counted as her consent. So large a loan also takes an admin: ada approves.",
            press=Press(OFFERED, Action.CARD_APPROVE),
            until="In force since",
            quota={"nlp": 16, "vision": 24},
        ),
        Step(
            at.ada,
            at.approvals,
            "In force: the bot lowered nlp first and raised vision then, so that never more was promised than there "
            "is. resnet-sweep has started.",
            look=True,
        ),
    )


def _is_edited(at: _Cast) -> tuple[Step, ...]:
    """By hand, past the bot."""
    return (
        Step(
            at.ada,
            at.platform,
            "Now somebody edits vision by hand, with kubectl and past the bot: 24 becomes 20.",
            control=Control("quota", {"queue": "vision", "nominal": 20}),
            until="vision a100 is 20, expected 24",
        ),
        Step(
            at.ada,
            at.platform,
            "The bot overwrites nothing that others wrote. It asks what was meant; ada says: not wanted.",
            press=Press("vision a100 is 20, expected 24", Action.DRIFT_RESTORE),
            until="put back",
            quota={"vision": 24},
        ),
    )


def _goes_back(at: _Cast) -> tuple[Step, ...]:
    """The reminder and the return."""
    return (
        Step(
            at.mira,
            at.vision,
            "Days later resnet-sweep is done.",
            control=Control("finish", {"queue": "vision", "job": "resnet-sweep"}),
            look=True,
        ),
        Step(
            at.mira,
            "dm",
            "Nobody has to remember the loan. An hour before its end mira hears of it.",
            control=Control("jump", {"before": 60}),
            until="end soon",
        ),
        Step(
            at.mira,
            "dm",
            "She needs it no more and gives it back at once. If she did nothing it would go back by itself.",
            press=Press("end soon", Action.LOAN_RETURN),
            fill={Field.RETURN_AMOUNT: "8"},
            quota={"nlp": 24, "vision": 16},
        ),
        Step(
            at.mira,
            "home",
            "All is as it was. Home shows to each what waits for them, their loans and what their teams use. "
            "Now it is yours: choose a person at the top, or make something happen in the strip.",
        ),
    )
