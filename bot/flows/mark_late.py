"""A message that could not be posted in time says since when it waited. Called by flows/deliver_notices."""

from datetime import datetime, timedelta

from bot.core.messages import Message
from bot.core.notices import Notice
from bot.views.kinds import NoticeKind
from bot.views.repeat import as_late

LATE = timedelta(minutes=5)
"""A message that could not be posted for so long says since when it waited."""
_SAY_NOW = frozenset(
    {
        NoticeKind.REQUEST_CARD,
        NoticeKind.CARD_THREAD_LINE,
        NoticeKind.NEXT_STEP,
        NoticeKind.OUTSIDE_EDIT,
        NoticeKind.SLACK_BACK,
        NoticeKind.ALERT,
        NoticeKind.ALERT_LINE,
        NoticeKind.ALERT_STORM,
    }
)
"""These say what is so now, or carry their own time."""


def marked_late(notice: Notice, message: Message, now: datetime) -> Message:
    """The message as it is to be posted now."""
    due = notice.created_at
    if notice.not_before and not notice.attempts:  # after a failed try `not_before` is when to try again
        due = max(due, notice.not_before)
    return message if now - due < LATE or notice.draft.kind in _SAY_NOW else as_late(message, due)
