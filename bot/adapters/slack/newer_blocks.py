"""Tables and alerts are young: a Slack that does not take them yet gets the same in older blocks. Used by slack/chat.

It is found out by the first refusal, which says for certain that nothing was shown, and then known for the process.
"""

from collections.abc import Callable
from typing import TypeVar

import structlog

from bot.core.errors import Rejected
from bot.core.messages import Message, Modal
from bot.views.degrade import plainer, plainer_modal

log = structlog.get_logger(__name__)

Shown = TypeVar("Shown", Message, Modal)
Answer = TypeVar("Answer")

_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_arguments"})
"""The last is what views are refused with."""


class NewerBlocks:
    """Sends as it is, or plainer where that is refused."""

    def __init__(self) -> None:
        self._are_refused = False

    def message(self, message: Message, send: Callable[[Message], Answer]) -> Answer:
        """Raises what `send` raises."""
        return self._send(message, plainer(message), send)

    def modal(self, modal: Modal, send: Callable[[Modal], Answer]) -> Answer:
        """Raises what `send` raises."""
        return self._send(modal, plainer_modal(modal), send)

    def _send(self, rich: Shown, plain: Shown, send: Callable[[Shown], Answer]) -> Answer:
        if plain == rich:
            return send(rich)
        if self._are_refused:
            return send(plain)
        try:
            return send(rich)
        except Rejected as error:
            if error.code not in _REFUSED:
                raise
            why = str(error)
        answer = send(plain)
        self._are_refused = True
        log.warning("Slack does not take tables or alerts; older blocks are used from now on", why=why)
        return answer
