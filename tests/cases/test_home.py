"""The Home tab, played on the stage: opened, pressed, changed by others, and with a Slack that does not take it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.core.errors import Unavailable
from bot.demo.slack import View
from tests.support.stage import CaseStage, Pair


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    """Its leader shows what others change sooner than once a minute: nobody waits so long here."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("app.duties.LOOK_EVERY", "flows.publish_home.BETWEEN", "flows.publish_home.AT_REST"):
            patch.setattr(f"bot.{name}", timedelta(seconds=0.2))
        with CaseStage(8) as stage:
            yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def opens(stage: CaseStage, who: str) -> None:
    assert stage.slack.open_home(stage.people[who]).acked


def tab(stage: CaseStage, who: str) -> View | None:
    return stage.slack.home(stage.people[who])


def sees(stage: CaseStage, who: str, *words: str, without: str = "") -> View:
    """Wait for a Home tab with all these words; the view."""
    text = [""]

    def found() -> View | None:
        view = tab(stage, who)
        text[0] = stage.slack.render_text(view) if view else ""
        right = all(one in text[0] for one in words) and not (without and without in text[0])
        return view if right else None

    try:
        return stage.wait(f"{words} in {who}'s Home tab", found)
    except AssertionError as late:
        raise AssertionError(f"{late}; it says:\n{text[0]}") from None


def presses(stage: CaseStage, who: str, view: View, action: str, value: str) -> None:
    assert stage.slack.press(stage.people[who], view, action, value=value).acked


def form(stage: CaseStage, who: str, name: str) -> None:
    """Wait for this form in front of somebody."""

    def opened() -> bool:
        view = stage.slack.open_view(stage.people[who])
        return view is not None and view.body["callback_id"] == name

    stage.wait(f"{name} in front of {who}", opened)


def test_a_loan_from_the_request_to_its_return_in_the_tab_alone(stage: CaseStage, pair: Pair) -> None:
    """Asked for by the tab's button, decided by its link, extended and returned by its buttons."""
    opens(stage, pair.asker)
    empty = sees(stage, pair.asker, "Nothing waits for you.", "No loans.", f"{pair.borrower}: 0 of 8 a100 reserved")
    presses(stage, pair.asker, empty, "gpuq_home_request", "new")
    form(stage, pair.asker, "gpuq_request_form")
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 3d because paper").id
    sees(stage, pair.asker, f"Q-{number}: 4 a100 for {pair.borrower}", "0 of ", "[Withdraw]")
    stage.card(number)
    opens(stage, pair.lender_lead)
    asked = sees(stage, pair.lender_lead, f"{pair.asker} asks, 0 of", "[Open card] [Details]")
    presses(stage, pair.lender_lead, asked, "gpuq_card_open", str(number))
    presses(stage, pair.lender_lead, asked, "gpuq_card_details", str(number))
    form(stage, pair.lender_lead, "gpuq_details_view")
    stage.approved(number)
    stage.in_force(number)
    held = sees(stage, pair.asker, f"{pair.borrower}, in force, ends", "[Extend] [Return]")
    sees(stage, pair.lender_lead, "Nothing waits for you.", "Lent out", f"to {pair.borrower}, ends", "[Ask back]")
    presses(stage, pair.asker, held, "gpuq_loan_return", str(number))
    form(stage, pair.asker, "gpuq_return_form")
    assert stage.slack.submit_view(stage.people[pair.asker], {"gpuq_return_amount": "4"}).acked
    sees(stage, pair.asker, "No loans.")
    assert stage.count_dms(pair.asker, "That did not work") == 0


