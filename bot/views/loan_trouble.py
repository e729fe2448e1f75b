"""What admins, and the people of a loan, are told when a queue and its loans do not fit together any more.

Each is said once per queue, number or loan. Rendered for the kinds of notice that name these functions.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.loans import Loan
from bot.core.messages import Message
from bot.core.resource_quotas import is_resource_quota
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import number, of_flavor, up_to
from bot.views.kit import Symbol, headline, line, rich
from bot.views.parts import VENDOR_LIMIT, Clock, Code, Line, Moment, Part, Theirs, sentence


@dataclass(frozen=True, slots=True)
class QueueTrouble:
    """Something about one ClusterQueue or ResourceQuota that the bot cannot set right itself."""

    queue: str
    since: datetime
    loans: tuple[int, ...] = ()
    """Numbers of the loans that have a part in it."""
    cluster: str | None = None
    """Shown if there are several."""
    flavor: str | None = None
    words: str = ""
    """The vendor's error, another installation's name, the quantity as it stands, who wrote it: as the case needs."""
    before: int | None = None
    after: int | None = None
    ended: tuple[int, ...] = ()
    """Loans that are over and could not be given back because of it."""
    over_since: datetime | None = None
    """Set once it is no trouble any more."""


def _message(symbol: Symbol, first: Line, *lines: Line) -> Message:
    shown = [one for one in lines if one]
    return Message(sentence(first), (headline(symbol, first), rich(*shown)))


def _of(loan: Loan) -> Line:
    return line(of_flavor(loan.amount, loan.flavor), f" ({format_request_id(loan.id)})")


def suspended(loan: Loan, why: str, since: datetime) -> Message:
    """A loan was taken out of force for good: its queue is gone, its queues parted, its limit became unset.

    `why` is a clause: "ClusterQueue nlp is gone", "nlp and vision are in different cohorts".
    """
    first = line(_of(loan), " suspended since ", Clock(since))
    counts = line("Counts as not lent until it ends ", Moment(loan.end), ", even if the cause goes away")
    return _message(Symbol.LOOK, first, line(Theirs(why, VENDOR_LIMIT)), counts, line("Needed still: request again"))


def short(loan: Loan, raised: int, lender_number: int | None) -> Message:
    """The lender has less than it lent; the borrower is lowered with it."""
    lender, borrower = Theirs(loan.lender or loan.borrower), Theirs(loan.borrower)
    first = line(
        f"{raised:,} of ", of_flavor(loan.amount, loan.flavor), f" in force for now ({format_request_id(loan.id)})"
    )
    has = line(lender, f" has {lender_number:,} now, too few for what it lent") if lender_number is not None else ()
    rest = line(borrower, " gets the rest by itself when ", lender, " has it again")
    return _message(Symbol.LOOK, first, has, rest)


def _concerned(trouble: QueueTrouble) -> Line:
    if not trouble.loans:
        return ()
    return line("Loans: ", up_to([line(format_request_id(one)) for one in trouble.loans]))


def _where(trouble: QueueTrouble) -> Line:
    flavor: tuple[Part, ...] = (" ", Theirs(trouble.flavor)) if trouble.flavor else ()
    cluster: tuple[Part, ...] = (" on ", Theirs(trouble.cluster)) if trouble.cluster else ()
    kind = "ResourceQuota " if is_resource_quota(trouble.queue) else ""
    return line(kind, Theirs(trouble.queue), *flavor, *cluster)


def annotation_stripped(trouble: QueueTrouble) -> Message:
    """The bot's annotation is gone from a queue; its numbers are what they should be."""
    first = line(_where(trouble), ": the bot's annotation is gone since ", Clock(trouble.since))
    stays = line("Quota is as it should be, and loans go on from the database")
    back = line("The next change of a loan writes it again. Nothing to do")
    return _message(Symbol.LOOK, first, stays, _concerned(trouble), back)


def other_install(trouble: QueueTrouble) -> Message:
    """Another installation of the bot keeps its books on this queue: this one does not write it."""
    first = line(_where(trouble), " is written by another installation: ", Theirs(trouble.words))
    stop = line("This bot writes nothing there until only one of them is left")
    return _message(Symbol.LOOK, first, stop, _concerned(trouble))


