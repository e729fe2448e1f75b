"""The ResourceQuota beside a loan's queue, in a line of its card.

With Kueue it is a second gate: a job that the queue admits gets no pods above it. Called by loan_state.
"""

from bot.core.standing import LoanStanding, RoomStanding
from bot.views.amounts import number
from bot.views.impact_lines import moved
from bot.views.kit import line
from bot.views.parts import VENDOR_LIMIT, Line, Theirs


def room_line(standing: LoanStanding | None) -> tuple[Line, ...]:
    """Of a loan in force: "ResourceQuota vision-train/gpu 16 -> 24", or why it is not raised and what follows."""
    room = standing.beside if standing else None
    if room is None or standing is None:
        return ()
    if room.in_question:
        quota = Theirs(room.quota.queue)
        changed = line("ResourceQuota ", quota, f" was changed to {number(room.quota.after)} outside the bot")
        return (line(changed, ": it is left alone until an admin says what the number means"),)
    if room.blocked is not None:
        why = Theirs(room.blocked, VENDOR_LIMIT)
        return (line("ResourceQuota ", Theirs(room.quota.queue), " is not raised, pods above it are refused: ", why),)
    if room.raised < standing.raised:
        return (line("ResourceQuota ", Theirs(room.quota.queue), " is being raised"),)
    return (line("ResourceQuota ", moved(room.quota)),)


def room_left_line(standing: LoanStanding | None) -> tuple[Line, ...]:
    """Of a loan that is over: what of it is still in the ResourceQuota, and why."""
    room: RoomStanding | None = standing.beside if standing else None
    if room is None or not room.raised:
        return ()
    quota = Theirs(room.quota.queue)
    if room.in_question:
        return (line("ResourceQuota ", quota, f" left at {number(room.quota.after)}: an admin must say what it means"),)
    why = line(": ", Theirs(room.blocked, VENDOR_LIMIT)) if room.blocked else ()
    return (line("ResourceQuota ", quota, " is lowered last", why),)
