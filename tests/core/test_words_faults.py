"""Windows, carets, near names, tokens and cut reasons; and that no text at all makes the parser fall."""

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.wording.commands import parse_command
from bot.core.wording.faults import WINDOW_COLUMNS, UsageFault, columns, flat, point_at, shown
from bot.core.wording.line import Context
from bot.core.wording.near import edit_distance, near
from bot.core.wording.request_words import KEYWORDS
from bot.core.wording.text import clip_reason, unescape
from bot.core.wording.tokens import MOST_TOKENS, tokenize
from bot.core.wording.vocabulary import Vocabulary

NAMES = Vocabulary(("a100", "h100", "a40"), ("nlp", "vision"), ("nvidia.com/mig-1g.5gb",), ("east",), ("vision",))
CONTEXT = Context(datetime(2026, 12, 2, 13, 5, tzinfo=UTC), ZoneInfo("Europe/Zurich"), NAMES, limit=16)
CONTEXTS = (CONTEXT, replace(CONTEXT, vocabulary=Vocabulary(), limit=None), replace(CONTEXT, limit=4))

PIECES = (
    *("request", "reqest", "status", "list", "show", "return", "withdraw", "help", "/gpu-quota", "because"),
    *("due to", "for", "until", "starting", "in", "as", "from", "on", "--for", "\u2014until=", "reason:", "for:3d"),
    *("untill", "becuase", "8", "0", "0.5", "4k", "1e999", "NaN", "8h100", "8xa100", "x8", "×", "gpus", "a100"),
    *("a10", "A100s", "mig-1g.5gb", "3d", "1m", "1mo", "3", "days", "fri", "18", "18:00", "4/12", "4", "Dec", "31"),
    *("Feb", "2026-12-04", "02:30", "vision", "visoin", "nlp", "borrow", "east", "Q-142", "#7", "mine", "closed"),
    *("\u201c", "\u201d", "'", "«x y»", "到周五", "🦜", "\u200f", "\u202e8", "\x00", "\n", "&lt;@U1&gt;", "<@U1|ann>"),
    *("ſ", "aſ", "İn", "K", "٤", "½", "e\u0301", "x" * 50),
)
lines = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | st.text(max_size=300)


def by_column(text: str) -> list[str]:
    """The characters of a text by column: a wide one stands in two."""
    return [char for char in text for _ in range(columns(char))]


def char_at(text: str, column: int) -> int:
    """The index of the character that stands at a column."""
    return next((n for n in range(len(text)) if columns(text[:n]) >= column), len(text))


@pytest.mark.parametrize(
    ("text", "part", "window", "caret"),
    [
        ("until 4/12 because", "4/12", "until 4/12 because", "      ^^^^"),
        (
            "request 8 a100 until 4/12 because paper",
            "4/12",
            "request 8 a100 until 4/12 because paper",
            " " * 21 + "^^^^",
        ),
        ("x" * 40, "x" * 40, "x" * 40, "^" * 40),
        ("x" * 41, "x" * 41, "x" * 38 + "…", "^" * 38),
        ("a" * 60 + " bad " + "b" * 60, "bad", "…" + "a" * 17 + " bad " + "b" * 16 + "…", " " * 19 + "^^^"),
        ("bad " + "b" * 60, "bad", "bad " + "b" * 34 + "…", "^^^"),
        ("a" * 60 + " bad", "bad", "…" + "a" * 34 + " bad", " " * 36 + "^^^"),
        ("请求 8 到周五 foo", "到周五", "请求 8 到周五 foo", " " * 7 + "^" * 6),
        ("a\tb\u202ec bad", "bad", "a b c bad", "      ^^^"),
    ],
)
def test_the_window_shows_forty_columns_around_the_fault(text: str, part: str, window: str, caret: str) -> None:
    start = text.rindex(part)
    assert point_at(text, start, start + len(part)) == (window, caret)


