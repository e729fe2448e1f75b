"""P5: what is owed is said once, in order, at Slack's pace, and one message's trouble stops no other."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.core.errors import NotLeader, Rejected
from bot.core.messages import Message
from bot.core.notices import Notice, NoticeDraft, NoticeState, Priority
from bot.flows.deliver_notices import NotSaid
from tests.support.fakes.chat import Trouble
from tests.support.fakes.gate import Killed, kill

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

Plainly = Callable[[Notice], Message]


def test_a_notice_is_posted_once_and_then_left_alone(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.deliver_all(plainly)
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a"]
    assert bench.notice("a").state is NoticeState.SETTLED


def test_waiting_updates_of_one_message_are_one(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.deliver_all(plainly)
    for _ in range(5):
        bench.owe("a")
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a 6"]


@pytest.mark.case("SLA-02")
def test_a_channel_gets_one_post_a_second_and_approvals_come_first(bench: "Bench", plainly: Plainly) -> None:
    for number in range(4):
        bench.owe(f"for a person {number}", priority=Priority.PERSON)
    bench.owe("approval", priority=Priority.APPROVAL)
    began = bench.clock()
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["approval", *(f"for a person {number}" for number in range(4))]
    assert [(one.at - began).total_seconds() for one in bench.posted("C0PLATFORM")] == [0, 1, 2, 3, 4]


@pytest.mark.case("SLA-02")
def test_retry_after_is_waited_out_by_the_channel_and_by_nobody_else(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.owe("b")
    bench.owe("elsewhere", to="C0NLP")
    bench.slack.troubles.append(Trouble.RATE_LIMITED)
    began = bench.clock()
    bench.deliver_all(plainly)
    assert bench.texts("C0NLP") == ["elsewhere"]
    assert bench.texts("C0PLATFORM") == ["a", "b"]
    assert [(one.at - began).total_seconds() for one in bench.posted("C0PLATFORM")] == [30, 31]


@pytest.mark.parametrize("outage", [timedelta(seconds=20), timedelta(hours=1)])
def test_after_an_outage_everything_comes_in_order_and_once(
    bench: "Bench", plainly: Plainly, outage: timedelta
) -> None:
    bench.slack.down = True
    keys = [f"{number:02d}" for number in range(12)]
    for key in keys:
        bench.owe(key)
        bench.owe(f"{key} for nlp", to="C0NLP")
        bench.pass_time(milliseconds=1)
        bench.deliver_all(plainly, within=outage.total_seconds() / 12)
    back = bench.clock()
    bench.slack.down = False
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM")[: len(keys)] == keys
    assert bench.texts("C0NLP") == [f"{key} for nlp" for key in keys]
    assert max(one.at for one in bench.posted("C0NLP")) - back <= timedelta(seconds=30 + len(keys))


def test_an_outage_that_was_long_is_said_once_when_it_is_over(bench: "Bench", plainly: Plainly) -> None:
    bench.slack.down = True
    bench.owe("a")
    bench.owe("b", to="C0NLP")
    bench.deliver_all(plainly, within=360)
    bench.slack.down = False
    bench.deliver_all()
    bench.deliver_all()
    said = [text for text in bench.texts("C0PLATFORM") if "not reachable" in text]
    assert len(said) == 1


def test_a_short_outage_is_not_worth_a_word(bench: "Bench", plainly: Plainly) -> None:
    bench.slack.down = True
    bench.owe("a")
    bench.deliver_all(plainly, within=60)
    bench.slack.down = False
    bench.deliver_all(plainly)
    assert bench.keys("slack_back") == []


def test_a_message_that_waited_for_slack_says_so(bench: "Bench", plainly: Plainly) -> None:
    bench.slack.down = True
    bench.owe("a")
    bench.deliver_all(plainly, within=360)
    bench.slack.down = False
    bench.deliver(plainly)
    bench.pass_time(minutes=1)
    bench.owe("b")
    bench.deliver_all(plainly)
    late, fresh = (one for one in bench.posted("C0PLATFORM") if one.message.text in {"a", "b"})
    assert "Sent late" in str(late.message.blocks)
    assert "Sent late" not in str(fresh.message.blocks)


@pytest.mark.parametrize("text", ["a", "b", "c"])
def test_a_lost_answer_is_looked_up_in_the_history(bench: "Bench", plainly: Plainly, text: str) -> None:
    """Whichever of three it is: it stands there, so it is not posted again, and what is wanted meanwhile is shown."""
    for key in ("a", "b", "c"):
        bench.owe(key)
        bench.slack.troubles += [Trouble.ANSWER_LOST] if key == text else []
        bench.deliver(plainly)
        bench.owe(key)
        bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a 2", "b 2", "c 2"]


def test_where_the_history_is_closed_a_repeat_says_that_it_may_be_one(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.slack.troubles += [Trouble.ANSWER_LOST, Trouble.HISTORY_CLOSED]
    bench.deliver_all(plainly)
    first, second = bench.posted("C0PLATFORM")
    assert "may be a repeat" not in str(first.message.blocks)
    assert "may be a repeat" in str(second.message.blocks)


@pytest.mark.parametrize(
    "where", ["chat.post", "chat.posted", "chat.find", "store.begin", "store.commit", "store.committed"]
)
@pytest.mark.parametrize("after", range(3))
def test_a_kill_anywhere_and_a_new_leader_post_it_once(
    bench: "Bench", plainly: Plainly, where: str, after: int
) -> None:
    bench.owe("a")
    bench.owe("b", to="C0NLP")
    bench.gate.plan(kill, after=after, matches=where)
    try:
        bench.deliver_all(plainly)
    except Killed:
        bench.gate.clear()
    bench.pass_time(seconds=31)
    bench.epoch = bench.lead("P2")
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a"]
    assert bench.texts("C0NLP") == ["b"]


def test_an_old_leader_claims_nothing(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.pass_time(seconds=31)
    bench.lead("P2")
    with pytest.raises(NotLeader):
        bench.deliver(plainly)
    assert bench.texts("C0PLATFORM") == []


def test_a_leader_that_slept_over_its_lease_records_nothing(bench: "Bench", plainly: Plainly) -> None:
    """It posted, slept, the next leader found the message in the history; then it wakes up."""
    bench.owe("a")
    old = bench.epoch

    def sleep() -> None:
        bench.pass_time(seconds=31)
        bench.epoch = bench.lead("P2")
        bench.deliver_all(plainly)

    bench.gate.plan(sleep, matches="chat.posted")
    bench.deliver(plainly)
    bench.deliver_all(plainly)
    assert bench.epoch == old + 1
    assert bench.texts("C0PLATFORM") == ["a"]
    assert bench.notice("a").claimed_epoch == bench.epoch


def test_thread_lines_wait_for_their_parent_and_come_in_order(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("line 1", thread_of="card")
    bench.owe("card")
    bench.owe("line 2", thread_of="card")
    bench.slack.troubles.append(Trouble.RATE_LIMITED)
    bench.deliver(plainly)
    assert bench.texts("C0PLATFORM") == []
    bench.deliver_all(plainly)
    card, *lines = bench.posted("C0PLATFORM")
    assert [one.message.text for one in (card, *lines)] == ["card", "line 1", "line 2"]
    assert {one.thread for one in lines} == {card.ref}


def test_a_message_that_was_put_off_again_and_again_says_since_when_it_waited(bench: "Bench", plainly: Plainly) -> None:
    """Each try that fails moves the next one, not the instant from which the reader waits."""
    bench.owe("a", to="C0NLP")
    began = bench.clock()
    bench.chat.silent_for.add("a")
    while bench.clock() - began < timedelta(hours=2):
        bench.owe(f"other {bench.clock()}")
        bench.deliver(plainly)
        bench.pass_time(minutes=1)
    assert bench.notice("a").attempts > 1
    bench.chat.silent_for.clear()
    bench.deliver_all(plainly)
    (late,) = bench.posted("C0NLP")
    assert f"<!date^{began.timestamp():.0f}^" in str(late.message.blocks)


def test_a_message_that_was_wished_for_later_and_posted_then_is_not_late(bench: "Bench", plainly: Plainly) -> None:
    draft = NoticeDraft("a", "test", "C0NLP")
    with bench.world.store.begin() as uow:
        uow.notices.owe(draft, bench.clock(), bench.clock() + timedelta(hours=1))
        uow.commit()
    bench.pass_time(hours=1)
    bench.deliver_all(plainly)
    (posted,) = bench.posted("C0NLP")
    assert "Sent late" not in str(posted.message.blocks)


def test_a_card_and_its_line_owed_at_one_instant_come_in_this_order(bench: "Bench", plainly: Plainly) -> None:
    """Whatever their ids are: a line that is read first would wait for the next look."""
    bench.owe("line", thread_of="card")
    bench.owe("card")
    assert bench.deliver(plainly) == timedelta(seconds=1), "the channel's pace and no more"
    assert bench.texts("C0PLATFORM") == ["card"]
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["card", "line"]


def test_a_line_read_before_its_card_follows_at_the_pace_of_the_channel(bench: "Bench", plainly: Plainly) -> None:
    """It is older, or more urgent, so that no order of reading helps."""
    bench.owe("line", thread_of="card", priority=Priority.APPROVAL)
    bench.owe("card")
    assert bench.deliver(plainly) == timedelta(seconds=1)
    assert bench.texts("C0PLATFORM") == ["card"]
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["card", "line"]


def test_lines_of_a_card_that_was_given_up_are_given_up(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("card", to="C0GONE")
    bench.owe("line", to="C0GONE", thread_of="card")
    bench.owe("line of nothing", thread_of="nothing")
    bench.chat.refuses["C0GONE"] = "channel_not_found"
    bench.deliver_all(plainly)
    assert [bench.notice(key).failure for key in ("card", "line", "line of nothing")] == [
        "channel_not_found",
        "no thread",
        "no thread",
    ]


def test_hundreds_of_lines_without_a_parent_do_not_keep_others_from_being_posted(
    bench: "Bench", plainly: Plainly
) -> None:
    bench.owe("card", to="C0NLP")
    bench.pace.hold_channel("C0NLP", bench.clock() + timedelta(hours=1))
    for number in range(300):
        bench.owe(f"line {number}", to="C0NLP", thread_of="card")
    bench.owe("other")
    wait = bench.deliver(plainly)
    assert bench.texts("C0PLATFORM") == ["other"]
    assert wait is not None
    assert wait > timedelta(minutes=59), "nothing to do before then: no busy loop"


def test_a_defect_in_one_view_stops_no_other_message(bench: "Bench", plainly: Plainly) -> None:
    def render(notice: Notice) -> Message:
        if notice.draft.key == "broken":
            raise ZeroDivisionError("a defect")
        return plainly(notice)

    bench.owe("broken", priority=Priority.APPROVAL)
    bench.owe("a")
    bench.deliver(render)
    assert bench.texts("C0PLATFORM") == ["a"]
    broken = bench.notice("broken")
    assert broken.state is NoticeState.OWED
    assert broken.not_before is not None
    assert broken.not_before > bench.clock()
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a", "broken"], "mended, it comes"


def test_what_is_not_to_be_said_any_more_is_settled(bench: "Bench") -> None:
    def render(notice: Notice) -> Message:
        raise NotSaid("over")

    bench.owe("a")
    bench.deliver_all(render)
    assert bench.texts("C0PLATFORM") == []
    assert bench.notice("a").state is NoticeState.SETTLED


def test_one_message_that_slack_never_answers_stops_no_other(bench: "Bench", plainly: Plainly) -> None:
    bench.chat.silent_for.add("poison")
    bench.owe("poison")
    for number in range(3):
        bench.owe(f"{number}")
        bench.owe(f"nlp {number}", to="C0NLP")
    bench.deliver_all(plainly, within=60)
    assert bench.texts("C0NLP") == ["nlp 0", "nlp 1", "nlp 2"]
    assert bench.texts("C0PLATFORM") == ["0", "1", "2"]


def test_an_update_whose_answer_was_lost_is_sent_again(bench: "Bench", plainly: Plainly) -> None:
    bench.owe("a")
    bench.deliver_all(plainly)
    bench.owe("a")
    bench.slack.troubles.append(Trouble.ANSWER_LOST)
    bench.deliver_all(plainly)
    assert bench.texts("C0PLATFORM") == ["a 2"]
    assert bench.notice("a").state is NoticeState.SETTLED


def test_a_message_that_slack_refuses_is_given_up_and_tried_again_when_it_changes(
    bench: "Bench", plainly: Plainly
) -> None:
    bench.owe("a", to="C0NLP")
    bench.chat.refuses["C0NLP"] = "msg_blocks_too_long"
    bench.deliver_all(plainly)
    assert bench.notice("a").failure == "msg_blocks_too_long"
    bench.chat.refuses.clear()
    bench.owe("a", to="C0NLP")
    bench.deliver_all(plainly)
    assert bench.texts("C0NLP") == ["a 2"]
    with pytest.raises(Rejected):
        bench.world.chat.update(bench.posted("C0NLP")[0].ref._replace(ts="1.0"), Message("nowhere"))
