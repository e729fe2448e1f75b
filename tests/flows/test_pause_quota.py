"""While quota changes are paused nothing new is raised, what has begun is finished, and returns go on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bot.app.metrics import make_metrics
from bot.core.errors import AlreadyHandled, Refused, Stale
from bot.core.people import Person
from bot.flows.end_loan import end_loan
from bot.flows.look_up import status_facts
from bot.flows.pause_quota import pause_quota, resume_quota
from bot.flows.record_decision import Press, approve
from bot.flows.refused_with import RefusedWith
from bot.flows.return_loan import return_loan
from bot.flows.show_queue import show_facts
from bot.flows.submit_request import Submitted, submit_request
from bot.views.answers.show import show
from bot.views.answers.status import status
from tests.support import quota
from tests.support.quota import ask, transfer
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


@pytest.fixture
def pause(bench: "Bench") -> Callable[[str], None]:
    """Somebody pauses; each time is an arrival of its own."""
    bench.slack.people["U0GUEST"] = Person("U0GUEST", "guest", full_member=False)

    def stop(who: str = "U0ADMIN", words: str = "node maintenance") -> None:
        pause_quota(bench.world, words, who, bench.arrival(f"pause:{len(bench.store.tables.inbox)}"))

    return stop


def resume(bench: "Bench", who: str = "U0ADMIN") -> None:
    resume_quota(bench.world, who, bench.arrival(f"resume:{len(bench.store.tables.inbox)}"))


def card(bench: "Bench", to: str = "U0VISION") -> str:
    """All that stands in a person's messages now."""
    bench.deliver_all()
    return "\n".join(line for one in bench.posted(to) for line in seen(one.message))


def test_an_approved_loan_waits_in_words_and_comes_into_force_after_it(
    bench: "Bench", pause: Callable[..., None]
) -> None:
    pause()
    number = bench.approved(transfer(4))
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (24, 16)
    assert "not in force: quota changes are paused by u0admin since 14:05" in card(bench)
    assert any("4 a100 approved, not in force yet" in text for text in bench.texts("U0VISION"))
    resume(bench)
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (20, 20)
    assert "paused" not in card(bench).partition("In force since")[2].partition("\n")[0]
    assert bench.store.tables.loans[number].in_force_at is not None


@pytest.mark.parametrize("landed", [False, True])
def test_a_pause_in_the_middle_of_a_transfer_lets_it_finish(
    bench: "Bench", pause: Callable[..., None], landed: bool
) -> None:
    """The lender's patch is on its way or has landed; a loan that has not begun waits until the pause is over."""
    bench.approved(transfer(4))
    before: list[tuple[int, int]] = []

    def stop() -> None:
        pause()
        bench.approved(transfer(2))
        before.append((bench.number("nlp"), bench.number("vision")))

    bench.gate.plan(stop, matches="cluster.patched" if landed else "cluster.patch")
    bench.converge()
    assert before == [(20, 16) if landed else (24, 16)]
    assert (bench.number("nlp"), bench.number("vision")) == (20, 20)
    resume(bench)
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (18, 22)


def test_returns_and_ends_go_on(bench: "Bench", pause: Callable[..., None]) -> None:
    first, second, third = (bench.approved(one) for one in (transfer(4), transfer(2), ask(2)))
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (18, 22)
    pause()
    return_loan(bench.world, first, 1, "U0VISION", bench.arrival("part"))
    end_loan(bench.world, second, "", "U0ADMIN", bench.arrival("end"))
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (21, 19)
    bench.pass_time(days=4)
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (24, 16)
    assert all(bench.store.tables.loans[one].ended_at is not None for one in (first, second, third))


def test_a_loan_that_ends_while_it_waits_takes_nothing(bench: "Bench", pause: Callable[..., None]) -> None:
    pause()
    number = bench.approved(transfer(4))
    bench.converge()
    bench.pass_time(days=4)
    bench.converge()
    resume(bench)
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (24, 16)
    assert bench.store.tables.loans[number].state.value == "closed"


