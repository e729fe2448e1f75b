"""What `request` can say: the value that its parser returns, the keywords and the kinds of loan."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from bot.core.instants import Instant
from bot.core.series import Series
from bot.core.wording.every_words import EveryWords
from bot.core.wording.line import Step, Stumble

Kind = Literal["borrow", "transfer", "extra"]
KINDS: tuple[Kind, ...] = ("borrow", "transfer", "extra")
KEYWORDS = {
    **{word: word for word in ("for", "until", "starting", "in", "as", "from", "on", "every", "because")},
    **dict.fromkeys(("due to", "reason"), "because"),
}


@dataclass(frozen=True, slots=True)
class RequestWords:
    """What was said after `request`; None is what was not. `notes` are sentences about readings, to be repeated.

    At most one of `flavor` and `resource` is set, and at most one of `duration` and `until`, unless it repeats: then
    `duration` is how long each time is, and `until` when the series ends; `series` is what they come to. `kind` "grant"
    reads as "extra". The reason is verbatim, however long.
    """

    amount: int | None = None
    flavor: str | None = None
    resource: str | None = None
    duration: timedelta | None = None
    until: Instant | None = None
    starting: Instant | None = None
    every: EveryWords | None = None
    series: Series | None = None
    queue: str | None = None
    kind: Kind | None = None
    lender: str | None = None
    cluster: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()


RequestPart = Step[RequestWords] | Stumble
