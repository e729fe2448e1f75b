"""Every message and modal that the bot can show keeps Slack's limits and the house's style.

Each test walks over all of them and names those that fail.
"""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any

import pytest

import bot.views
from bot.core.messages import Message, Modal
from bot.demo.slack.limits import check_message, check_view
from bot.views.kit import Symbol
from bot.views.modal_json import modal_json
from tests.support.slack_limits import faults
from tests.support.view_facts import NAMES, Names
from tests.support.view_gallery import everything
from tests.support.view_text import buttons, labels, seen

SHOWN = everything()
NEVER = re.compile(
    r"grant access|\breject|\bcancel|\brevoke|\brelease|\bkill|\bplease\b|\bsorry\b|successful|\breconcil|\bdrift\b|!"
    r"|\bago\b|\btomorrow\b|\byesterday\b|\bin \d+ hours\b",
    re.IGNORECASE,
)
MARKS = tuple(str(symbol) for symbol in Symbol)
WITHOUT_SYMBOL = re.compile(
    r"^refusal|^thread|^next step|^(transfer|borrow) (answer|form|deny|return|extend form|details|thread)"
)


def failing(keeps: Callable[[str, Message | Modal], object]) -> list[str]:
    """Names of all that do not keep a rule."""
    return [name for name, one in SHOWN.items() if not keeps(name, one)]


def _views() -> dict[CodeType, str]:
    """Every function of bot.views that makes a message or a modal, but those that make any."""
    found: dict[CodeType, str] = {}
    for module in pkgutil.walk_packages(bot.views.__path__, "bot.views."):
        if module.name not in {"bot.views.kit", "bot.views.degrade"}:
            for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
                made = inspect.signature(one, eval_str=True).return_annotation
                if one.__module__ == module.name and made in (Message, Modal) and not name.startswith("_"):
                    found[one.__code__] = f"{module.name}.{name}"
    return found


def test_every_view_is_among_those_that_are_looked_at() -> None:
    views, called = _views(), set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        everything()
    finally:
        sys.setprofile(before)
    assert len(views) > 50
    assert sorted(name for code, name in views.items() if code not in called) == [], "show it in the gallery"


def test_slack_takes_everything() -> None:
    assert {name: found for name, one in SHOWN.items() if (found := faults(one))} == {}


@pytest.mark.parametrize("length", [0, 1, 61, 300, 20_480])
def test_slack_takes_names_of_any_length(length: int) -> None:
    shown = everything(Names.all_of("x" * length))
    assert {name: found for name, one in shown.items() if (found := faults(one))} == {}


def test_the_simulated_slack_takes_everything() -> None:
    """The simulator was written from Slack's reference without a look at these views."""
    modals = {name: modal_json(one) for name, one in SHOWN.items() if isinstance(one, Modal)}
    messages = {name: list(one.blocks) for name, one in SHOWN.items() if isinstance(one, Message)}
    problems = {name: check_view(view, "modal") for name, view in modals.items()}
    problems |= {name: check_message(blocks) for name, blocks in messages.items()}
    assert {name: found for name, found in problems.items() if found} == {}


def test_slack_takes_it_without_any_reason() -> None:
    shown = everything(replace(NAMES, reason="", denial="", manager="", vendor="", tool="", rule=""))
    assert {name: found for name, one in shown.items() if (found := faults(one))} == {}


def test_the_words_of_the_style_sheet() -> None:
    assert failing(lambda _, one: not NEVER.search("\n".join(seen(one)))) == []


def test_one_symbol_at_most_first_on_line_1_and_none_in_answers() -> None:
    def keeps(name: str, one: Message | Modal) -> bool:
        lines = seen(one)
        marked = [at for at, line in enumerate(lines) for mark in MARKS if mark in line]
        if WITHOUT_SYMBOL.search(name):
            return marked == []
        return marked == [0] and lines[0].startswith(MARKS)

    assert failing(keeps) == []


def test_text_is_one_line_without_a_symbol() -> None:
    def keeps(_: str, one: Message | Modal) -> bool:
        if isinstance(one, Modal):
            return True
        text = one.text
        return text == text.strip() and "\n" not in text and not any(mark in text for mark in MARKS)

    assert failing(keeps) == []


def test_buttons_have_few_words_and_one_at_most_is_primary() -> None:
    def keeps(_: str, one: Message | Modal) -> bool:
        primary = [each["text"]["text"] for each in buttons(one) if each.get("style") == "primary"]
        danger = any(each.get("style") == "danger" for each in buttons(one))
        short = all(1 <= len(label.split()) <= 3 for label in labels(one))
        return short and primary in ([], ["Approve"], ["Accept"]) and not danger

    assert failing(keeps) == []


def test_a_direct_message_fits_a_phone() -> None:
    assert failing(lambda name, one: " dm " not in name or len(seen(one)) <= 6) == []


def test_a_card_fits_a_screen() -> None:
    """Unless warnings or an offer make it longer."""
    rare = ("one given", "waiting", "worse", "offered", "workers not known")
    fits = failing(lambda name, one: " card " not in name or any(one in name for one in rare) or len(seen(one)) <= 8)
    assert fits == []


def test_a_date_says_its_offset_where_it_cannot_be_localised() -> None:
    def keeps(_: str, one: Message | Modal) -> bool:
        fallbacks = [part["fallback"] for block in one.blocks for part in _dates(block)]
        return all(re.fullmatch(r"2026-12-\d\d \d\d:\d\d \+01:00", each) for each in fallbacks)

    assert failing(keeps) == []


def _dates(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        if node.get("type") == "date":
            yield node
        for value in node.values():
            yield from _dates(value)
    elif isinstance(node, list):
        for value in node:
            yield from _dates(value)