@given(st.text(min_size=1, max_size=200), st.data())
def test_the_caret_is_inside_the_window_and_under_the_part(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    window, caret = point_at(text, start, end)
    assert columns(window) <= WINDOW_COLUMNS
    under = by_column(window)[caret.index("^") : len(caret)]
    assert under == by_column(flat(text[start:end]))[: len(under)]
    assert under


@settings(deadline=None)
@given(st.text(max_size=3000))
@example("request \x00\x1f\u202e\u200f🦜 8 a100")
@example("request 8 aſ borrow İn vision reaſon x")
@example("request “ ” « » ‹ ` ' \"")
@example("request 8 because \u200f")
def test_no_text_makes_the_parser_fall(text: str) -> None:
    for context in CONTEXTS:
        for line in (text, f"request {text}", f"return {text}"):
            assert_holds(line, context)


@settings(deadline=None)
@given(lines, st.sampled_from(CONTEXTS))
def test_every_fault_points_into_the_line_and_offers_a_line_that_works(line: str, context: Context) -> None:
    assert_holds(line, context)
    assert_holds(f"request 8 a100 {line}", context)


def assert_holds(line: str, context: Context) -> None:
    """Words, or a fault whose caret stands under text of the input and whose lines all work."""
    result = parse_command(line, context)
    if not isinstance(result, UsageFault):
        return
    assert 0 < len(result.sentence) <= 150
    assert columns(result.window) <= WINDOW_COLUMNS
    under = result.window[char_at(result.window, result.caret.index("^")) : char_at(result.window, len(result.caret))]
    assert under
    assert under in flat(unescape(line))
    assert set(result.caret) == {" ", "^"} or set(result.caret) == {"^"}
    for offered in (result.try_line, *result.choices):
        assert offered.startswith("/gpu-quota")
        assert not isinstance(parse_command(offered, context), UsageFault), offered
    assert all(unicodedata.category(char) not in {"Cc", "Cf", "Cs"} for char in result.sentence + result.window)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("a10", "a100", 1),
        ("visoin", "vision", 1),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
        ("same", "same", 0),
        ("ab", "ba", 1),
    ],
)
def test_edits_are_counted_with_swaps_of_neighbours(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


@pytest.mark.parametrize(
    ("typed", "names", "found"),
    [
        ("visoin", ("nlp", "vision"), ("vision",)),
        ("a10", ("a40", "a100", "h100"), ("a100", "a40")),
        ("VISIN", ("vision", "Vision2"), ("vision", "Vision2")),
        ("foo", ("who", "log", "why"), ()),
        ("x", ("a", "b"), ()),
        ("queue-", tuple(f"queue-{n}" for n in range(9)), tuple(f"queue-{n}" for n in range(5))),
        ("anything", (), ()),
    ],
)
def test_near_names_are_the_nearest_first_and_at_most_five(
    typed: str, names: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert near(typed, names) == found


@given(st.text("abc-1", min_size=1, max_size=12), st.lists(st.text("abc-1", min_size=1, max_size=12), max_size=8))
def test_what_is_near_is_at_most_two_edits_away(typed: str, names: list[str]) -> None:
    assert all(edit_distance(typed, name) <= 2 and name in names for name in near(typed, names))


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize(
    ("reason", "clipped"),
    [
        ("short", "short"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 300 + "… (cut, 301 characters)"),
        ("x" * 20_480, "x" * 300 + "… (cut, 20,480 characters)"),
        ("x" * 299 + "  y" * 100, "x" * 299 + "… (cut, 599 characters)"),
    ],
)
def test_sec_08_reasons_are_cut_at_a_stated_length(reason: str, clipped: str) -> None:
    assert clip_reason(reason) == clipped


def test_long_words_are_shown_cut_in_the_middle() -> None:
    assert shown("a" * 20 + "b" * 20) == "a" * 16 + "…" + "b" * 15
    assert shown("tab\there\u202e") == "tab here "


@given(lines)
def test_tokens_stand_where_they_say(text: str) -> None:
    tokens = tokenize(text, 0, KEYWORDS)
    assert len(tokens) <= MOST_TOKENS + 2
    for token in tokens:
        assert token.text
        assert token.keyword or flat(token.text) in flat(text[token.start : token.end])
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


@given(st.text(max_size=200))
def test_what_slack_escapes_comes_out_as_it_was_typed(text: str) -> None:
    wire = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(wire) == text
