"""What is written on the queues can be read back, and nothing else counts."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.convergence.annotation import (
    FENCE,
    LOANS,
    Annotation,
    Fence,
    NotedField,
    NotedLeg,
    Standing,
    decode,
    encode,
    next_fence,
    read,
    read_fence,
)
from bot.core.convergence.facts import FieldName
from bot.core.kueue import FlavorResource
from bot.core.loans import LoanKind
from tests.support.convergence.play import Play
from tests.support.convergence.world import queue_of

START = datetime(2026, 12, 2, 14, 20, tzinfo=UTC)
QUANTITIES = st.none() | st.integers(0, 10**6)
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?", fullmatch=True)
LEGS = st.builds(
    NotedLeg,
    st.integers(-1000, 1000),
    st.sampled_from(LoanKind),
    st.none() | NAMES,
    st.integers(1, 1000),
    st.just(START),
    st.integers(1, 10**6).map(lambda s: START + timedelta(seconds=s)),
)
FIELDS = st.builds(
    NotedField,
    st.integers(1, 1000),
    QUANTITIES,
    QUANTITIES,
    QUANTITIES,
    st.dictionaries(st.integers(1, 999).map("L{}".format), LEGS, max_size=3),
    st.booleans(),
)
KEYS = st.tuples(st.builds(FlavorResource, NAMES, NAMES.map("{}/gpu".format)), st.sampled_from(FieldName))
ANNOTATIONS = st.builds(
    Annotation, NAMES, NAMES, st.integers(1, 1000), st.dictionaries(KEYS, FIELDS, min_size=1, max_size=3)
)


@given(ANNOTATIONS)
def test_what_is_written_is_read_back(annotation: Annotation) -> None:
    assert decode(encode(annotation)) == annotation


def test_the_form_is_the_documented_one(lent: Play) -> None:
    assert json.loads(lent.world.objects["a"].annotations[LOANS]) == {
        "v": 1,
        "by": "bot-1",
        "uid": "a.1",
        "seq": 1,
        "f": {
            "h100|nvidia.com/gpu|nominal": {
                "base": "8",
                "wrote": "6",
                "lend": None,
                "legs": {
                    "L17": {
                        "d": -2,
                        "k": "transfer",
                        "o": "b",
                        "n": 2,
                        "s": "2026-12-01T08:00:00Z",
                        "e": "2026-12-31T08:00:00Z",
                    }
                },
            }
        },
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{not json",
        "[]",
        "null",
        '"x"',
        "{}",
        '{"v":2,"by":"bot-1","uid":"a.1","seq":1,"f":{}}',
        '{"v":1,"by":"bot-1","uid":"a.1","seq":"1","f":{}}',
        '{"v":1,"by":"bot-1","uid":"a.1","seq":1,"f":{"h100|nominal":{}}}',
        '{"v":1,"by":"bot-1","uid":"a.1","seq":1,"f":{"h|g|nominal":{"base":8,"wrote":"6","lend":null,"legs":{}}}}',
        '{"v":1,"by":"bot-1","uid":"a.1","seq":1,"f":{"h|g|nominal":{"base":"8","wrote":"6","lend":null,"legs":{"17":{}}}}}',
        "[" * 100_000,
    ],
)
def test_what_does_not_parse_is_unreadable(text: str) -> None:
    queue = replace(queue_of("a", 8), annotations={LOANS: text})
    assert read(queue, "bot-1") == (Standing.UNREADABLE, None)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"L17"', '"L"'),
        ('"L17"', '"L٣"'),
        ('"L17"', '"L' + "9" * 5000 + '"'),
        ('"L17"', '"L9999999999999999999"'),
        ('"n":2', '"n":0'),
        ('"n":2', '"n":1000000000000000'),
        ('"d":-2', '"d":-1000000000000000'),
        ('"seq":1', '"seq":1000000000000000'),
        ('"seq":1', '"seq":' + "9" * 5000),
        ('"base":"8"', '"base":"1000000000000000"'),
        ('"base":"8"', '"base":"٣"'),
        ('"base":"8"', '"base":"' + "9" * 5000 + '"'),
        ('"o":"b"', '"o":"\\ud800"'),
        ('"o":"b"', '"o":"\\u0000"'),
        ('"n":2', '"n":true'),
        ('"base":"8"', '"base":"-8"'),
        ('"2026-12-01T08:00:00Z"', '"2026-12-01T08:00:00"'),
        ('"2026-12-01T08:00:00Z"', '"0001-01-01T00:00:00+14:00"'),
        ('"transfer"', '"gift"'),
    ],
)
def test_one_tampered_value_makes_all_of_it_unreadable(lent: Play, good: str, bad: str) -> None:
    queue = lent.world.objects["a"]
    text = queue.annotations[LOANS]
    assert good in text
    tampered = replace(queue, annotations={LOANS: text.replace(good, bad)})
    assert read(queue, "bot-1")[0] is Standing.OURS
    assert read(tampered, "bot-1") == (Standing.UNREADABLE, None)


@pytest.mark.parametrize(
    ("install", "uid", "standing"),
    [
        ("bot-1", "a.1", Standing.OURS),
        ("bot-2", "a.1", Standing.OTHER_INSTALL),
        ("bot-1", "a.0", Standing.OTHER_UID),
    ],
)
def test_whose_annotation_it_is(install: str, uid: str, standing: Standing) -> None:
    text = encode(Annotation(install, uid, 1, {}))
    assert read(replace(queue_of("a", 8), annotations={LOANS: text}), "bot-1")[0] is standing


def test_what_cannot_be_read_and_names_another_installation_is_left_to_it() -> None:
    """A newer version's annotation: nothing is written to a queue that another bot keeps its books on."""
    text = '{"v":2,"by":"bot-2","uid":"a.1","everything":"else is new"}'
    assert read(replace(queue_of("a", 8), annotations={LOANS: text}), "bot-1") == (Standing.OTHER_INSTALL, None)


@pytest.mark.parametrize(
    ("text", "fence", "following"),
    [
        (None, Fence(0, 0), Fence(7, 1)),
        ("7.3", Fence(7, 3), Fence(7, 4)),
        ("6.9", Fence(6, 9), Fence(7, 10)),
        ("9.1", Fence(9, 1), Fence(9, 2)),
        ("nonsense", Fence(0, 0), Fence(7, 1)),
        ("-1.2", Fence(0, 0), Fence(7, 1)),
        ("99999999999999999999.1", Fence(0, 0), Fence(7, 1)),
        ("1." + "9" * 16, Fence(0, 0), Fence(7, 1)),
        ("9" * 5000 + ".1", Fence(0, 0), Fence(7, 1)),
        ("٣.1", Fence(0, 0), Fence(7, 1)),
    ],
)
def test_a_fence_is_never_the_one_that_is_there(text: str | None, fence: Fence, following: Fence) -> None:
    queue = replace(queue_of("a", 8), annotations={} if text is None else {FENCE: text})
    assert read_fence(queue) == fence
    assert next_fence(queue, 7) == following
