"""The demo's stage, furnished for the cases: pairs of teams that have nothing to do with each other's tests.

Used by tests/cases to play stories from the first line typed to the last number in the cluster. A module starts one
stage and gives each of its tests a pair of its own, so what one test leaves behind stands in nobody's way. Everything
is done as people do it: typed, pressed, read.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import yaml

from bot.core.loans import Loan
from bot.core.pace import Pace
from bot.core.requests import QuotaRequest, RequestState
from bot.demo.kube.people import Limits
from bot.demo.run_stage import PREEMPTION
from bot.demo.slack import Delivery, Message
from bot.settings import Settings, load_settings
from tests.support.recorded_stage import RecordedStage

Policy = dict[str, Any]
"""The three policy files as data, by stem: teams, approvals, clusters."""
NOMINAL, LENT = 8, 24
GPU = "nvidia.com/gpu"
QUICK = timedelta(milliseconds=5)
ADMINS = ("ada", "alan")
LEADS = {"nlp": "noor", "vision": "lena", "robotics": "rosa"}
"""Of the teams that every stage has."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A team that asks and one that lends, in a cohort of their own. Queues and teams have the same names."""

    borrower: str
    lender: str
    asker: str
    mate: str
    lead: str
    lender_lead: str
    cohort: str


class CaseStage(RecordedStage):
    """A context manager, as Stage is. `edit` changes the policies before the bot starts.

    Unless `paced`, Slack takes messages as fast as they come and the bot sends them so: what is tested here is what
    is said, and a test waits for much of it.
    """

    def __init__(
        self,
        pairs: int = 0,
        *,
        edit: Callable[[Policy], None] | None = None,
        environment: Mapping[str, str] | None = None,
        socket_mode: bool = True,
        paced: bool = False,
        kube_token: str = "",
    ) -> None:
        super().__init__(socket_mode, None if paced else Pace(QUICK, QUICK), kube_token=kube_token)
        self.slack.pacer.on = paced
        self.uses_sockets = socket_mode
        self._pairs = [_pair(number) for number in range(pairs)]
        self._left = iter(self._pairs)
        self._edit = edit
        self._extra = dict(environment or {})
        self._jobs = itertools.count(1)

    def new_pair(self) -> Pair:
        """Two teams that no other test has touched."""
        try:
            return next(self._left)
        except StopIteration:
            raise AssertionError(f"this stage has only {len(self._pairs)} pairs: give it more") from None

    def start_bot(self) -> None:
        super().start_bot()
        self.wait("the bot is there for Slack", lambda: self.slack.connections or not self.uses_sockets)

    def environment(self) -> dict[str, str]:
        return super().environment() | self._extra

    def another_environment(self, **extra: str) -> Settings:
        """Settings of one more process in this world."""
        return load_settings(self.environment() | extra, None, Settings)

    # what people do

    def types(self, who: str, line: str, channel: str = "gpu-approvals") -> Delivery:
        """Type a command; Slack has its acknowledgement."""
        delivery = self.slack.type_command(self.people[who], self.channels[channel], f"/gpu-quota {line}")
        assert delivery.acked, f"Slack showed {who}: {delivery.shown}"
        return delivery

    def answer(self, who: str, act: Callable[[], object]) -> str:
        """What only this person sees next, after the act."""
        before = len(self.slack.ephemerals(self.people[who]))
        act()

        def seen() -> Message | None:
            shown = self.slack.ephemerals(self.people[who])
            return shown[before] if len(shown) > before else None

        return self.text(self.wait(f"an answer to {who}", seen), who)

    def says(self, who: str, line: str) -> str:
        """Type a command and read its answer."""
        return self.answer(who, lambda: self.types(who, line))

    def asks(self, who: str, line: str) -> QuotaRequest:
        """Request something; the request as stored."""
        before = len(self.requests_of(who))
        answer = self.says(who, f"request {line}")
        stored = self.requests_of(who)
        assert len(stored) == before + 1, f"no request was stored; {who} saw: {answer}"
        return stored[0]

    def presses(self, who: str, number: int, what: str = "approve") -> str:
        """Press a button of the card in the approvers' channel, and read the answer."""
        return self.answer(who, lambda: self.slack.press(self.people[who], self.card(number), f"gpuq_card_{what}"))

    def approves(self, who: str, number: int) -> str:
        """Press Approve, once more where the card shows other numbers by then; the last answer."""
        told = self.presses(who, number)
        return self.presses(who, number) if "look and press again" in told else told

    def fills_in_denial(self, who: str, number: int) -> None:
        """Press Deny, and wait for the form that asks for the reason."""
        user = self.people[who]
        before = self.slack.open_view(user)
        self.slack.press(user, self.card(number), "gpuq_card_deny")

        def opened() -> bool:
            view = self.slack.open_view(user)
            return view is not None and (before is None or view.id != before.id)

        self.wait(f"a form in front of {who}", opened)

    def submits_denial(self, who: str, words: str) -> None:
        """Give the reason and submit."""
        assert self.slack.submit_view(self.people[who], {"gpuq_deny_words": words}).acked

    def denies(self, who: str, number: int, words: str) -> None:
        """Deny with a reason, and wait until that is recorded, or its refusal. A form has no place for an answer."""
        before = len(self.audit(number, "deny"))
        self.fills_in_denial(who, number)
        self.submits_denial(who, words)
        self.wait(f"{who}'s denial of Q-{number} in the audit", lambda: len(self.audit(number, "deny")) > before)

    def approved(self, number: int) -> Loan:
        """Let everybody approve whom the request needs; the loan."""
        request = self.request(number)
        told: list[str] = []
        for step in request.steps:
            kind, _, name = step.who.partition(":")
            people = ADMINS if kind == "group" else [self._lead_of(name)]
            told += [self.approves(who, number) for who in people[: step.count]]
        return self.wait(f"a loan Q-{number}, after {told}", lambda: self.loan(number))

    def lent(self, who: str, line: str) -> Loan:
        """Request, have it approved, and wait until it is in force."""
        number = self.asks(who, line).id
        if self.request(number).state is not RequestState.APPROVED:
            self.approved(number)
        self.in_force(number)
        loan = self.loan(number)
        assert loan is not None
        return loan

    def in_force(self, number: int) -> None:
        """Wait until Kueue has it and the bot has seen so."""

        def seen() -> bool:
            loan = self.loan(number)
            return loan is not None and loan.in_force_at is not None

        self.wait(f"Q-{number} in force", seen)

    def runs(self, queue: str, gpus: int) -> str:
        """A job of this size in a queue; its name."""
        name, namespace = f"job-{next(self._jobs)}", f"{queue}-ns"
        with suppress(Exception):
            self.kube.add_local_queue(namespace, "main", queue)
        self.kube.submit_job(namespace, name, "main", gpus)
        self.kube.reconcile()
        return name

    # what is to be seen

    def card(self, number: int) -> Message:
        """The card in the approvers' channel, as it is when everything stored of its request is shown."""

        def drawn() -> Message | None:
            message = self.find("gpu-approvals", f"Q-{number}\n")
            request = self.request(number)
            if message is None or request.state is not RequestState.WAITING:
                return message
            blocks = {block.get("block_id") for block in message.blocks}
            return message if f"card:{number}:{request.revision}" in blocks else None

        return self.wait(f"the card of Q-{number}", drawn)

    def card_says(self, number: int, *words: str) -> str:
        """Wait until the card has all these words; its text."""
        return self._reads(
            f"{words} on the card of Q-{number}", lambda: self.find("gpu-approvals", f"Q-{number}\n"), words
        )

    def hears(self, who: str, *words: str) -> str:
        """Wait for a direct message with all these words; its text as this person reads it."""
        return self._reads(f"{words} in a DM to {who}", lambda: self.find_dm(who, words[0]), words, who)

    def channel_says(self, channel: str, *words: str) -> Message:
        """Wait for a message in a channel with all these words."""

        def found() -> Message | None:
            message = self.find(channel, words[0])
            return message if message and all(one in self.text(message) for one in words) else None

        return self.wait(f"{words} in #{channel}", found)

    def count(self, channel: str, words: str) -> int:
        """How many messages of a channel, threads included, have these words now."""
        return sum(words in self.text(one) for one in self.slack.messages(self.channels[channel]))

    def count_dms(self, who: str, words: str) -> int:
        """How many direct messages to a person have these words now."""
        return sum(words in self.text(one) for one in self.slack.dms(self.people[who]))

    def _reads(self, what: str, find: Callable[[], Message | None], words: Sequence[str], who: str = "") -> str:
        seen = [""]

        def found() -> str | None:
            message = find()
            seen[0] = self.text(message, who) if message else ""
            return seen[0] if message and all(one in seen[0] for one in words) else None

        try:
            return self.wait(what, found)
        except AssertionError as late:
            raise AssertionError(f"{late}; it says:\n{seen[0]}") from None

    def _lead_of(self, team: str) -> str:
        if team in LEADS:
            return LEADS[team]
        pair = next(one for one in self._pairs if team in (one.borrower, one.lender))
        return pair.lead if team == pair.borrower else pair.lender_lead

    def _furnish(self) -> None:
        super()._furnish()
        for pair in self._pairs:
            for name in (pair.asker, pair.mate, pair.lead, pair.lender_lead):
                self.people[name] = self.slack.add_person(name, tz="Europe/Zurich").id
            self._add_queue(pair.borrower, {"nominal": NOMINAL, "borrowing": 0}, pair.cohort)
            self._add_queue(pair.lender, {"nominal": LENT}, pair.cohort)
        self.kube.reconcile()
        everybody = frozenset(self.people.values()) | {self.slack.bot_user_id}
        for channel in self.channels.values():
            self.slack.change_channel(channel, members=everybody)
        self.change_policies(self._with_pairs)
        if self._edit is not None:
            self.change_policies(self._edit)

    def change_policies(self, edit: Callable[[Policy], None]) -> None:
        """Read the three files, let `edit` change the data, write them."""
        files = {file.stem: file for file in self.policies.glob("*.yaml")}
        policy = {name: yaml.safe_load(file.read_text(encoding="utf-8")) for name, file in files.items()}
        edit(policy)
        for name, file in files.items():
            file.write_text(yaml.safe_dump(policy[name], sort_keys=False), encoding="utf-8")

    def _add_queue(self, name: str, limits: Limits, cohort: str) -> None:
        self.kube.add_cluster_queue(name, {"a100": limits}, cohort=cohort, preemption=PREEMPTION)

    def _with_pairs(self, policy: Policy) -> None:
        teams, lenders = policy["teams"]["teams"], policy["clusters"]["clusters"]["default"]["lenders"]
        for pair in self._pairs:
            ask = {"members": [self.people[pair.asker], self.people[pair.mate]], "leads": [self.people[pair.lead]]}
            lend: Policy = {"members": [], "leads": [self.people[pair.lender_lead]]}
            for name, who in ((pair.borrower, ask), (pair.lender, lend)):
                place = {"channel": self.channels["vision"], "namespaces": [f"{name}-ns"], "queues": [name]}
                teams[name] = place | who | {"timezone": "Europe/Zurich"}
            lenders[pair.lender] = {"at_most": 16}


def _pair(number: int) -> Pair:
    asks, lends = f"asks{number}", f"lends{number}"
    return Pair(
        borrower=asks,
        lender=lends,
        asker=f"asker{number}",
        mate=f"mate{number}",
        lead=f"lead{number}",
        lender_lead=f"lender{number}",
        cohort=f"pool{number}",
    )
