"""Cases of loans that run and end: stacking, hand edits, GitOps, parallel approvals, work above quota."""

import threading
from datetime import timedelta

import pytest

from bot.demo.slack import Message
from tests.support.marks import case
from tests.support.play import Play

EDITS = {
    "the edit is the new base": ("gpuq_drift_base", 6, 8, 6),
    "the edit includes the loan": ("gpuq_drift_included", 9, 9, 7),
    "the edit is not wanted": ("gpuq_drift_restore", 5, 10, 8),
    "the edit raised it": ("gpuq_drift_included", 14, 14, 12),
}
"""Button, number typed by hand, number after the answer, number after the loan of 2 on a base of 8."""


@case("QUO-02")
@pytest.mark.parametrize("first_to_end", ["older", "younger"])
def test_loans_stack_and_end_in_any_order(play: Play, first_to_end: str) -> None:
    """Each end takes its own amount off; no end puts an old number back."""
    older = play.in_force("4 a100 from nlp for 2d because one", "noor", "ada")
    younger = play.in_force("3 a100 from nlp for 4d because two", "noor", "ada", who="tom")
    play.queue_is("vision", 23)
    play.queue_is("nlp", 17)
    ends = [(older, 4, "mira"), (younger, 3, "tom")]
    for left, (number, amount, who) in zip((1, 0), ends if first_to_end == "older" else reversed(ends), strict=True):
        play.says(who, f"/gpu-quota return Q-{number} {amount}")
        other = next(one for one in ends if one[0] != number)[1] if left else 0
        play.queue_is("vision", 16 + other)
        play.queue_is("nlp", 24 - other)


@case("QUO-02")
def test_a_part_that_is_returned_leaves_the_rest(play: Play) -> None:
    number = play.in_force("6 a100 from nlp for 2d because part", "noor", "ada")
    play.says("mira", f"/gpu-quota return Q-{number} 2")
    play.queue_is("vision", 20)
    play.queue_is("nlp", 20)
    play.card(number, "In force: 4 of 6")
    play.says("mira", f"/gpu-quota return Q-{number} 4")
    play.queue_is("vision", 16)
    play.queue_is("nlp", 24)


@case("QUO-03")
@pytest.mark.parametrize(("button", "typed", "after_answer", "after_loan"), EDITS.values(), ids=EDITS)
def test_a_hand_edit_is_asked_about_and_never_overwritten(
    play: Play, button: str, typed: int, after_answer: int, after_loan: int
) -> None:
    play.kube.hand_edit("robotics", "a100", nominal=8)
    number = play.in_force("2 a100 as transfer from nlp for 2d because edit", "noor", "ada", who="ravi")
    play.queue_is("robotics", 10)
    play.kube.hand_edit("robotics", "a100", nominal=typed)
    question = play.posted("gpu-platform", f"robotics a100 is {typed}, expected 10")
    play.slack.press(play.stage.people["ada"], question, button)
    play.queue_is("robotics", after_answer)
    play.says("ravi", f"/gpu-quota return Q-{number} 2")
    play.queue_is("robotics", after_loan)
    play.queue_is("nlp", 24)
    play.kube.hand_edit("robotics", "a100", nominal=8)
    play.queue_is("robotics", 8)


@case("QUO-03")
def test_while_nobody_answers_the_edit_stands_also_at_the_end(play: Play) -> None:
    number = play.in_force("2 a100 as transfer from nlp for 2d because unanswered", "noor", "ada", who="ravi")
    play.kube.hand_edit("robotics", "a100", nominal=13)
    play.posted("gpu-platform", "robotics a100 is 13, expected 10")
    play.says("ravi", f"/gpu-quota return Q-{number} 2")
    play.card(number, "because it is not clear what 13 means")
    again = play.posted("gpu-platform", f"Q-{number} ended; quota left at 13")
    assert play.numbers("robotics")[-1] == 13
    assert "8 a100" not in play.stage.text(again)
    play.slack.press(play.stage.people["ada"], again, "gpuq_drift_restore")
    play.queue_is("robotics", 8)
    play.queue_is("nlp", 24)


GITOPS = {
    "Argo CD": {"annotations": {"argocd.argoproj.io/tracking-id": "pool:kueue.x-k8s.io/ClusterQueue:q"}},
    "Flux": {"labels": {"kustomize.toolkit.fluxcd.io/name": "queues"}},
    "Helm": {"labels": {"app.kubernetes.io/managed-by": "Helm"}},
}


