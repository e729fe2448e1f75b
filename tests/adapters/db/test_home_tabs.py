"""Home tabs in the database: one row a person, written over; which of them somebody may be looking at."""

from dataclasses import replace

from bot.core.home_tab import HomeTab


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
