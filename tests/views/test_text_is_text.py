"""P8, text is text: whatever other people write, nothing of it mentions, links or formats in Slack.

What finds it is tests/support/view_walk.
"""

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.messages import Message, Modal
from bot.views.parts import Clock, Code, Moment, Part, Reason, Theirs, clean, clip, escape, inert, sentence, words
from tests.support.slack_limits import faults
from tests.support.view_facts import Names, at
from tests.support.view_gallery import everything
from tests.support.view_walk import HOSTILE, HOSTILE_TEXT, INVISIBLE, parsed_as_mrkdwn_faults, walk


def text_faults(shown: Message | Modal) -> list[str]:
    """Every way in which other people's text could act in what is shown."""
    found = [fault for block in shown.blocks for fault in walk(block)]
    if isinstance(shown, Message):
        found += parsed_as_mrkdwn_faults(shown.text)
        if any(unicodedata.category(one) in INVISIBLE and one not in "\u200c\u200d" for one in shown.text):
            found.append("invisible characters in text")
    return found


def bad_ones(text: str) -> dict[str, list[str]]:
    """All messages with `text` in every place where other people's text may stand, and what is wrong with them."""
    shown = everything(Names.all_of(text))
    return {name: found for name, one in shown.items() if (found := text_faults(one) + faults(one))}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text_in_everything_that_is_shown(text: str) -> None:
    assert bad_ones(text) == {}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=HOSTILE_TEXT)
def test_any_text_stays_text_in_everything_that_is_shown(text: str) -> None:
    assert bad_ones(text) == {}


@given(text=HOSTILE_TEXT)
def test_escaped_text_has_no_syntax_left(text: str) -> None:
    assert list(parsed_as_mrkdwn_faults(inert(clean(text)))) == []


@given(text=st.text(max_size=200))
def test_escape_is_undone_by_slack_and_nothing_else(text: str) -> None:
    back = escape(text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert back == text


@given(text=HOSTILE_TEXT)
def test_a_name_is_one_visible_line_of_sixty_characters_at_most(text: str) -> None:
    shown = words(Theirs(text))
    assert 1 <= len(shown) <= 60
    assert shown == shown.strip()
    assert not any(unicodedata.category(one) in INVISIBLE - {"Cf"} for one in shown)


def test_a_long_name_keeps_both_its_ends() -> None:
    assert clip("resnet-sweep-" + "x" * 100 + "-3f1c2", 20) == "resnet-swe…xxx-3f1c2"
    assert clip("short", 20) == "short"


def test_a_sentence_gives_up_names_before_words() -> None:
    text = sentence((Theirs("v" * 60), " asks ", Theirs("&" * 60), " for more, and this is what it takes to be said"))
    assert len(text) <= 150
    assert text.endswith(" for more, and this is what it takes to be said")


PARTS = st.one_of(
    st.sampled_from(["8 a100 for ", " -> ", ": ", "a clause of ours that is rather long, "]),
    HOSTILE_TEXT.map(Theirs),
    HOSTILE_TEXT.map(Reason),
    HOSTILE_TEXT.map(Code),
    st.sampled_from([Moment(at("14:20")), Clock(at("14:20"))]),
)


@given(parts=st.lists(PARTS, min_size=1, max_size=12))
def test_any_line_becomes_a_sentence_that_fits_and_does_nothing(parts: list[Part]) -> None:
    text = sentence(("It is ", *parts))
    assert len(text) <= 150
    assert list(parsed_as_mrkdwn_faults(text)) == []


def test_dates_become_plain_before_anything_is_lost() -> None:
    text = sentence(
        ("Was ", Clock(at("14:05")), ", is ", Clock(at("14:18")), ": look at all of it once more, then press again")
    )
    assert text == "Was 14:05 +0100, is 14:18 +0100: look at all of it once more, then press again"


def test_words_of_ours_that_are_too_long_end_at_a_word() -> None:
    text = sentence(("word " * 40,))
    assert text == "word " * 28 + "word…"


def test_the_walk_finds_what_it_is_for() -> None:
    """A check that cannot fail is no check."""
    bad = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "<!channel>"}},
        {"type": "header", "text": {"type": "plain_text", "text": ":smile:", "emoji": True}},
        {"type": "rich_text", "elements": [{"type": "link", "url": "https://evil.example", "text": "x"}]},
        {"type": "rich_text", "elements": [{"type": "text", "text": "a\u202eb"}]},
    ]
    assert all(list(walk(block)) for block in bad)
    assert all(list(parsed_as_mrkdwn_faults(text)) for text in ("<@U1>", "*b*", "a `c`", ":x:", "https://a", "&"))
    assert list(parsed_as_mrkdwn_faults("8 a100 for my_job, 16 -&gt; 24")) == []
