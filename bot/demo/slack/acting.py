"""What people do: type commands, press buttons, fill in and submit forms, open the App Home. The acting half of
`SlackSim`; each act is delivered to the bot and comes back as a `Delivery`.

An act that a person could not do (no such button, not in the channel) raises LookupError: the test is wrong, not the
bot.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.demo.slack import forms, payloads
from bot.demo.slack.delivery import Courier, Delivery, Parcel, Tamper
from bot.demo.slack.entities import Json, Message, Person, View
from bot.demo.slack.outcomes import settle
from bot.demo.slack.world import World

HONEST = Tamper()
EVENT_RETRIES = 3


class Acting:
    """Needs a `world` and a `courier`, which `SlackSim` provides."""

    world: World

    def courier(self) -> Courier:
        raise NotImplementedError

    def type_command(self, user: str, channel: str, line: str, *, tamper: Tamper = HONEST) -> Delivery:
        """Type `/gpu-quota request 8` in a channel or DM the person is in."""
        command, _, text = line.partition(" ")
        with self.world.changed:
            person = self.world.workspace.person(user)
            place = self.world.workspace.channel(channel)
            if person.id not in place.members:
                raise LookupError(f"{person.name} is not in {place.name}")
            if command != self.world.setup.command:
                raise LookupError(f"{command} is not a valid command")
            payload = payloads.slash_command(self.world, person, place, command, text.strip())
        return self._deliver(Parcel(kind="slash_commands", payload=payload, tamper=tamper))

    def press(
        self,
        user: str,
        where: Message | View,
        action_id: str,
        *,
        value: str | None = None,
        block_id: str | None = None,
        tamper: Tamper = HONEST,
    ) -> Delivery:
        """Press a button, or choose from an overflow menu the option that `value` names, and agree to its dialog.

        `where` is the message or view as the person sees it: an old value is an old screen. `value` and `block_id`
        tell buttons with the same action_id apart.
        """
        with self.world.changed:
            person = self._who_sees(user, where)
            found = [
                (block, element)
                for block, element in forms.locate(where.blocks, action_id, block_id)
                if not forms.holds_value(element)
                and (element["type"] == "overflow" or value in (None, element.get("value")))
            ]
            block, element = _only(found, action_id)
            action = {"action_id": element["action_id"], "block_id": block["block_id"], "type": element["type"]}
            if element["type"] == "overflow":
                action["selected_option"] = forms.option(element, value)
            else:
                action |= {name: element[name] for name in ("text", "value", "style") if name in element}
            payload = payloads.block_actions(self.world, person, where, action)
        parcel = Parcel(kind="interactive", payload=payload, accepts_payload=False, tamper=tamper)
        return self._deliver(parcel, dialog=dialog(element))

    def choose(self, user: str, where: Message | View, action_id: str, value: Any) -> Delivery:
        """Fill in one input or select. It is sent at once if it stands outside an input block or dispatches."""
        with self.world.changed:
            person = self._who_sees(user, where)
            block, element = _only(list(forms.locate(where.blocks, action_id)), action_id)
            entered = forms.filled(element, value)
            if isinstance(where, View):
                where = self._entered(where, {action_id: value})
            named = {"action_id": element["action_id"], "block_id": block["block_id"]}
            sent = block["type"] != "input" or bool(block.get("dispatch_action"))
            payload = payloads.block_actions(self.world, person, where, entered | named) if sent else {}
        parcel = Parcel(kind="interactive", payload=payload, accepts_payload=False)
        return self._deliver(parcel, dialog=dialog(element)) if sent else Delivery(parcel=parcel, sent=False)

    def suggest(self, user: str, where: Message | View, action_id: str, typed: str) -> Delivery:
        """Type into an external select; the options are in the delivery's `answer`."""
        with self.world.changed:
            person = self._who_sees(user, where)
            block, element = _only(list(forms.locate(where.blocks, action_id)), action_id)
            payload = payloads.block_suggestion(self.world, person, where, block, element) | {"value": typed}
        return self._deliver(Parcel(kind="interactive", payload=payload))

    def submit_view(self, user: str, values: Mapping[str, Any] | None = None, *, tamper: Tamper = HONEST) -> Delivery:
        """Fill in the top modal (by action_id or block_id) and press its submit button.

        What Slack's client refuses by itself is not sent: `sent` is false and `field_errors` says why.
        """
        with self.world.changed:
            view = self._entered(self._top_view(user), values or {})
            if not view.body.get("submit"):
                raise LookupError("this view has no submit button")
            wrong = forms.complaints(view.blocks, forms.state(view.blocks, view.state))
            parcel = Parcel(kind="interactive", payload=payloads.view_submission(self.world, view), tamper=tamper)
        return Delivery(parcel=parcel, sent=False, field_errors=wrong) if wrong else self._deliver(parcel)

    def close_view(self, user: str, *, everything: bool = False) -> Delivery:
        """Close the top modal, or all of them. The bot hears of it only where it asked to (`notify_on_close`)."""
        with self.world.changed:
            view = self._top_view(user)
            if everything:
                self.world.surfaces.clear(user)
            else:
                self.world.surfaces.close(view)
            payload = payloads.view_closed(self.world, view, is_cleared=everything)
        parcel = Parcel(kind="interactive", payload=payload, accepts_payload=False)
        return self._deliver(parcel) if view.body.get("notify_on_close") else Delivery(parcel=parcel, sent=False)

    def open_home(self, user: str) -> Delivery:
        """Open the app's Home tab."""
        with self.world.changed:
            payload = payloads.home_opened(self.world, self.world.workspace.person(user))
        return self._deliver(Parcel(kind="events_api", payload=payload, accepts_payload=False))

    def use_shortcut(self, user: str, callback_id: str) -> Delivery:
        """Run a global shortcut."""
        with self.world.changed:
            payload = payloads.shortcut(self.world, self.world.workspace.person(user), callback_id)
        return self._deliver(Parcel(kind="interactive", payload=payload, accepts_payload=False))

    def use_message_shortcut(self, user: str, message: Message, callback_id: str) -> Delivery:
        """Run a shortcut from a message's menu."""
        with self.world.changed:
            person = self._who_sees(user, message)
            payload = payloads.message_shortcut(self.world, person, message, callback_id)
        return self._deliver(Parcel(kind="interactive", payload=payload, accepts_payload=False))

    def send_event(self, user: str, content: Json) -> Delivery:
        """Send any other Events API event that concerns `user`; `content` is the inner event."""
        with self.world.changed:
            payload = payloads.event(self.world, self.world.workspace.person(user), content)
        return self._deliver(Parcel(kind="events_api", payload=payload, accepts_payload=False))

    def repeat(self, delivery: Delivery) -> Delivery:
        """Deliver the very same thing once more: same envelope id, or same signed bytes."""
        return self._deliver(delivery.parcel)

    def redeliver(self, delivery: Delivery, reason: str = "timeout") -> Delivery:
        """Deliver again as Slack does when nobody acknowledged: a new envelope, the same payload, one attempt up."""
        parcel = delivery.parcel
        again = replace(
            parcel, retry_attempt=parcel.retry_attempt + 1, retry_reason=reason, envelope_id=None, signed=None
        )
        return self._deliver(again)

    def redeliver_unacked(self) -> tuple[Delivery, ...]:
        """What Slack does by itself after a while: every event nobody acknowledged comes again, up to three times."""
        events = [d for d in self.world.journal.deliveries() if d.parcel.kind == "events_api"]
        latest = {delivery.payload["event_id"]: delivery for delivery in events}
        lost = [d for d in latest.values() if not d.acked and d.parcel.retry_attempt < EVENT_RETRIES]
        return tuple(self.redeliver(delivery) for delivery in lost)

    def forge(self, delivery: Delivery, tamper: Tamper) -> Delivery:
        """Send the payload of an earlier delivery in a request that is wrong in some way (HTTP mode)."""
        return self._deliver(replace(delivery.parcel, tamper=tamper, envelope_id=None, signed=None))

    def _deliver(self, parcel: Parcel, dialog: str | None = None) -> Delivery:
        receipt = self.courier().carry(parcel)
        with self.world.changed:
            outcome = replace(settle(self.world, receipt), dialog=dialog)
            self.world.journal.add_delivery(outcome)
        return outcome

    def _top_view(self, user: str) -> View:
        stack = self.world.surfaces.stack(user)
        if not stack:
            raise LookupError(f"{user} has no modal open")
        return stack[-1]

    def _entered(self, view: View, values: Mapping[str, Any]) -> View:
        view = self.world.surfaces.current(view)
        state = forms.state(view.blocks, view.state)
        for name, value in values.items():
            block, element = _only(list(forms.locate(view.blocks, name)), name)
            state[block["block_id"]][element["action_id"]] = forms.filled(element, value)
        return self.world.surfaces.remember(view, state)

    def _who_sees(self, user: str, where: Message | View) -> Person:
        person = self.world.workspace.person(user)
        if isinstance(where, View):
            visible = where.user == user
        elif where.only_for is not None:
            visible = where.only_for == user
        else:
            visible = user in self.world.workspace.channel(where.channel).members
        if not visible:
            raise LookupError(f"{person.name} does not see this")
        return person


def dialog(element: Json) -> str | None:
    """The confirm dialog of an element, as read: title, text, and its two buttons."""
    confirm = element.get("confirm")
    if confirm is None:
        return None
    words = [confirm[part]["text"] for part in ("title", "text", "confirm", "deny")]
    return f"{words[0]}\n{words[1]}\n[{words[2]}] [{words[3]}]"


def _only(found: list[tuple[Json, Json]], name: str) -> tuple[Json, Json]:
    if len(found) != 1:
        raise LookupError(f"{len(found)} elements {name} here, not one")
    return found[0]
