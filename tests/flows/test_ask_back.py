"""A lender's lead asks for a loan back: people hear it, nothing is taken, and the answer comes back to who asked."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.ask_backs import AskBackState
from bot.core.errors import Refused
from bot.core.loans import LoanState
from bot.core.requests import RequestState
from bot.flows.answer_ask_back import close_ask_backs, keep_loan
from bot.flows.ask_back import ask_back
from bot.flows.return_loan import return_loan
from tests.support import quota
from tests.support.fakes.gate import Killed, kill
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

HOURS_25 = timedelta(hours=25)


@pytest.fixture
def lent(bench: "Bench") -> int:
    """8 of nlp are with vision, in force."""
    number = bench.approved(quota.transfer(8))
    bench.converge()
    bench.deliver_all()
    assert (bench.number("nlp"), bench.number("vision")) == (16, 24)
    return number


def ask(bench: "Bench", number: int, words: str = "our own deadline", who: str = "U0LEADNLP") -> None:
    ask_back(bench.world, number, words, who, bench.arrival(f"ask-{bench.new_id()}"))
    bench.deliver_all()


def says(bench: "Bench", to: str, index: int = -1) -> str:
    return "\n".join(seen(bench.posted(to)[index].message))


def audited(bench: "Bench", what: str) -> list[tuple[str, str]]:
    return [(one.who, one.outcome) for one in bench.store.tables.audit if one.what == what]


def test_the_borrowers_people_hear_who_asks_and_why_and_nothing_is_taken(bench: "Bench", lent: int) -> None:
    before = bench.store.tables.loans[lent]
    ask(bench, lent, "our own <!channel> deadline")
    for who in ("U0VISION", "U0LEADVISION"):
        told = says(bench, who)
        assert told.startswith(f"⏳ 8 a100 asked back by nlp (Q-{lent})\n@-leadnlp: our own <!channel> deadline\n")
        assert "Nothing is taken" in told
        assert told.endswith("[Return] [Keep]")
    assert bench.texts("U0VISION")[-1] == f"8 a100 asked back by nlp (Q-{lent})"
    bench.converge()
    assert bench.store.tables.loans[lent] == before
    assert (bench.number("nlp"), bench.number("vision")) == (16, 24)
    assert audited(bench, "ask back") == [("U0LEADNLP", "our own <!channel> deadline")]
    assert any("asks for it back" in text for text in bench.texts("C0APPROVALS"))


def test_the_lenders_lead_has_the_button_where_they_see_the_loan(bench: "Bench", lent: int) -> None:
    theirs = [says(bench, "U0LEADNLP", index) for index in range(len(bench.posted("U0LEADNLP")))]
    assert len(theirs) == 2, "their copy of the card, and that it is lent"
    assert all(one.endswith("[Ask back]") for one in theirs)
    assert not any("[Ask back]" in says(bench, "U0VISION", index) for index in range(len(bench.posted("U0VISION"))))


def test_kept_is_heard_by_who_asked_and_the_buttons_are_gone(bench: "Bench", lent: int) -> None:
    ask(bench, lent)
    keep_loan(bench.world, 1, "U0LEADVISION", bench.arrival("keep"))
    bench.deliver_all()
    told = says(bench, "U0LEADNLP")
    assert told.startswith("⚪ 8 a100 stay with vision until")
    assert "Kept by @-leadvision" in told
    assert "gpu-admins can end it" in told
    for who in ("U0VISION", "U0LEADVISION"):
        assert "asked back by nlp: kept" in says(bench, who)
        assert "[" not in says(bench, who)
    assert bench.store.tables.loans[lent].state is LoanState.RUNNING
    with pytest.raises(Refused, match="answered already: it is kept"):
        keep_loan(bench.world, 1, "U0VISION", bench.arrival("again"))
    assert [who for who, _ in audited(bench, "keep loan")] == ["U0LEADVISION", "U0VISION"]


@pytest.mark.parametrize(("amount", "given", "left"), [(None, 8, 0), (3, 3, 5), (8, 8, 0)])
def test_a_return_is_the_answer(bench: "Bench", lent: int, amount: int | None, given: int, left: int) -> None:
    ask(bench, lent)
    return_loan(bench.world, lent, amount, "U0VISION", bench.arrival("return"))
    told = bench.store.tables.ask_backs[1]
    assert (told.state, told.given, told.settled_by) == (AskBackState.RETURNED, given, "U0VISION")
    bench.converge()
    bench.deliver_all()
    answers = [text for text in bench.texts("U0LEADNLP") if text.startswith(f"{given} a100 go back to nlp")]
    assert len(answers) == 1
    assert bench.number("nlp") == 24 - left


def test_no_answer_is_said_once_and_it_may_be_asked_again(bench: "Bench", lent: int) -> None:
    ask(bench, lent)
    for _ in range(30):
        bench.pass_time(hours=1)
        bench.epoch = bench.lead("P1")
        close_ask_backs(bench.world, bench.epoch)
        bench.deliver_all()
    no_answer = [text for text in bench.texts("U0LEADNLP") if "no answer in 24 h" in text]
    assert no_answer == [f"8 a100 asked back: no answer in 24 h (Q-{lent})"]
    assert says(bench, "U0VISION").endswith("[Return]")
    assert bench.store.tables.ask_backs[1].state is AskBackState.UNANSWERED
    with pytest.raises(Refused, match="time to answer is over"):
        keep_loan(bench.world, 1, "U0VISION", bench.arrival("late"))
    ask(bench, lent)
    assert len(bench.store.tables.ask_backs) == 2


def test_not_twice_within_a_day_whatever_the_answer(bench: "Bench", lent: int) -> None:
    ask(bench, lent)
    with pytest.raises(Refused, match=r"the answer is not there yet\. Once in 24 h: again in 24 h\."):
        ask(bench, lent)
    keep_loan(bench.world, 1, "U0VISION", bench.arrival("keep"))
    bench.pass_time(hours=22.5)
    with pytest.raises(Refused, match=r"it is kept\. Once in 24 h: again in 2 h\."):
        ask(bench, lent)
    bench.pass_time(hours=2)
    ask(bench, lent)


def test_the_end_of_the_loan_ends_the_question_without_a_message_of_its_own(bench: "Bench", lent: int) -> None:
    ask(bench, lent)
    bench.pass_time(days=4)
    bench.epoch = bench.lead("P1")
    bench.converge()
    close_ask_backs(bench.world, bench.epoch)
    bench.deliver_all()
    assert bench.store.tables.ask_backs[1].state is AskBackState.OVER
    assert not any("no answer" in text for text in bench.texts("U0LEADNLP"))
    shown = [one.message.text for one in bench.posted("U0VISION")]
    assert f"8 a100 asked back by nlp: the loan is over (Q-{lent})" in shown
    with pytest.raises(Refused, match="over already"):
        ask(bench, lent)


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("U0VISION", "is your own team's loan: return Q-1 gives it back"),
        ("U0LEADVISION", "is your own team's loan"),
        ("U0NLP", "Only the nlp lead can ask for Q-1 back. gpu-admins can end it."),
        ("U0LEADROBOTICS", "Only the nlp lead"),
        ("U0ADMIN", "Only the nlp lead"),
    ],
)
def test_nobody_else_can_and_it_is_in_the_audit(bench: "Bench", lent: int, who: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        ask(bench, lent, who=who)
    assert [name for name, _ in audited(bench, "ask back")] == [who]
    assert not bench.store.tables.ask_backs


def test_what_nobody_lends_is_refused_in_words(bench: "Bench") -> None:
    borrowed = bench.approved(quota.ask())
    with pytest.raises(Refused, match="Nobody lends"):
        ask(bench, borrowed)
    with bench.world.store.begin() as uow:
        waiting = uow.requests.add(quota.request(of=quota.transfer(8), created_at=bench.clock(), origin="waits"))
        longer = quota.request(of=quota.transfer(8), created_at=bench.clock(), origin="longer", extends=borrowed)
        extension = uow.requests.add(longer)
        uow.commit()
    assert waiting.state is RequestState.WAITING
    with pytest.raises(Refused, match=f"There is no loan Q-{waiting.id}"):
        ask(bench, waiting.id)
    with pytest.raises(Refused, match=f"more time for Q-{borrowed}"):
        ask(bench, extension.id)
    with pytest.raises(Refused, match="There is no Q-99"):
        ask(bench, 99)


@pytest.mark.parametrize("who", ["U0NLP", "U0LEADNLP", "U0ADMIN", "U0ROBOTICS"])
def test_only_the_borrowers_side_keeps(bench: "Bench", lent: int, who: str) -> None:
    ask(bench, lent)
    with pytest.raises(Refused):
        keep_loan(bench.world, 1, who, bench.arrival("keep"))
    assert bench.store.tables.ask_backs[1].state is AskBackState.OPEN


def test_of_keep_and_return_at_once_one_is_the_answer(bench: "Bench", lent: int) -> None:
    ask(bench, lent)
    keep, back = bench.arrival("keep"), bench.arrival("return")
    bench.gate.plan(lambda: return_loan(bench.world, lent, 2, "U0VISION", back) and None, matches="store.begin")
    with pytest.raises(Refused, match="quota was returned"):
        keep_loan(bench.world, 1, "U0LEADVISION", keep)
    assert bench.store.tables.ask_backs[1].state is AskBackState.RETURNED


def test_a_kill_at_any_passage_asks_once(new_bench: "Callable[[], Bench]") -> None:
    for passage in range(12):
        bench = new_bench()
        number = bench.approved(quota.transfer(8))
        bench.converge()
        arrival = bench.arrival("ask")
        bench.gate.plan(kill, after=passage)
        try:
            ask_back(bench.world, number, "", "U0LEADNLP", arrival)
        except Killed:
            if not bench.store.tables.ask_backs:
                bench.gate.clear()
                ask_back(bench.world, number, "", "U0LEADNLP", arrival)
        bench.gate.clear()
        bench.deliver_all()
        assert len(bench.store.tables.ask_backs) == 1
        assert sum("asked back" in text for text in bench.texts("U0VISION")) == 1
