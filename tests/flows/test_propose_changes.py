"""Queues that are written in Git: the bot proposes, somebody merges, the bot sees it. It never writes them itself."""

from collections.abc import Collection
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.proposals import ProposalEnd
from bot.core.requests import Ask
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.converge_quota import converge_all
from bot.flows.end_loan import end_loan
from bot.flows.plan_quota import make_plan, read_before
from bot.flows.propose_changes import REMIND_AFTER
from bot.flows.try_change import try_change
from tests.support import quota
from tests.support.git_queues import in_git, merge, step

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

PLATFORM = "C0PLATFORM"


def lent(bench: "Bench", *queues: str, ask: Ask | None = None) -> int:
    """8 from nlp for vision, approved; these queues are in Git."""
    bench.policy = in_git(*queues)
    number = bench.approved(ask or quota.transfer(8))
    step(bench)
    return number


def numbers(bench: "Bench") -> tuple[int, int]:
    return bench.number("nlp"), bench.number("vision")


def proposals(bench: "Bench") -> list[str]:
    texts = [unescape(text) for text in bench.texts(PLATFORM)]
    return [text for text in texts if "->" in text]


def open_ones(bench: "Bench") -> list[tuple[str, int | None]]:
    return [
        (one.queue, part.after.wrote)
        for one in bench.store.tables.proposals.values()
        if one.ended is None
        for part in one.fields
    ]


def writes_to(bench: "Bench", queues: Collection[str]) -> list[str]:
    return [one.name for one in bench.kube.history if one.name in queues and one.manager == "gpu-quota-bot"]


def said(bench: "Bench", to: str) -> str:
    return "\n".join(str(one.message) for one in bench.posted(to))


def test_a_borrower_in_git_is_proposed_merged_and_given_back(bench: "Bench") -> None:
    number = lent(bench, "vision")
    assert numbers(bench) == (16, 16), "the lender is lowered, the borrower waits for Git"
    assert proposals(bench) == [f"vision a100 16 -> 24: to be merged in Git (Q-{number})"]
    assert "-        nominalQuota: 16\\n+        nominalQuota: 24" in said(bench, PLATFORM)
    assert "not merged in Git yet" in said(bench, "C0APPROVALS"), "the card says what it waits for"
    step(bench)
    assert len(proposals(bench)) == 1, "told once"

    merge(bench, "vision", 24)
    assert proposals(bench) == [f"vision a100 16 -> 24 is in force (Q-{number})"]
    assert f"8 a100 in force now (Q-{number})" in "\n".join(bench.texts("U0VISION"))

    bench.pass_time(days=3, hours=1)
    step(bench)
    assert numbers(bench) == (16, 24), "the lender stays lowered until the borrower is"
    assert f"vision a100 24 -> 16: to be merged in Git (Q-{number})" in proposals(bench)
    assert any("are not back with nlp yet" in text for text in bench.texts("U0LEADNLP"))
    merge(bench, "vision", 16)
    assert numbers(bench) == (24, 16)
    assert any("are back with nlp" in text for text in bench.texts("U0LEADNLP"))
    assert not writes_to(bench, ["vision"])
    assert not open_ones(bench)


def test_a_lender_in_git_is_lowered_before_anything_is_raised(bench: "Bench") -> None:
    number = lent(bench, "nlp")
    assert numbers(bench) == (24, 16)
    assert proposals(bench) == [f"nlp a100 24 -> 16: to be merged in Git (Q-{number})"]
    merge(bench, "nlp", 16)
    assert numbers(bench) == (16, 24)
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert numbers(bench) == (16, 16), "the borrower is lowered first"
    assert open_ones(bench) == [("nlp", 24)]
    merge(bench, "nlp", 24)
    assert not writes_to(bench, ["nlp"])
    assert not open_ones(bench)


