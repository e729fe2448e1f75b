"""The chapter of `loop` about a queue that is written in Git: proposed, merged, in force, and the same way back.

Played by demo/script_loop. Raises AssertionError at the first thing that is not as it should be.
"""

from collections.abc import Callable
from textwrap import indent

from bot.demo.run_stage import Stage
from bot.demo.slack import Message

Say = Callable[[str], None]


def tell_gitops(stage: Stage, say: Say) -> None:
    """robotics goes to Git, borrows 2 by transfer from nlp, and gives them back."""
    chapter = _Chapter(stage, say)
    chapter.asks()
    chapter.approved()
    chapter.merged()
    chapter.returns()
    chapter.merged_back()


class _Chapter:
    def __init__(self, stage: Stage, say: Say) -> None:
        self._stage = stage
        self._say = say

    def asks(self) -> None:
        self._say("\n== robotics is written in Git from now on; ravi asks for 2 from nlp")
        self._stage.leave_to_git("robotics")
        self._types("ravi", "/gpu-quota request 2 a100 from nlp for 12h because a demo at the fair")
        self._show(
            "#gpu-approvals", self._stage.sees("gpu-approvals", "2 a100 for robotics", "robotics is written in Git")
        )

    def approved(self) -> None:
        self._say("\n== noor approves; nlp is lowered, and the change of robotics is posted for Git")
        card = self._stage.sees("gpu-approvals", "2 a100 for robotics")
        self._say("noor presses Approve")
        self._stage.slack.press(self._stage.people["noor"], card, "gpuq_card_approve")
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "robotics a100 8 -> 10: to be merged in Git"))
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "2 a100 for robotics", "not merged in Git yet"))
        self._queues(22, 8)

    def merged(self) -> None:
        self._say("\n== somebody merges it, and Argo CD applies it")
        self._stage.merge_in_git("robotics", 10)
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "robotics a100 8 -> 10 is in force"))
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "2 a100 for robotics", "In force since"))
        self._queues(22, 10)

    def returns(self) -> None:
        self._say("\n== ravi gives them back; nlp waits until that is merged too")
        number = self._number()
        self._types("ravi", f"/gpu-quota return {number} 2")
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "robotics a100 10 -> 8: to be merged in Git"))
        self._show("#gpu-approvals", self._stage.sees("gpu-approvals", "2 a100 for robotics", "quota not lowered yet"))
        self._queues(22, 10)

    def merged_back(self) -> None:
        self._say("\n== that is merged as well, and nlp has its quota again")
        self._stage.merge_in_git("robotics", 8)
        self._show("#gpu-platform", self._stage.sees("gpu-platform", "robotics a100 10 -> 8 is in force"))
        self._queues(24, 8)
        most = max(self._stage.sums())
        if most > 48:
            raise AssertionError(f"the cohort had {most} of 48 at one moment")

    def _number(self) -> str:
        first = self._stage.text(self._stage.sees("gpu-approvals", "2 a100 for robotics"))
        return next(word.strip("().,:") for word in first.split() if word.startswith(("Q-", "(Q-")))

    def _types(self, who: str, line: str) -> None:
        self._say(f"{who}: {line}")
        self._stage.type_line(who, "robotics", line)

    def _show(self, where: str, message: Message) -> None:
        self._say(f"{where}:\n{indent(self._stage.text(message), '  | ')}")

    def _queues(self, nlp: int, robotics: int) -> None:
        stage = self._stage
        stage.wait(
            f"nlp {nlp} and robotics {robotics}; they are {stage.nominal('nlp')} and {stage.nominal('robotics')}",
            lambda: (stage.nominal("nlp"), stage.nominal("robotics")) == (nlp, robotics),
        )
        self._say(f"queues: nlp {nlp}, vision {stage.nominal('vision')}, robotics {robotics}")
