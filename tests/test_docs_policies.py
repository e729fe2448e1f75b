"""docs/policies.md says what the models accept: every key with its default, and every example loads."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.adapters.policy_yaml import parse
from bot.core.policy import FILES, Policy, alerts, approvals, clusters, idle, read_policy, teams

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n# (\S+)\n(.*?)```", TEXT, re.DOTALL)

SECTIONS: Mapping[str, tuple[type[BaseModel], ...]] = {
    "teams.yaml": (teams.TeamsFile,),
    "A team": (teams.Team,),
    "A ResourceQuota": (teams.TeamQuota,),
    "approvals.yaml": (approvals.ApprovalsFile,),
    "Limits": (approvals.Limits,),
    "Idle loans": (idle.IdleLoans,),
    "Rules": (approvals.Rule,),
    "Conditions": (approvals.Conditions,),
    "Ranges": (approvals.Range, approvals.DurationRange),
    "Hours": (approvals.Hours,),
    "What a rule gives": (approvals.Then,),
    "Steps": (approvals.Step,),
    "Unanswered": (approvals.Unanswered,),
    "alerts.yaml": (alerts.AlertsFile,),
    "Grace": (alerts.Grace,),
    "Storm": (alerts.Storm,),
    "Routes": (alerts.Route,),
    "Mutes": (alerts.Mute,),
    "clusters.yaml": (clusters.ClustersFile,),
    "A cluster": (clusters.Cluster,),
    "An accelerator": (clusters.Accelerator,),
    "A lender": (clusters.Lender,),
    "A flavor": (clusters.FlavorNote,),
    "A queue": (clusters.QueueRules,),
}
NOT_SET = {"none", "any", "as above", "the team's"}
"""Words for a key whose default is that it is not there."""


def rows(section: str) -> dict[str, str]:
    """Default by key, from the table of a section."""
    start = re.search(rf"^##+ {re.escape(section)}$", TEXT, re.MULTILINE)
    assert start, f"no section {section}"
    body = TEXT[start.end() :].split("\n#", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|", body, re.MULTILINE))


def default_words(field: FieldInfo) -> str:
    """A default as it is written in YAML."""
    value = field.get_default(call_default_factory=True)
    if field.is_required():
        return "required"
    if isinstance(value, BaseModel):
        defaults = {approvals.Limits, approvals.Unanswered, idle.IdleLoans, alerts.Grace, alerts.Storm}
        return "all defaults" if type(value) in defaults else "`{}`"
    if isinstance(value, timedelta):
        if value % timedelta(hours=1):
            return f"`{value // timedelta(minutes=1)}min`"
        whole_days = value % timedelta(days=1) == timedelta(0)
        return f"`{value.days}d`" if whole_days else f"`{value // timedelta(hours=1)}h`"
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def every_model(model: type[BaseModel] | None = None) -> Iterator[type[BaseModel]]:
    """The models that the files are made of."""
    for name in (teams, approvals, clusters, alerts, idle):
        for value in vars(name).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == name.__name__:
                yield value


def test_every_model_has_a_section() -> None:
    assert set(every_model()) == {model for models in SECTIONS.values() for model in models}


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_documented_and_no_other(section: str) -> None:
    for model in SECTIONS[section]:
        assert list(rows(section)) == [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_documented_defaults_are_true(section: str) -> None:
    for model in SECTIONS[section]:
        for name, field in model.model_fields.items():
            said = rows(section)[field.alias or name].strip()
            not_set = not field.is_required() and field.default is None
            assert (said in NOT_SET) if not_set else (said == default_words(field)), f"{section} {name}: {said}"


def merged(base: Any, change: Any) -> Any:
    """Mappings are merged, everything else is replaced."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return {**base, **{key: merged(base.get(key), value) for key, value in change.items()}}


def shipped() -> dict[str, Any]:
    return {name: parse((ROOT / "policies" / name).read_bytes()).value for name in FILES}


@pytest.mark.parametrize(("file", "text"), EXAMPLES, ids=[file for file, _ in EXAMPLES])
def test_every_example_loads_on_top_of_the_shipped_files(file: str, text: str) -> None:
    documents = shipped()
    result = read_policy({**documents, file: merged(documents[file], parse(text.encode()).value)}, "docs")
    assert isinstance(result, Policy), result


def test_every_yaml_block_is_an_example_and_every_file_and_key_has_one() -> None:
    assert TEXT.count("```yaml") == len(EXAMPLES)
    assert {file for file, _ in EXAMPLES} == set(FILES)
    shown = "\n".join(text for _, text in EXAMPLES)
    keys = {field.alias or name for model in every_model() for name, field in model.model_fields.items()}
    assert {key for key in keys if not re.search(rf"\b{key}:", shown)} == {"self_approval"}  # left at its safe default


def test_the_error_that_is_shown_is_the_one_that_is_given() -> None:
    assert 'approvals.yaml:35: "transfers" is not allowed here; did you mean transfer?' in TEXT
    line = (ROOT / "policies" / "approvals.yaml").read_text().splitlines()[34]
    assert line.strip() == "kind: transfer"
