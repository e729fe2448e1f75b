"""The identifiers that chat listens to are those that messages carry, no more and no fewer."""

import ast
import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

from bot.core.messages import Modal
from bot.views import kinds
from bot.views.ids import (
    DISPATCHING,
    Action,
    Field,
    PictureBlock,
    View,
    card_block,
    drift_block,
    option_value,
    picture_of,
)
from bot.views.kinds import NoticeKind
from tests.support.view_gallery import everything
from tests.support.view_home import homes
from tests.support.view_text import buttons

SHOWN = everything()
INPUTS = [block for one in SHOWN.values() for block in one.blocks if block["type"] == "input"]


def test_every_action_is_on_some_message_and_every_button_is_an_action() -> None:
    shown = [*SHOWN.values(), *homes().values()]
    assert {one["action_id"] for each in shown for one in buttons(each)} == set(Action)


def test_every_field_is_in_some_form() -> None:
    assert {block["block_id"] for block in INPUTS} == set(Field)


def test_every_view_is_shown_except_the_shortcut() -> None:
    assert {one.callback_id for one in SHOWN.values() if isinstance(one, Modal)} == set(View) - {View.REQUEST_SHORTCUT}


def test_only_what_changes_the_live_lines_is_sent_at_once() -> None:
    assert {block["block_id"] for block in INPUTS if block.get("dispatch_action")} == DISPATCHING


def test_ids_are_told_apart_and_short_enough() -> None:
    ids = [*Action, *Field, *View]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"gpuq_[a-z_]{1,250}", one) for one in ids)


@pytest.mark.parametrize(
    ("block_id", "expected"),
    [
        (card_block(142, 3), PictureBlock("card", "142", 3)),
        (drift_block("f7", 12), PictureBlock("drift", "f7", 12)),
        ("card:142", None),
        ("card:142:x", None),
        ("card:142:3:4", None),
        ("wXy9", None),
        ("", None),
    ],
)
def test_a_block_id_says_which_picture_was_pressed(block_id: str, expected: PictureBlock | None) -> None:
    assert picture_of(block_id) == expected


def test_a_name_too_long_for_an_option_gets_a_value_of_its_own() -> None:
    one, other = "a" * 253, "a" * 252 + "b"
    assert option_value("vision") == "vision"
    assert option_value(one) != option_value(other)
    assert len(option_value(one)) <= 150


def _views_of_kinds() -> dict[str, str]:
    """The view named in the docstring under each member of NoticeKind."""
    tree = ast.parse(Path(kinds.__file__).read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    named: dict[str, str] = {}
    for member, docstring in pairwise(body):
        if isinstance(member, ast.Assign) and isinstance(docstring, ast.Expr):
            target, words = member.targets[0], ast.literal_eval(docstring.value)
            assert isinstance(target, ast.Name)
            named[target.id] = words.split("]")[0].removeprefix("[")
    return named


@pytest.mark.parametrize("kind", NoticeKind)
def test_every_kind_of_notice_names_a_view_that_exists(kind: NoticeKind) -> None:
    if kind is NoticeKind.ANSWER:
        assert _views_of_kinds()[kind.name].startswith("No view")
        return
    module, _, function = _views_of_kinds()[kind.name].partition(".")
    view = importlib.import_module(f"bot.views.{module}")
    assert callable(getattr(view, function))
