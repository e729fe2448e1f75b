"""The two fields of the request form that make a loan repeat: how often, and until when. Part of views/request_form."""

from datetime import datetime

from bot.core.messages import Block
from bot.core.series import Every
from bot.views.ids import REPEAT_ONCE, Field
from bot.views.inputs import Option, instant, select

REPEAT_LABELS = {Field.REPEAT: "Repeat", Field.REPEAT_UNTIL: "Repeat until"}
_OPTIONS = (
    Option(REPEAT_ONCE, "Once"),
    Option(Every.WEEK.value, "Every week", "On the day and at the time of the start"),
    Option(Every.WEEKDAY.value, "Every weekday", "Monday to Friday, at the time of the start"),
    Option(Every.DAY.value, "Every day", "At the time of the start"),
)


def repeat_fields(repeat: str, until: datetime | None) -> tuple[Block, ...]:
    """Start and end of the form are then those of the first time."""
    label = REPEAT_LABELS[Field.REPEAT_UNTIL]
    return (
        select(Field.REPEAT, REPEAT_LABELS[Field.REPEAT], _OPTIONS, repeat, "Start and end are those of the first one"),
        instant(Field.REPEAT_UNTIL, label, until, "If it repeats: none begins after this", optional=True),
    )
