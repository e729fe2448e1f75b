"""Home tabs are shown when they are opened, after a press and when what they say changed; whatever Slack does."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.chat.desk import CLAIM_IS_OLD, Desk
from bot.chat.directory import handler_of
from bot.core.errors import Rejected
from bot.core.home_tab import BETWEEN, WATCHED_FOR, HomeTab
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Home
from bot.core.people import Person
from bot.flows.ask_back import ask_back
from bot.flows.cards import owe_cards
from bot.flows.publish_home import AT_REST, MOST_WATCHED, HomeMemory, follow_press, publish_homes, refresh_home
from bot.flows.withdraw_request import withdraw_request
from bot.views.ids import Action, Event
from tests.support import quota
from tests.support.fakes.chat import Trouble
from tests.support.fakes.gate import Killed, kill
from tests.support.view_text import buttons, seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

TROUBLES = pytest.mark.parametrize("trouble", [Trouble.NOT_REACHED, Trouble.RATE_LIMITED, Trouble.ANSWER_LOST])


def stored(bench: "Bench", item: InboxItem) -> InboxItem:
    with bench.world.store.begin() as uow:
        uow.inbox.put([item])
        uow.commit()
    return item


def desk(bench: "Bench") -> Desk:
    return Desk(bench.world, handler_of, "P1")


def opening(bench: "Bench", who: str) -> InboxItem:
    return stored(
        bench, InboxItem(f"event:{bench.new_id()}", Arrival.EVENT, Event.HOME_OPENED, {"user": who}, bench.clock())
    )


def opens(bench: "Bench", who: str) -> None:
    desk(bench).handle(opening(bench, who))


def presses(bench: "Bench", who: str, action: Action, value: str = "new") -> None:
    payload = {"user": who, "value": value}
    item = stored(bench, InboxItem(f"action:{bench.new_id()}", Arrival.ACTION, action, payload, bench.clock()))
    desk(bench).handle(item)
    follow_press(bench.world, item)


def sees(bench: "Bench", who: str) -> str:
    return "\n".join(seen(bench.slack.homes[who][0]))


def tab(bench: "Bench", who: str) -> HomeTab:
    return bench.store.tables.home_tabs[who]


def asks(bench: "Bench", amount: int = 8, who: str = "U0VISION") -> int:
    """A request of two steps: the lender's lead, then an admin."""
    ask = replace(quota.transfer(amount), requester=who)
    steps = (quota.ApprovalStep("leads:nlp"), quota.ApprovalStep("group:gpu-admins"))
    with bench.world.store.begin() as uow:
        draft = quota.request(of=ask, created_at=bench.clock(), origin=bench.new_id())
        request = uow.requests.add(replace(draft, steps=steps))
        owe_cards(uow, bench.policy, request, bench.clock(), {})
        uow.commit()
    bench.deliver_all()
    return request.id


@pytest.fixture
def watch(bench: "Bench") -> Callable[[], timedelta | None]:
    """One pass of the leader's loop, later than it wanted to rest."""
    memory = HomeMemory()

    def step() -> timedelta | None:
        bench.pass_time(seconds=AT_REST.total_seconds())
        return publish_homes(bench.world, memory)

    return step


def test_it_is_shown_when_it_is_opened_and_its_opening_is_stored(bench: "Bench") -> None:
    item = opening(bench, "U0VISION")
    desk(bench).handle(item)
    assert sees(bench, "U0VISION").startswith("# Waiting for you\nNothing waits for you.")
    assert "vision: 0 of 16 a100 reserved" in sees(bench, "U0VISION")
    assert bench.store.tables.inbox[item.key].state == "done"
    assert tab(bench, "U0VISION").hash == bench.slack.homes["U0VISION"][1]


def test_the_same_arrival_again_changes_nothing(bench: "Bench") -> None:
    item = opening(bench, "U0VISION")
    desk(bench).handle(item)
    bench.pass_time(hours=3)
    desk(bench).handle(replace(item, attempts=1))
    assert (bench.slack.published, tab(bench, "U0VISION").opened_at) == (1, item.received_at)


def test_going_to_and_fro_shows_the_same_once_a_minute(bench: "Bench") -> None:
    for _ in range(5):
        opens(bench, "U0VISION")
        bench.pass_time(seconds=10)
    assert bench.slack.published == 1
    bench.pass_time(seconds=10)
    opens(bench, "U0VISION")
    assert bench.slack.published == 2