def test_it_is_said_wherever_people_look(bench: "Bench", pause: Callable[..., None]) -> None:
    submitted = submit_request(bench.world, quota.draft(8), "test:ask", bench.arrival("ask"))
    assert isinstance(submitted, Submitted)
    pause()
    line = "Quota changes are paused by u0admin since Wed 2 Dec 14:05: node maintenance"
    assert f"{line}. An approval waits until they go on" in card(bench, "C0APPROVALS")
    assert line in seen(status(status_facts(bench.world, "U0VISION", None)))
    assert line in seen(show(show_facts(bench.world, "U0VISION", "vision", None)))
    assert any(text.startswith("Quota changes are paused by") for text in bench.texts("C0PLATFORM"))
    for who in ("U0LEADVISION", "U0ADMIN"):
        stored = bench.store.tables.requests[submitted.request.id]
        said = approve(bench.world, Press(stored.id, stored.revision, who, bench.arrival(who)))
    assert said.endswith("is approved. It waits: quota changes are paused by u0admin.")
    bench.pass_time(hours=2)
    resume(bench, "U0ADMINTWO")
    assert "paused" not in str(status(status_facts(bench.world, "U0VISION", None)))
    assert "resumed by u0admintwo" in card(bench, "C0PLATFORM")
    assert "after 2 h" in card(bench, "C0PLATFORM")


def test_what_a_rule_approves_meanwhile_says_that_it_waits(bench: "Bench", pause: Callable[..., None]) -> None:
    pause()
    draft = quota.draft(1, duration=quota.loan().end - quota.NOW)
    submitted = submit_request(bench.world, draft, "test:ask", bench.arrival("ask"))
    assert isinstance(submitted, Submitted)
    assert "It waits: quota changes are paused by u0admin." in submitted.notes


def test_a_second_pause_and_a_second_resume_are_answered_in_words(bench: "Bench", pause: Callable[..., None]) -> None:
    pause(words="first")
    with pytest.raises(RefusedWith) as refused:
        pause(who="U0ADMINTWO", words="second")
    assert seen(refused.value.message) == [
        "Quota changes are paused by u0admin since Wed 2 Dec 14:05: first. Nothing changed."
    ]
    resume(bench)
    with pytest.raises(Refused, match=r"Quota changes are not paused\. Nothing changed\."):
        resume(bench)
    whats = [(entry.who, entry.what, entry.outcome) for entry in bench.store.tables.audit]
    assert ("U0ADMIN", "pause", "first") in whats
    assert ("U0ADMIN", "resume", "ok") in whats
    assert len([what for _, what, _ in whats if what in {"pause", "resume"}]) == 4


def test_two_admins_at_once_are_one_pause(bench: "Bench", pause: Callable[..., None]) -> None:
    def meanwhile() -> None:
        pause(who="U0ADMINTWO", words="first")

    arrival = bench.arrival("second")
    bench.gate.plan(meanwhile, matches="store.begin")
    with pytest.raises(Refused):
        pause_quota(bench.world, "second", "U0ADMIN", arrival)
    assert bench.store.tables.pause is not None
    assert bench.store.tables.pause.reason == "first"
    bench.deliver_all()
    assert len(bench.texts("C0PLATFORM")) == 1


def test_a_redelivered_pause_does_not_come_back_after_the_resume(bench: "Bench") -> None:
    arrival = bench.arrival("pause")
    pause_quota(bench.world, "", "U0ADMIN", arrival)
    resume(bench)
    with pytest.raises((Stale, AlreadyHandled, Refused)):
        pause_quota(bench.world, "", "U0ADMIN", arrival)
    assert bench.store.tables.pause is None


@pytest.mark.parametrize("who", ["U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ROBOTICS", "U0GUEST"])
def test_nobody_else_can(bench: "Bench", pause: Callable[..., None], who: str) -> None:
    with pytest.raises(Refused):
        pause(who=who)
    assert bench.store.tables.pause is None
    pause()
    with pytest.raises(Refused):
        resume(bench, who)
    assert bench.store.tables.pause is not None


def test_it_holds_after_a_change_of_leader(bench: "Bench", pause: Callable[..., None]) -> None:
    pause()
    bench.approved(transfer(4))
    bench.pass_time(minutes=2)
    bench.epoch = bench.lead("P2")
    bench.converge()
    assert (bench.number("nlp"), bench.number("vision")) == (24, 16)


def test_the_metrics_say_it(bench: "Bench", pause: Callable[..., None]) -> None:
    metrics = make_metrics(bench.world, lambda: True, lambda: True)
    assert b"gpuq_paused 0.0" in metrics()
    pause()
    assert b"gpuq_paused 1.0" in metrics()
