"""Axe, in a real Chromium, finds nothing that keeps anybody from using the page: its parts, both widths, dark too."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.core.messages import Message, Modal
from bot.demo.page import Page as DemoPage
from bot.demo.page import Step
from bot.views.home import home_json
from bot.views.modal_json import modal_json
from tests.support.browsing import PATIENCE, tab
from tests.support.marks import needs_module, needs_program
from tests.support.view_gallery import everything
from tests.support.view_home import homes

pytestmark = [
    needs_program("chromium", "the page in a browser"),
    needs_module("axe_playwright_python", "accessibility of the page"),
]
expect.set_options(timeout=PATIENCE)
GRAVE = {"moderate", "serious", "critical"}
"""Minor is one: the message box offers completions, and HTML has no such role for a box of several lines."""


def _grave(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found if one["impact"] in GRAVE for node in one["nodes"]]


def _channel(page: Page, town: Any) -> None:
    """Every message the bot can send."""
    shown = [one for one in everything().values() if isinstance(one, Message)]
    with town.slack.world.changed:
        for one in shown:
            town.slack.world.timeline.post(town.ids["gpu"], town.slack.bot_user_id, text=one.text, blocks=one.blocks)
        town.slack.world.changed.notify_all()
    expect(page.locator("#list article")).to_have_count(len(shown))


def _thread(page: Page, town: Any) -> None:
    with town.slack.world.changed:
        parent = town.slack.world.timeline.post(town.ids["gpu"], town.slack.bot_user_id, text="a card")
        town.slack.world.timeline.post(town.ids["gpu"], town.slack.bot_user_id, text="a reply", thread_ts=parent.ts)
        town.slack.world.changed.notify_all()
    page.locator(".replies").click()
    expect(page.locator("#thread")).to_contain_text("a reply")


def _completion(page: Page, _town: Any) -> None:
    page.locator("#line").fill("/gpu-quota re")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(2)


def _home(page: Page, town: Any) -> None:
    with town.slack.world.changed:
        town.slack.world.surfaces.publish(town.ids["mira"], home_json(homes()["lead"]))
        town.slack.world.changed.notify_all()
    if page.locator("#menu").is_visible():
        page.locator("#menu").click()
    page.get_by_role("button", name="Home", exact=True).click()
    expect(page.locator(".home[data-home]")).to_be_visible()


def _menu(page: Page, _town: Any) -> None:
    if page.locator("#menu").is_visible():
        page.locator("#menu").click()
    expect(page.get_by_role("button", name="Home", exact=True)).to_be_visible()


def _control(page: Page, _town: Any) -> None:
    if page.get_by_role("button", name="Details", exact=True).is_visible():
        page.get_by_role("button", name="Details", exact=True).click()
    page.get_by_role("button", name="Edit quota by hand").click()
    expect(page.locator("#control")).to_be_visible()


def _tour(page: Page, _town: Any) -> None:
    page.locator(".start-tour").click()
    expect(page.locator(".tour-count")).to_have_text("1 of 1")


PARTS: dict[str, Callable[[Page, Any], None]] = {
    "first look": lambda page, _town: expect(page.locator(".empty")).to_be_visible(),
    "channel": _channel,
    "thread": _thread,
    "completion": _completion,
    "home": _home,
    "menu": _menu,
    "control": _control,
    "tour": _tour,
}


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
@pytest.mark.parametrize("part", PARTS)
def test_nothing_grave_is_found(chromium: Browser, town: Any, part: str, width: int, scheme: str) -> None:
    step = Step(town.ids["mira"], town.ids["gpu"], "This is the cohort.", look=True)
    town.kube.submit_job("nlp-train", "bert", "main", 4)
    town.kube.reconcile()
    size = {"width": width, "height": 800}
    with (
        DemoPage(replace(town.scene, tour=(step,))) as demo,
        tab(chromium, demo.url, viewport=size, color_scheme=scheme, reduced_motion="reduce") as page,
    ):
        PARTS[part](page, town)
        assert _grave(page) == []


def test_nothing_grave_is_found_in_any_form(chromium: Browser, town: Any) -> None:
    forms = {name: one for name, one in everything().items() if isinstance(one, Modal)}
    found: dict[str, list[str]] = {}
    with tab(chromium, town.page.url, viewport={"width": 390, "height": 800}) as page:
        for name, form in forms.items():
            with town.slack.world.changed:
                view = town.slack.world.surfaces.open(town.ids["mira"], modal_json(form))
            dialog = page.locator(f"#view[data-view={view.id}]")
            expect(dialog).to_be_visible()
            found[name] = _grave(page)
            page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            town.slack.wait_for(lambda: town.slack.open_view(town.ids["mira"]) is None)
    assert len(found) > 5
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_what_is_grave_is_found(chromium: Browser, town: Any) -> None:
    with tab(chromium, town.page.url) as page:
        page.evaluate("document.body.append(document.createElement('button'))")
        assert _grave(page) == ["button-name: <button></button>"]
