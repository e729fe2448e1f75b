"""Records and intents of convergence in the database."""

from dataclasses import replace

import pytest

from bot.core.convergence.facts import FieldName, Question
from bot.core.errors import Stale


def test_a_record_is_inserted_then_compared_and_set(store, make) -> None:
    with store.begin() as work:
        first = work.fields.put(make.record())
        second = work.fields.put(replace(first, wrote=11, seq=4))
        work.commit()
    assert first == make.record(version=first.version)
    assert 0 < first.version < second.version
    with store.begin() as work, pytest.raises(Stale):
        work.fields.put(replace(first, wrote=12))
    with store.read() as work:
        assert work.fields.records("default") == {second.key: second}


def test_a_second_insert_of_a_field_is_stale(store, make) -> None:
    with store.begin() as work:
        work.fields.put(make.record())
        with pytest.raises(Stale):
            work.fields.put(make.record(base=9))
        work.commit()


def test_the_two_numbers_of_a_queue_are_two_records(store, make) -> None:
    limit = make.key()._replace(name=FieldName.BORROWING_LIMIT)
    with store.begin() as work:
        work.fields.put(make.record())
        work.fields.put(make.record(key=limit, base=None, wrote=None, legs={}))
        work.fields.put(make.record(key=make.key(cluster="west")))
        work.commit()
    with store.read() as work:
        assert set(work.fields.records("default")) == {make.key(), limit}
        assert set(work.fields.records("west")) == {make.key(cluster="west")}
        assert work.fields.records("east") == {}


def test_a_question_comes_and_goes_with_its_record(store, make) -> None:
    asked = make.record(question=Question("u-1", None, make.now, None), gone=True, uid=None)
    with store.begin() as work:
        first = work.fields.put(asked)
        assert first.question == asked.question
        answered = work.fields.put(replace(first, question=None))
        assert answered.question is None
        work.commit()


def test_of_two_writers_of_a_record_one_wins(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        read = work.fields.put(make.record())
        work.commit()

    def write(number):
        def run():
            with shared_store.begin() as work:
                put = work.fields.put(replace(read, wrote=number))
                work.commit()
                return put

        return run

    results = together(*(write(number) for number in range(4)))
    [winner] = [result for result in results if not isinstance(result, Stale)]
    with shared_store.read() as work:
        assert work.fields.records("default")[read.key] == winner


def test_open_intents_are_the_oldest_first_and_of_one_cluster(store, make) -> None:
    with store.begin() as work:
        work.fields.add_intent(make.intent("i-2", created_at=make.later(minutes=1)))
        work.fields.add_intent(make.intent("i-1"))
        work.fields.add_intent(make.intent("i-3", cluster="west"))
        work.commit()
    with store.read() as work:
        opened = work.fields.open_intents("default")
    assert opened == [make.intent("i-1"), make.intent("i-2", created_at=make.later(minutes=1))]


def test_an_intent_is_there_once(store, make) -> None:
    with store.begin() as work:
        work.fields.add_intent(make.intent())
        with pytest.raises(Stale):
            work.fields.add_intent(make.intent(generation=5))


def test_closing_an_intent_twice_keeps_the_first_outcome(shared_store, engine, make) -> None:
    with shared_store.begin() as work:
        work.fields.add_intent(make.intent("i-1"))
        work.fields.add_intent(make.intent("i-2"))
        work.fields.close_intent("i-1", "applied", make.now)
        work.fields.close_intent("i-1", "conflict", make.later(hours=1))
        work.fields.close_intent("i-9", "applied", make.now)
        assert [intent.id for intent in work.fields.open_intents("default")] == ["i-2"]
        work.commit()
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT id, outcome FROM intent ORDER BY id").all()
    assert [tuple(row) for row in rows] == [("i-1", "applied"), ("i-2", None)]
