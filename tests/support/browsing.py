"""A browser tab on the demo that keeps a list of everything that is not as it should be. Used by tests of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page

PATIENCE = 20_000
"""Milliseconds that anything may take."""


@contextmanager
def tab(browser: Browser, url: str, **traits: Any) -> Iterator[Page]:
    """A fresh tab at `url`. At the end: nothing on the console, no error, no request that leaves loopback."""
    context = browser.new_context(**traits)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))

    page.on("request", lambda asked: wrong.extend(_outside(asked.url)))
    page.goto(url)
    page.locator(".role[aria-checked=true]").wait_for()
    try:
        yield page
    finally:
        context.close()
    assert wrong == []


def _outside(url: str) -> list[str]:
    return [] if urlsplit(url).hostname == "127.0.0.1" else [f"left loopback: {url}"]


def become(page: Page, name: str, *, touch: bool = False) -> None:
    """See with another person's eyes."""
    role = page.locator(f".role[data-person={name}]")
    role.tap() if touch else role.click()
    page.locator(f".role[data-person={name}][aria-checked=true]").wait_for()


def message(page: Page, words: str) -> Locator:
    """The newest message of the channel with these words."""
    return page.locator("#list article").filter(has_text=words).last


def press(page: Page, words: str, label: str, *, touch: bool = False) -> None:
    """A button of a message, and yes to its dialog."""
    button = message(page, words).get_by_role("button", name=label, exact=True)
    agree = page.locator("#confirm footer button").last
    for one in (button, agree):
        one.tap() if touch else one.click()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is there."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the focus never came to {selector}")
