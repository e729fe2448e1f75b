"""The page in a real Chromium without a bot: every block the bot can send, completion, threads, failures, dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from bot.core.messages import Home, Message, Modal
from bot.views.home import home_json
from bot.views.kit import actions, heading, link_button
from bot.views.modal_json import modal_json
from tests.support.browsing import PATIENCE, become, message, tab
from tests.support.marks import needs_program
from tests.support.view_facts import Names
from tests.support.view_gallery import everything
from tests.support.view_home import homes

pytestmark = needs_program("chromium", "the page in a browser")
expect.set_options(timeout=PATIENCE)
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
HOSTILE = Names.all_of("<b>x</b> <!channel> *y* &lt; https://evil.example")


def _words(text: str) -> list[str]:
    """Numbers before list items are drawn by the browser and are no text of the page."""
    return re.findall(r"\w+", re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE))


def _say(town: Any, **content: Any) -> Any:
    with town.slack.world.changed:
        said = town.slack.world.timeline.post(town.ids["gpu"], town.slack.bot_user_id, **content)
        town.slack.world.changed.notify_all()
    return said


@pytest.mark.parametrize("names", [Names(), HOSTILE], ids=["plain", "hostile"])
def test_the_page_draws_the_words_of_every_message_the_bot_can_send(chromium: Browser, town: Any, names: Names) -> None:
    shown = [one for one in everything(names).values() if isinstance(one, Message)]
    posted = [_say(town, text=one.text, blocks=one.blocks) for one in shown]
    with tab(chromium, town.page.url, **WIDE) as page:
        expect(page.locator("#list article")).to_have_count(len(posted))
        drawn = page.locator("#list article").evaluate_all(
            "all => all.map(one => [one.dataset.ts, one.querySelector('.content').innerText])"
        )
        assert page.locator("#list .unknown, #list img, #list a").count() == 0
    wanted = {one.ts: _words(town.slack.render_text(one, town.ids["mira"])) for one in posted}
    assert {ts: _words(text) for ts, text in drawn} == wanted
    assert len(wanted) > 30


def test_the_page_draws_every_form_the_bot_can_open(chromium: Browser, town: Any) -> None:
    forms = [one for one in everything().values() if isinstance(one, Modal)]
    assert len(forms) > 5
    with tab(chromium, town.page.url, **WIDE) as page:
        for form in forms:
            with town.slack.world.changed:
                view = town.slack.world.surfaces.open(town.ids["mira"], modal_json(form))
            dialog = page.locator(f"#view[data-view={view.id}]")
            expect(dialog).to_be_visible()
            expect(dialog.locator("h2")).to_have_text(form.title)
            labels = [block["label"]["text"] for block in view.blocks if block["type"] == "input"]
            expect(dialog.locator("label")).to_have_count(len(labels))
            drawn = set(_words(dialog.inner_text()))
            assert set(_words(" ".join(labels))) <= drawn
            assert dialog.locator(".unknown").count() == 0
            expect(dialog.locator("[data-submit]")).to_have_count(1 if form.submit else 0)
            page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            town.slack.wait_for(lambda: town.slack.open_view(town.ids["mira"]) is None)


def test_commands_are_completed_and_their_usage_is_shown(chromium: Browser, town: Any) -> None:
    with tab(chromium, town.page.url, **WIDE) as page:
        line = page.locator("#line")
        line.press_sequentially("/gpu-quota re")
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(2)
        expect(page.get_by_role("listbox").get_by_role("option", selected=True)).to_contain_text("request")
        line.press("ArrowDown")
        line.press("Enter")
        expect(line).to_have_value("/gpu-quota return ")
        expect(page.locator("#line-usage")).to_have_text("/gpu-quota return")
        line.fill("/")
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(3)
        line.press("Escape")
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(0)
        expect(line).to_have_value("/")


def test_a_thread_opens_beside_the_channel_and_is_answered_there(chromium: Browser, town: Any) -> None:
    parent = _say(town, text="a card")
    _say(town, text="a reply", thread_ts=parent.ts)
    with tab(chromium, town.page.url, **WIDE) as page:
        expect(page.locator("#list article")).to_have_count(1)
        page.get_by_role("button", name="1 reply").click()
        thread = page.locator("#thread")
        expect(thread).to_contain_text("a reply")
        thread.get_by_label("Reply", exact=True).fill("me too")
        page.keyboard.press("Enter")
        expect(thread.locator("article")).to_have_count(3)
        assert [one.text for one in town.slack.thread(parent)] == ["a reply", "me too"]
        page.keyboard.press("Escape")
        expect(thread).to_be_hidden()


def test_an_edit_is_shown_live_and_a_press_that_fails_says_so(chromium: Browser, town: Any) -> None:
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    card = _say(town, text="before", blocks=[{"type": "actions", "elements": [button]}])
    with tab(chromium, town.page.url, **WIDE) as page:
        page.get_by_role("button", name="Go", exact=True).click()
        expect(page.locator(".failure")).to_have_text("⚠ dispatch_failed")
        with town.slack.world.changed:
            town.slack.world.timeline.edit(card, text="after", blocks=[])
        expect(page.locator("#list article")).to_contain_text("after")
        expect(page.locator("#list article")).to_contain_text("(edited)")


def test_another_person_sees_other_channels_and_what_is_new_is_marked(chromium: Browser, town: Any) -> None:
    _say(town, text=f"<@{town.ids['noor']}>: look")
    with tab(chromium, town.page.url, **WIDE) as page:
        expect(page.locator(".role[data-person=noor] .count")).to_have_text("1")
        expect(page.locator("#places .place")).to_have_text(["⌂Home", "#gpu"])
        become(page, "noor")
        expect(page.locator("#places .place")).to_have_text(["⌂Home", "#gpu1, 1 unread", "#leads"])
        page.locator("#places .place").filter(has_text="gpu").click()
        expect(message(page, "look")).to_contain_text("@noor: look")
        become(page, "mira")
        expect(page.locator(".role[data-person=noor] .count")).to_have_count(0)


def _publish(town: Any, shown: Home) -> None:
    with town.slack.world.changed:
        town.slack.world.surfaces.publish(town.ids["mira"], home_json(shown))
        town.slack.world.changed.notify_all()


@pytest.mark.parametrize("names", [Names(), HOSTILE], ids=["plain", "hostile"])
def test_the_page_draws_the_words_of_every_home_tab_the_bot_can_show(
    chromium: Browser, town: Any, names: Names
) -> None:
    with tab(chromium, town.page.url, **WIDE) as page:
        page.get_by_role("button", name="Home", exact=True).click()
        expect(page.locator(".home")).to_have_text("The app has shown nothing here yet.")
        for name, one in homes(names).items():
            _publish(town, one)
            view = town.slack.home(town.ids["mira"])
            drawn = page.locator(f".home[data-home='{view.hash}']")
            expect(drawn).to_be_visible()
            read = re.sub(r"[\[\]]", "", town.slack.render_text(view))
            assert _words(drawn.inner_text()) == _words(read), name
            assert drawn.locator(".unknown, img, a").count() == 0


def test_a_home_tab_keeps_its_place_when_it_is_drawn_anew_and_a_link_leads_to_its_message(
    chromium: Browser, town: Any
) -> None:
    card = _say(town, text="the card")
    link = f"https://simulated.slack.com/archives/{card.channel}/p{card.ts.replace('.', '')}"
    elsewhere = f"https://simulated.slack.com/archives/{town.ids['leads']}/p1796476800000100"

    def rows(words: str, *links: tuple[str, str]) -> Home:
        buttons = [actions(link_button("Open card", "gpuq_card_open", value, url))[0] for value, url in links]
        return Home((heading(words), *buttons), town.clock())

    _publish(town, rows("before", ("1", elsewhere), ("2", link)))
    with tab(chromium, town.page.url, **WIDE) as page:
        page.get_by_role("button", name="Home", exact=True).click()
        expect(page.locator("#composer")).to_be_hidden()
        second = page.get_by_role("button", name="Open card").nth(1)
        second.focus()
        _publish(town, rows("after", ("2", link), ("1", elsewhere)))
        expect(page.locator(".home")).to_contain_text("after")
        expect(page.locator(".home button:focus")).to_have_attribute("data-value", "2")
        _publish(town, rows("last", ("1", elsewhere)))
        expect(page.locator(".home")).to_contain_text("last")
        expect(page.locator(".home")).to_be_focused()
        page.get_by_role("button", name="Open card").click()
        expect(page.locator(".toast.bad")).to_contain_text("You are not in the channel")
        _publish(town, rows("again", ("2", link)))
        expect(page.locator(".home")).to_contain_text("again")
        page.get_by_role("button", name="Open card").click()
        expect(message(page, "the card")).to_be_focused()
        expect(page.locator("#composer")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_text_has_contrast_and_nothing_is_wider_than_the_screen(
    chromium: Browser, town: Any, scheme: str, width: int
) -> None:
    _say(town, text="plain *bold* `code` <@U0>")
    size = {"width": width, "height": 800}
    with tab(chromium, town.page.url, viewport=size, color_scheme=scheme) as page:
        expect(page.locator("#list article")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        low = page.evaluate(CONTRAST)
        assert low == []
        _publish(town, homes()["lead"])
        if width < 760:
            page.locator("#menu").click()
        page.get_by_role("button", name="Home", exact=True).click()
        expect(page.locator(".home[data-home]")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.querySelectorAll("body *")].filter((node) =>
    [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) &&
    node.checkVisibility() && !node.closest("[aria-disabled=true]") && node.getClientRects().length);
  return texts.flatMap((node) => {
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    return ratio < 4.5 ? [`${node.className || node.tagName} "${node.textContent}" ${ratio.toFixed(2)}`] : [];
  });
}"""
