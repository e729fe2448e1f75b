"""What was said: messages per channel, threads, edits, ephemerals, and who was pinged. Called with the lock held."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bot.demo.slack.entities import Json, Message, Notification
from bot.demo.slack.errors import SlackError
from bot.demo.slack.mentions import pinged
from bot.demo.slack.stamps import Ids, Stamps
from bot.demo.slack.workspace import Workspace


class Timeline:
    def __init__(self, workspace: Workspace, stamps: Stamps, ids: Ids) -> None:
        self._workspace = workspace
        self._stamps = stamps
        self._ids = ids
        self._posts: dict[str, dict[str, Message]] = {}
        self._replies: dict[tuple[str, str], list[str]] = {}
        self._ephemerals: dict[str, dict[str, Message]] = {}
        self.notifications: list[Notification] = []

    def post(self, channel: str, author: str, **content: Any) -> Message:
        """Say something where all members see it. A reply to a reply joins its thread.

        A reply to a message that is gone becomes an ordinary post, without a word: that is what Slack does.
        """
        parent = self._posts.get(channel, {}).get(content.pop("thread_ts", None) or "")
        thread_ts = None if parent is None else parent.thread_ts or parent.ts
        content["blocks"] = self._with_block_ids(content.get("blocks", ()))
        message = Message(channel=channel, ts=self._stamps.next(), author=author, thread_ts=thread_ts, **content)
        self._posts.setdefault(channel, {})[message.ts] = message
        if thread_ts is not None:
            self._replies.setdefault((channel, thread_ts), []).append(message.ts)
        self.notifications.extend(pinged(message, self._workspace))
        return message

    def whisper(self, user: str, channel: str, author: str, **content: Any) -> Message:
        """Say something only `user` sees, until the next reload."""
        content["blocks"] = self._with_block_ids(content.get("blocks", ()))
        message = Message(channel=channel, ts=self._stamps.next(), author=author, only_for=user, **content)
        self._ephemerals.setdefault(user, {})[message.ts] = message
        return message

    def edit(self, message: Message, **content: Any) -> Message:
        """Replace parts of a post or of an ephemeral. Pings nobody."""
        if "blocks" in content:
            content["blocks"] = self._with_block_ids(content["blocks"])
        edited = replace(message, edited_ts=self._stamps.next(), **content)
        self._shelf(message)[message.ts] = edited
        return edited

    def remove(self, message: Message) -> None:
        self._shelf(message).pop(message.ts, None)

    def find(self, channel: str, ts: str) -> Message:
        """The post as it stands. Ephemerals cannot be found: `message_not_found`."""
        message = self._posts.get(channel, {}).get(ts)
        if message is None:
            raise SlackError("message_not_found")
        return message

    def current(self, message: Message) -> Message | None:
        """What became of a message somebody looked at: its present state, or None when it is gone."""
        return self._shelf(message).get(message.ts)

    def in_channel(self, channel: str) -> list[Message]:
        """All posts of a channel, oldest first, replies among them."""
        return list(self._posts.get(channel, {}).values())

    def thread(self, channel: str, ts: str) -> list[Message]:
        """The parent and its replies, oldest first; nothing when the parent is gone."""
        posts = self._posts.get(channel, {})
        if ts not in posts:
            return []
        return [posts[each] for each in (ts, *self._replies.get((channel, ts), ())) if each in posts]

    def ephemerals(self, user: str) -> list[Message]:
        return list(self._ephemerals.get(user, {}).values())

    def forget_ephemerals(self, user: str) -> None:
        """The person reloads the client."""
        self._ephemerals.pop(user, None)

    def _shelf(self, message: Message) -> dict[str, Message]:
        if message.only_for is not None:
            return self._ephemerals.setdefault(message.only_for, {})
        return self._posts.setdefault(message.channel, {})

    def _with_block_ids(self, blocks: Any) -> tuple[Json, ...]:
        return tuple(with_ids(blocks, self._ids))


def with_ids(blocks: Any, ids: Ids) -> Iterator[Json]:
    """Blocks and their interactive elements as Slack hands them back: each has an id, made up where none was given."""
    for block in blocks:
        named: Json = {**block, "block_id": block.get("block_id") or ids.next("b")}
        if block["type"] == "actions":
            named["elements"] = [_with_action_id(each, ids) for each in block["elements"]]
        if "actions" in block:
            named["actions"] = [_with_action_id(each, ids) for each in block["actions"]]
        for place in ("accessory", "element"):
            if place in block:
                named[place] = _with_action_id(block[place], ids)
        yield named


def _with_action_id(element: Json, ids: Ids) -> Json:
    return (
        element if element["type"] == "image" or element.get("action_id") else {**element, "action_id": ids.next("a")}
    )
