"""The outbox: one message per key, merged updates, one deliverer at a time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.adapters.db.notices import CLAIM_LASTS
from bot.core.errors import NotLeader, Stale
from bot.core.messages import MessageRef
from bot.core.notices import NoticeState, Priority

LEASE = timedelta(seconds=15)


@pytest.fixture
def epoch(store):
    """The test leads."""
    with store.begin() as work:
        taken = work.leadership.acquire("me", LEASE)
        work.commit()
    return taken


@pytest.fixture
def do(store):
    """`do(lambda notices: ...)`: one transaction, committed."""

    def run(step):
        with store.begin() as work:
            result = step(work.notices)
            work.commit()
        return result

    return run


@pytest.fixture
def deliver(do, make, epoch):
    """Claim and record a notice as posted."""

    def run(notice):
        claimed = do(lambda notices: notices.claim(notice, epoch, make.now))
        posted = replace(claimed, state=NoticeState.SETTLED, shown=claimed.wanted, ref=MessageRef("C1", "1.0001"))
        do(lambda notices: notices.record(posted))
        return do(lambda notices: notices.get(notice.draft.key))

    return run


def owe(do, make, key="card:142:C1", at=None, not_before=None, **changes):
    do(lambda notices: notices.owe(make.draft(key, **changes), at or make.now, not_before))
    return do(lambda notices: notices.get(key))


def owe_inside(notices, make):
    notices.owe(make.draft(), make.now)
    return notices.get("card:142:C1")


def test_a_new_notice_is_owed_and_found_by_key_and_id(do, make) -> None:
    notice = owe(do, make, thread_of="card:1:C1", priority=Priority.APPROVAL)
    assert notice.draft == make.draft(thread_of="card:1:C1", priority=Priority.APPROVAL)
    assert (notice.state, notice.wanted, notice.shown, notice.created_at) == (NoticeState.OWED, 1, 0, make.now)
    assert do(lambda notices: notices.by_id(notice.id)) == notice
    assert do(lambda notices: notices.by_id("none")) is None
    assert do(lambda notices: notices.get("none")) is None


def test_ids_do_not_repeat(do, make) -> None:
    assert len({owe(do, make, f"k{number}").id for number in range(20)}) == 20


def test_owing_the_same_key_changes_the_one_message(do, make) -> None:
    first = owe(do, make)
    again = owe(do, make, at=make.later(hours=1), facts={"request": 142, "state": "denied"}, kind="other")
    assert again == replace(first, wanted=2, draft=replace(first.draft, facts={"request": 142, "state": "denied"}))


def test_owing_a_settled_one_again_makes_it_an_update(do, make, deliver) -> None:
    settled = deliver(owe(do, make))
    assert settled.state is NoticeState.SETTLED
    again = owe(do, make)
    assert (again.state, again.shown, again.wanted) == (NoticeState.OWED, 1, 2)
    assert again.ref == MessageRef("C1", "1.0001")


def test_owing_once_leaves_an_existing_one_alone(do, make, deliver) -> None:
    assert do(lambda notices: notices.owe_once(make.draft(), make.now))
    settled = deliver(do(lambda notices: notices.get("card:142:C1")))
    assert not do(lambda notices: notices.owe_once(make.draft(facts={}), make.later(hours=1)))
    assert do(lambda notices: notices.get("card:142:C1")) == settled


def test_owing_at_the_same_moment_is_one_message(shared_store, make, together) -> None:
    def owe_it():
        with shared_store.begin() as work:
            work.notices.owe(make.draft(), make.now)
            work.commit()

    def owe_it_once():
        with shared_store.begin() as work:
            new = work.notices.owe_once(make.draft("other"), make.now)
            work.commit()
            return new

    assert together(owe_it, owe_it, owe_it) == [None] * 3
    assert sorted(together(owe_it_once, owe_it_once)) == [False, True]
    with shared_store.read() as work:
        assert work.notices.get("card:142:C1").wanted == 3
        assert work.notices.get("other").wanted == 1


def test_a_not_before_is_kept_unless_a_new_one_is_given(do, make) -> None:
    assert owe(do, make, not_before=make.later(hours=1)).not_before == make.later(hours=1)
    assert owe(do, make).not_before == make.later(hours=1)
    assert owe(do, make, not_before=make.later(hours=2)).not_before == make.later(hours=2)


@pytest.mark.parametrize(
    ("prefix", "touched"),
    [
        ("card:14:", {"card:14:C1", "card:14:C2"}),
        ("card:14", {"card:14:C1", "card:14:C2", "card:142:C1"}),
        ("CARD:14:", set()),
        ("card_14", set()),
        ("%", {"%:1"}),
        ("_", set()),
        ("dm:ü", {"dm:ü😀"}),
        ("nothing", set()),
    ],
)
def test_refresh_raises_what_begins_so_and_nothing_else(do, make, prefix, touched) -> None:
    for key in ("card:14:C1", "card:14:C2", "card:142:C1", "card:1:C1", "%:1", "dm:ü😀", "dm:u"):
        owe(do, make, key)
    assert do(lambda notices: notices.refresh(prefix, make.now)) == len(touched)
    raised = {notice.draft.key for notice in do(lambda notices: notices.waiting(make.now, 1, 99)) if notice.wanted == 2}
    assert raised == touched


def test_refresh_merges_new_facts(do, make) -> None:
    owe(do, make, "card:14:C1", facts={"request": 14, "state": "waiting"})
    owe(do, make, "card:14:C2", facts={})
    assert do(lambda notices: notices.refresh("card:14:", make.now, {"state": "denied"})) == 2
    facts = [do(lambda notices, key=key: notices.get(key)).draft.facts for key in ("card:14:C1", "card:14:C2")]
    assert facts == [{"request": 14, "state": "denied"}, {"state": "denied"}]


def test_latest_is_the_newest_that_begins_so(do, make) -> None:
    for key, hours in (("edit:q:1", 1), ("edit:q:2", 3), ("edit:q:3", 2), ("EDIT:q:4", 9), ("edit:qq:5", 9)):
        owe(do, make, key, at=make.later(hours=hours))
    assert do(lambda notices: notices.latest("edit:q:")).draft.key == "edit:q:2"
    assert do(lambda notices: notices.latest("edit:r:")) is None


def test_waiting_is_by_priority_then_by_age(do, make, epoch) -> None:
    owe(do, make, "late", at=make.later(hours=2))
    owe(do, make, "early", at=make.later(hours=1))
    owe(do, make, "approval", at=make.later(hours=3), priority=Priority.APPROVAL)
    order = [notice.draft.key for notice in do(lambda notices: notices.waiting(make.later(days=1), epoch, 99))]
    assert order == ["approval", "early", "late"]
    assert len(do(lambda notices: notices.waiting(make.later(days=1), epoch, 2))) == 2


def test_age_counts_from_when_something_was_first_owed_not_from_the_first_post(do, make, deliver, epoch) -> None:
    deliver(owe(do, make, "old card", at=make.now))
    owe(do, make, "new card", at=make.later(hours=1))
    owe(do, make, "old card", at=make.later(hours=2))
    owe(do, make, "new card", at=make.later(hours=3))
    order = [notice.draft.key for notice in do(lambda notices: notices.waiting(make.later(days=1), epoch, 99))]
    assert order == ["new card", "old card"]


def test_of_one_age_a_card_comes_before_the_lines_in_its_thread(do, make, epoch) -> None:
    for number in range(8):
        owe(do, make, f"line {number}", thread_of="card")
    owe(do, make, "card")
    first, *_ = do(lambda notices: notices.waiting(make.now, epoch, 99))
    assert first.draft.key == "card"


def test_what_is_not_due_does_not_wait(do, make, epoch) -> None:
    owe(do, make, not_before=make.later(seconds=1))
    assert do(lambda notices: notices.waiting(make.now, epoch, 9)) == []
    assert len(do(lambda notices: notices.waiting(make.later(seconds=1), epoch, 9))) == 1


def test_a_claimed_one_waits_only_for_another_epoch_or_after_long(do, make, epoch) -> None:
    notice = owe(do, make)
    claimed = do(lambda notices: notices.claim(notice, epoch, make.now))
    assert claimed == replace(notice, state=NoticeState.CLAIMED, claimed_epoch=epoch, claimed_at=make.now)
    assert do(lambda notices: notices.waiting(make.now + CLAIM_LASTS, epoch, 9)) == []
    assert do(lambda notices: notices.waiting(make.now, epoch + 1, 9)) == [claimed]
    long_after = make.now + CLAIM_LASTS + timedelta(seconds=1)
    assert do(lambda notices: notices.waiting(long_after, epoch, 9)) == [claimed]


def test_one_that_is_claimed_again_is_doubtful(do, make, epoch) -> None:
    """Its first deliverer may have posted it. That must survive the death of the second one as well."""
    first = do(lambda notices: notices.claim(owe_inside(notices, make), epoch, make.now))
    assert not first.doubtful
    again = do(lambda notices: notices.claim(first, epoch, make.later(hours=1)))
    assert again.doubtful


@pytest.mark.parametrize(
    "change",
    [
        lambda notices, notice, make: notices.owe(notice.draft, make.now),
        lambda notices, notice, make: notices.refresh("card:", make.now),
        lambda notices, notice, make: notices.claim(notice, 1, make.now),
    ],
    ids=["owed again", "refreshed", "claimed"],
)
def test_one_that_changed_since_it_was_read_is_not_claimed(do, make, epoch, change) -> None:
    notice = owe(do, make)
    do(lambda notices: change(notices, notice, make))
    assert do(lambda notices: notices.claim(notice, epoch, make.later(seconds=1))) is None


def test_one_that_was_delivered_since_it_was_read_is_not_claimed(do, make, epoch, deliver) -> None:
    notice = owe(do, make)
    deliver(notice)
    assert do(lambda notices: notices.claim(notice, epoch, make.now)) is None


def test_of_two_claims_at_once_one_wins(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        epoch = work.leadership.acquire("me", LEASE)
        work.notices.owe(make.draft(), make.now)
        notice = work.notices.get("card:142:C1")
        work.commit()

    def claim():
        with shared_store.begin() as work:
            claimed = work.notices.claim(notice, epoch, make.now)
            work.commit()
            return claimed

    assert sorted(result is None for result in together(claim, claim, claim)) == [False, True, True]


def test_a_claim_under_an_old_epoch_is_refused_and_changes_nothing(store, do, make, epoch) -> None:
    notice = owe(do, make)
    with store.begin() as work:
        work.leadership.release("me")
        work.leadership.acquire("other", LEASE)
        work.commit()
    with pytest.raises(NotLeader):
        do(lambda notices: notices.claim(notice, epoch, make.now))
    assert do(lambda notices: notices.get(notice.draft.key)) == notice


def test_what_came_of_it_is_recorded(do, make, epoch) -> None:
    claimed = do(lambda notices: notices.claim(owe_inside(notices, make), epoch, make.now))
    tried = replace(
        claimed,
        state=NoticeState.OWED,
        not_before=make.later(minutes=1),
        attempts=1,
        doubtful=True,
        failure="ratelimited",
    )
    do(lambda notices: notices.record(tried))
    assert do(lambda notices: notices.get("card:142:C1")) == tried


@pytest.mark.parametrize("state", [NoticeState.SETTLED, NoticeState.GIVEN_UP, NoticeState.OWED])
def test_if_more_is_wanted_meanwhile_it_is_owed_again(do, make, epoch, state) -> None:
    claimed = do(lambda notices: notices.claim(owe_inside(notices, make), epoch, make.now))
    do(lambda notices: notices.owe(make.draft(facts={"newer": True}), make.now))
    assert do(lambda notices: notices.get("card:142:C1")).state is NoticeState.CLAIMED
    recorded = replace(claimed, state=state, shown=1, ref=MessageRef("D1", "2.0"))
    do(lambda notices: notices.record(recorded))
    after = do(lambda notices: notices.get("card:142:C1"))
    assert (after.state, after.wanted, after.shown, after.ref) == (NoticeState.OWED, 2, 1, MessageRef("D1", "2.0"))
    assert after.draft.facts == {"newer": True}


def test_a_record_whose_claim_was_taken_over_is_stale(do, make, epoch) -> None:
    first = do(lambda notices: notices.claim(owe_inside(notices, make), epoch, make.now))
    second = do(lambda notices: notices.claim(first, epoch, make.later(hours=1)))
    with pytest.raises(Stale):
        do(lambda notices: notices.record(replace(first, state=NoticeState.SETTLED, shown=1)))
    assert do(lambda notices: notices.get("card:142:C1")) == second


def test_one_that_was_given_up_gets_another_try_when_it_is_wanted_again(do, make, epoch) -> None:
    claimed = do(lambda notices: notices.claim(owe_inside(notices, make), epoch, make.now))
    given_up = replace(claimed, state=NoticeState.GIVEN_UP, attempts=4, failure="is_archived")
    do(lambda notices: notices.record(given_up))
    assert do(lambda notices: notices.waiting(make.later(days=1), epoch + 1, 9)) == []
    again = owe(do, make)
    assert (again.state, again.attempts, again.failure) == (NoticeState.OWED, 0, None)
