"""The tour in a real Chromium: told and played step by step and by itself, by mouse, keyboard and touch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.demo.page import Control, Press, Step
from bot.demo.page import Page as DemoPage
from bot.demo.run_page import page_of_stage
from tests.support.browsing import PATIENCE, message, tab
from tests.support.marks import needs_program

pytestmark = needs_program("chromium", "the page in a browser")
expect.set_options(timeout=PATIENCE)
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
NARROW: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}


def _steps(town: Any, *, until: str = "hello there") -> tuple[Step, ...]:
    """Look, say, edit, look at Home: nothing that needs a bot to answer."""
    mira, noor = town.ids["mira"], town.ids["noor"]
    return (
        Step(mira, town.ids["gpu"], "This is the cohort.", look=True),
        Step(mira, town.ids["gpu"], "mira greets.", line="hello there", until=until),
        Step(
            noor,
            town.ids["leads"],
            "noor edits.",
            control=Control("quota", {"queue": "nlp", "nominal": 6}),
            quota={"nlp": 6},
        ),
        Step(noor, "home", "That is all."),
    )


@contextmanager
def _told(town: Any, chromium: Browser, *steps: Step, **traits: Any) -> Iterator[Page]:
    with DemoPage(replace(town.scene, tour=steps)) as demo, tab(chromium, demo.url, **(traits or WIDE)) as page:
        yield page


def _at(page: Page, count: str, words: str) -> None:
    expect(page.locator(".tour-words")).to_have_text(f"{count}{words}")
    expect(page.locator("[data-tour=next]")).to_have_attribute("aria-busy", "false")


def _said(town: Any) -> list[str]:
    return [one.text for one in town.slack.messages(town.ids["gpu"])]


def test_it_is_told_step_by_step_in_the_eyes_and_the_place_of_each(chromium: Browser, town: Any) -> None:
    with _told(town, chromium, *_steps(town)) as page:
        expect(page.locator("#tour")).to_be_hidden()
        page.get_by_role("button", name="Show me").click()
        onward = page.get_by_role("button", name="Next", exact=True)
        _at(page, "1 of 4", "This is the cohort.")
        expect(page.locator("#strip.tour-mark")).to_be_visible()
        onward.click()
        _at(page, "2 of 4", "mira greets.")
        expect(page.locator("#line")).to_have_value("hello there")
        expect(page.locator(".box.tour-mark")).to_be_visible()
        assert _said(town) == [], "nothing is done before one goes on"
        onward.click()
        _at(page, "3 of 4", "noor edits.")
        expect(page.locator("#line")).to_have_value("")
        expect(page.locator(".role[data-person=noor]")).to_have_attribute("aria-checked", "true")
        expect(page.locator("#where h2")).to_have_text("# leads")
        onward.click()
        _at(page, "4 of 4", "That is all.")
        expect(page.locator("#where h2")).to_have_text("Home")
        expect(page.locator("[data-queue=nlp] .quota")).to_contain_text("6")
        page.get_by_role("button", name="Done").click()
        expect(page.locator("#tour")).to_be_hidden()
        expect(page.locator(".tour-mark")).to_have_count(0)
    assert (_said(town), town.kube.nominal("nlp", "a100")) == (["hello there"], 6)


def test_it_plays_by_itself_and_can_be_held(chromium: Browser, town: Any) -> None:
    with _told(town, chromium, *_steps(town)) as page:
        page.clock.install()
        page.locator(".start-tour").click()
        page.get_by_role("button", name="Play", exact=True).click()
        _runs(page, lambda: page.locator(".tour-count").text_content() == "2 of 4")
        page.get_by_role("button", name="Pause").click()
        page.clock.run_for(60_000)
        expect(page.locator(".tour-count")).to_have_text("2 of 4")
        assert _said(town) == []
        page.get_by_role("button", name="Play", exact=True).click()
        _runs(page, lambda: page.locator(".tour-count").text_content() == "4 of 4")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_hidden()
    assert (_said(town), town.kube.nominal("nlp", "a100")) == (["hello there"], 6)


def _runs(page: Page, there: Callable[[], bool]) -> None:
    """The page's clock goes on until it is so."""
    for _ in range(600):
        if there():
            return
        page.clock.run_for(50)
    raise AssertionError("it does not go on by itself")