def test_each_sees_what_they_can_do_and_nothing_of_others(bench: "Bench") -> None:
    number = asks(bench)
    for who in ("U0VISION", "U0LEADNLP", "U0ADMIN", "U0ROBOTICS"):
        opens(bench, who)
    assert f"Q-{number}: 8 a100 for vision" in sees(bench, "U0VISION")
    assert "[Withdraw]" in sees(bench, "U0VISION")
    assert "[Open card] [Details]" not in sees(bench, "U0VISION"), "one's own is somebody else's to decide"
    assert "u0vision asks, 0 of 2 approvals" in sees(bench, "U0LEADNLP")
    link = next(one["url"] for one in buttons(bench.slack.homes["U0LEADNLP"][0]) if "url" in one)
    assert link.split("/")[-2] == "D0LEADNLP", "their own copy of the card"
    assert "Nothing waits for you" in sees(bench, "U0ADMIN"), "the lender decides first"
    assert f"Q-{number}" not in sees(bench, "U0ROBOTICS")
    assert "vision" not in sees(bench, "U0ROBOTICS")


def test_a_lead_sees_what_their_team_has_on_loan_with_its_buttons(bench: "Bench") -> None:
    theirs = bench.approved(replace(quota.transfer(2), requester="U0VISION"))
    own = bench.approved(replace(quota.transfer(1), requester="U0LEADVISION"))
    bench.converge()
    bench.deliver_all()
    for who in ("U0LEADVISION", "U0VISION", "U0LEADROBOTICS"):
        opens(bench, who)
    text = sees(bench, "U0LEADVISION")
    assert text.index("# Your requests and loans") < text.index(f"Q-{own}:") < text.index("# Your team's loans")
    row = text[text.index("# Your team's loans") :].splitlines()[1:3]
    assert row[0].startswith(f"Q-{theirs}: 2 a100 for vision, in force, ends")
    assert (row[0].endswith(" · u0vision"), row[1], text.count(f"Q-{own}:")) == (True, "[Extend] [Return]", 1)
    assert "# Your team's loans" not in sees(bench, "U0VISION")
    assert f"Q-{own}" not in sees(bench, "U0VISION")
    assert "a100 for vision" not in sees(bench, "U0LEADROBOTICS")


def test_what_waits_for_a_lead_is_not_hidden_by_what_waits_for_others(bench: "Bench") -> None:
    first = asks(bench)
    with bench.world.store.begin() as uow:
        for _ in range(70):
            draft = quota.request(of=quota.ask(1), created_at=bench.clock(), origin=bench.new_id())
            uow.requests.add(replace(draft, steps=(quota.ApprovalStep("group:gpu-admins"),)))
        uow.commit()
    opens(bench, "U0LEADNLP")
    assert f"Q-{first}: 8 a100" in sees(bench, "U0LEADNLP")
    opens(bench, "U0ADMIN")
    assert "and 60 more: /gpu-quota list waiting" in sees(bench, "U0ADMIN")


def test_a_guest_sees_a_sentence(bench: "Bench") -> None:
    asks(bench)
    bench.slack.people["U0VISION"] = Person("U0VISION", "was here", full_member=False)
    opens(bench, "U0VISION")
    assert sees(bench, "U0VISION").startswith("Guests and people of other organisations cannot request")
    assert len(bench.slack.homes["U0VISION"][0].blocks) == 1


def test_ones_own_press_shows_at_once(bench: "Bench") -> None:
    number = asks(bench)
    opens(bench, "U0VISION")
    assert "[Withdraw]" in sees(bench, "U0VISION")
    presses(bench, "U0VISION", Action.REQUEST_WITHDRAW, str(number))
    assert "No loans." in sees(bench, "U0VISION")


def test_a_press_of_somebody_who_never_opened_it_or_long_ago_shows_nothing(bench: "Bench") -> None:
    first, second = asks(bench), asks(bench, 4)
    presses(bench, "U0VISION", Action.REQUEST_WITHDRAW, str(first))
    assert bench.slack.published == 0
    opens(bench, "U0VISION")
    bench.pass_time(seconds=WATCHED_FOR.total_seconds())
    presses(bench, "U0VISION", Action.REQUEST_WITHDRAW, str(second))
    assert bench.slack.published == 1


def test_refresh_shows_the_same_again(bench: "Bench") -> None:
    opens(bench, "U0VISION")
    before = bench.slack.homes["U0VISION"][0]
    bench.pass_time(seconds=1)
    presses(bench, "U0VISION", Action.HOME_REFRESH)
    after = bench.slack.homes["U0VISION"][0]
    assert (bench.slack.published, after.blocks) == (2, before.blocks)
    assert after.read_at > before.read_at