def missing_right(trouble: QueueTrouble) -> Message:
    """The API server says that the bot may not write."""
    kind = "" if is_resource_quota(trouble.queue) else "ClusterQueue "
    first = line(f"The bot may not write {kind}", _where(trouble), " since ", Clock(trouble.since))
    allow = line("Allow ", Code("patch"), " on it in the bot's ClusterRole; it tries again by itself")
    return _message(Symbol.LOOK, first, _vendor(trouble), _concerned(trouble), allow)


def _vendor(trouble: QueueTrouble) -> Line:
    return line(Theirs(trouble.words, VENDOR_LIMIT)) if trouble.words else ()


def write_refused(trouble: QueueTrouble) -> Message:
    """Kueue's webhook or the schema does not take a change of the bot's."""
    quota = is_resource_quota(trouble.queue)
    who = "The API server" if quota else "Kueue"
    first = line(f"{who} refused a change of ", _where(trouble), " at ", Clock(trouble.since))
    again = line(f"The bot tries again in 10 minutes, or when the {'quota' if quota else 'queue'} changes")
    return _message(Symbol.LOOK, first, _vendor(trouble), _concerned(trouble), again)


def not_whole(trouble: QueueTrouble) -> Message:
    """A quota that is no whole number of devices is read, never written."""
    first = line("Quota of ", _where(trouble), " is ", Theirs(trouble.words), ", not a whole number")
    return _message(Symbol.LOOK, first, line("The bot does not write it until it is whole"), _concerned(trouble))


def lending_limit_moved(trouble: QueueTrouble) -> Message:
    """Somebody changed a lendingLimit that follows a loan: theirs counts from now on."""
    limit = Code("lendingLimit")
    numbers = f" was changed from {number(trouble.before)} to {number(trouble.after)}"
    first = line(_where(trouble), ": ", limit, numbers)
    stays = line("That is its own limit from now on: it stays when the loans end. Nothing to do")
    return _message(Symbol.LOOK, first, stays, _concerned(trouble))


def kueue_writes_quota(trouble: QueueTrouble) -> Message:
    """Kueue's own quota automation took over a queue that has loans; a loan ended there; or it let go of it."""
    if trouble.over_since is not None:
        first = line("Kueue writes ", _where(trouble), "'s quota no more since ", Clock(trouble.over_since))
        goes_on = line("Loans go on. Where a number is not the bot's, it asks what it means")
        return _message(Symbol.IN_FORCE, first, goes_on, _concerned(trouble))
    first = line(_where(trouble), "'s quota is now written by Kueue itself")
    by = line("By ", Theirs(trouble.words, VENDOR_LIMIT)) if trouble.words else ()
    names = up_to([line(format_request_id(one)) for one in trouble.ended])
    ended = line("Ended, not returned: ", names) if trouble.ended else ()
    elsewhere = ". Ask on the worker clusters' queues" if "MultiKueue" in trouble.words else ""
    stop = line(f"The bot does not change it any more{elsewhere}")
    then = line("When Kueue stops, loans here go on, or go back if they are over")
    return _message(Symbol.LOOK, first, by, ended, stop, then, _concerned(trouble))


def no_resource_quota(trouble: QueueTrouble) -> Message:
    """The policy names a ResourceQuota that is not there, or that does not count what the loan is of."""
    first = line(Theirs(trouble.words, VENDOR_LIMIT))
    goes_on = line("Loans go on without it. If pods are counted elsewhere, they may be refused there")
    right = line("Set it right, or ", Code("resource_quota"), " in ", Code("policies/teams.yaml"))
    return _message(Symbol.LOOK, first, goes_on, _concerned(trouble), right)


def keys_without_effect(trouble: QueueTrouble) -> Message:
    """A ResourceQuota limits devices by keys that Kubernetes does not count."""
    keys = trouble.words.split(", ")
    have = "have" if len(keys) > 1 else "has"
    first = line(_where(trouble), ": ", Theirs(" and ".join(keys)), f" {have} no effect")
    counts = line("Kubernetes counts GPUs by ", Code("requests."), " alone. The bot changes only that")
    return _message(Symbol.LOOK, first, counts, line("Nobody should rely on that: take it out"))
