"""Slack's way in: every listener stores what arrived, acknowledges it, and hands it on. Registered by app/run.

Nothing else happens on Bolt's threads. A kill after the acknowledgement loses nothing, since the row is there; a kill
before it makes Slack show an error, and the person tries again.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from slack_bolt import Ack, App, BoltResponse

from bot.chat import arrivals
from bot.core.errors import Unavailable
from bot.core.inbox import InboxItem
from bot.ports.clock import Clock
from bot.views.ids import Event, View
from bot.views.refusals import not_recorded

COMMAND = "/gpu-quota"
OURS = re.compile("^gpuq_")
NOT_RECORDED = not_recorded().text


class FormGate(Protocol):
    """What can be said about a submission at once, without asking anybody."""

    def __call__(self, item: InboxItem) -> Mapping[str, Any]:
        """The acknowledgement's payload: errors by block_id, or the view to show while it is worked on."""
        ...


class Listeners:
    """Puts arrivals into the inbox. `put` blocks until the row is durable; `offer` wakes a worker."""

    def __init__(
        self,
        put: Callable[[InboxItem], bool],
        offer: Callable[[InboxItem], None],
        gate: FormGate,
        clock: Clock,
    ) -> None:
        self._put = put
        self._offer = offer
        self._gate = gate
        self._clock = clock

    def register(self, app: App) -> None:
        """Listen to everything of ours."""
        app.command(COMMAND)(self._on_command)
        app.action(OURS)(self._on_action)
        app.view(OURS)(self._on_submission)
        app.shortcut(View.REQUEST_SHORTCUT.value)(self._on_shortcut)
        app.event(Event.HOME_OPENED.value)(self._on_home_opened)

    def _on_command(self, ack: Ack, body: dict[str, Any]) -> None:
        if self._store(arrivals.command(body, self._clock())):
            ack()
        else:
            ack(text=NOT_RECORDED, response_type="ephemeral")

    def _on_action(self, ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        # Slack shows a warning sign when a press is not acknowledged: right for one that was not recorded.
        if self._store(arrivals.action(body, action, self._clock())):
            ack()

    def _on_shortcut(self, ack: Ack, body: dict[str, Any]) -> None:
        if self._store(arrivals.shortcut(body, self._clock())):
            ack()

    def _on_home_opened(self, body: dict[str, Any]) -> BoltResponse | None:
        """Bolt acknowledges events by itself when this returns nothing. What is not acknowledged, Slack tells again.

        The tab of messages is in the same place in Slack, and nothing is shown there.
        """
        if body["event"].get("tab") != "home" or self._store(arrivals.event(body, self._clock())):
            return None
        return BoltResponse(status=503)

    def _on_submission(self, ack: Ack, body: dict[str, Any]) -> None:
        item = arrivals.submission(body, self._clock())
        answer = self._gate(item)
        if answer.get("response_action") != "errors" and not self._store(item):
            answer = {"response_action": "errors", "errors": {self._first_block(body): NOT_RECORDED}}
        ack(**answer)

    def _store(self, item: InboxItem) -> bool:
        """Whether it is in the inbox now. A redelivery is: its first delivery put it there."""
        try:
            new = self._put(item)
        except Unavailable:
            return False
        if new:
            self._offer(item)
        return True

    @staticmethod
    def _first_block(body: Mapping[str, Any]) -> str:
        inputs = [block["block_id"] for block in body["view"]["blocks"] if block.get("type") == "input"]
        return str(inputs[0]) if inputs else ""
