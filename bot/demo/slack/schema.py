"""Small checks that put Block Kit's rules into tables: `limit_elements` and `limit_blocks` are written with them.

A check takes a value and its JSON pointer and adds a sentence per violated rule, in the words Slack's API uses, e.g.
`must be less than 76 characters [json-pointer:/blocks/0/elements/1/text/text]`.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Problems: TypeAlias = list[str]
Check: TypeAlias = Callable[[Any, str, Problems], None]
Fields: TypeAlias = Mapping[str, Check]


def complain(problems: Problems, sentence: str, pointer: str) -> None:
    problems.append(f"{sentence} [json-pointer:{pointer}]")


def string(longest: int | None = None, shortest: int = 0) -> Check:
    """A string of `shortest` to `longest` characters."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, str):
            complain(problems, "must provide a string", pointer)
        elif len(value) < shortest:
            complain(problems, f"must be more than {shortest - 1} characters", pointer)
        elif longest is not None and len(value) > longest:
            complain(problems, f"must be less than {longest + 1} characters", pointer)

    return check


def integer(least: int | None = None, most: int | None = None) -> Check:
    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            complain(problems, "must provide an integer", pointer)
        elif least is not None and value < least:
            complain(problems, f"must be greater than or equal to {least}", pointer)
        elif most is not None and value > most:
            complain(problems, f"must be less than or equal to {most}", pointer)

    return check


def number(value: Any, pointer: str, problems: Problems) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        complain(problems, "must provide a number", pointer)


def boolean(value: Any, pointer: str, problems: Problems) -> None:
    if not isinstance(value, bool):
        complain(problems, "must provide a boolean", pointer)


def anything(value: Any, pointer: str, problems: Problems) -> None:
    """A field that is passed on unread."""


def enum(*allowed: str) -> Check:
    def check(value: Any, pointer: str, problems: Problems) -> None:
        if value not in allowed:
            complain(problems, f"must be a valid enum value: {', '.join(allowed)}", pointer)

    return check


def array(item: Check, most: int | None = None, least: int = 1) -> Check:
    """A list of `least` to `most` items, each of which passes `item`."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, list | tuple):
            complain(problems, "must provide an array", pointer)
            return
        if len(value) < least:
            complain(problems, f"no less than {least} items allowed", pointer)
        if most is not None and len(value) > most:
            complain(problems, f"no more than {most} items allowed", pointer)
        for index, each in enumerate(value):
            item(each, f"{pointer}/{index}", problems)

    return check


def struct(required: Fields, optional: Fields | None = None, also: Check | None = None) -> Check:
    """An object with exactly these fields; `also` checks what concerns several of them, once each is right."""
    known = {**required, **(optional or {})}

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            complain(problems, "must provide an object", pointer)
            return
        before = len(problems)
        for name in required:
            if name not in value:
                complain(problems, f"missing required field: {name}", pointer)
        for name, inner in value.items():
            if name not in known:
                complain(problems, f"invalid additional property: {name}", pointer)
            else:
                known[name](inner, f"{pointer}/{name}", problems)
        if also is not None and len(problems) == before:
            also(value, pointer, problems)

    return check


def tagged(kinds: Mapping[str, Check], allowed: frozenset[str] | None = None) -> Check:
    """An object whose `type` says which of `kinds` it is; `allowed` narrows them to those that may stand here."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            complain(problems, "missing required field: type", pointer)
            return
        kind = value["type"]
        if kind not in kinds or (allowed is not None and kind not in allowed):
            complain(problems, f"unsupported type: {kind}", f"{pointer}/type")
            return
        kinds[kind](value, pointer, problems)

    return check


def exactly_one(*names: str) -> Check:
    """For `also`: one of these fields, and only one."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if sum(name in value for name in names) != 1:
            complain(problems, f"must define exactly one of: {', '.join(names)}", pointer)

    return check


def at_least_one(*names: str) -> Check:
    """For `also`: one of these fields, or more."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if all(name not in value for name in names):
            complain(problems, f"must define either `{'` or `'.join(names)}`", pointer)

    return check