def test_with_both_in_git_the_raise_is_not_even_proposed_before_the_lowering_is_in_force(bench: "Bench") -> None:
    lent(bench, "nlp", "vision")
    assert open_ones(bench) == [("nlp", 16)]
    merge(bench, "nlp", 16)
    assert open_ones(bench) == [("vision", 24)]
    merge(bench, "vision", 24)
    assert open_ones(bench) == []
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert open_ones(bench) == [("vision", 16)]
    merge(bench, "vision", 16)
    assert open_ones(bench) == [("nlp", 24)]
    merge(bench, "nlp", 24)
    assert open_ones(bench) == []
    assert not writes_to(bench, ["nlp", "vision"])


def test_a_raise_that_nobody_merged_is_withdrawn_when_the_loan_is_over(bench: "Bench") -> None:
    number = lent(bench, "vision")
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert proposals(bench)[0] == f"vision a100 16 -> 24 is withdrawn: do not merge it (Q-{number})"
    assert "nominalQuota: 24" not in said(bench, PLATFORM), "nobody is to find it there"
    assert numbers(bench) == (24, 16)


@pytest.mark.parametrize("read", [True, False], ids=["seen", "not to be read"])
def test_an_open_proposal_counts_as_a_patch_under_way(bench: "Bench", read: bool) -> None:
    """The loan is over and vision has nothing of it, but it may be merged yet: nlp gets nothing back in the same plan
    that withdraws the proposal, and not while nobody can see whether it was merged."""
    lent(bench, "vision")
    bench.pass_time(days=3, hours=1)
    picture = bench.world.clusters["default"].read()
    left = {name: queue for name, queue in picture.queues.items() if read or name != "vision"}
    unwritable = {} if read else {"vision": "not read"}
    before = read_before(bench.world, "default")
    _, planned = make_plan(bench.world, bench.epoch, before, replace(picture, queues=left), unwritable)
    assert [write.change.queue.name for write in planned.writes] == []
    assert [end for _, end in planned.proposals.ended] == ([ProposalEnd.WITHDRAWN] if read else [])


def test_another_loan_replaces_what_is_proposed(bench: "Bench") -> None:
    first = lent(bench, "vision")
    second = bench.approved(quota.transfer(2, "robotics"))
    step(bench)
    assert open_ones(bench) == [("vision", 26)]
    assert proposals(bench)[0] == f"vision a100 16 -> 24 is replaced: do not merge it (Q-{first})"
    merge(bench, "vision", 26)
    assert not open_ones(bench)
    assert all(bench.store.tables.loans[one].in_force_at for one in (first, second))


@pytest.mark.parametrize(("which", "proposed"), [("base", 28), ("restore", 24), ("included", None)])
def test_what_is_merged_beside_the_proposal_is_asked_about(bench: "Bench", which: str, proposed: int | None) -> None:
    """20 of 24: half of it, or somebody's own change? Until an admin says which, nothing is proposed anew."""
    lent(bench, "vision")
    merge(bench, "vision", 20)
    assert any("vision a100 is 20, expected 24" in text for text in bench.texts(PLATFORM))
    assert numbers(bench)[0] == 16, "the lender stays lowered"
    answer(bench, which)
    step(bench)
    assert open_ones(bench) == ([] if proposed is None else [("vision", proposed)])
    assert not writes_to(bench, ["vision"])


@pytest.mark.parametrize(("back", "raised"), [(16, False), (24, True)])
def test_a_half_merge_that_is_set_right_needs_no_answer(bench: "Bench", back: int, raised: bool) -> None:
    number = lent(bench, "vision")
    merge(bench, "vision", 20)
    merge(bench, "vision", back)
    assert all(record.question is None for record in bench.store.tables.records.values())
    assert (bench.store.tables.loans[number].in_force_at is not None) is raised
    assert open_ones(bench) == ([] if raised else [("vision", 24)])


