"""What people see: channels, DMs, ephemerals, forms, App Homes, notifications. The looking half of `SlackSim`."""

import time
from collections.abc import Callable
from typing import TypeVar

from bot.demo.slack.dates import Eye
from bot.demo.slack.delivery import Delivery
from bot.demo.slack.entities import Channel, Message, Notification, Person, SharedFile, UserGroup, View
from bot.demo.slack.journal import ApiCall
from bot.demo.slack.render import Words, render_message, render_view
from bot.demo.slack.world import World

T = TypeVar("T")


class Looking:
    """Needs a `world`, which `SlackSim` provides. Everything returned is a value that changes no more."""

    world: World

    def messages(self, channel: str) -> tuple[Message, ...]:
        """Every message of a channel or DM, by id, oldest first; replies are among them."""
        with self.world.changed:
            return tuple(self.world.timeline.in_channel(self.world.workspace.channel(channel).id))

    def thread(self, message: Message) -> tuple[Message, ...]:
        """The replies to a message, oldest first."""
        with self.world.changed:
            found = self.world.timeline.thread(message.channel, message.thread_ts or message.ts)
            return tuple(reply for reply in found if reply.is_reply)

    def dms(self, user: str) -> tuple[Message, ...]:
        """The messages of the person's DM with the bot, oldest first."""
        with self.world.changed:
            dm = self.world.workspace.dm_of(user)
            return tuple(self.world.timeline.in_channel(dm.id)) if dm is not None else ()

    def ephemerals(self, user: str) -> tuple[Message, ...]:
        """What only this person saw since the last reload, oldest first."""
        with self.world.changed:
            return tuple(self.world.timeline.ephemerals(user))

    def reload(self, user: str) -> None:
        """The person restarts the client: ephemerals are gone."""
        with self.world.changed:
            self.world.timeline.forget_ephemerals(user)

    def current(self, message: Message) -> Message | None:
        """What a message seen earlier is now, or None when it was deleted."""
        with self.world.changed:
            return self.world.timeline.current(message)

    def open_view(self, user: str) -> View | None:
        """The top modal in front of the person."""
        with self.world.changed:
            stack = self.world.surfaces.stack(user)
            return stack[-1] if stack else None

    def home(self, user: str) -> View | None:
        """The person's App Home as last published."""
        with self.world.changed:
            return self.world.surfaces.home(user)

    def notifications(self, user: str) -> tuple[Notification, ...]:
        """What pinged the person, oldest first."""
        with self.world.changed:
            return tuple(n for n in self.world.timeline.notifications if n.user == user)

    def files(self) -> tuple[SharedFile, ...]:
        with self.world.changed:
            return tuple(self.world.uploads.shared.values())

    def render_text(self, seen: Message | View, reader: str | None = None) -> str:
        """The words a person reads. `reader` is a user id; without one: whose DM, ephemeral or view it is, else UTC."""
        with self.world.changed:
            words = self._words(reader or self._natural_reader(seen))
        return render_view(seen, words) if isinstance(seen, View) else render_message(seen, words)

    def calls(self, method: str | None = None) -> tuple[ApiCall, ...]:
        """The journal of Web API calls (also `response_url` and `upload`), oldest first."""
        return self.world.journal.calls(method)

    def deliveries(self) -> tuple[Delivery, ...]:
        """The journal of what was delivered to the bot, oldest first."""
        return self.world.journal.deliveries()

    def wait_for(self, predicate: Callable[[], T | None], timeout: float = 5.0) -> T:
        """The first truthy value of `predicate`, asked again at every change, and every 50 ms for others.

        Raises TimeoutError after `timeout` real seconds.
        """
        deadline = time.monotonic() + timeout
        with self.world.changed:
            while not (found := predicate()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"not within {timeout} s")
                self.world.changed.wait(min(left, 0.05))
            return found

    def add_person(self, name: str, **traits: object) -> Person:
        """Hire someone; `traits` are `Person`'s fields."""
        with self.world.changed:
            return self.world.workspace.add_person(name, **traits)

    def change_person(self, user: str, **traits: object) -> Person:
        with self.world.changed:
            return self.world.workspace.change_person(user, **traits)

    def add_channel(self, name: str, *members: str, is_private: bool = False, with_bot: bool = True) -> Channel:
        """Make a channel with these people, and the bot unless told otherwise."""
        with self.world.changed:
            everyone = frozenset(members) | ({self.world.bot.id} if with_bot else frozenset())
            return self.world.workspace.add_channel(name, everyone, is_private=is_private)

    def change_channel(self, channel: str, **traits: object) -> Channel:
        """Change `name`, `members`, `is_archived` or `is_private`."""
        with self.world.changed:
            return self.world.workspace.change_channel(channel, **traits)

    def add_group(self, handle: str, *members: str) -> UserGroup:
        with self.world.changed:
            return self.world.workspace.add_group(handle, members)

    def change_group(self, group: str, **traits: object) -> UserGroup:
        """Change `members`, `handle` or `is_disabled`."""
        with self.world.changed:
            return self.world.workspace.change_group(group, **traits)

    def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """A person posts a message of their own; the bot is not told."""
        with self.world.changed:
            message = self.world.timeline.post(channel, user, text=text, thread_ts=thread_ts)
            self.world.changed.notify_all()
            return message

    def open_dm(self, user: str) -> Channel:
        """The person's DM with the bot."""
        with self.world.changed:
            return self.world.workspace.open_dm(user)

    def expire_triggers(self) -> None:
        """As if 3 s had passed for every trigger id handed out."""
        with self.world.changed:
            self.world.triggers.expire_all()

    def _natural_reader(self, seen: Message | View) -> str | None:
        if isinstance(seen, View):
            return seen.user
        return seen.only_for or self.world.workspace.channel(seen.channel).dm_with

    def _words(self, reader: str | None) -> Words:
        workspace = self.world.workspace
        now = self.world.clocks.now()
        person = workspace.person(reader) if reader else None
        return Words(
            eye=Eye(now, person.tz, person.locale) if person else Eye(now),
            people={each.id: each.name for each in workspace.people.values()},
            channels={each.id: each.name for each in workspace.channels.values()},
            groups={each.id: each.handle for each in workspace.groups.values()},
        )
