"""People at work in the staged world: they type, press and read; the test says what they must have seen.

Used by tests that go through the whole bot. Every wait is for something that is seen, never for time.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import yaml

from bot.demo.run_stage import Stage
from bot.demo.slack import Delivery, Message, View


class Play:
    """One stage with its people. Names are those of bot/demo/run_stage.PEOPLE."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.slack = stage.slack
        self.kube = stage.kube

    def hire(self, name: str, channel: str, **traits: object) -> None:
        """Somebody new, in this channel."""
        if name not in self.stage.people:
            self.stage.people[name] = self.slack.add_person(name, **traits).id
        members = self.slack.world.workspace.channel(self.stage.channels[channel]).members
        self.slack.change_channel(self.stage.channels[channel], members=members | {self.stage.people[name]})

    def types(self, who: str, line: str, channel: str = "vision") -> Delivery:
        """A slash command, acknowledged in time."""
        delivery = self.slack.type_command(self.stage.people[who], self.stage.channels[channel], line)
        assert delivery.acked, delivery.shown
        return delivery

    def answer(self, who: str, act: Callable[[], object]) -> str:
        """What only this person sees after the act."""
        before = len(self._seen(who))
        act()
        self.stage.wait(f"an answer to {who}", lambda: len(self._seen(who)) > before)
        return self._seen(who)[-1]

    def says(self, who: str, line: str) -> str:
        """Types a line and reads the answer."""
        return self.answer(who, lambda: self.types(who, line))

    def asks(self, line: str, who: str = "mira") -> int:
        """Types a request that is accepted; its number."""
        said = self.says(who, f"/gpu-quota request {line}")
        found = re.search(r"Q-(\d+)", said)
        assert found, said
        return int(found[1])

    def card(self, number: int, *words: str) -> Message:
        """The request's card in the approvals channel, once it has these words."""

        def found() -> Message | None:
            message = self.stage.find("gpu-approvals", f"Q-{number}")
            text = self.stage.text(message) if message else ""
            return message if message and all(one in text for one in words) else None

        return self.stage.wait(f"Q-{number}: {words}", found)

    def presses(self, who: str, number: int, action: str = "gpuq_card_approve") -> Delivery:
        """Presses a button of the card, once it shows the latest."""
        self.at_rest()
        return self.slack.press(self.stage.people[who], self.card(number), action)

    def approves(self, number: int, *people: str) -> None:
        """Each in turn, on the card as it is after the one before."""
        for who in people:
            said = self.answer(who, partial(self.presses, who, number))
            assert said in {f"Your approval of Q-{number} counts.", f"Q-{number} is approved."}, said

    def in_force(self, line: str, *approvers: str, who: str = "mira") -> int:
        """A loan that was asked for, approved and is in the live numbers."""
        number = self.asks(line, who)
        self.approves(number, *approvers)
        self.card(number, "In force")
        return number

    def denies(self, who: str, number: int, words: str) -> Delivery:
        """Presses Deny and gives the reason."""
        self.presses(who, number, "gpuq_card_deny")
        self.view(who, "gpuq_deny_form")
        return self.slack.submit_view(self.stage.people[who], {"gpuq_deny_words": words})

    def view(self, who: str, callback_id: str) -> View:
        """The modal in front of somebody, once it is this one."""

        def found() -> View | None:
            view = self.slack.open_view(self.stage.people[who])
            return view if view is not None and view.body["callback_id"] == callback_id else None

        return self.stage.wait(f"{callback_id} in front of {who}", found)

    def dm(self, who: str, words: str) -> str:
        """A direct message with these words, as its reader sees it."""
        return self.stage.text(self.stage.wait(f"DM to {who}: {words}", lambda: self.stage.find_dm(who, words)), who)

    def posted(self, channel: str, words: str) -> Message:
        """A message in a channel with these words."""
        return self.stage.wait(f"#{channel}: {words}", lambda: self.stage.find(channel, words))

    def queue_is(self, queue: str, number: int, flavor: str = "a100") -> None:
        """nominalQuota in the cluster, once it is so."""
        self.stage.wait(
            f"{queue} {flavor} {number}, not {self.kube.nominal(queue, flavor)}",
            lambda: int(self.kube.nominal(queue, flavor)) == number,
        )

    def limit_is(self, queue: str, number: int | None, flavor: str = "a100") -> None:
        """borrowingLimit in the cluster, once it is so."""
        self.stage.wait(f"{queue} borrowingLimit {number}", lambda: self._limit(queue, flavor) == number)

    def numbers(self, queue: str, flavor: str = "a100") -> list[int]:
        """Every value nominalQuota ever had, without repeats in a row."""
        seen: list[int] = []
        for version in self.kube.history:
            if version.name == queue:
                for group in version.obj["spec"]["resourceGroups"]:
                    for one in group["flavors"]:
                        if one["name"] == flavor:
                            number = int(one["resources"][-1]["nominalQuota"])
                            seen += [number] if not seen or seen[-1] != number else []
        return seen

    def audit(self, number: int) -> list[tuple[str, str, str]]:
        """(who, what, outcome) of a request, in order."""
        with self.stage.bot.world.store.read() as uow:
            return [(entry.who, entry.what, entry.outcome) for entry in uow.audit.of(f"Q-{number}")]

    def at_rest(self) -> None:
        """Every arrival is handled and every message is out."""

        def quiet() -> bool:
            world = self.stage.bot.world
            with world.store.read() as uow:
                return not uow.notices.waiting(world.clock(), -1, 1)

        self.stage.wait("everything said", quiet)

    def _limit(self, queue: str, flavor: str) -> int | None:
        for group in self.kube.queue(queue)["spec"]["resourceGroups"]:
            for one in group["flavors"]:
                if one["name"] == flavor:
                    limit = one["resources"][-1].get("borrowingLimit")
                    return None if limit is None else int(limit)
        raise LookupError(flavor)

    def _seen(self, who: str) -> list[str]:
        user = self.stage.people[who]
        return [self.slack.render_text(message, user) for message in self.slack.ephemerals(user)]

    def own_queue(self, team: str, queue: str) -> None:
        """The team gets one more ClusterQueue in the policy."""
        self._policy("teams.yaml", lambda teams: teams["teams"][team]["queues"].append(queue))

    def accelerator(self, resource: str, one: str, many: str) -> None:
        """One more resource counts as accelerator."""
        self._policy(
            "clusters.yaml",
            lambda file: file["clusters"]["default"]["accelerators"].update({resource: {"one": one, "many": many}}),
        )

    def see(self, what: str) -> None:
        """Whose queues people see."""
        self._policy("teams.yaml", lambda teams: teams.update(sees=what))

    def _policy(self, name: str, change: Callable[[Any], object]) -> None:
        """Edit a policy file and let the bot read it, as it does every few seconds."""
        file = self.stage.policies / name
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        change(content)
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        self.stage.bot.reload_policy()
