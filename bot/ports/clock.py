"""The role that says what time it is."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Says what time it is: aware, UTC."""

    def __call__(self) -> datetime: ...