@case("QUO-04", "QUO-05")
@pytest.mark.parametrize(("tool", "marks"), GITOPS.items(), ids=GITOPS)
def test_a_revert_by_gitops_is_one_message_and_no_war(play: Play, tool: str, marks: dict[str, dict[str, str]]) -> None:
    for field, values in marks.items():
        play.kube.request(
            "PATCH",
            play.kube.path("clusterqueues", name="robotics"),
            {"metadata": {field: values}},
            content_type="application/merge-patch+json",
        )
    number = play.asks("2 a100 as transfer from nlp for 2d because gitops", who="ravi")
    play.card(number, f"managed by {tool}")
    play.approves(number, "noor", "ada")
    play.card(number, "In force")
    before = len(play.slack.messages(play.stage.channels["gpu-platform"]))
    play.kube.gitops_revert("robotics", manager=f"{tool.split()[0].lower()}-controller")
    play.card(number, "Not in force")
    play.dm("ravi", "2 a100 not in force since")
    question = play.posted("gpu-platform", "robotics a100 is 8, expected 10")
    assert tool in play.stage.text(question)
    play.at_rest()
    assert len(play.slack.messages(play.stage.channels["gpu-platform"])) == before + 1
    assert play.numbers("robotics")[-3:] == [8, 10, 8], "the bot wrote once and then left it alone"
    play.says("ravi", f"/gpu-quota return Q-{number} 2")
    play.queue_is("nlp", 24)
    nothing = {name: None for values in marks.values() for name in values}
    play.kube.request(
        "PATCH",
        play.kube.path("clusterqueues", name="robotics"),
        {"metadata": {next(iter(marks)): nothing}},
        content_type="application/merge-patch+json",
    )


@case("QUO-07")
@pytest.mark.parametrize("together", [("ada", "ada"), ("ada", "alan"), ("ada", "alan", "ada")])
def test_approvals_of_one_queue_at_the_same_moment_all_land(play: Play, together: tuple[str, ...]) -> None:
    """Two numbers of one ClusterQueue, and one number twice: nobody's write takes another's back."""
    loans = {play.asks("1 a100 from nlp for 2d because a", who="mira"): ("mira", 1)}
    loans[play.asks("2 a100 from nlp for 2d because b", who="tom")] = ("tom", 2)
    for number in loans:
        play.approves(number, "noor")
    if len(together) == 3:
        loans[play.asks("1 a100 as borrow for 2d because c", who="tom")] = ("tom", 1)
    play.at_rest()
    _press_together(play, [(who, play.card(number)) for who, number in zip(together, loans, strict=True)])
    for number in loans:
        play.card(number, "In force")
    play.queue_is("vision", 19)
    play.queue_is("nlp", 21)
    play.limit_is("vision", 5 if len(together) == 3 else 4)
    for number, (who, amount) in loans.items():
        play.says(who, f"/gpu-quota return Q-{number} {amount}")
    play.queue_is("vision", 16)
    play.queue_is("nlp", 24)
    play.limit_is("vision", 4)


def _press_together(play: Play, presses: list[tuple[str, Message]]) -> None:
    ready = threading.Barrier(len(presses))

    def press(who: str, card: Message) -> None:
        ready.wait()
        play.slack.press(play.stage.people[who], card, "gpuq_card_approve")

    threads = [threading.Thread(target=press, args=one) for one in presses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case("QUO-11")
@pytest.mark.parametrize(("used", "above"), [(24, 8), (18, 2), (16, 0), (0, 0)])
def test_the_end_says_what_stays_in_use(play: Play, used: int, above: int) -> None:
    """Lowering quota evicts nobody, so the message never claims that capacity is back."""
    number = play.in_force("8 a100 from nlp for 2h because end", "noor", "ada")
    if used:
        play.kube.submit_job("vision-train", f"sweep-{number}", "main", used, flavor="a100")
        play.kube.reconcile()
    play.stage.clock.move(timedelta(hours=2, seconds=1))
    said = play.dm("mira", f"(Q-{number})")
    play.stage.wait("the end", lambda: "Ended" in play.dm("mira", f"(Q-{number})") or None)
    said = play.dm("mira", f"(Q-{number})")
    assert "Quota of vision is 16 again" in said
    if above:
        assert f"{above} GPUs run on above quota, likely sweep-{number} ({used})" in said
        assert "Kueue takes them back when nlp needs them" in said
    else:
        assert "Nothing runs above it" in said
    play.queue_is("vision", 16)
    play.queue_is("nlp", 24)
    if used:
        play.kube.finish("vision-train", f"sweep-{number}")
        play.kube.reconcile()
