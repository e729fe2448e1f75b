"""Makes docs/images/demo.png, the README's picture, from the running demo: `make picture`. Needs chromium."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from bot.demo.run_page import REQUEST, page_of_stage
from tests.support.browsing import become, message, press, tab

TARGET = Path(__file__).parent.parent / "docs/images/demo.png"
FIRST, SECOND = "8 a100 for vision", "4 a100 for robotics"


def main() -> None:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with page_of_stage() as demo, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        with tab(browser, demo.url, viewport={"width": 1280, "height": 860}, color_scheme="light") as page:
            _say(page, REQUEST)
            for name in ("noor", "ada"):
                become(page, name)
                press(page, FIRST, "Approve")
                expect(message(page, FIRST)).to_contain_text(f"@{name}")
            expect(message(page, FIRST)).to_contain_text("In force")
            become(page, "ravi")
            _say(page, "/gpu-quota request 4 a100 for 2d because sim-to-real demo on Friday")
            become(page, "ada")
            page.reload()  # what only ada saw is gone
            expect(message(page, SECOND).get_by_role("button", name="Approve")).to_be_visible()
            page.mouse.move(0, 0)
            expect(page.locator("[data-queue=vision] .job.waits")).to_have_count(0)
            page.screenshot(path=TARGET, animations="disabled")
        browser.close()


def _say(page: Page, line: str) -> None:
    page.locator("#line").fill(line)
    page.keyboard.press("Enter")
    page.locator("article.only-me").last.wait_for()


if __name__ == "__main__":
    main()
