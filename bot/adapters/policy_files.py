"""policies/*.yaml on disk: read strictly, and read again when they change. Used by app and the policy commands.

A directory is taken as a whole: the files are read until two readings agree, so that a change of one, or the
swap of a mounted ConfigMap's symlink, is never seen by halves.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.policy_yaml import MOST_BYTES, BadYaml, Document, parse
from bot.core.policy import FILES, MAY_BE_LEFT_OUT, Finding, Policy, read_policy

_READINGS = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a policy file. `line` counts from 1; None: the whole file."""

    file: str
    line: int | None
    message: str
    allowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        allowed = f" (allowed: {', '.join(self.allowed)})" if self.allowed else ""
        return f"{place}: {self.message}{allowed}"


class PolicyError(Exception):
    """The policy cannot be used; everything that is wrong with it, in the order of files and lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Changed:
    """The files changed and are right: `policy` is in use now."""

    policy: Policy


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The files are as they were when last looked at, right or wrong."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The files changed and are wrong: the policy before them stays in use."""

    problems: tuple[Problem, ...]


def load_policy(directory: Path) -> Policy:
    """The policy of a directory. Raises PolicyError."""
    return _policy(_contents(directory))


class PolicyFiles:
    """A directory of policy files and the last good policy read from it."""

    def __init__(self, directory: Path) -> None:
        """Raises PolicyError: at start there is no good one to fall back on."""
        self._directory = directory
        contents = _contents(directory)
        self._policy = _policy(contents)
        self._seen = _digest(contents)

    @property
    def policy(self) -> Policy:
        """The last good one."""
        return self._policy

    def reload_if_changed(self) -> Changed | Unchanged | Broken:
        """Look at the files again. What is wrong is reported once per change; a way back to the policy in use is a
        change too (it ends a report), though its version is the same."""
        contents = _contents(self._directory)
        digest = _digest(contents)
        if digest == self._seen:
            return Unchanged()
        self._seen = digest
        try:
            self._policy = _policy(contents)
        except PolicyError as error:
            return Broken(error.problems)
        return Changed(self._policy)


_Contents = Mapping[str, bytes | str]
"""Each file's bytes, or in words why it cannot be read."""


def _contents(directory: Path) -> _Contents:
    """What stands in the files at one moment."""
    contents = _read_all(directory)
    for _ in range(_READINGS):
        again = _read_all(directory)
        if again == contents:
            break
        contents = again
    return contents


def _read_all(directory: Path) -> _Contents:
    read = {name: _read(directory / name) for name in FILES}
    return {name: content for name, content in read.items() if content is not None}


def _read(path: Path) -> bytes | str | None:
    """None: there is no such file, and it may be left out."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and path.name in MAY_BE_LEFT_OUT:
            return None
        return f"cannot be read: {error.strerror or error}"


def _digest(contents: _Contents) -> str:
    digest = hashlib.sha256()
    for name in contents:
        content = contents[name]
        digest.update(f"{name} {type(content).__name__} {len(content)}\n".encode())
        digest.update(content if isinstance(content, bytes) else content.encode())
    return digest.hexdigest()[:16]


def _policy(contents: _Contents) -> Policy:
    documents, problems = _parse_all(contents)
    result = read_policy({name: document.value for name, document in documents.items()}, _digest(contents))
    if isinstance(result, Policy) and not problems:
        return result
    if not isinstance(result, Policy):
        problems += [_problem(documents, finding) for finding in result]
    raise PolicyError(tuple(sorted(problems, key=lambda one: (FILES.index(one.file), one.line or 0))))


def _parse_all(contents: _Contents) -> tuple[dict[str, Document], list[Problem]]:
    documents: dict[str, Document] = {}
    problems: list[Problem] = []
    for name, content in contents.items():
        if isinstance(content, str):
            problems.append(Problem(name, None, content))
            continue
        try:
            documents[name] = parse(content)
        except BadYaml as error:
            problems.append(Problem(name, error.line, error.message))
            continue
        problems += [Problem(name, line, f'"{key}" is there twice') for line, key in documents[name].twice]
    return documents, problems


def _problem(documents: Mapping[str, Document], finding: Finding) -> Problem:
    line = documents[finding.file].line(finding.where)
    return Problem(finding.file, line, finding.message, finding.allowed)
