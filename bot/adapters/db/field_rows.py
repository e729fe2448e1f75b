"""Row <-> core value for the records and intents of convergence, as rows.py for the others. Used by fields.py."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import RowMapping

from bot.adapters.db.rows import Columns
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField, Intent, Question


def of_field_key(key: FieldKey) -> Columns:
    return {**key._asdict(), "name": key.name.value}


def to_field_key(columns: Mapping[str, Any] | RowMapping) -> FieldKey:
    return FieldKey(
        columns["cluster"], columns["queue"], columns["flavor"], columns["resource"], FieldName(columns["name"])
    )


def of_record(record: FieldRecord) -> Columns:
    question = record.question
    return {
        **of_field_key(record.key),
        "uid": record.uid,
        "seq": record.seq,
        "base": record.base,
        "legs": dict(record.legs),
        "wrote": record.wrote,
        "question_uid": question and question.uid,
        "question_live": question and question.live,
        "question_since": question and question.since,
        "question_manager": question and question.manager,
        "lending_base": record.lending_base,
        "lending_wrote": record.lending_wrote,
        "gone": record.gone,
    }


def to_record(row: RowMapping) -> FieldRecord:
    question = None
    if row["question_since"] is not None:
        question = Question(row["question_uid"], row["question_live"], row["question_since"], row["question_manager"])
    return FieldRecord(
        key=to_field_key(row),
        uid=row["uid"],
        seq=row["seq"],
        base=row["base"],
        legs=row["legs"],
        wrote=row["wrote"],
        question=question,
        lending_base=row["lending_base"],
        lending_wrote=row["lending_wrote"],
        gone=row["gone"],
        version=row["version"],
    )


def of_intent(intent: Intent) -> Columns:
    return {
        "id": intent.id,
        "cluster": intent.cluster,
        "queue": intent.queue,
        "uid": intent.uid,
        "resource_version": intent.resource_version,
        "generation": intent.generation,
        "epoch": intent.epoch,
        "fields": [of_intended(field) for field in intent.fields],
        "created_at": intent.created_at,
    }


def to_intent(row: RowMapping) -> Intent:
    return Intent(
        id=row["id"],
        cluster=row["cluster"],
        queue=row["queue"],
        uid=row["uid"],
        resource_version=row["resource_version"],
        generation=row["generation"],
        epoch=row["epoch"],
        fields=tuple(to_intended(field) for field in row["fields"]),
        created_at=row["created_at"],
    )


def of_intended(field: IntendedField) -> Columns:
    return {
        **of_field_key(field.key),
        "seq": field.seq,
        "base": field.base,
        "legs": dict(field.legs),
        "wrote": field.wrote,
        "lending_base": field.lending_base,
        "lending_wrote": field.lending_wrote,
    }


def to_intended(columns: Mapping[str, Any]) -> IntendedField:
    return IntendedField(
        key=to_field_key(columns),
        seq=columns["seq"],
        base=columns["base"],
        legs=columns["legs"],
        wrote=columns["wrote"],
        lending_base=columns["lending_base"],
        lending_wrote=columns["lending_wrote"],
    )