def test_a_counter_offer_is_accepted_in_the_tab(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, "4 as borrow for 3d because paper").id
    stage.slack.press(stage.people["ada"], stage.card(number), "gpuq_card_change")
    form(stage, "ada", "gpuq_change_form")
    stage.slack.submit_view(stage.people["ada"], {"gpuq_change_amount": "2", "gpuq_change_words": "half <!channel>"})
    stage.wait("an offer", lambda: stage.find_dm(pair.asker, "2 a100"))
    opens(stage, pair.asker)
    view = sees(stage, pair.asker, "changed to 2 a100", "half <!channel>", "[Accept] [Keep mine]")
    offer = next(
        element["value"]
        for block in view.blocks
        for element in block.get("elements", ())
        if element.get("action_id") == "gpuq_offer_accept"
    )
    presses(stage, pair.asker, view, "gpuq_offer_accept", offer)
    sees(stage, pair.asker, "Nothing waits for you.", f"Q-{number}: 2 a100")


def test_others_see_nothing_of_it(stage: CaseStage, pair: Pair) -> None:
    number = stage.asks(pair.asker, "4 for 2d because paper").id
    for who in ("ravi", pair.mate):
        opens(stage, who)
        sees(stage, who, "Nothing waits for you.", without=f"Q-{number}")
    sees(stage, "ravi", "robotics", without=pair.borrower)
    guest = stage.slack.add_person("gus", is_restricted=True).id
    stage.people["gus"] = guest
    opens(stage, "gus")
    sees(stage, "gus", "Guests and people of other organisations cannot request", without="[")


def test_a_delivery_again_and_the_tab_of_messages_show_nothing_more(stage: CaseStage, pair: Pair) -> None:
    delivery = stage.slack.open_home(stage.people[pair.asker])
    sees(stage, pair.asker, "No loans.")
    before = _times_shown(stage, pair)
    for again in (stage.slack.repeat(delivery), stage.slack.redeliver(delivery)):
        assert again.acked
    other = {"type": "app_home_opened", "user": stage.people[pair.mate], "tab": "messages", "channel": "D1"}
    assert stage.slack.send_event(stage.people[pair.mate], other).acked
    stage.says(pair.mate, "help")
    assert tab(stage, pair.mate) is None
    assert _times_shown(stage, pair) == before


def _times_shown(stage: CaseStage, pair: Pair) -> int:
    """Tabs of these two alone: what happens to other people's loans shows theirs again."""
    these = {stage.people[who] for who in (pair.asker, pair.mate)}
    return sum(call.args["user_id"] in these for call in stage.slack.calls("views.publish"))


def test_an_opening_that_could_not_be_stored_is_not_acknowledged_and_comes_again(
    stage: CaseStage, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down() -> None:
        raise Unavailable("database", "away")

    with monkeypatch.context() as patch:
        patch.setattr(stage.bot.world.store, "begin", down)
        assert not stage.slack.open_home(stage.people[pair.asker]).acked
    assert tab(stage, pair.asker) is None
    assert all(one.acked for one in stage.slack.redeliver_unacked())
    sees(stage, pair.asker, "No loans.")


@pytest.mark.parametrize("fault", ["429", "500", "dropped after"])
def test_a_tab_that_slack_did_not_take_is_shown_later(stage: CaseStage, fault: str) -> None:
    pair = stage.new_pair()
    faults = stage.slack.faults
    arm = {
        "429": lambda: faults.rate_limited("views.publish", 2),
        "500": lambda: faults.http_500("views.publish"),
        "dropped after": lambda: faults.drop_after("views.publish"),
    }
    arm[fault]()
    before = len(stage.slack.calls("views.publish"))
    opens(stage, pair.asker)
    stage.wait("a try", lambda: len(stage.slack.calls("views.publish")) > before)
    sees(stage, pair.asker, "No loans.")
    stage.wait("another try", lambda: len(stage.slack.calls("views.publish")) > before + 1)
    assert stage.count_dms(pair.asker, "did not work") == 0


def test_it_is_the_same_over_http() -> None:
    with CaseStage(1, socket_mode=False) as stage:
        pair = stage.new_pair()
        opens(stage, pair.asker)
        view = sees(stage, pair.asker, "No loans.", "[Request quota] [Refresh]")
        presses(stage, pair.asker, view, "gpuq_home_refresh", "new")
        stage.wait("it is shown again", lambda: (now := tab(stage, pair.asker)) and now.hash != view.hash)