def test_what_does_not_come_is_said_and_can_be_tried_again(chromium: Browser, town: Any) -> None:
    with _told(town, chromium, *_steps(town, until="good morning")) as page:
        page.clock.install()
        page.locator("[data-key=tour]").click()
        page.locator("[data-tour=next]").click()
        _runs(page, lambda: page.locator(".tour-count").text_content() == "2 of 4")
        page.locator("[data-tour=next]").click()
        expect(message(page, "hello there")).to_be_visible()
        page.clock.run_for(46_000)
        expect(page.locator(".tour-trouble")).to_contain_text("This did not come.")
        town.slack.say(town.ids["noor"], town.ids["gpu"], "good morning")
        expect(message(page, "good morning")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        _runs(page, lambda: page.locator(".tour-count").text_content() == "3 of 4")
        expect(page.locator(".tour-trouble")).to_be_hidden()
    assert _said(town) == ["hello there", "good morning"], "what came meanwhile is not done again"


def test_it_can_be_ended_in_the_middle_of_a_step_and_begun_again(chromium: Browser, town: Any) -> None:
    with _told(town, chromium, *_steps(town, until="never")) as page:
        page.locator(".start-tour").click()
        page.locator("[data-tour=next]").click()
        _at(page, "2 of 4", "mira greets.")
        page.locator("[data-tour=next]").click()
        expect(message(page, "hello there")).to_be_visible()
        page.locator("[data-tour=end]").click()
        expect(page.locator("#tour")).to_be_hidden()
        page.get_by_role("button", name="▶ Tour").click()
        _at(page, "1 of 4", "This is the cohort.")


def test_a_press_is_made_on_the_newest_message_with_its_dialog_agreed_to(chromium: Browser, town: Any) -> None:
    sure = {"title": "Sure?", "text": "It goes.", "confirm": "Go", "deny": "Stay"}
    dialog = {name: {"type": "plain_text", "text": text} for name, text in sure.items()}
    with town.slack.world.changed:
        for words in ("card one", "card two"):
            row = {"type": "actions", "elements": [{**BUTTON, "confirm": dialog}]}
            town.slack.world.timeline.post(
                town.ids["gpu"], town.slack.bot_user_id, text=words, blocks=[_text(words), row]
            )
    mira = town.ids["mira"]
    step = Step(mira, town.ids["gpu"], "mira presses.", press=Press("card", "go"))
    with _told(town, chromium, step, Step(mira, town.ids["gpu"], "It failed.")) as page:
        page.locator("[data-key=tour]").click()
        expect(message(page, "card two").locator(".tour-mark")).to_have_text("Go")
        page.locator("[data-tour=next]").click()
        expect(page.locator("#confirm")).to_contain_text("Sure?")
        _at(page, "2 of 2", "It failed.")
        expect(message(page, "card two")).to_contain_text("dispatch_failed")


def _text(words: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": words}}


def test_it_is_gone_through_by_keyboard_with_the_focus_staying_where_it_is(chromium: Browser, town: Any) -> None:
    with _told(town, chromium, *_steps(town)) as page:
        page.locator(".start-tour").focus()
        for count in ("1 of 4", "2 of 4", "3 of 4", "4 of 4"):
            page.keyboard.press("Enter")
            expect(page.locator(".tour-count")).to_have_text(count)
            expect(page.locator("[data-tour=next]")).to_have_attribute("aria-busy", "false")
            expect(page.locator("[data-tour=next]")).to_be_focused()


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_whole_story_comes_true(chromium: Browser, size: dict[str, Any]) -> None:
    """With the real bot: each step waits for what it tells about, so that the last one is only reached if all came."""
    with page_of_stage() as demo, tab(chromium, demo.url, **size) as page:
        page.locator(".start-tour").click()
        onward, told = page.locator("[data-tour=next]"), page.locator(".tour-count")
        steps = int((told.text_content() or "").rpartition(" ")[2])
        for number in range(1, steps):
            expect(told).to_have_text(f"{number} of {steps}")
            onward.tap() if size is NARROW else onward.click()
            expect(told.or_(page.locator(".tour-trouble:not(:empty)")).first).not_to_have_text(
                f"{number} of {steps}", timeout=60_000
            )
            expect(page.locator(".tour-trouble")).to_be_empty()
            assert page.evaluate("document.documentElement.scrollWidth") <= size["viewport"]["width"]
        expect(page.locator(".home")).to_contain_text("No loans. When your work waits")
        expect(page.locator("[data-queue=nlp] .quota")).to_have_text("quota 24")
        expect(page.locator("[data-queue=vision] .quota")).to_have_text("quota 16")
        assert steps > 10
