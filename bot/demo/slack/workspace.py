"""Who and what is in the workspace: people, channels, DMs, user groups. Called by the Web API's methods and by the sim.

Look-ups raise `SlackError` with the code the Web API answers. Callers hold the world's lock.
"""

from dataclasses import replace
from typing import Any

from bot.demo.slack.entities import Channel, Person, UserGroup
from bot.demo.slack.errors import SlackError
from bot.demo.slack.stamps import Ids


class Workspace:
    def __init__(self, ids: Ids, bot: Person) -> None:
        self._ids = ids
        self.bot = bot
        self.people: dict[str, Person] = {bot.id: bot}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, UserGroup] = {}
        self._dms: dict[str, str] = {}

    def add_person(self, name: str, **traits: Any) -> Person:
        """Hire someone; `traits` are `Person`'s fields. Without an `id` one is counted (`U…`)."""
        user_id = traits.pop("id", None) or self._ids.next("U")
        traits.setdefault("real_name", name.replace(".", " ").replace("-", " ").title())
        traits.setdefault("email", f"{name}@example.com")
        person = Person(id=user_id, name=name, **traits)
        self.people[person.id] = person
        return person

    def change_person(self, user: str, **traits: Any) -> Person:
        self.people[user] = replace(self.person(user), **traits)
        return self.people[user]

    def add_channel(self, name: str, members: frozenset[str], *, is_private: bool = False) -> Channel:
        prefix = "G" if is_private else "C"
        channel = Channel(id=self._ids.next(prefix), name=name, members=members, is_private=is_private)
        self.channels[channel.id] = channel
        return channel

    def change_channel(self, channel: str, **traits: Any) -> Channel:
        self.channels[channel] = replace(self.channel(channel), **traits)
        return self.channels[channel]

    def add_group(self, handle: str, members: tuple[str, ...]) -> UserGroup:
        group = UserGroup(id=self._ids.next("S"), handle=handle, name=handle, members=members)
        self.groups[group.id] = group
        return group

    def change_group(self, group: str, **traits: Any) -> UserGroup:
        self.groups[group] = replace(self.group(group), **traits)
        return self.groups[group]

    def person(self, user: str) -> Person:
        if user not in self.people:
            raise SlackError("user_not_found")
        return self.people[user]

    def group(self, group: str) -> UserGroup:
        if group not in self.groups:
            raise SlackError("no_such_subteam")
        return self.groups[group]

    def channel(self, channel: str) -> Channel:
        """The channel with this id. Names and user ids are not ids of channels: `channel_not_found`."""
        if channel not in self.channels:
            raise SlackError("channel_not_found")
        return self.channels[channel]

    def seen_by_bot(self, channel: str) -> Channel:
        """As `channel`, and a private one the bot is not in does not exist for it."""
        found = self.channel(channel)
        if found.is_private and self.bot.id not in found.members:
            raise SlackError("channel_not_found")
        return found

    def dm_of(self, user: str) -> Channel | None:
        """The bot's DM with `user`, if it was ever opened."""
        return self.channels.get(self._dms.get(user, ""))

    def open_dm(self, user: str) -> Channel:
        """The bot's DM with `user`, opened if need be. Errors: `user_not_found`, `user_disabled`, `cannot_dm_bot`."""
        person = self.person(user)
        if person.deleted:
            raise SlackError("user_disabled")
        if person.is_bot:
            raise SlackError("cannot_dm_bot")
        known = self.dm_of(user)
        if known is not None:
            return known
        members = frozenset({user, self.bot.id})
        dm = Channel(id=self._ids.next("D"), name="directmessage", members=members, dm_with=user)
        self.channels[dm.id] = dm
        self._dms[user] = dm.id
        return dm
