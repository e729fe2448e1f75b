"""The page in a real Chromium with the real bot behind it: ask, approve, in force; by mouse, keyboard and touch."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.demo.run_page import REQUEST, page_of_stage
from tests.support.browsing import PATIENCE, become, message, press, tab, tab_to
from tests.support.marks import needs_program

pytestmark = [needs_program("chromium", "the page in a browser"), pytest.mark.usefixtures("database")]
expect.set_options(timeout=PATIENCE)
NARROW: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CARD = "8 a100 for vision"


@pytest.fixture
def demo() -> Iterator[Any]:
    with page_of_stage() as page:
        yield page


def _in_force(page: Page) -> None:
    """The card says so, the strip shows what moved, and the job that waited runs."""
    expect(message(page, CARD)).to_contain_text("In force since")
    expect(page.locator("[data-queue=nlp] .quota")).to_have_text("24 − 8 lent = 16")
    expect(page.locator("[data-queue=vision] .quota")).to_have_text("16 + 8 on loan = 24")
    expect(page.locator("[data-queue=vision] .job.waits")).to_have_count(0)


def test_ask_approve_in_force_by_mouse(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, viewport={"width": 1280, "height": 800}) as page:
        expect(page.locator("[data-queue=vision] .job.waits")).to_contain_text("resnet-sweep")
        page.locator(".example.first").click()
        expect(page.locator("#line")).to_have_value(REQUEST)
        page.keyboard.press("Enter")
        expect(page.locator("article.only-me")).to_contain_text("With the approvers in #gpu-approvals")
        become(page, "noor")
        expect(message(page, CARD)).to_contain_text("Waiting: 0 of 2 approvals")
        press(page, CARD, "Approve")
        expect(message(page, CARD)).to_contain_text("Waiting: 1 of 2 approvals")
        become(page, "ravi")
        press(page, CARD, "Approve")
        expect(page.locator("article.only-me")).to_contain_text("can decide Q-1")
        become(page, "ada")
        expect(page.locator("article.only-me")).to_have_count(0)
        press(page, CARD, "Approve")
        _in_force(page)
        page.get_by_role("button", name="Jump to the end of Q-1").click()
        expect(message(page, CARD)).to_contain_text("Ended")
        expect(page.locator("[data-queue=nlp] .quota")).to_have_text("quota 24")


def test_ask_approve_in_force_by_keyboard_alone(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, viewport={"width": 1280, "height": 800}) as page:
        keys = page.keyboard
        tab_to(page, ".skip")
        keys.press("Enter")
        expect(page.locator("#line")).to_be_focused()
        keys.type("/gpu-quota req")
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
        keys.press("Tab")
        expect(page.locator("#line")).to_have_value("/gpu-quota request ")
        keys.type(REQUEST.removeprefix("/gpu-quota request "))
        keys.press("Enter")
        expect(page.locator("article.only-me")).to_contain_text("Q-1")
        keys.press("ArrowUp")
        expect(page.locator("#line")).to_have_value(REQUEST)
        for name in ("noor", "ada"):
            page.evaluate("document.activeElement.blur()")
            tab_to(page, ".role[aria-checked=true]")
            keys.press("ArrowRight")
            expect(page.locator(f"[data-person={name}]")).to_have_attribute("aria-checked", "true")
            expect(page.locator(f"[data-person={name}]")).to_be_focused()
            expect(message(page, CARD)).to_contain_text("Waiting")
            tab_to(page, "[data-action=gpuq_card_approve]")
            keys.press("Enter")
            expect(page.locator("#confirm")).to_be_visible()
            keys.press("Escape")
            expect(page.locator("#confirm")).to_be_hidden()
            expect(message(page, CARD)).to_contain_text("Waiting")
            tab_to(page, "[data-action=gpuq_card_approve]")
            keys.press("Enter")
            keys.press("Enter")
            expect(message(page, CARD)).to_contain_text(f"@{name}")
        _in_force(page)


def test_a_request_by_form_with_a_field_error_mended_by_touch_on_a_phone(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, **NARROW) as page:
        page.locator("#line").fill("/gpu-quota request")
        page.locator("#composer .send").tap()
        form = page.locator("#view")
        form.get_by_label("Reason").fill("paper deadline")
        form.get_by_role("button", name="Request", exact=True).tap()
        expect(form.get_by_label("How many")).to_have_attribute("aria-invalid", "true")
        expect(form.get_by_label("How many")).to_be_focused()
        form.get_by_label("How many").fill("8")
        form.get_by_label("How", exact=True).select_option("transfer")
        expect(form.get_by_text("approvals")).to_be_visible()
        expect(form.get_by_label("How many")).to_have_value("8")
        expect(form.get_by_label("Reason")).to_have_value("paper deadline")
        form.get_by_role("button", name="Request", exact=True).tap()
        expect(form).to_contain_text("Q-1: 8 a100 for vision")
        form.get_by_role("button", name="Done").tap()
        expect(form).to_be_hidden()
        for name in ("noor", "ada"):
            become(page, name, touch=True)
            press(page, CARD, "Approve", touch=True)
            expect(message(page, CARD)).to_contain_text(f"@{name}")
        _in_force(page)
        become(page, "noor", touch=True)
        page.locator("#menu").tap()
        page.locator("#places .place").filter(has_text="gpu-quota").tap()
        expect(message(page, "Q-1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


HOSTILE = "<img src=x onerror=alert(1)> <!channel> <b>*bold*</b> &amp; \u202egnp.exe https://evil.example"


def test_a_hostile_reason_is_text(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, viewport={"width": 1280, "height": 800}) as page:
        page.locator("#line").fill(f"/gpu-quota request 8 a100 from nlp for 3d because {HOSTILE}")
        page.keyboard.press("Enter")
        expect(page.locator("article.only-me")).to_be_visible()
        become(page, "noor")
        card = message(page, CARD)
        expect(card).to_contain_text("<img src=x onerror=alert(1)> <!channel> <b>*bold*</b>")
        assert card.locator("img, a, .content b").count() == 0


def test_what_slack_says_when_it_is_away_and_that_all_works_when_it_is_back(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, viewport={"width": 1280, "height": 800}) as page:
        page.get_by_role("button", name="Slack away").click()
        expect(page.get_by_role("button", name="Slack is away")).to_be_visible()
        page.locator("#line").fill("/gpu-quota status")
        page.keyboard.press("Enter")
        expect(message(page, "Slackbot")).to_contain_text("/gpu-quota failed with the error “dispatch_failed”")
        demo.outages.end("slack")
        expect(page.get_by_role("button", name="Slack away")).to_be_visible()


def _home(page: Page, *, touch: bool = False) -> None:
    """Go to the Home tab; on a phone the places are behind the menu."""
    if touch:
        page.locator("#menu").tap()
    place = page.get_by_role("button", name="Home", exact=True)
    place.tap() if touch else place.click()
    expect(page.locator(".home[data-home]")).to_be_visible()


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_the_home_tab_shows_what_waits_and_leads_to_it(chromium: Browser, demo: Any, touch: bool) -> None:
    size = NARROW if touch else {"viewport": {"width": 1280, "height": 800}}
    with tab(chromium, demo.url, **size) as page:
        home = page.locator(".home")

        def go(label: str) -> None:
            button = home.get_by_role("button", name=label, exact=True)
            button.tap() if touch else button.click()

        page.locator("#line").fill(REQUEST)
        page.keyboard.press("Enter")
        expect(page.locator("article.only-me")).to_contain_text("Q-1")
        _home(page, touch=touch)
        expect(home).to_contain_text("Q-1: 8 a100 for vision, 3 days, waiting, 0 of 2 approvals")
        expect(home).to_contain_text("vision: 16 of 16 a100 reserved, 8 waiting")
        become(page, "noor", touch=touch)
        _home(page, touch=touch)
        expect(home).to_contain_text("mira asks, 0 of 2 approvals")
        go("Open card")
        expect(message(page, CARD)).to_be_focused()
        press(page, CARD, "Approve", touch=touch)
        expect(message(page, CARD)).to_contain_text("Waiting: 1 of 2 approvals")
        become(page, "mira", touch=touch)
        expect(home).to_contain_text("waiting, 1 of 2 approvals")
        go("Withdraw")
        agree = page.locator("#confirm footer button").last
        agree.tap() if touch else agree.click()
        expect(home).to_contain_text("No loans. When your work waits")


def test_the_home_tab_by_keyboard_alone(chromium: Browser, demo: Any) -> None:
    with tab(chromium, demo.url, viewport={"width": 1280, "height": 800}) as page:
        keys = page.keyboard
        page.locator("#line").fill(REQUEST)
        keys.press("Enter")
        expect(page.locator("article.only-me")).to_contain_text("Q-1")
        page.evaluate("document.activeElement.blur()")
        tab_to(page, "[data-key='place home']")
        keys.press("Enter")
        expect(page.locator(".home")).to_contain_text("Q-1: 8 a100 for vision")
        tab_to(page, "[data-action=gpuq_request_withdraw]")
        keys.press("Enter")
        expect(page.locator("#confirm")).to_be_visible()
        keys.press("Enter")
        expect(page.locator(".home")).to_contain_text("No loans.")
        tab_to(page, "[data-action=gpuq_home_request]")
        keys.press("Enter")
        expect(page.locator("#view h2")).to_have_text("Request GPU quota")
        keys.press("Escape")
        expect(page.locator("#view")).to_be_hidden()
        expect(page.locator("[data-action=gpuq_home_request]")).to_be_focused()


def test_of_two_approvers_who_press_at_one_moment_each_hears_what_came_of_it(chromium: Browser, demo: Any) -> None:
    """noor at two machines: one press counts, the other one is told that it did not."""
    wide = {"viewport": {"width": 1280, "height": 800}}
    with tab(chromium, demo.url, **wide) as page, tab(chromium, demo.url + "#noor", **wide) as other:
        page.locator("#line").fill(REQUEST)
        page.keyboard.press("Enter")
        become(page, "noor")
        for one in (page, other):
            message(one, CARD).get_by_role("button", name="Approve", exact=True).click()
            expect(one.locator("#confirm")).to_be_visible()
        for one in (page, other):
            one.locator("#confirm footer button").last.click()
        for one in (page, other):
            expect(message(one, CARD)).to_contain_text("Waiting: 1 of 2 approvals")
            expect(one.locator("article.only-me")).to_have_count(2)
            expect(one.locator("article.only-me").filter(has_text="counts")).to_have_count(1)
            late = re.compile("You gave approval 1 of 2|Q-1 is being changed. Try again")
            expect(one.locator("article.only-me").filter(has_text=late)).to_have_count(1)
