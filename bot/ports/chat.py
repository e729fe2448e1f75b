"""Slack, as far as flows speak to it. Implemented by adapters/slack."""

from datetime import datetime
from typing import Protocol

from bot.core.messages import Home, Message, MessageRef, Modal
from bot.core.people import Person


class PostUnknown(Exception):
    """A post was sent and its answer was lost: it may stand in the channel."""


class Chat(Protocol):
    """Slack, as far as flows speak to it. Only the deliverer posts and updates."""

    def post(self, to: str, message: Message, notice_id: str, thread: MessageRef | None = None) -> MessageRef:
        """Post to a channel id or user id with the notice's id in the metadata.

        Raises Unavailable if it certainly was not posted (429 with `retry_after`, not reached), PostUnknown if the
        answer was lost, Rejected with Slack's code if it never will be.
        """
        ...

    def update(self, ref: MessageRef, message: Message) -> None:
        """Replace text and blocks of a message of the bot's own. Safe to repeat."""
        ...

    def find(self, to: str, notice_id: str, since: datetime, thread: MessageRef | None = None) -> MessageRef | None:
        """The message that carries this notice id, from the history since then. Rejected if history cannot be read."""
        ...

    def respond(self, url: str, message: Message) -> None:
        """Answer an arrival where it came from, visible to that person only. Best effort: 5 uses, 30 minutes."""
        ...

    def send_file(self, user: str, name: str, content: str) -> None:
        """A file in the DM of a person. Not safe to repeat. Rejected `missing_scope` where the app may not."""
        ...

    def open_view(self, trigger_id: str, modal: Modal) -> str:
        """Open a modal within 3 s of the trigger; the view's id."""
        ...

    def update_view(self, view_id: str, modal: Modal) -> None:
        """Replace an open modal."""
        ...

    def publish_home(self, user: str, home: Home, known: str | None) -> str:
        """Replace what somebody sees in the app's Home tab; Slack's name for what it has then. Safe to repeat.

        Rejected `hash_conflict` if Slack has something else than what it called `known`; None replaces anything.
        """
        ...

    def permalink(self, ref: MessageRef) -> str:
        """Where a message can be opened in Slack. It never changes, and may be remembered."""
        ...

    def person(self, user: str) -> Person:
        """Who this is, at most 60 s old. Rejected `user_not_found`."""
        ...

    def group_members(self, group: str) -> frozenset[str]:
        """User ids of a user group (S...), at most 60 s old. A failed look-up raises: it is never an empty group."""
        ...
