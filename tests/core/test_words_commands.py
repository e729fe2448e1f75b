"""The other subcommands, numbers of requests, and lines that name none."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.instants import Instant
from bot.core.wording import commands
from bot.core.wording.accept_words import AcceptWords
from bot.core.wording.ask_back_words import AskBackWords
from bot.core.wording.commands import CommandWords, parse_command
from bot.core.wording.end_words import EndWords
from bot.core.wording.explain_words import ExplainWords
from bot.core.wording.extend_words import ExtendWords
from bot.core.wording.faults import Misread, UsageFault
from bot.core.wording.line import Context
from bot.core.wording.log_words import LogWords, mentioned
from bot.core.wording.pause_words import PauseWords, ResumeWords
from bot.core.wording.prolong_words import ProlongWords
from bot.core.wording.request_ids import format_request_id, parse_request_id
from bot.core.wording.request_words import RequestWords
from bot.core.wording.small_commands import (
    SUBCOMMANDS,
    HelpWords,
    ListWords,
    ReturnWords,
    ShowWords,
    StatusWords,
    WithdrawWords,
)
from bot.core.wording.vocabulary import Vocabulary

NAMES = Vocabulary(
    ("a100", "h100"), ("nlp", "vision", "h100-clusterqueue"), ("nvidia.com/mig-1g.5gb",), (), ("cv", "nlp")
)
DAY = timedelta(days=1)
FRIDAY = Instant(datetime(2026, 12, 4, 17, tzinfo=UTC))
CONTEXT = Context(datetime(2026, 12, 2, 13, 5, tzinfo=UTC), ZoneInfo("Europe/Zurich"), NAMES, limit=16)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", HelpWords()),
        ("  \u00a0", HelpWords()),
        ("/gpu-quota", HelpWords()),
        ("help", HelpWords()),
        ("help request", HelpWords("request")),
        ("HELP Return", HelpWords("return")),
        ("status", StatusWords()),
        ("status cv", StatusWords("cv")),
        ("/gpu-quota STATUS NLP", StatusWords("nlp")),
        ("list", ListWords()),
        ("list mine", ListWords("mine")),
        ("list team", ListWords("team")),
        ("list waiting", ListWords("waiting")),
        ("list all closed", ListWords("all", closed=True)),
        ("list closed", ListWords(closed=True)),
        ("list closed mine", ListWords("mine", closed=True)),
        ("show", ShowWords()),
        ("show vision", ShowWords("vision")),
        ("show vision a100", ShowWords("vision", "a100")),
        ("show “Vision” H100s", ShowWords("vision", "h100")),
        ("show vision mig-1g.5gb", ShowWords("vision", resource="nvidia.com/mig-1g.5gb")),
        ("return", ReturnWords()),
        ("return Q-142", ReturnWords(142)),
        ("return Q-142 4", ReturnWords(142, 4)),
        ("return #142 4 gpus", ReturnWords(142, 4)),
        ("return q142 4x", ReturnWords(142, 4)),
        ("return 142 4", ReturnWords(142, 4)),
        ("return 4 GPUs", ReturnWords(None, 4)),
        ("return 4 gpus Q-142", ReturnWords(142, 4)),
        (
            "return 142",
            ReturnWords(142, notes=("142 is read as Q-142. For 142 GPUs of a loan write its number first.",)),
        ),
        ("accept", AcceptWords()),
        ("accept q142", AcceptWords(142)),
        ("ask-back", AskBackWords()),
        ("ask-back Q-142", AskBackWords(142)),
        ("ask-back 142 because our own deadline", AskBackWords(142, "our own deadline")),
        ("prolong", ProlongWords()),
        ("prolong 142", ProlongWords(142)),
        ("end", EndWords()),
        ("end Q-142", EndWords(142)),
        ("end 142 because node maintenance", EndWords(142, "node maintenance")),
        ("extend", ExtendWords()),
        ("extend Q-142", ExtendWords(142)),
        ("extend Q-142 by 2d", ExtendWords(142, by=2 * DAY)),
        ("extend 142 2d", ExtendWords(142, by=2 * DAY)),
        ("extend 2 days q142 because “last runs”", ExtendWords(142, by=2 * DAY, reason="last runs")),
        ("extend --for 1d12h", ExtendWords(None, by=1.5 * DAY)),
        ("extend Q-142 until fri 18:00", ExtendWords(142, until=FRIDAY)),
        ("extend fri 18:00 142", ExtendWords(142, until=FRIDAY)),
        ("extend until 4 Dec 18:00 reason: demo", ExtendWords(until=FRIDAY, reason="demo")),
        ("explain", ExplainWords()),
        ("explain Q-142", ExplainWords(142)),
        ("explain 142", ExplainWords(142)),
        ("explain #142", ExplainWords(142)),
        ("explain 8 a100 for 3d", ExplainWords(what=RequestWords(8, "a100", duration=timedelta(days=3)))),
        ("explain request 8 a100 --for 3d", ExplainWords(what=RequestWords(8, "a100", duration=timedelta(days=3)))),
        ("explain 8 as transfer because a b", ExplainWords(what=RequestWords(8, kind="transfer", reason="a b"))),
        ("explain request", ExplainWords(what=RequestWords())),
        ("pause", PauseWords()),
        ("pause because node maintenance", PauseWords("node maintenance")),
        ("pause node maintenance for 2 h", PauseWords("node maintenance for 2 h")),
        ("pause --reason “&lt;b&gt; &amp; so on”", PauseWords("<b> & so on")),
        ("resume", ResumeWords()),
        ("log", LogWords()),
        ("log 142", LogWords(142)),
        ("log Q-142 last 7d", LogWords(142, last=timedelta(days=7))),
        ("log since 3 days nlp", LogWords(team="nlp", last=timedelta(days=3))),
        ("log <@U0ADA|ada> last 12h", LogWords(person="@ada", last=timedelta(hours=12))),
        ("log csv nlp", LogWords(team="nlp", csv=True)),
        ("log CSV last 7d", LogWords(last=timedelta(days=7), csv=True)),
        ("log <@U0ADA>", LogWords(person="<@U0ADA>")),
        ("withdraw", WithdrawWords()),
        ("withdraw Q-142", WithdrawWords(142)),
        ("withdraw 142", WithdrawWords(142)),
        ("withdraw q–142", WithdrawWords(142)),
    ],
)
def test_lines_that_are_understood(text: str, words: CommandWords) -> None:
    assert parse_command(text, CONTEXT) == words


@pytest.mark.parametrize(
    ("text", "sentence", "part", "try_line"),
    [
        ("reqest 8 a100 for 3d", 'No "reqest". Did you mean request?', "reqest", "request 8 a100 for 3d"),
        ("lsit waiting", 'No "lsit". Did you mean list?', "lsit", "list waiting"),
        ("stats", 'No "stats". Did you mean status?', "stats", "status"),
        ("withdrew Q-142", 'No "withdrew". Did you mean withdraw?', "withdrew", "withdraw Q-142"),
        ("reqest 8 a10", 'No "reqest". Did you mean request?', "reqest", "request 8 a100"),
        ("foo", 'No "foo". /gpu-quota help lists what there is.', "foo", "help"),
        ("grant access", 'No "grant". /gpu-quota help lists what there is.', "grant", "help"),
        ("8 a100 for 3d", 'No "8". Did you mean request?', "8", "request 8 a100 for 3d"),
        (
            "borrow 4 for h100-clusterqueue",
            'No "borrow". Did you mean request?',
            "borrow",
            "request as borrow 4 for h100-clusterqueue",
        ),
        ("status cw", "No team cw that you can see.", "cw", "status"),
        ("status nlpp", "No team nlpp that you can see. Near: nlp.", "nlpp", "status nlp"),
        ("status cv nlp", '"nlp" is not understood here.', "nlp", "status cv"),
        ("list wating", 'No "wating". Did you mean waiting?', "wating", "list waiting"),
        ("list mine team", "list shows one of mine and team, not both.", "team", "list mine"),
        ("list everything", '"everything" is not understood here.', "everything", "list"),
        ("show visoin", "No queue visoin that you can see. Near: vision.", "visoin", "show vision"),
        ("show secret", "No queue secret that you can see.", "secret", "show"),
        ("show vision a10", "No flavor a10. Near: a100.", "a10", "show vision a100"),
        ("show vision a100 now", '"now" is not understood here.', "now", "show vision a100"),
        ("return Q-142 0.5", "0.5 is not a whole number of GPUs.", "0.5", "return Q-142 1"),
        ("return Q-142 4a100", "A loan is of one flavor: write 4 without a100.", "4a100", "return Q-142 4"),
        ("return Q-142 4 5", '"5" is not understood here.', "5", "return Q-142 4"),
        ("return everything", '"everything" is not understood here.', "everything", "return"),
        (
            "withdraw everything",
            '"everything" is not the number of a request. They look like Q-142.',
            "everything",
            "withdraw",
        ),
        ("exted Q-142 2d", 'No "exted". Did you mean extend?', "exted", "extend Q-142 2d"),
        ("extend Q-142 by", '"by" needs a duration, like by 2d.', "by", "extend Q-142"),
        (
            "extend by soon Q-142",
            '"soon" is not a duration. Durations look like 3d, 12h or 1d12h.',
            "soon",
            "extend by 3d Q-142",
        ),
        ("extend Q-142 1m", "m can be minutes or months. Try 30min or 4w.", "1m", "extend Q-142 by 1min"),
        ("extend Q-142 until tue 12:00 2d", "The new end is said twice.", "2d", "extend Q-142 until tue 12:00"),
        ("extend Q-142 8", '"8" is not understood here.', "8", "extend Q-142"),
        ("extend Q-142 until 18", "18 can be 18:00 or the 18th.", "18", "extend Q-142 until 18:00"),
        (
            "extend everything",
            '"everything" is not the number of a request. They look like Q-142.',
            "everything",
            "extend",
        ),
        ("withdraw Q-142 now", '"now" is not understood here.', "now", "withdraw Q-142"),
        ("explain Q-142 now", '"now" is not understood here.', "now", "explain Q-142"),
        ("explain 8 a10 for 3d", "No flavor a10. Near: a100.", "a10", "explain 8 a100 for 3d"),
        ("explain request 8 a10", "No flavor a10. Near: a100.", "a10", "explain 8 a100"),
        ("pause because", '"because" needs words, like because maintenance.', "because", "pause"),
        ("resume now", '"now" is not understood here.', "now", "resume"),
        ("log Q-142 nlp", '"nlp" is not understood here.', "nlp", "log Q-142"),
        ("log csv csv", "No team csv that you can see. Near: cv.", "csv", "log csv cv"),
        ("log secret", "No team secret that you can see.", "secret", "log"),
        ("log last", '"last" needs a duration, like last 7d.', "last", "log"),
        ("log last 0.5d", "0.5 is not a whole number of days. Try 12h.", "0.5d", "log last 12h"),
        ("help reqest", 'No "reqest". Did you mean request?', "reqest", "help request"),
        ("help request now", '"now" is not understood here.', "now", "help request"),
    ],
)
def test_lines_that_are_pointed_at(text: str, sentence: str, part: str, try_line: str) -> None:
    found = parse_command(text, CONTEXT)
    assert isinstance(found, UsageFault)
    assert found.sentence == sentence
    assert found.window[found.caret.index("^") : len(found.caret)] == part
    assert found.try_line == f"/gpu-quota {try_line}"


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("log <@U0ADA|ada> last 7d", ("U0ADA",)),
        ("log <@W0ADA> <@U0B|b>", ("W0ADA", "U0B")),
        ("log @ada", ()),
        ("log &lt;@U0ADA|ada&gt;", ()),
        ("log <#C0ADA|ada>", ()),
    ],
)
def test_whom_a_line_mentions_is_an_id_that_slack_wrote(text: str, users: tuple[str, ...]) -> None:
    assert mentioned(text) == users


def test_every_subcommand_has_a_reader() -> None:
    assert tuple(commands._READERS) == SUBCOMMANDS


@pytest.mark.parametrize("text", ["Q-142", "q142", "#142", "142", "q-142", " Q-142 ", "Q—142", "#0142"])
def test_numbers_of_requests_are_the_same_however_written(text: str) -> None:
    assert parse_request_id(text) == 142


@pytest.mark.parametrize(
    "text", ["", "Q", "Q-", "Q-0", "-142", "Q-14.2", "١٤٢", "Q-1234567890", "R-142", "142x", "Q--142"]
)
def test_what_is_no_number_of_a_request(text: str) -> None:
    assert parse_request_id(text) == Misread(f'"{text}" is not the number of a request. They look like Q-142.')


@given(st.integers(1, 10**9 - 1))
def test_written_numbers_of_requests_read_back(number: int) -> None:
    assert parse_request_id(format_request_id(number)) == number
