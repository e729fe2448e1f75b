"""Home tabs in the database: one row a person, written over; which of them somebody may be looking at.

And what rows in them are looked up by: who is asked, who has something on loan.
"""

from dataclasses import replace

from bot.core.escalations import Escalation
from bot.core.home_tab import HomeTab
from bot.core.loans import LoanState
from bot.core.requests import ApprovalStep, RequestState


def test_opening_again_keeps_what_was_shown_and_forgets_a_refusal(store, make) -> None:
    with store.begin() as work:
        assert work.home_tabs.get("U1") is None
        work.home_tabs.opened("U1", make.now)
        work.home_tabs.shown(HomeTab("U1", make.now, "digest", make.later(seconds=1), "1.2", "not_enabled"))
        work.commit()
    with store.begin() as work:
        refused = work.home_tabs.get("U1")
        assert refused == HomeTab("U1", make.now, "digest", make.later(seconds=1), "1.2", "not_enabled")
        assert work.home_tabs.watched(make.later(hours=-1), 10) == []
        work.home_tabs.opened("U1", make.later(hours=1))
        work.commit()
    with store.read() as work:
        assert work.home_tabs.get("U1") == replace(refused, opened_at=make.later(hours=1), failure=None)


def test_what_is_shown_does_not_undo_an_opening_that_came_meanwhile(store, make) -> None:
    with store.begin() as work:
        work.home_tabs.opened("U1", make.now)
        read = work.home_tabs.get("U1")
        work.home_tabs.opened("U1", make.later(hours=2))
        work.home_tabs.shown(replace(read, shown="digest", shown_at=make.now, hash="1.2"))
        work.home_tabs.shown(HomeTab("U2", make.now, "digest"))
        work.commit()
    with store.read() as work:
        assert work.home_tabs.get("U1") == HomeTab("U1", make.later(hours=2), "digest", make.now, "1.2")
        assert work.home_tabs.get("U2") is None, "a tab is opened first"


def test_the_latest_opened_are_watched(store, make) -> None:
    with store.begin() as work:
        for user, minutes in (("U1", 0), ("U2", 2), ("U3", 1), ("U4", 2)):
            work.home_tabs.opened(user, make.later(minutes=minutes))
        work.commit()
    with store.read() as work:
        assert [one.user for one in work.home_tabs.watched(make.now, 10)] == ["U2", "U4", "U3"]
        assert [one.user for one in work.home_tabs.watched(make.later(minutes=-1), 2)] == ["U2", "U4"]


def test_two_openings_at_once_are_one_row(shared_store, make, together) -> None:
    def opened() -> None:
        with shared_store.begin() as work:
            work.home_tabs.opened("U1", make.now)
            work.commit()

    together(opened, opened)
    with shared_store.read() as work:
        assert work.home_tabs.watched(make.later(hours=-1), 10) == [HomeTab("U1", make.now)]


def test_what_waits_is_found_by_whom_its_steps_ask_and_to_whom_it_was_escalated(store, make) -> None:
    """However many others wait; names are whole, and of the same case."""
    with store.begin() as work:
        for number in range(100):
            work.requests.add(make.request(f"E{number}", steps=(ApprovalStep("leads:nlpx"), ApprovalStep("leads:NLP"))))
        late = work.requests.add(make.request("late", created_at=make.later(hours=1)))
        early = work.requests.add(make.request("early", steps=(ApprovalStep("group:platform"),)))
        moved = work.requests.add(make.request("moved", steps=(ApprovalStep("leads:cv"),)))
        made = Escalation(moved.id, 0, 0, "leads:cv", "group:platform", make.now, "8 h without an answer")
        assert work.escalations.add(made)
        over = make.request("over", state=RequestState.DENIED, decided_by="U9", decided_at=make.now)
        work.requests.add(over)
        work.commit()
    with store.read() as work:
        assert work.home_tabs.waiting_for({"leads:nlp"}) == [late]
        assert work.home_tabs.waiting_for({"group:platform"}) == [early, moved, late]
        assert work.home_tabs.waiting_for({"leads:cv", "group:nobody"}) == [moved]
        assert work.home_tabs.waiting_for(()) == []


def test_who_has_something_on_loan_is_found_however_long_ago_it_was_asked_for(store, make) -> None:
    """The loan decides; of a series the request that all its times come from, once."""
    approved = {"state": RequestState.APPROVED, "decided_by": "U9", "decided_at": make.now}
    with store.begin() as work:
        old = work.requests.add(make.request("old", **approved))
        theirs = work.requests.add(make.request("theirs", "nlp", requester="U2", **approved))
        series = work.requests.add(make.request("series", requester="U2", **approved))
        times = [work.requests.add(make.request(f"T{n}", requester="U2", series=series.id, **approved)) for n in (1, 2)]
        for one in (old, theirs, *times):
            work.loans.add(make.loan(one.id, state=LoanState.RETURNING))
        for number in range(100):
            closed = work.requests.add(make.request(f"C{number}", **approved))
            work.loans.add(make.loan(closed.id, state=LoanState.CLOSED))
        work.requests.add(make.request("waits"))
        work.commit()
    with store.read() as work:
        assert work.home_tabs.on_loan("U1") == [old]
        assert work.home_tabs.on_loan("U2") == [series, theirs]
        assert work.home_tabs.on_loan(teams=("vision",)) == [series, old]
        assert work.home_tabs.on_loan("U2", ("vision",)) == [series, theirs, old]
        assert work.home_tabs.on_loan("U3") == work.home_tabs.on_loan() == []
