"""The pause of quota changes: one row, that one of two at once gets."""

from dataclasses import replace

from bot.core.pause import Pause


def test_it_begins_once_and_ends_once(store, make) -> None:
    pause = Pause("U1", "Ada <!channel>", make.now, "node maintenance\n=1+1")
    with store.begin() as work:
        assert work.pauses.get() is None
        assert work.pauses.end() is None
        assert work.pauses.begin(pause)
        assert not work.pauses.begin(replace(pause, who="U2"))
        work.commit()
    with store.read() as work:
        assert work.pauses.get() == pause
    with store.begin() as work:
        assert work.pauses.end() == pause
        assert work.pauses.end() is None
        work.commit()
    with store.read() as work:
        assert work.pauses.get() is None


def test_without_commit_nothing_is_paused(store, make) -> None:
    with store.begin() as work:
        work.pauses.begin(Pause("U1", "Ada", make.now))
    with store.read() as work:
        assert work.pauses.get() is None


def test_of_two_at_once_one_begins_it(shared_store, make, together) -> None:
    def begin(who: str) -> bool:
        with shared_store.begin() as work:
            work.alone("pause")
            begun = work.pauses.begin(Pause(who, who, make.now))
            work.commit()
        return begun

    assert sorted(together(lambda: begin("U1"), lambda: begin("U2"))) == [False, True]
