"""The admins hear that the policy files are broken and that they are good again, whatever the database does then."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.adapters.policy_files import Broken, PolicyFiles, Unchanged
from bot.core.errors import Unavailable
from bot.flows.keep_policy import PolicyMemory, PolicyProblem, keep_policy

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

POLICIES = Path(__file__).parents[2] / "policies"
Look = Callable[[], None]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Policy files that may be broken."""
    for file in POLICIES.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.fixture
def look(bench: "Bench", directory: Path) -> Look:
    """One look at the files, as the timetable has it."""
    files, memory = PolicyFiles(directory), PolicyMemory()

    def reload() -> list[PolicyProblem] | None:
        looked = files.reload_if_changed()
        if isinstance(looked, Broken):
            return [PolicyProblem(one.file, one.line, one.message) for one in looked.problems]
        return None if isinstance(looked, Unchanged) else []

    return lambda: keep_policy(bench.world, reload, memory)


def _fails_once(bench: "Bench", look: Look) -> None:
    def fail() -> None:
        raise Unavailable("database", "gone")

    bench.gate.plan(fail, matches="store.commit")
    with pytest.raises(Unavailable):
        look()
    bench.pass_time(minutes=1)


def _break(directory: Path) -> Callable[[], object]:
    """What makes it good again."""
    file = directory / "clusters.yaml"
    good = file.read_bytes()
    file.write_bytes(b"- nothing")
    return lambda: file.write_bytes(good)


def test_a_broken_file_is_told_after_the_database_failed(bench: "Bench", directory: Path, look: Look) -> None:
    _break(directory)
    seen = bench.clock()
    _fails_once(bench, look)
    look()
    (key,) = bench.keys("policy_broken:")
    assert bench.facts(key)["since"] == seen.isoformat()
    look()
    assert bench.notice(key).wanted == 1, "told once"


def test_a_mended_file_is_told_after_the_database_failed(bench: "Bench", directory: Path, look: Look) -> None:
    mend = _break(directory)
    look()
    mend()
    _fails_once(bench, look)
    look()
    (key,) = bench.keys("policy_broken:")
    assert bench.facts(key)["good_since"]


def test_what_was_broken_and_mended_while_the_database_was_down_is_not_told(
    bench: "Bench", directory: Path, look: Look
) -> None:
    mend = _break(directory)
    _fails_once(bench, look)
    mend()
    look()
    assert bench.keys("policy_broken:") == []
