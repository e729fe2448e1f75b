"""Policy files on disk: the shipped ones, what is refused and where, and reading again."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.policy_files import Broken, Changed, PolicyError, PolicyFiles, Problem, Unchanged, load_policy
from bot.adapters.policy_yaml import MOST_BYTES, MOST_DEPTH, BadYaml, parse
from bot.core.policy import FILES, MAY_BE_LEFT_OUT
from bot.core.policy.alerts import AlertsFile

SHIPPED = Path(__file__).parents[2] / "policies"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    target = tmp_path / "policies"
    target.mkdir()
    for name in FILES:
        shutil.copy(SHIPPED / name, target)
    return target


def edit(directory: Path, name: str, old: str, new: str) -> int:
    """Replace text in a file; the line it was on."""
    path = directory / name
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is in {name} {text.count(old)} times"
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def problems(directory: Path) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as caught:
        load_policy(directory)
    return caught.value.problems


def test_the_shipped_policies_load() -> None:
    policy = load_policy(SHIPPED)
    assert tuple(policy.teams.teams) == ("nlp", "vision", "robotics")
    assert policy.cluster("default") is not None
    assert [rule.name for rule in policy.approvals.rules][-1] == "everything-else"


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("teams.yaml", "    channel: C0NLP\n", "    chanel: C0NLP\n", 'unknown key "chanel"; did you mean channel?'),
        ("teams.yaml", "leads: [U0LEADVISION]", "leads: 7", '"7" is not a list'),
        ("teams.yaml", "America/New_York", "America/NewYork", "did you mean America/New_York?"),
        ("approvals.yaml", "admins: gpu-admins ", "admins: gpu-admin ", 'no group "gpu-admin"; did you mean'),
        ("approvals.yaml", "kind: transfer", "kind: transfers", '"transfers" is not allowed here'),
        ("approvals.yaml", "longest: 14d", "longest: 14", '"14" is not a duration'),
        ("approvals.yaml", "self_approval: false", "self_approval: no", '"no" is not true or false'),
        ("clusters.yaml", "vision: {at_most: 8}", "visoin: {at_most: 8}", "did you mean vision?"),
        ("clusters.yaml", "only_idle: true", "only_idle: 1", '"1" is not true or false'),
    ],
)
def test_a_problem_names_file_and_line(directory: Path, name: str, old: str, new: str, words: str) -> None:
    line = edit(directory, name, old, new)
    found = [one for one in problems(directory) if words in one.message]
    assert [(one.file, one.line) for one in found] == [(name, line)]
    assert str(found[0]).startswith(f"{name}:{line}: ")


def test_the_allowed_values_are_in_the_text(directory: Path) -> None:
    edit(directory, "approvals.yaml", "kind: transfer", "kind: transfers")
    (problem,) = problems(directory)
    assert str(problem).endswith("(allowed: borrow, transfer, extra)")


def test_problems_of_all_files_come_at_once_in_order(directory: Path) -> None:
    edit(directory, "clusters.yaml", "default_flavor: a100 ", "default_flavour: a100 ")
    edit(directory, "teams.yaml", "sees: all", "sees: everything")
    edit(directory, "approvals.yaml", "most_per_request: 16", "most_per_request: many")
    edit(directory, "approvals.yaml", "lapse_after: 3d", "lapse_after: 3 moons")
    found = problems(directory)
    assert [one.file for one in found] == ["teams.yaml", "approvals.yaml", "approvals.yaml", "clusters.yaml"]
    assert [one.line for one in found[1:3]] == sorted(one.line or 0 for one in found[1:3])


def test_a_file_that_is_no_yaml_does_not_hide_what_is_wrong_with_the_others(directory: Path) -> None:
    (directory / "teams.yaml").write_text("teams: [")
    edit(directory, "approvals.yaml", "lapse_after: 3d", "lapse_after: soon")
    assert [one.file for one in problems(directory)] == ["teams.yaml", "approvals.yaml"]


def test_a_missing_file_and_a_missing_directory_are_problems(directory: Path) -> None:
    (directory / "clusters.yaml").unlink()
    assert [str(one) for one in problems(directory)] == ["clusters.yaml: cannot be read: No such file or directory"]
    assert len(problems(directory / "nowhere")) == len(set(FILES) - MAY_BE_LEFT_OUT)


def test_a_key_that_is_there_twice_is_an_error(directory: Path) -> None:
    path = directory / "approvals.yaml"
    path.write_text(path.read_text() + "limits: {most_per_request: 1000}\n")
    (problem,) = problems(directory)
    assert problem.message == '"limits" is there twice'
    assert problem.line == path.read_text().count("\n")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: &x 2\n", 2, "anchors and aliases"),
        ("a: &x [1]\nb: *x\n", 1, "anchors and aliases"),
        ("a: 1\n\nb: !!python/object/apply:os.system [x]\n", 3, "tags are not allowed"),
        ("a: !x 1\n", 1, "tags are not allowed"),
        ("? [a, b]\n: 1\n", 1, "a key must be a single word"),
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
        ("a: [1\nb: 2\n", 2, "not YAML"),
        ("a:\n\t- 1\n", 2, "not YAML"),
        ("", None, "the file is empty"),
        ("# nothing\n", None, "the file is empty"),
        ("a: \x07\n", None, "not YAML"),
        ("[" * 100_000, 1, "levels deep"),
        ("a: " + "{b: " * (MOST_DEPTH + 5) + "1" + "}" * (MOST_DEPTH + 5), 1, "levels deep"),
        ("a" * (MOST_BYTES + 1), None, "larger than"),
    ],
)
def test_yaml_beyond_plain_values_is_refused(text: str, line: int | None, words: str) -> None:
    with pytest.raises(BadYaml) as caught:
        parse(text.encode())
    assert words in caught.value.message
    assert caught.value.line == line


def test_ten_aliases_of_ten_aliases_are_refused_before_they_grow() -> None:
    laughs = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(BadYaml):
        parse("\n".join(laughs).encode())


def test_bytes_that_are_no_utf_8_are_refused_with_their_line() -> None:
    with pytest.raises(BadYaml) as caught:
        parse(b"a: 1\nb: \xff\n")
    assert (caught.value.message, caught.value.line) == ("not UTF-8", 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18:00", "18:00"),
        ("no", "no"),
        ("on", "on"),
        ("2026-12-02", "2026-12-02"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("010", "010"),
        ("0.5", "0.5"),
        ("1e3", "1e3"),
        ("true", True),
        ("~", None),
        ("-4", -4),
        ("16", 16),
        ("'16'", "16"),
        ("9" * 40, "9" * 40),
    ],
)
def test_only_whole_numbers_true_false_and_null_are_not_text(text: str, value: object) -> None:
    assert parse(f"a: {text}".encode()).value == {"a": value}


def test_a_mark_at_the_beginning_of_the_file_is_no_content() -> None:
    assert parse(b"\xef\xbb\xbfa: 1").value == {"a": 1}


@given(st.text(max_size=80) | st.text(alphabet="a:-[]{}&*!|>#?\n '\"", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        place = parse(text.encode("utf-8", "surrogatepass")).line(())
    except BadYaml as error:
        place = error.line or 1
    assert place is not None
    assert place >= 1


class TestReload:
    def test_nothing_changed(self, directory: Path) -> None:
        files = PolicyFiles(directory)
        before = files.policy
        for name in FILES:
            (directory / name).touch()
        assert files.reload_if_changed() == Unchanged()
        assert files.policy is before

    def test_a_good_change_is_in_use_without_restart(self, directory: Path) -> None:
        files = PolicyFiles(directory)
        before = files.policy
        edit(directory, "approvals.yaml", "most_per_request: 16", "most_per_request: 4")
        result = files.reload_if_changed()
        assert isinstance(result, Changed)
        assert result.policy is files.policy
        assert files.policy.approvals.limits.most_per_request == 4
        assert files.policy.version != before.version

    @pytest.mark.parametrize("name", FILES)
    def test_a_bad_change_keeps_the_last_good_one_and_is_told_once(self, directory: Path, name: str) -> None:
        files = PolicyFiles(directory)
        before = files.policy
        path = directory / name
        good = path.read_text()
        path.write_text(good + "\nnonsense: 1\n")
        result = files.reload_if_changed()
        assert isinstance(result, Broken)
        assert [one.file for one in result.problems] == [name]
        assert files.reload_if_changed() == Unchanged()
        assert files.policy is before
        path.write_text(good)
        assert isinstance(files.reload_if_changed(), Changed)
        assert files.policy == before

    def test_without_the_alerts_all_of_them_are_as_they_start_and_that_is_a_change(self, directory: Path) -> None:
        files = PolicyFiles(directory)
        (directory / "alerts.yaml").write_text("gather: 1min\n")
        assert isinstance(files.reload_if_changed(), Changed)
        (directory / "alerts.yaml").unlink()
        assert isinstance(files.reload_if_changed(), Changed)
        assert files.policy.alerts == AlertsFile()

    def test_a_file_that_goes_away_is_broken_and_comes_back(self, directory: Path) -> None:
        files = PolicyFiles(directory)
        (directory / "teams.yaml").rename(directory / "away")
        assert isinstance(files.reload_if_changed(), Broken)
        (directory / "away").rename(directory / "teams.yaml")
        assert isinstance(files.reload_if_changed(), Changed)

    def test_a_mounted_configmap_changes_by_the_swap_of_a_link(self, tmp_path: Path) -> None:
        for version in ("one", "two"):
            (tmp_path / version).mkdir()
            for name in FILES:
                shutil.copy(SHIPPED / name, tmp_path / version)
        edit(tmp_path / "two", "approvals.yaml", "requests_per_hour: 20", "requests_per_hour: 7")
        mount = tmp_path / "mount"
        mount.mkdir()
        (mount / "..data").symlink_to(tmp_path / "one")
        for name in FILES:
            (mount / name).symlink_to(Path("..data") / name)
        files = PolicyFiles(mount)
        (mount / "..data_tmp").symlink_to(tmp_path / "two")
        (mount / "..data_tmp").replace(mount / "..data")
        assert isinstance(files.reload_if_changed(), Changed)
        assert files.policy.approvals.limits.requests_per_hour == 7

    def test_files_that_change_while_they_are_read_are_never_taken_by_halves(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The group is renamed in one file and then in the other, between two reads."""
        path = directory / "approvals.yaml"
        renamed = path.read_bytes().replace(b"gpu-admins", b"platform")
        opened, original = [], Path.open

        def change_behind(self: Path, mode: str) -> object:
            opened.append(self.name)
            if len(opened) == 3:
                with original(path, "wb") as file:
                    file.write(renamed)
            return original(self, mode)

        monkeypatch.setattr(Path, "open", change_behind)
        policy = load_policy(directory)
        assert policy.approvals.admins == "platform"
        assert len(opened) == 3 * len(FILES)  # three readings: the second differs from the first

    def test_a_bad_policy_at_start_is_an_error(self, directory: Path) -> None:
        (directory / "teams.yaml").write_text("teams: {}\nx: 1\n")
        with pytest.raises(PolicyError, match=r"^teams\.yaml:2: "):
            PolicyFiles(directory)
