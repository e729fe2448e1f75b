"""Who is pinged by a message: user, group and broadcast mentions in it, and the person at the other end of a DM.

Only marked-up places count: `mrkdwn` text and rich_text elements. `plain_text` and rich_text `text` are just text,
which is how other people's words stay harmless. With blocks, the top-level `text` is a fallback and pings nobody.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from bot.demo.slack.entities import Message, Notification
from bot.demo.slack.workspace import Workspace

_ENTITY = re.compile(
    r"<(?:@(?P<user>[UW][A-Z0-9]+)|!subteam\^(?P<group>S[A-Z0-9]+)|!(?P<range>here|channel|everyone))[|>]"
)

Why: TypeAlias = Literal["mention", "group", "broadcast"]


class Mention(NamedTuple):
    why: Why
    target: str


def mentions(message: Message) -> Iterator[Mention]:
    """Every mention the message makes, in reading order."""
    if message.blocks:
        yield from _in_tree(list(message.blocks))
    else:
        yield from _in_mrkdwn(message.text)
    yield from _in_tree(list(message.attachments))


def pinged(message: Message, workspace: Workspace) -> list[Notification]:
    """One notification per person in the channel; the author is never pinged by itself."""
    channel = workspace.channels[message.channel]
    found: dict[str, Notification] = {}
    for mention in mentions(message):
        for user in _people(mention, workspace, channel.members):
            if user in channel.members and user != message.author:
                found.setdefault(user, Notification(user=user, message=message, why=mention.why))
    if channel.dm_with is not None and channel.dm_with != message.author:
        found.setdefault(channel.dm_with, Notification(user=channel.dm_with, message=message, why="dm"))
    return [n for n in found.values() if not workspace.people[n.user].is_bot]


def _people(mention: Mention, workspace: Workspace, members: frozenset[str]) -> Iterable[str]:
    match mention.why:
        case "mention":
            return (mention.target,)
        case "group":
            group = workspace.groups.get(mention.target)
            return group.members if group else ()
        case "broadcast":
            return sorted(members)


def _in_tree(node: Any) -> Iterator[Mention]:
    if isinstance(node, list):
        for item in node:
            yield from _in_tree(item)
    elif isinstance(node, dict):
        yield from _in_element(node)
        for value in node.values():
            if isinstance(value, dict | list):
                yield from _in_tree(value)


def _in_element(node: dict[str, Any]) -> Iterator[Mention]:
    match node:
        case {"type": "mrkdwn", "text": str(text)}:
            yield from _in_mrkdwn(text)
        case {"type": "user", "user_id": str(user)}:
            yield Mention("mention", user)
        case {"type": "usergroup", "usergroup_id": str(group)}:
            yield Mention("group", group)
        case {"type": "broadcast", "range": str(range_)}:
            yield Mention("broadcast", range_)


def _in_mrkdwn(text: str) -> Iterator[Mention]:
    for match in _ENTITY.finditer(text):
        if match["user"]:
            yield Mention("mention", match["user"])
        elif match["group"]:
            yield Mention("group", match["group"])
        else:
            yield Mention("broadcast", match["range"])
