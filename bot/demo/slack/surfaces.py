"""Modals in front of people (at most three on top of each other) and App Homes. Called with the lock held."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from bot.demo.slack.entities import Json, View
from bot.demo.slack.errors import SlackError
from bot.demo.slack.stamps import Ids, Stamps
from bot.demo.slack.timeline import with_ids

STACK_LIMIT = 3


class Surfaces:
    def __init__(self, ids: Ids, stamps: Stamps) -> None:
        self._ids = ids
        self._stamps = stamps
        self._stacks: dict[str, list[View]] = {}
        self._homes: dict[str, View] = {}

    def stack(self, user: str) -> tuple[View, ...]:
        """The person's open modals, the top one last."""
        return tuple(self._stacks.get(user, ()))

    def home(self, user: str) -> View | None:
        return self._homes.get(user)

    def open(self, user: str, body: Json) -> View:
        """Show a modal in place of whatever modals are open."""
        self._refuse_known_external_id(body)
        view = self._new(user, body)
        self._stacks[user] = [view]
        return view

    def push(self, user: str, body: Json) -> View:
        """Lay a modal on top. Errors: `push_limit_reached`, and `not_found` with no modal open."""
        stack = self._stacks.get(user)
        if not stack:
            raise SlackError("not_found")
        if len(stack) >= STACK_LIMIT:
            raise SlackError("push_limit_reached")
        self._refuse_known_external_id(body)
        view = replace(self._new(user, body), root_id=stack[0].id, previous_id=stack[-1].id)
        stack.append(view)
        return view

    def update(self, view: View, body: Json, expected_hash: str | None = None) -> View:
        """Change an open modal; inputs that keep block_id and action_id keep what was typed. Error: `hash_conflict`."""
        if expected_hash is not None and expected_hash != view.hash:
            raise SlackError("hash_conflict")
        if body.get("external_id") != view.body.get("external_id"):
            self._refuse_known_external_id(body)
        named = self._named(body)
        updated = replace(view, body=named, hash=self._stamps.next(), state=_kept(view, named["blocks"]))
        self._put(updated)
        return updated

    def publish(self, user: str, body: Json, expected_hash: str | None = None) -> View:
        """Set the person's App Home. Error: `hash_conflict`."""
        known = self._homes.get(user)
        if expected_hash is not None and (known is None or known.hash != expected_hash):
            raise SlackError("hash_conflict")
        view = self._new(user, body)
        self._homes[user] = replace(view, id=known.id, root_id=known.id) if known else view
        return self._homes[user]

    def find(self, view_id: str | None, external_id: str | None) -> View:
        """An open modal by either of its ids. Error: `not_found`."""
        for view in self._open_modals():
            if view.id == view_id or (external_id and view.external_id == external_id):
                return view
        raise SlackError("not_found")

    def current(self, view: View) -> View:
        """A view somebody looked at as it is now. Error: `not_found`."""
        home = self._homes.get(view.user)
        return home if home is not None and home.id == view.id else self.find(view.id, None)

    def close(self, view: View) -> None:
        """Take a modal away; the one below shows again."""
        stack = self._stacks.get(view.user, [])
        stack[:] = [known for known in stack if known.id != view.id]

    def clear(self, user: str) -> None:
        self._stacks.pop(user, None)

    def remember(self, view: View, state: dict[str, dict[str, Json]]) -> View:
        """Keep what the person has filled in so far."""
        updated = replace(view, state=state)
        self._put(updated)
        return updated

    def _put(self, view: View) -> None:
        if view.kind == "home":
            self._homes[view.user] = view
            return
        stack = self._stacks.get(view.user, [])
        stack[:] = [view if known.id == view.id else known for known in stack]

    def _new(self, user: str, body: Json) -> View:
        view_id = self._ids.next("V")
        return View(id=view_id, user=user, body=self._named(body), hash=self._stamps.next(), root_id=view_id)

    def _named(self, body: Json) -> Json:
        return {**body, "blocks": list(with_ids(body.get("blocks", ()), self._ids))}

    def _open_modals(self) -> Iterator[View]:
        for stack in self._stacks.values():
            yield from stack

    def _refuse_known_external_id(self, body: Json) -> None:
        external_id = body.get("external_id")
        if external_id and any(view.external_id == external_id for view in self._open_modals()):
            raise SlackError("duplicate_external_id")


def _kept(view: View, blocks: Iterable[Any]) -> dict[str, dict[str, Json]]:
    still_there = {block["block_id"]: block for block in blocks}
    kept: dict[str, dict[str, Json]] = {}
    for block_id, values in view.state.items():
        actions = {element.get("action_id") for element in interactive(still_there.get(block_id, {}))}
        remaining = {action_id: value for action_id, value in values.items() if action_id in actions}
        if remaining:
            kept[block_id] = remaining
    return kept


def interactive(block: Json) -> list[Json]:
    """The elements of one block a person can act on."""
    found = [block[place] for place in ("accessory", "element") if place in block]
    if block.get("type") == "actions":
        found.extend(block["elements"])
    if block.get("type") == "card":
        found.extend(block.get("actions", ()))
    return [element for element in found if element.get("type") != "image"]
