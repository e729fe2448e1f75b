"""The story `loop`: ask, a counter-offer, approve, the queues change, an edit by hand, an answer, an extension, the
return, a loan that an admin ends, work that is evicted at the end of one, and a queue that is written in Git.

Played by demo/run.

Each step prints what the people concerned saw and what the queues said, and stops the story if it is not so.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from textwrap import indent

from bot.demo.run_stage import Stage
from bot.demo.script_gitops import tell_gitops
from bot.demo.slack import Message
from bot.views.ids import Field

Say = Callable[[str], None]
EVICTING_RULE = """
  - name: night-sweeps
    if: {kind: borrow, amount: {at_most: 4}, duration: {at_most: 2h}}
    then: {approve: auto}
    at_end: evict
    grace: 30min
"""


def tell_loop(stage: Stage, say: Say) -> None:
    """Raises AssertionError at the first thing that is not as it should be."""
    story = _Story(stage, say)
    story.asks()
    story.lead_offers_less()
    story.outsider_cannot()
    story.admin_approves()
    story.hand_edit()
    story.answer()
    story.extends()
    story.returns()
    story.admin_ends()
    story.evicts()
    tell_gitops(stage, say)


class _Story:
    def __init__(self, stage: Stage, say: Say) -> None:
        self._stage = stage
        self._say = say

    def asks(self) -> None:
        self._title("mira asks, in words")
        self._types("mira", "vision", "/gpu-quota request 12 a100 from nlp for 3d because paper deadline")
        card = self._stage.sees("gpu-approvals", "12 a100 for vision", "Waiting: 0 of 2 approvals", "24 -> 12")
        self._show("#gpu-approvals", card)
        self._show("mira's own copy", self._dm("mira", "Waiting: 0 of 2 approvals"), "mira")
        self._queues(24, 16)

    def lead_offers_less(self) -> None:
        self._title("noor, lead of nlp, would lend 8; mira accepts, and noor's consent counts")
        self._presses("noor", "gpuq_card_change", "12 a100 for vision")
        self._fills("noor", "Offer less", {Field.CHANGE_AMOUNT: "8", Field.CHANGE_WORDS: "nlp needs 16 this week"})
        self._reads("noor", "Offered:")
        offer = self._dm("mira", "8 a100 instead of 12")
        self._show("mira", offer, "mira")
        self._stage.slack.press(self._stage.people["mira"], offer, "gpuq_offer_accept")
        card = self._stage.sees("gpu-approvals", "8 a100 for vision", "Waiting: 1 of 2 approvals", "24 -> 16")
        self._show("#gpu-approvals", card)
        self._queues(24, 16)

    def outsider_cannot(self) -> None:
        self._title("ravi of robotics presses Approve")
        self._presses("ravi", "gpuq_card_approve")
        refusal = self._ephemeral("ravi", "can decide")
        self._show("only ravi sees", refusal, "ravi")
        self._queues(24, 16)

    def admin_approves(self) -> None:
        self._title("ada, an admin, approves; convergence lowers the lender first")
        self._presses("ada", "gpuq_card_approve")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "In force since"))
        self._show("mira", self._dm("mira", "8 a100 for vision until"), "mira")
        self._show("noor", self._dm("noor", "nlp lends 8 a100 to vision"), "noor")
        self._queues(16, 24)
        self._never_more_than(48)

    def hand_edit(self) -> None:
        self._title("somebody edits vision by hand: 24 -> 20")
        self._stage.edit_by_hand("vision", 20)
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "vision a100 is 20, expected 24"))
        self._queues(16, 20)

    def answer(self) -> None:
        self._title("ada answers: not wanted, put it back")
        question = self._stage.sees("gpu-platform", "vision a100 is 20, expected 24")
        self._stage.slack.press(self._stage.people["ada"], question, "gpuq_drift_restore")
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "not wanted, put back"))
        self._queues(16, 24)

    def extends(self) -> None:
        self._title("mira needs it for longer; noor and ada agree")
        self._types("mira", "vision", "/gpu-quota extend Q-1 by 2d because the reviewers want one more table")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "+2 days for Q-1", "Waiting: 0 of 2 approvals"))
        self._presses("noor", "gpuq_card_approve")
        self._stage.sees("gpu-approvals", "+2 days for Q-1", "Waiting: 1 of 2 approvals")
        self._presses("ada", "gpuq_card_approve")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "+2 days for Q-1", "Extended until"))
        self._show("mira", self._dm("mira", "Q-1 now ends"), "mira")
        self._queues(16, 24)

    def returns(self) -> None:
        self._title("mira gives it back early")
        self._types("mira", "vision", "/gpu-quota return Q-1 8")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "Returned by"))
        self._queues(24, 16)
        self._never_more_than(48)

    def admin_ends(self) -> None:
        self._title("tom borrows 2, which a rule allows; ada ends it before its time")
        self._types("tom", "vision", "/gpu-quota request 2 a100 as borrow for 12h because a last evaluation")
        card = self._stage.sees("gpu-approvals", "2 a100 for vision", "In force since")
        self._show("#gpu-approvals", card)
        number = re.findall(r"Q-\d+", self._stage.text(card))[0]
        self._types("ada", "gpu-platform", f"/gpu-quota end {number} because the nodes are serviced")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "2 a100 for vision", "Ended by"))
        self._show("tom", self._dm("tom", "the nodes are serviced"), "tom")
        self._queues(24, 16)

    def evicts(self) -> None:
        self._title("by a new rule work above quota is evicted at the end; mira's sweep runs on such a loan")
        self._stage.add_rule(EVICTING_RULE)
        self._types("mira", "vision", "/gpu-quota request 4 a100 as borrow for 1h because a nightly sweep")
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "4 a100 for vision", "In force since"))
        for job, gpus, priority in (("train", 20, 100), ("sweep", 4, 0)):
            self._stage.submit("vision", job, gpus, priority)
            self._runs(job)
        self._say("an hour later")
        self._stage.clock.move(timedelta(hours=1))
        self._show("mira", self._dm("mira", "sweep (4 GPUs) is evicted"), "mira")
        self._say("the grace of half an hour is over")
        self._stage.clock.move(timedelta(minutes=30))
        self._show("mira", self._dm("mira", "sweep evicted: 4 a100"), "mira")
        self._show("#vision", self._stage.sees("vision", "sweep (4 GPUs) was evicted"))
        self._stage.wait("sweep is evicted", lambda: not self._stage.is_running("vision", "sweep"))
        self._runs("train")
        self._say("sweep is evicted, train (20) runs on: vision may have 16, and borrow 4")
        for job in ("sweep", "train"):
            self._stage.cancel("vision", job)
        self._queues(24, 16)

    def _runs(self, job: str) -> None:
        self._stage.wait(f"{job} runs", lambda: self._stage.is_running("vision", job))

    def _title(self, words: str) -> None:
        self._say(f"\n== {words}")

    def _types(self, who: str, channel: str, line: str) -> None:
        self._say(f"{who}: {line}")
        self._stage.type_line(who, channel, line)

    def _presses(self, who: str, action: str, words: str = "8 a100 for vision") -> None:
        card = self._stage.sees("gpu-approvals", words)
        self._say(f"{who} presses {action.removeprefix('gpuq_card_').capitalize()}")
        self._stage.slack.press(self._stage.people[who], card, action)

    def _fills(self, who: str, form: str, values: Mapping[str, str]) -> None:
        """Once the form is in front of them."""
        self._reads(who, form)
        self._say(f"{who} fills in: {', '.join(values.values())}")
        delivery = self._stage.slack.submit_view(self._stage.people[who], values)
        if not delivery.acked:
            raise AssertionError(f"Slack showed {who}: {delivery.shown}")

    def _reads(self, who: str, words: str) -> None:
        slack, user = self._stage.slack, self._stage.people[who]

        def shown() -> bool:
            view = slack.open_view(user)
            return view is not None and words in slack.render_text(view)

        self._stage.wait(f"a form with {words} in front of {who}", shown)

    def _dm(self, who: str, words: str) -> Message:
        return self._stage.wait(f"a DM to {who} with: {words}", lambda: self._stage.find_dm(who, words))

    def _ephemeral(self, who: str, words: str) -> Message:
        slack, user = self._stage.slack, self._stage.people[who]

        def found() -> Message | None:
            return next((one for one in slack.ephemerals(user) if words in slack.render_text(one)), None)

        return self._stage.wait(f"only {who} sees: {words}", found)

    def _show(self, where: str, message: Message, reader: str = "") -> None:
        self._say(f"{where}:\n{indent(self._stage.text(message, reader), '  | ')}")

    def _queues(self, nlp: int, vision: int) -> None:
        stage = self._stage
        stage.wait(
            f"nlp {nlp} and vision {vision}; they are {stage.nominal('nlp')} and {stage.nominal('vision')}",
            lambda: (stage.nominal("nlp"), stage.nominal("vision")) == (nlp, vision),
        )
        self._say(f"queues: nlp {nlp}, vision {vision}, robotics {stage.nominal('robotics')}")

    def _never_more_than(self, total: int) -> None:
        """P1: no version of any queue ever made the sum larger."""
        most = max(self._stage.sums())
        if most > total:
            raise AssertionError(f"the cohort had {most} of {total} at one moment")
