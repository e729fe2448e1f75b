"""What is wrong with a policy: pydantic's errors in our words, with the allowed values. Used by policy.read_policy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

Where: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the top of the document."""

_WANTED = {
    "dict_type": "a mapping (key: value)",
    "mapping_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
    "tuple_type": "a list",
    "int_type": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where."""

    file: str
    where: Where
    message: str
    allowed: tuple[str, ...] = ()
    """What could stand there; empty if that is not a list of names."""


def near(word: str, names: tuple[str, ...]) -> str:
    """`; did you mean X?` or nothing."""
    found = get_close_matches(word, names, n=1)
    return f"; did you mean {found[0]}?" if found else ""


def unknown(what: str, word: str, names: tuple[str, ...]) -> str:
    """The sentence for a name that is not there."""
    return f'no {what} "{word}"{near(word, names)}'


def from_pydantic(file: str, model: type[BaseModel], error: ValidationError) -> tuple[Finding, ...]:
    """Each of pydantic's errors as a finding."""
    return tuple(_finding(file, model, dict(one)) for one in error.errors(include_url=False))


def _finding(file: str, model: type[BaseModel], error: Mapping[str, Any]) -> Finding:
    where: Where = error["loc"]
    kind, context, value = error["type"], error.get("ctx", {}), error["input"]
    if kind == "extra_forbidden":
        allowed = _keys(_model_at(model, where[:-1]))
        return Finding(file, where, f'unknown key "{where[-1]}"{near(str(where[-1]), allowed)}', allowed)
    if kind == "missing":
        return Finding(file, where[:-1], f'"{where[-1]}" is missing')
    if kind == "literal_error":
        allowed = tuple(part.strip("'") for part in context["expected"].replace(" or ", ", ").split(", "))
        return Finding(file, where, f"{_shown(value)} is not allowed here{near(str(value), allowed)}", allowed)
    if kind in _WANTED:
        return Finding(file, where, f"{_shown(value)} is not {_WANTED[kind]}")
    if kind == "value_error":
        return Finding(file, where, str(context["error"]))
    return Finding(file, where, f"{_shown(value)}: {_lower(error['msg'])}")


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text[:60]}{"…" if len(text) > 60 else ""}"'


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _model_at(model: type[BaseModel], where: Where) -> type[BaseModel]:
    """The model that stands at a place of the document."""
    current: Any = model
    for part in where:
        current = next((inner for option in _options(current) for inner in _step(option, part)), current)
    return next((option for option in _options(current) if _is_model(option)), model)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _options(annotation: Any) -> Iterator[Any]:
    """The types that a value of this annotation may have, without their validators."""
    if get_origin(annotation) is Annotated:
        yield from _options(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for option in get_args(annotation):
            yield from _options(option)
    else:
        yield annotation


def _step(annotation: Any, part: str | int) -> Iterator[Any]:
    """What is one key or index further in."""
    if _is_model(annotation):
        fields = annotation.model_fields.items()
        yield from (field.annotation for name, field in fields if (field.alias or name) == part)
    elif get_origin(annotation) in (Mapping, dict):
        yield get_args(annotation)[1]
    elif get_origin(annotation) is tuple:
        yield get_args(annotation)[0]