def test_what_others_change_reaches_who_looks_once_a_minute(
    bench: "Bench", watch: Callable[[], timedelta | None]
) -> None:
    opens(bench, "U0LEADNLP")
    assert watch() is None
    assert bench.slack.published == 1
    first = asks(bench)
    again = watch()
    assert f"Q-{first}" in sees(bench, "U0LEADNLP")
    assert again == BETWEEN
    second = asks(bench, 4)
    watch()
    assert f"Q-{second}" not in sees(bench, "U0LEADNLP"), "not twice in a minute"
    bench.pass_time(seconds=BETWEEN.total_seconds())
    watch()
    assert f"Q-{second}" in sees(bench, "U0LEADNLP")
    assert bench.slack.published == 3


def test_the_loop_leaves_an_opening_to_whoever_takes_it_and_makes_up_for_it_if_they_fail(bench: "Bench") -> None:
    """The opening is stored before the tab is shown: a pass in between showed it a second time."""
    memory = HomeMemory()
    with bench.world.store.begin() as uow:
        uow.home_tabs.opened("U0VISION", bench.clock())
        uow.commit()
    assert publish_homes(bench.world, memory) == AT_REST
    assert bench.slack.published == 0
    bench.pass_time(seconds=AT_REST.total_seconds())
    publish_homes(bench.world, memory)
    assert bench.slack.published == 1


def test_nobody_looks_for_hours(bench: "Bench", watch: Callable[[], timedelta | None]) -> None:
    opens(bench, "U0LEADNLP")
    bench.pass_time(seconds=WATCHED_FOR.total_seconds())
    asks(bench)
    watch()
    assert bench.slack.published == 1


def test_the_latest_opened_are_kept_true_and_no_more_than_slack_takes(
    bench: "Bench", watch: Callable[[], timedelta | None]
) -> None:
    people = [f"U1{number:03}" for number in range(MOST_WATCHED + 5)]
    for user in people:
        bench.slack.people[user] = Person(user, user)
        opens(bench, user)
        bench.pass_time(seconds=1)
    with bench.world.store.begin() as uow:
        for user in people:
            uow.home_tabs.shown(replace(tab(bench, user), shown="something else"))
        uow.commit()
    before = bench.slack.published
    watch()
    assert bench.slack.published == before + MOST_WATCHED
    assert {user for user in people if tab(bench, user).shown == "something else"} == set(people[:5])


@TROUBLES
def test_what_slack_did_not_take_at_the_opening_is_shown_later(
    bench: "Bench", watch: Callable[[], timedelta | None], trouble: Trouble
) -> None:
    bench.slack.troubles.append(trouble)
    item = opening(bench, "U0VISION")
    desk(bench).handle(item)
    assert bench.store.tables.inbox[item.key].state == "done"
    assert tab(bench, "U0VISION").shown is None
    watch()
    assert tab(bench, "U0VISION").shown is not None
    assert sees(bench, "U0VISION")
    bench.deliver_all()
    assert bench.texts("U0VISION") == [], "and nobody is told by message"


@TROUBLES
def test_the_loop_waits_as_long_as_slack_says_and_then_shows_all(
    bench: "Bench", watch: Callable[[], timedelta | None], trouble: Trouble
) -> None:
    for who in ("U0LEADNLP", "U0VISION"):
        opens(bench, who)
    number = asks(bench)
    bench.slack.troubles.append(trouble)
    watch()
    count = bench.slack.published
    wait = watch()
    assert wait is not None
    assert bench.slack.published == count, "it rests"
    bench.pass_time(seconds=wait.total_seconds())
    watch()
    for who in ("U0LEADNLP", "U0VISION"):
        assert f"Q-{number}" in sees(bench, who)


@pytest.mark.parametrize("after", range(40))
def test_killed_anywhere_in_an_opening_it_is_shown_in_the_end(bench: "Bench", after: int) -> None:
    """The next process takes up what was not done, and its loop shows what was; nobody gets a message."""
    item = opening(bench, "U0VISION")
    bench.gate.plan(kill, after=after)
    try:
        desk(bench).handle(item)
    except Killed:
        bench.pass_time(seconds=CLAIM_IS_OLD.total_seconds() + 1)
    bench.gate.clear()
    for left in desk(bench).left(10):
        desk(bench).handle(left)
    publish_homes(bench.world, HomeMemory())
    assert bench.store.tables.inbox[item.key].state == "done"
    assert sees(bench, "U0VISION").startswith("# Waiting for you")
    assert tab(bench, "U0VISION").hash == bench.slack.homes["U0VISION"][1]
    bench.deliver_all()
    assert bench.texts("U0VISION") == []


def test_an_opening_passes_fewer_gates_than_are_tried(bench: "Bench") -> None:
    item, before = opening(bench, "U0VISION"), bench.gate.passed
    desk(bench).handle(item)
    assert 10 < bench.gate.passed - before < 40


