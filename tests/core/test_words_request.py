"""The words after `/gpu-quota request`: every form of the grammar, what is forgiven, and what is pointed at."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.core.wording.commands import parse_command
from bot.core.wording.faults import UsageFault
from bot.core.wording.line import Context
from bot.core.wording.request_words import RequestWords
from bot.core.wording.vocabulary import Vocabulary

NAMES = Vocabulary(
    flavors=("a100", "h100", "a40", "a100-mig"),
    queues=("nlp", "vision", "robotics", "team.cv-train"),
    resources=("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "amd.com/gpu-vf"),
    clusters=("east", "west"),
)
NOW = datetime(2026, 12, 2, 13, 5, tzinfo=UTC)
"""Wed 2 Dec 2026 14:05 in Zurich."""
CONTEXT = Context(NOW, ZoneInfo("Europe/Zurich"), NAMES, limit=16)
UNKNOWN_NAMES = replace(CONTEXT, vocabulary=Vocabulary(), limit=None)
FRIDAY = datetime(2026, 12, 4, 17, tzinfo=UTC)
DAYS = timedelta(days=1)


def said(text: str, context: Context = CONTEXT) -> dict[str, Any]:
    """What a line says, without what it does not; instants as their UTC time."""
    words = parse_command(text, context)
    assert isinstance(words, RequestWords), words
    found = {field.name: getattr(words, field.name) for field in fields(words) if getattr(words, field.name)}
    return {name: getattr(value, "at", value) for name, value in found.items()}


def fault(text: str, context: Context = CONTEXT) -> UsageFault:
    result = parse_command(text, context)
    assert isinstance(result, UsageFault), result
    return result


def pointed_at(found: UsageFault) -> str:
    start = found.caret.index("^")
    return found.window[start : len(found.caret)]


EIGHT = {"amount": 8, "flavor": "a100"}
THREE_DAYS = {**EIGHT, "duration": 3 * DAYS}
PAPER = {**THREE_DAYS, "reason": "paper deadline"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("request", {}),
        ("request 8 a100 for 3d because paper deadline", PAPER),
        ("request 8 from nlp until fri 18:00", {"amount": 8, "lender": "nlp", "until": FRIDAY}),
        ("request for 3d 8 a100 in vision", {**THREE_DAYS, "queue": "vision"}),
        ("request in vision a100 8", {**EIGHT, "queue": "vision"}),
        ("request 8 a100 as borrow on east", {**EIGHT, "kind": "borrow", "cluster": "east"}),
        ("request 8 a100 as transfer from robotics", {**EIGHT, "kind": "transfer", "lender": "robotics"}),
        ("request 8 a100 as Extra", {**EIGHT, "kind": "extra"}),
        ("request 8 a100 as grant", {**EIGHT, "kind": "extra"}),
        ("request 8 a100 starting fri 18:00 for 2w", {**EIGHT, "starting": FRIDAY, "duration": 14 * DAYS}),
        ("request 8 in team.cv-train", {"amount": 8, "queue": "team.cv-train"}),
        ("request until 2026-12-04T18:00+01:00", {"until": FRIDAY}),
        ("request because for 3d in vision", {"reason": "for 3d in vision"}),
        ("request 3d", {"duration": 3 * DAYS}),
        ("request a100-mig 7", {"amount": 7, "flavor": "a100-mig"}),
    ],
)
def test_the_grammar_in_any_order_and_every_part_optional(text: str, expected: dict[str, Any]) -> None:
    assert said(text) == expected


@pytest.mark.case("SLA-04")
@pytest.mark.parametrize(
    "mark", ["--for 3d", "–for 3d", "—for=3d", "—for 3d", "for:3d", "for: 3d", "for=3d", "-for 3d"]
)
@pytest.mark.parametrize("before", ["request 8 a100 ", "request\u00a08\u202fa100\u00a0", "REQUEST 8 A100 "])
def test_sla_04_flags_dashes_and_no_break_spaces_read_alike(before: str, mark: str) -> None:
    assert said(before + mark) == said((before + mark).upper()) == THREE_DAYS


@pytest.mark.case("SLA-04")
@pytest.mark.parametrize(
    "quoted",
    [
        "“paper deadline”",
        "‘paper deadline’",
        "«paper deadline»",
        '"paper deadline"',
        "'paper deadline'",
        "„paper deadline“",
    ],
)
@pytest.mark.parametrize("keyword", ["--reason ", "–reason ", "—reason=", "because ", "reason: ", "reason:", "due to "])
def test_sla_04_quotes_of_phones_read_alike(keyword: str, quoted: str) -> None:
    assert said(f"request 8 a100 --for 3d {keyword}{quoted}") == PAPER


@pytest.mark.case("SLA-04")
@pytest.mark.parametrize(
    "text",
    [
        "request 4 --for 2d --reason “paper deadline”",
        "request 4 –for 2d –reason “paper deadline”",
        "request 4 —for=“2d” because ‘paper deadline’",
        "request “4” --reason “paper deadline” --for 2d",
        "/gpu-quota request --reason='paper deadline' 4 2d",
    ],
)
def test_sla_04_the_case_itself(text: str) -> None:
    assert said(text) == {"amount": 4, "duration": 2 * DAYS, "reason": "paper deadline"}


@pytest.mark.parametrize(
    "amount",
    [
        *(
            "8 a100",
            "8x a100",
            "8xa100",
            "8 × a100",
            "a100 x8",
            "a100 × 8",
            "8 A100s",
            "8 gpus a100",
            "8 GPUs of A100s",
        ),
        *("8a100", "«8» 'a100'", "a100 8", "8xA100s", "`8` `a100`", "a100x8", "A100s×8", "8 a100,", "8, a100;"),
    ],
)
def test_every_spelling_of_an_amount(amount: str) -> None:
    assert said(f"request {amount} for 3d") == THREE_DAYS


@pytest.mark.parametrize(
    "length", ["for 3d", "for 3 days", "for 3 d", "3d", "3 days", "3 d", "for 72h", "for 2d 24h", "for “3 days”"]
)
def test_every_spelling_of_a_duration_also_without_for(length: str) -> None:
    assert said(f"request 8 a100 {length}") == said(f"request {length} 8 a100") == THREE_DAYS


@pytest.mark.parametrize("again", ["/gpu-quota ", "/gpu-quota /gpu-quota ", "  /GPU-Quota\u00a0"])
def test_a_repeated_command_is_forgiven(again: str) -> None:
    assert said(f"{again}request 8 a100 for 3d") == THREE_DAYS


@pytest.mark.parametrize("queue", ["vision", "nlp", "Robotics"])
def test_for_a_queue_is_read_as_in_that_queue_and_says_so(queue: str) -> None:
    notes = (f'"for {queue}" is read as in {queue.lower()}.',)
    assert said(f"request 8 a100 for {queue}") == {**EIGHT, "queue": queue.lower(), "notes": notes}


@pytest.mark.parametrize("queue", ["3d", "12h", "2w"])
def test_a_duration_wins_over_a_queue_of_that_name(queue: str) -> None:
    context = replace(CONTEXT, vocabulary=replace(NAMES, queues=(queue,)))
    assert "queue" not in said(f"request 8 a100 for {queue}", context)


@pytest.mark.case("QUO-15")
@pytest.mark.parametrize(
    ("hardware", "resource"),
    [
        ("mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("<http://nvidia.com/mig-1g.5gb|nvidia.com/mig-1g.5gb>", "nvidia.com/mig-1g.5gb"),
        ("NVIDIA.com/MIG-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("amd.com/gpu-vf", "amd.com/gpu-vf"),
    ],
)
def test_quo_15_resource_names_survive_the_line(hardware: str, resource: str) -> None:
    assert said(f"request 7 {hardware} for 3d") == {"amount": 7, "resource": resource, "duration": 3 * DAYS}


@pytest.mark.case("QUO-15")
@pytest.mark.parametrize("hardware", ["mig-1g.5gb", "nvidia.com/mig-3g.40gb", "habana.ai/gaudi"])
def test_quo_15_also_while_no_names_are_known(hardware: str) -> None:
    assert said(f"request 7 {hardware}", UNKNOWN_NAMES) == {"amount": 7, "resource": hardware}


def test_names_are_taken_as_they_are_while_none_are_known() -> None:
    expected = {"amount": 2, "flavor": "b300", "queue": "new.queue-1", "lender": "other", "cluster": "south"}
    assert said("request 2 B300 in new.queue-1 from other on south", UNKNOWN_NAMES) == expected


@pytest.mark.parametrize("text", ["request please 8 b300", "request gpus 8 b300", "request eight b300"])
def test_noise_is_no_flavor_even_while_none_are_known(text: str) -> None:
    assert fault(text, UNKNOWN_NAMES).sentence == f'"{text.split()[1]}" is not understood here.'


@pytest.mark.parametrize("name", ["l40s", "gh200", "4090", "rtx8000"])
def test_a_name_that_looks_like_something_else_is_itself_when_it_is_known(name: str) -> None:
    context = replace(CONTEXT, vocabulary=Vocabulary(flavors=("l40", name)))
    assert said(f"request 4 {name.upper()} for 3d", context) == {"amount": 4, "flavor": name, "duration": 3 * DAYS}


@pytest.mark.parametrize(
    ("text", "sentence", "part", "try_line"),
    [
        ("8h100", '"8h100" can be 8 h100 or 8 hours.', "8h100", "8 h100"),
        (
            "8 a100 until 4/12 because paper",
            '"4/12" can be 4 December or 12 April.',
            "4/12",
            "8 a100 until 4 Dec because paper",
        ),
        ("8 a100 for 1m in nlp", "m can be minutes or months. Try 30min or 4w.", "1m", "8 a100 for 1min in nlp"),
        ("8 a100 5 m", "m can be minutes or months. Try 30min or 4w.", "5 m", "8 a100 for 5min"),
        ("8 a100 30m", "m can be minutes or months. Try 30min or 4w.", "30m", "8 a100 for 30min"),
        ("--reason “a b” 8 a10", "No flavor a10. Near: a100, a40.", "a10", "8 a100 because a b"),
        ("8 a100 for 1mo", "Months differ in length. Try 30d.", "1mo", "8 a100 for 30d"),
        ("8 a100 until 18", "18 can be 18:00 or the 18th.", "18", "8 a100 until 18:00"),
        ("8 a100 until fri 9", "9 alone is not a time of day. Write 9:00.", "9", "8 a100 until fri 9:00"),
        ("8 a100 until 1 Dec", "Tue 1 Dec 18:00 has passed.", "1 Dec", "8 a100 until tomorrow 18:00"),
        ("8 a100 until 3 days", '"3 days" is a duration: write it after for.', "3 days", "8 a100 for 3 days"),
        ("8 a100 until", '"until" needs a time, like until fri 18:00.', "until", "8 a100"),
        ("8 a100 --for in vision", '"for" needs a duration, like for 3d.', "--for", "8 a100 in vision"),
        ("8 because", '"because" needs words, like because paper deadline.', "because", "8"),
        ("8 a100 for 3", "3 has no unit. Try 3d or 3h.", "3", "8 a100 for 3d"),
        ("8 a100 for ever", '"ever" is not a duration. Durations look like 3d, 12h or 1d12h.', "ever", "8 a100 for 3d"),
        (
            "8 a100 for visoin",
            '"visoin" is neither a duration nor a queue. Near: vision.',
            "visoin",
            "8 a100 in vision",
        ),
        ("8 a10", "No flavor a10. Near: a100, a40.", "a10", "8 a100"),
        ("8a10 3d", "No flavor a10. Near: a100, a40.", "8a10", "8 a100 for 3d"),
        ("b200 x8", "No flavor b200. There are: a100, h100, a40, ….", "b200", "8"),
        ("8 b200", "No flavor b200. There are: a100, h100, a40, ….", "b200", "8"),
        ("8 mig-1g.5g", "No flavor mig-1g.5g. Near: mig-1g.5gb.", "mig-1g.5g", "8 mig-1g.5gb"),
        ("8 a100 in visoin", "No queue visoin that you can see. Near: vision.", "visoin", "8 a100 in vision"),
        ("8 a100 in secret", "No queue secret that you can see.", "secret", "8 a100"),
        ("8 a100 from nlq", "No queue nlq that you can see. Near: nlp.", "nlq", "8 a100 from nlp"),
        (
            "8 a100 from fri",
            "from takes the lending queue. For a start write starting fri.",
            "fri",
            "8 a100 starting fri",
        ),
        ("8 a100 on eats", "No cluster eats. Near: east.", "eats", "8 a100 on east"),
        ("8 a100 as loan", "No kind loan. There are: borrow, transfer, extra.", "loan", "8 a100"),
        ("8 a100 as borow", "No kind borow. Near: borrow.", "borow", "8 a100 as borrow"),
        ("8 a100 vision", "vision is a queue: write in vision.", "vision", "8 a100 in vision"),
        ("8 a100 borrow", "borrow is a kind of loan: write as borrow.", "borrow", "8 a100 as borrow"),
        ("8 a100 west", "west is a cluster: write on west.", "west", "8 a100 on west"),
        ("8 a100 fri 18:00", "fri 18:00 is a time: write until fri 18:00.", "fri 18:00", "8 a100 until fri 18:00"),
        (
            "8 a100 untill fri 18:00 in nlp",
            'No "untill". Did you mean until?',
            "untill",
            "8 a100 until fri 18:00 in nlp",
        ),
        ("8 a100 becuase for x", 'No "becuase". Did you mean because?', "becuase", "8 a100 because for x"),
        ("8 a100 foo 3d", '"foo" is not understood here.', "foo", "8 a100 for 3d"),
        ("8 a100 --urgent 3d", '"--urgent" is not understood here.', "--urgent", "8 a100 for 3d"),
        ("8 a100 h100", "The flavor is said twice.", "h100", "8 a100"),
        ("8 a100 until 18:00 +1:00", '"+1:00" is not understood here.', "+1:00", "8 a100 until 18:00"),
        ("eight a100", '"eight" is not understood here.', "eight", "a100"),
        ("8 a100 4", "The amount is said twice.", "4", "8 a100"),
        ("8 a100 3d in nlp 2d", "The duration is said twice.", "2d", "8 a100 for 3d in nlp"),
        ("8 for 3d until fri", "Say for or until, not both.", "until fri", "8 for 3d"),
        ("8 starting fri until today", "The start is after the end.", "until today", "8 starting fri"),
        ("20 a100 3d", "20 is more than the 16 that policy allows per request.", "20", "16 a100 for 3d"),
        ("a100 x99 3d", "99 is more than the 16 that policy allows per request.", "x99", "16 a100 for 3d"),
        ("0.5 a100", "0.5 is not a whole number of GPUs.", "0.5", "1 a100"),
    ],
)
def test_what_is_not_understood_is_pointed_at_and_the_rest_is_kept(
    text: str, sentence: str, part: str, try_line: str
) -> None:
    found = fault(f"request {text}")
    assert (found.sentence, pointed_at(found)) == (sentence, part)
    assert found.try_line == f"/gpu-quota request {try_line}"


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize(
    ("text", "sentence", "try_line"),
    [
        ("1500m a100 3d", "1500m is not a whole number of GPUs.", "2 a100 for 3d"),
        ("4k a100 3d", "4k is 4,000 GPUs; the most per request is 16.", "16 a100 for 3d"),
        ("1e3 a100", "1e3 is 1,000 GPUs; the most per request is 16.", "16 a100"),
        ("8E a100", "8E is 8,000,000,000,000,000,000 GPUs; the most per request is 16.", "16 a100"),
        ("4Gi a100", "4Gi is 4,294,967,296 GPUs; the most per request is 16.", "16 a100"),
        ("-4 a100", "-4 is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("0 a100", "0 is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("1_000 a100", "1_000 is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("٤ a100", "٤ is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("NaN a100", "NaN is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("inf a100", "inf is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
        ("0x8 a100", "0x8 is not a number of GPUs. Whole numbers from 1, like 8.", "8 a100"),
    ],
)
def test_quo_13_amounts_in_a_line(text: str, sentence: str, try_line: str) -> None:
    found = fault(f"request {text}")
    assert (found.sentence, pointed_at(found)) == (sentence, text.split()[0])
    assert found.try_line == f"/gpu-quota request {try_line}"


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("8h100", ("8 h100", "8h")),
        ("8 a100 until 4/12 in nlp", ("8 a100 until 4 Dec in nlp", "8 a100 until 12 Apr in nlp")),
        ("8 a100 for 30m", ("8 a100 for 30min", "8 a100 for 120w")),
        ("8 a10", ("8 a100", "8 a40")),
        ("8 a100 until 18", ("8 a100 until 18:00", "8 a100 until 18 Dec")),
    ],
)
def test_two_readings_are_two_choices(text: str, choices: tuple[str, ...]) -> None:
    assert fault(f"request {text}").choices == tuple(f"/gpu-quota request {choice}" for choice in choices)


def test_only_the_first_of_several_faults_is_told() -> None:
    found = fault("request 0.5 a10 in visoin for 1m because reasons")
    assert found.sentence == "0.5 is not a whole number of GPUs."
    assert found.try_line == "/gpu-quota request 1 because reasons"


def test_the_notes_say_how_times_were_read() -> None:
    words = said("request 8 a100 until 28 mar 2027 02:30 starting fri")
    assert words["notes"] == (
        "02:30 does not exist on Sun 28 Mar 2027 in Europe/Zurich (02:00 becomes 03:00). Read as 03:00 +02:00.",
        "A day without a time means 18:00, the end of the working day.",
    )


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("request 8 for 3d", datetime(2027, 3, 26, 13, tzinfo=UTC)),
        ("request 8 3 days", datetime(2027, 3, 26, 13, tzinfo=UTC)),
        ("request 8 for 3d starting 26 mar 2027 14:00", NOW),
    ],
)
def test_days_across_a_clock_change_are_said(text: str, now: datetime) -> None:
    note = "3 days are 72 hours: ends Mon 29 Mar 15:00, not 14:00."
    assert said(text, replace(CONTEXT, now=now))["notes"] == (note,)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("&lt;!channel&gt; now", "<!channel> now"),
        ("&amp;lt;b&amp;gt; &amp;amp;", "&lt;b&gt; &amp;"),
        ("<@U012ABC|ann> and <#C012|gpu-pool>", "@ann and #gpu-pool"),
        ("<@U012ABC>", "<@U012ABC>"),
        ("see <https://example.org/a?b=1&amp;c=2>", "see https://example.org/a?b=1&c=2"),
        ("<mailto:a@example.org|a@example.org>", "a@example.org"),
        ("<https://example.org/?a=1&amp;b=2|R&amp;D>", "R&D"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("<!subteam^S012|@leads> and <!here>", "@leads and <!here>"),
        ("5 &lt;@U1|x&gt;", "5 <@U1|x>"),
        ("“quoted”  twice,  with *marks* — and `code`", "“quoted”  twice,  with *marks* — and `code`"),
        ("line one\nline two", "line one\nline two"),
        ("don’t “stop”", "don’t “stop”"),
        ("‘don’t stop’", "don’t stop"),
    ],
)
def test_reasons_come_out_as_they_were_typed(wire: str, reason: str) -> None:
    assert said(f"request 8 because {wire}") == {"amount": 8, "reason": reason}


@pytest.mark.case("SEC-08")
def test_sec_08_a_reason_of_20_kb_is_kept_whole_and_repeated_cut() -> None:
    reason = "x" * 20_480
    assert said(f"request 8 because {reason}")["reason"] == reason
    found = fault(f"request 8 a100 in visoin because {reason}")
    assert found.try_line.endswith("x… (cut, 20,480 characters)")
    assert len(found.try_line) < 400
    assert len(found.window) <= 40


@pytest.mark.case("SEC-08")
@pytest.mark.parametrize(
    "noise", ["x " * 10_000, '"a ' * 7_000, "vison " * 3_400, "8 " * 10_000, "x" * 20_480, "--for=" * 3_000]
)
def test_sec_08_20_kb_of_anything_is_answered_with_one_short_fault(noise: str) -> None:
    found = fault(f"request 8 a100 {noise}")
    assert len(found.sentence) <= 150
    assert len(found.window) <= 40
    assert found.try_line.startswith("/gpu-quota request 8")
