"""The Chat role over Slack's Web API. Built by app/parts; called by the deliverer and by the answers in chat/."""

from collections.abc import Callable, Iterator
from datetime import datetime
from http.client import HTTPException
from typing import Any

from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from bot.adapters.slack.calls import TIMEOUT_SECONDS, AnswerLost, call, speak
from bot.adapters.slack.directory import Directory
from bot.adapters.slack.newer_blocks import NewerBlocks
from bot.core.errors import Rejected, Unavailable
from bot.core.messages import Home, Message, MessageRef, Modal
from bot.core.people import Person
from bot.ports.chat import PostUnknown
from bot.views.home import home_json
from bot.views.modal_json import modal_json

EVENT_TYPE = "gpuq_notice"
HISTORY_PAGE = 200
MOST_LINKS = 1_000
"""Links that are remembered: many people are shown the same few."""


class SlackChat:
    """Implements ports.chat.Chat."""

    def __init__(self, client: WebClient, directory: Directory) -> None:
        self._client = client
        self._directory = directory
        self._newer_blocks = NewerBlocks()
        self._links: dict[MessageRef, str] = {}

    def post(self, to: str, message: Message, notice_id: str, thread: MessageRef | None = None) -> MessageRef:
        """The DM's own id comes back for a user id: chat.update takes only that."""

        def send(shown: Message) -> dict[str, Any]:
            return speak(
                self._client.chat_postMessage,
                channel=thread.channel if thread else to,
                text=shown.text,
                blocks=list(shown.blocks),
                thread_ts=thread.ts if thread else None,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"id": notice_id}},
                unfurl_links=False,
                unfurl_media=False,
            )

        try:
            answer = self._newer_blocks.message(message, send)
        except AnswerLost as error:
            raise PostUnknown(str(error)) from error
        return MessageRef(answer["channel"], answer["ts"])

    def update(self, ref: MessageRef, message: Message) -> None:
        """Text and blocks are both sent: an update without blocks would take them away."""
        place = {"channel": ref.channel, "ts": ref.ts}

        def send(shown: Message) -> dict[str, Any]:
            words = {"text": shown.text, "blocks": list(shown.blocks)}
            return self._safe_to_repeat(self._client.chat_update, through=speak, **place, **words)

        self._newer_blocks.message(message, send)

    def find(self, to: str, notice_id: str, since: datetime, thread: MessageRef | None = None) -> MessageRef | None:
        """Reads the history (of the thread, if it was posted to one) from `since` on."""
        channel = thread.channel if thread else self._channel_of(to)
        for message in self._history(channel, since, thread):
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("id") == notice_id:
                return MessageRef(channel, message["ts"])
        return None

    def respond(self, url: str, message: Message) -> None:
        """To the response_url of an arrival."""
        hook = WebhookClient(url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
        self._newer_blocks.message(message, lambda shown: _respond(hook, shown))

    def send_file(self, user: str, name: str, content: str) -> None:
        """Announced, uploaded and shared by the official client. After a lost answer it may be there all the same."""
        channel = self._channel_of(user)
        self._safe_to_repeat(self._client.files_upload_v2, channel=channel, filename=name, title=name, content=content)

    def open_view(self, trigger_id: str, modal: Modal) -> str:
        """Raises Rejected `expired_trigger_id` after 3 s."""
        answer = self._newer_blocks.modal(
            modal,
            lambda shown: self._safe_to_repeat(self._client.views_open, trigger_id=trigger_id, view=modal_json(shown)),
        )
        return str(answer["view"]["id"])

    def update_view(self, view_id: str, modal: Modal) -> None:
        """Raises Rejected `not_found` if it was closed."""
        self._newer_blocks.modal(
            modal,
            lambda shown: self._safe_to_repeat(self._client.views_update, view_id=view_id, view=modal_json(shown)),
        )

    def publish_home(self, user: str, home: Home, known: str | None) -> str:
        """The view's new hash."""
        answer = self._safe_to_repeat(self._client.views_publish, user_id=user, view=home_json(home), hash=known)
        return str(answer["view"]["hash"])

    def permalink(self, ref: MessageRef) -> str:
        """Asked once per message."""
        if ref not in self._links:
            answer = self._safe_to_repeat(self._client.chat_getPermalink, channel=ref.channel, message_ts=ref.ts)
            if len(self._links) >= MOST_LINKS:
                self._links.clear()
            self._links[ref] = str(answer["permalink"])
        return self._links[ref]

    def person(self, user: str) -> Person:
        """See Directory."""
        return self._directory.person(user)

    def group_members(self, group: str) -> frozenset[str]:
        """See Directory."""
        return self._directory.group_members(group)

    def _channel_of(self, to: str) -> str:
        if not to.startswith(("U", "W")):
            return to
        answer = self._safe_to_repeat(self._client.conversations_open, users=to)
        return str(answer["channel"]["id"])

    def _history(self, channel: str, since: datetime, thread: MessageRef | None) -> Iterator[dict[str, Any]]:
        arguments: dict[str, Any] = {
            "channel": channel,
            "oldest": f"{since.timestamp():.6f}",
            "inclusive": True,
            "limit": HISTORY_PAGE,
            "include_all_metadata": True,
        }
        method: Any = self._client.conversations_history
        if thread:
            arguments["ts"] = thread.ts
            method = self._client.conversations_replies
        while True:
            answer = self._safe_to_repeat(method, **arguments)
            yield from answer["messages"]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
            arguments["cursor"] = cursor

    def _safe_to_repeat(
        self, method: Any, *, through: Callable[..., dict[str, Any]] = call, **arguments: Any
    ) -> dict[str, Any]:
        """A lost answer to a call that may be repeated is just "try later". `through`: call or speak."""
        try:
            return through(method, **arguments)
        except AnswerLost as error:
            raise Unavailable("Slack", "no answer") from error


def _respond(hook: WebhookClient, message: Message) -> None:
    try:
        answer = hook.send(text=message.text, blocks=list(message.blocks), response_type="ephemeral")
    except (OSError, HTTPException) as error:
        raise Unavailable("Slack", "no answer") from error
    if answer.status_code == 429 or answer.status_code >= 500:
        raise Unavailable("Slack", f"response_url: status {answer.status_code}")
    if answer.status_code != 200:
        code = "invalid_blocks" if "invalid_blocks" in (answer.body or "") else "response_url"
        raise Rejected("Slack", code, f"status {answer.status_code}")
