"""Every core value comes back from the database as it went in, whatever people write into it.

The one change: a NUL or a lone surrogate in plain text comes back as U+FFFD (PostgreSQL can store neither). Inside JSON
they survive.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField, Intent, Question
from bot.core.evictions import Eviction, EvictionState, Work, WorkState
from bot.core.inbox import Arrival, InboxItem
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan, LoanEnd, LoanKind, LoanState
from bot.core.messages import MessageRef
from bot.core.notices import Notice, NoticeDraft, NoticeState, Priority
from bot.core.offers import Offer, Terms
from bot.core.requests import Approval, ApprovalStep, Ask, AuditEntry, QuotaRequest, RequestState
from bot.core.series import Every, Series, Span

numbers = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(0, 2**63 - 2)
hostile = st.sampled_from(
    ["", "\x00", "\ud800", "a\x00\udfffb", "😀👩‍👩‍👧", "'; DROP TABLE loan; --", "%s %(x)s :y ?", "é\u0301\u202e"]
)
# Every character, surrogates too: Hypothesis leaves those out unless asked.
text = hostile | st.text(st.characters(), max_size=30)
keys = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=30)
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=12))])
instants = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)
durations = st.timedeltas(timedelta(days=-(10**8)), timedelta(days=10**8))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(text, json_values, max_size=5)
legs = st.dictionaries(text, numbers, max_size=4)

series = st.builds(
    Series,
    every=st.sampled_from(Every),
    words=text,
    zone=text,
    spans=st.lists(st.builds(Span, instants, instants), min_size=1, max_size=3).map(tuple),
)
asks = st.builds(
    Ask,
    cluster=text,
    team=text,
    queue=text,
    flavor=text,
    resource=text,
    amount=numbers,
    kind=st.sampled_from(LoanKind),
    lender=st.none() | text,
    start=st.none() | instants,
    duration=st.none() | durations,
    until=st.none() | instants,
    reason=text,
    requester=text,
    series=st.none() | series,
)
requests = st.builds(
    QuotaRequest,
    id=st.just(0),
    ask=asks,
    state=st.sampled_from(RequestState),
    created_at=instants,
    lapses_at=instants,
    origin=keys,
    revision=counts,
    rule=st.none() | text,
    steps=st.lists(st.builds(ApprovalStep, text, counts), max_size=3).map(tuple),
    picture=st.none() | text,
    decided_by=st.none() | text,
    decided_at=st.none() | instants,
    words=st.none() | text,
    extends=st.none() | numbers,
    series=st.none() | numbers,
    terms=counts,
    judged_at=st.none() | instants,
)
terms = st.builds(
    Terms,
    amount=numbers,
    kind=st.sampled_from(LoanKind),
    lender=st.none() | text,
    start=st.none() | instants,
    duration=st.none() | durations,
    until=st.none() | instants,
)
offers = st.builds(
    Offer,
    id=st.just(0),
    request=st.just(0),
    terms=terms,
    instead=terms,
    who=text,
    at=instants,
    words=text,
    picture=st.none() | text,
    notes=st.lists(text, max_size=3).map(tuple),
    settled_by=st.none() | text,
    settled_at=st.none() | instants,
)
loans = st.builds(
    Loan,
    id=st.just(0),
    cluster=text,
    kind=st.sampled_from(LoanKind),
    lender=st.none() | text,
    borrower=text,
    flavor=text,
    resource=text,
    amount=numbers,
    start=instants,
    end=instants,
    state=st.sampled_from(LoanState),
    suspended=st.none() | text,
    end_reason=st.none() | st.sampled_from(LoanEnd),
    ended_at=st.none() | instants,
    in_force_at=st.none() | instants,
)
works = st.builds(
    Work,
    namespace=text,
    name=text,
    uid=text,
    known_as=text,
    amount=numbers,
    state=st.sampled_from(WorkState),
    mark=text,
    resource_version=text,
    generation=numbers,
)
evictions = st.builds(
    Eviction,
    loan=counts,
    cluster=keys,
    queue=keys,
    entry=st.builds(FlavorResource, keys, keys),
    most=numbers,
    grace=durations,
    ended_at=instants,
    state=st.sampled_from(EvictionState),
    due=st.none() | instants,
    works=st.lists(works, max_size=3).map(tuple),
    extensions=st.lists(text, max_size=3).map(tuple),
    held=text,
)
field_keys = st.builds(FieldKey, keys, keys, keys, keys, st.sampled_from(FieldName))
records = st.builds(
    FieldRecord,
    key=field_keys,
    uid=st.none() | text,
    seq=counts,
    base=st.none() | numbers,
    legs=legs,
    wrote=st.none() | numbers,
    question=st.none() | st.builds(Question, text, st.none() | numbers, instants, st.none() | text),
    lending_base=st.none() | numbers,
    lending_wrote=st.none() | numbers,
    gone=st.booleans(),
    version=st.just(0),
)
intended = st.builds(
    IntendedField,
    key=st.builds(FieldKey, text, text, text, text, st.sampled_from(FieldName)),
    seq=counts,
    base=st.none() | numbers,
    legs=legs,
    wrote=st.none() | numbers,
    lending_base=st.none() | numbers,
    lending_wrote=st.none() | numbers,
)
intents = st.builds(
    Intent,
    id=keys,
    cluster=keys,
    queue=text,
    uid=text,
    resource_version=text,
    generation=counts,
    epoch=counts,
    fields=st.lists(intended, max_size=3).map(tuple),
    created_at=instants,
)
items = st.builds(
    InboxItem,
    key=keys,
    arrival=st.sampled_from(Arrival),
    name=text,
    payload=objects,
    received_at=instants,
    attempts=st.just(0),
)
drafts = st.builds(
    NoticeDraft,
    key=keys,
    kind=text,
    to=text,
    facts=objects,
    priority=st.sampled_from(Priority),
    thread_of=st.none() | text,
)
approvals = st.builds(Approval, request=st.just(1), step=counts, who=text, at=instants, self_approved=st.booleans())
entries = st.builds(AuditEntry, at=instants, who=text, what=text, subject=text, outcome=text)

fast = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def stored(value: object) -> object:
    """`value` as the database is to give it back: the same, but for what no database column of text can hold."""
    match value:
        case str() if type(value) is str:
            return re.sub("[\x00\ud800-\udfff]", "\ufffd", value)
        case Ask():
            return replace(value, **{name: stored(getattr(value, name)) for name in Ask.__slots__})
        case Question():
            return Question(stored(value.uid), value.live, value.since, stored(value.manager))
        case _:
            return value


def plain(value: object, *untouched: str) -> object:
    """A core value with `stored` applied to its own fields; `untouched` ones travel as JSON."""
    names = [name for name in type(value).__slots__ if name not in untouched]
    return replace(value, **{name: stored(getattr(value, name)) for name in names})


@fast
@given(requests)
def test_requests(store, draft) -> None:
    with store.begin() as work:
        added = work.requests.add(draft)
        assert added == replace(plain(draft, "steps"), id=added.id, version=added.version)
        assert work.requests.get(added.id) == work.requests.by_origin(draft.origin) == added
        assert work.requests.update(added) == replace(added, version=added.version + 1)


@fast
@given(loans)
def test_loans(store, loan) -> None:
    with store.begin() as work:
        added = work.loans.add(loan)
        assert added == replace(plain(loan), version=added.version)
        assert work.loans.get(loan.id) == added


@fast
@given(evictions)
def test_evictions(store, eviction) -> None:
    with store.begin() as work:
        assert work.evictions.add(eviction)
        assert not work.evictions.add(eviction)
        stored = work.evictions.get(eviction.loan)
        assert stored == replace(plain(eviction, "works", "extensions", "entry"), version=1)
        assert work.evictions.update(stored) == replace(stored, version=2)
        is_open = stored.state is not EvictionState.CLOSED
        assert [one.loan for one in work.evictions.open()] == ([eviction.loan] if is_open else [])


@fast
@given(records)
def test_field_records(store, record) -> None:
    with store.begin() as work:
        put = work.fields.put(record)
        assert put == replace(plain(record, "key", "legs"), version=put.version)
        assert work.fields.records(record.key.cluster) == {record.key: put}


@fast
@given(intents)
def test_intents(store, intent) -> None:
    with store.begin() as work:
        work.fields.add_intent(intent)
        assert work.fields.open_intents(intent.cluster) == [plain(intent, "fields")]


@fast
@given(items)
def test_inbox_items(store, item) -> None:
    with store.begin() as work:
        work.inbox.put([item])
        [taken] = work.inbox.take("w", 1, timedelta(minutes=1))
        assert taken == replace(plain(item, "payload"), attempts=1)


@fast
@given(drafts, instants, st.none() | instants)
def test_notices(store, draft, at, not_before) -> None:
    with store.begin() as work:
        work.notices.owe(draft, at, not_before)
        notice = work.notices.get(draft.key)
        assert notice == Notice(
            id=notice.id, draft=plain(draft, "facts"), created_at=at, not_before=not_before, wanted=1
        )


@fast
@given(instants, text, text, counts, st.booleans(), st.none() | text)
def test_deliveries(store, at, channel, ts, attempts, doubtful, failure) -> None:
    with store.begin() as work:
        epoch = work.leadership.acquire("me", timedelta(seconds=15))
        work.notices.owe(NoticeDraft("k", "kind", "C1"), at)
        claimed = work.notices.claim(work.notices.get("k"), epoch, at)
        recorded = replace(
            claimed,
            state=NoticeState.SETTLED,
            shown=1,
            ref=MessageRef(channel, ts),
            attempts=attempts,
            doubtful=doubtful,
            failure=failure,
        )
        work.notices.record(recorded)
        ref = MessageRef(str(stored(channel)), str(stored(ts)))
        assert work.notices.get("k") == replace(plain(recorded, "draft"), ref=ref)


@fast
@given(approvals, entries)
def test_approvals_and_audit(store, approval, entry) -> None:
    with store.begin() as work:
        request = work.requests.add(_request())
        approval = replace(approval, request=request.id)
        work.requests.approve(approval)
        assert work.requests.approvals(request.id) == [plain(approval)]
        work.audit.add(entry)
        assert work.audit.of(entry.subject) == [plain(entry)]


@fast
@given(offers)
def test_offers(store, offer) -> None:
    """What is inside of their JSON survives as it is; what is plain text as all plain text."""
    with store.begin() as work:
        offer = replace(offer, request=work.requests.add(_request()).id)
        added = work.offers.add(offer)
        words = {name: stored(getattr(offer, name)) for name in ("who", "words", "picture", "settled_by")}
        assert added == replace(offer, id=added.id, version=added.version, **words)
        assert work.offers.get(added.id) == added


_origins = count()


def _request() -> QuotaRequest:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    ask = Ask("c", "t", "q", "f", "r", 1, LoanKind.EXTRA, None, None, timedelta(1), None, "", "U1")
    return QuotaRequest(0, ask, RequestState.WAITING, at, at, f"origin-{next(_origins)}")


@pytest.mark.parametrize("size", [20_000, 2_000_000])
def test_long_text(store, make, size) -> None:
    """A reason is clipped elsewhere; here nothing is."""
    reason = "😀é" * (size // 2)
    with store.begin() as work:
        draft = make.request()
        added = work.requests.add(replace(draft, ask=replace(draft.ask, reason=reason), picture=reason))
        assert (added.ask.reason, added.picture) == (reason, reason)


def test_a_time_without_a_zone_is_refused(store, make) -> None:
    naive = datetime(2026, 1, 1)
    with pytest.raises(Exception, match="without a zone"), store.begin() as work:
        work.requests.add(make.request(created_at=naive))


def test_json_is_stored_in_one_form(shared_store, engine, make) -> None:
    """Equal values are equal bytes, so that two databases can be compared."""
    with shared_store.begin() as work:
        work.inbox.put([make.item("k1", payload={"b": [1, None], "a": {"y": "é\x00", "x": 1.5}})])
        work.commit()
    with engine.connect() as connection:
        [payload] = connection.exec_driver_sql("SELECT payload FROM inbox").scalars()
    assert payload == '{"a":{"x":1.5,"y":"\\u00e9\\u0000"},"b":[1,null]}'