def test_slack_is_down_and_comes_back(bench: "Bench", watch: Callable[[], timedelta | None]) -> None:
    bench.slack.down = True
    opens(bench, "U0VISION")
    watch()
    bench.pass_time(minutes=10)
    watch()
    assert bench.slack.homes == {}
    bench.slack.down = False
    bench.pass_time(minutes=1)
    watch()
    assert "Your team" in sees(bench, "U0VISION")


def test_what_slack_refuses_is_written_down_and_sent_again_only_at_the_next_opening(
    bench: "Bench", watch: Callable[[], timedelta | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def refuses(user: str, _home: Home, _known: str | None) -> str:
        tried.append(user)
        raise Rejected("Slack", "not_enabled")

    with monkeypatch.context() as patch:
        patch.setattr(bench.chat, "publish_home", refuses)
        opens(bench, "U0VISION")
        bench.pass_time(minutes=2)
        watch()
        assert tried == ["U0VISION"]
        assert tab(bench, "U0VISION").failure == "not_enabled"
    opens(bench, "U0VISION")
    assert tab(bench, "U0VISION").failure is None
    assert sees(bench, "U0VISION")


def test_of_two_that_show_the_same_tab_the_later_reads_again(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else shows it between our look and our call: what stands there in the end is what is true then."""
    number = asks(bench)
    opens(bench, "U0VISION")
    plain = bench.chat.publish_home
    known: list[str | None] = []

    def overtaken(user: str, home: Home, hash_: str | None) -> str:
        known.append(hash_)
        if len(known) == 1:
            withdraw_request(bench.world, number, "U0VISION", bench.arrival("elsewhere"))
            plain(user, Home((), bench.clock()), hash_)
        return plain(user, home, hash_)

    monkeypatch.setattr(bench.chat, "publish_home", overtaken)
    refresh_home(bench.world, "U0VISION")
    assert "No loans." in sees(bench, "U0VISION")
    assert known[0] is not None
    assert known[1] is None
    assert tab(bench, "U0VISION").hash == bench.slack.homes["U0VISION"][1]


def test_a_name_of_slacks_that_was_lost_heals_itself(bench: "Bench") -> None:
    """The bot died between Slack's answer and its record."""
    opens(bench, "U0VISION")
    bench.chat.publish_home("U0VISION", Home((), bench.clock()), None)
    refresh_home(bench.world, "U0VISION")
    assert "Your team" in sees(bench, "U0VISION")


def test_without_live_figures_the_rest_is_there(bench: "Bench") -> None:
    number = asks(bench)
    bench.api_down()
    opens(bench, "U0VISION")
    assert f"Q-{number}" in sees(bench, "U0VISION")
    assert "vision: no live figures" in sees(bench, "U0VISION")
    assert "No live figures of default" in sees(bench, "U0VISION")


def test_a_card_without_a_link_is_still_told_of(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_args: object) -> str:
        raise Rejected("Slack", "message_not_found")

    number = asks(bench)
    monkeypatch.setattr(bench.chat, "permalink", gone)
    opens(bench, "U0LEADNLP")
    assert f"Q-{number}" in sees(bench, "U0LEADNLP")
    assert "[Open card]" not in sees(bench, "U0LEADNLP")
    assert "[Details]" in sees(bench, "U0LEADNLP")


def test_a_loan_asked_back_an_edit_and_what_is_lent_are_seen_by_whom_they_concern(bench: "Bench") -> None:
    number = bench.approved(quota.transfer(8))
    bench.converge()
    bench.deliver_all()
    ask_back(bench.world, number, "our deadline", "U0LEADNLP", bench.arrival("ask"))
    bench.set_nominal("robotics", 6)
    bench.converge()
    bench.set_nominal("vision", 20)
    bench.converge()
    bench.deliver_all()
    for who in ("U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ADMIN", "U0ROBOTICS"):
        opens(bench, who)
    for who in ("U0VISION", "U0LEADVISION"):
        assert f"Q-{number}: 8 a100 asked back by nlp, u0leadnlp: our deadline\n[Return] [Keep]" in sees(bench, who)
    assert f"# Lent out\nQ-{number}: 8 a100 of nlp to vision, ends" in sees(bench, "U0LEADNLP")
    assert "vision a100 is 20, expected 24, since" in sees(bench, "U0ADMIN")
    assert "[Open question]" in sees(bench, "U0ADMIN")
    for who in ("U0VISION", "U0LEADNLP", "U0ROBOTICS"):
        assert "expected" not in sees(bench, who)
    assert "asked back" not in sees(bench, "U0ROBOTICS")


def test_a_group_that_could_not_be_looked_up_is_said(bench: "Bench") -> None:
    bench.slack.troubles.append(Trouble.GROUPS_FAIL)
    opens(bench, "U0VISION")
    assert "Slack did not say who is in every user group" in sees(bench, "U0VISION")