def test_it_reminds_once(bench: "Bench") -> None:
    number = lent(bench, "vision")
    for _ in range(3):
        bench.clock.advance(REMIND_AFTER)
        step(bench)
    waits = f"vision a100 16 -> 24 is not merged yet (Q-{number})"
    assert proposals(bench).count(waits) == 1


def test_a_queue_that_goes_to_git_while_a_loan_is_open_is_not_touched_any_more(bench: "Bench") -> None:
    """What the bot wrote on it stays there, counts for nothing, and the message says so."""
    lent(bench)
    assert numbers(bench) == (16, 24)
    before = len(writes_to(bench, ["vision"]))
    bench.policy = in_git("vision")
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert open_ones(bench) == [("vision", 16)]
    assert "annotation from before counts for nothing" in said(bench, PLATFORM)
    merge(bench, "vision", 16)
    assert numbers(bench) == (24, 16)
    step(bench)
    assert len(writes_to(bench, ["vision"])) == before
    assert not bench.keys("edit:")


def test_a_queue_that_leaves_git_is_written_and_its_proposal_withdrawn(bench: "Bench") -> None:
    number = lent(bench, "vision")
    bench.policy = quota.policy()
    step(bench)
    assert numbers(bench) == (16, 24)
    assert proposals(bench)[0] == f"vision a100 16 -> 24 is withdrawn: do not merge it (Q-{number})"
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert numbers(bench) == (24, 16)


def test_a_merged_loan_of_a_queue_that_leaves_git_ends_as_any(bench: "Bench") -> None:
    lent(bench, "vision")
    merge(bench, "vision", 24)
    bench.policy = quota.policy()
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert numbers(bench) == (24, 16)
    assert not bench.keys("edit:")


def test_a_lost_database_asks_about_the_queue_in_git(bench: "Bench") -> None:
    """There is no annotation on it, but the other queue's names the loan: what nlp gave is a question, not a guess."""
    lent(bench, "nlp")
    merge(bench, "nlp", 16)
    bench.store.tables = type(bench.store.tables)()
    bench.memory = type(bench.memory)()
    bench.epoch = bench.lead("P2")
    for _ in range(3):
        converge_lifting(bench)
    assert [one.key.queue for one in bench.store.tables.records.values() if one.question is not None] == ["nlp"]
    assert numbers(bench) == (16, 16), "until somebody says, nlp counts as having given nothing"
    assert not writes_to(bench, ["nlp"]), "no fence either"


def answer(bench: "Bench", which: str) -> None:
    """To the one question that is open."""
    (key,) = bench.keys("edit:")
    (record,) = [one for one in bench.store.tables.records.values() if one.question is not None]
    press = EditPress(bench.notice(key).id, record.version, AnswerKind(which), "U0ADMIN", bench.arrival("press"))
    answer_edit(bench.world, press)


def converge_lifting(bench: "Bench") -> None:
    def lift(at_least: int) -> None:
        with bench.world.store.begin() as uow:
            bench.epoch = uow.leadership.raise_epoch("P2", bench.epoch, at_least)
            uow.commit()

    converge_all(bench.world, bench.epoch, bench.memory, lift)


def test_the_bot_needs_no_right_on_a_queue_in_git(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for the dry run before the card."""
    bench.policy = in_git("vision", "nlp")
    picture = bench.world.clusters["default"].read()
    monkeypatch.delattr(type(bench.world.clusters["default"]), "patch")
    assert try_change(bench.world, quota.transfer(8), picture) == ()


def test_an_admins_end_takes_back_what_is_proposed_and_proposes_what_is_merged(bench: "Bench") -> None:
    number = lent(bench, "vision")
    merge(bench, "vision", 24)
    end_loan(bench.world, number, "the nodes are serviced", "U0ADMIN", bench.arrival("end"))
    step(bench)
    assert open_ones(bench) == [("vision", 16)]
    merge(bench, "vision", 16)
    assert numbers(bench) == (24, 16)
