"""From the environment and a `.env` file to settings, or to one report with everything that is wrong with them."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dotenv import dotenv_values
from pydantic import ValidationError

from bot.resources import default_policies_dir
from bot.settings import rules
from bot.settings.fields import Group, Settings, doc_of

GroupT = TypeVar("GroupT", bound=Group)

KNOWN = {name.upper(): name for name in Settings.model_fields}
OUR_PREFIXES = ("GPUQ_", "GPU_QUOTA_BOT_", "GPU_QUOTA_")
NEAR = 0.85  # PROMETHEUS_PORT and DATABASE_PORT, which Kubernetes sets for Services of those names, are not near


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the settings. Both sentences go without a capital and a full stop, and without secrets."""

    name: str
    what: str
    remedy: str


class SettingsError(Exception):
    """The settings do not allow a start. `report` is for people: every fault at once, no secrets."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: fault.name))
        self.report = _report(self.faults)
        super().__init__(self.report)


def load_settings(environ: Mapping[str, str], env_file: Path | None, group: type[GroupT]) -> GroupT:
    """The settings in `group`, which is `Settings` for the whole bot.

    `environ` wins over `env_file`, which need not exist; an empty value counts as not set. Raises SettingsError.
    """
    given = {**_read(env_file), **environ}
    values = {KNOWN[name]: text.strip() for name, text in given.items() if name in KNOWN and text.strip()}
    values = {name: text for name, text in values.items() if name in group.model_fields}
    faults = [*_misspelt(given), *_combinations(values, group)]
    settings: GroupT | None = None
    try:
        settings = group(**_with_policies(values, group))
    except ValidationError as invalid:
        faults += [_fault(group, values, error) for error in invalid.errors()]
    if settings is None or faults:
        raise SettingsError(faults)  # not within `except`: a traceback would carry the values along
    return settings


def _read(env_file: Path | None) -> dict[str, str]:
    """What the file sets, taken literally: `${...}` in a password is part of it."""
    if env_file is None or not env_file.is_file():
        return {}
    try:
        lines = dotenv_values(env_file, interpolate=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        what = "cannot be read" if isinstance(failure, OSError) else "is not text in UTF-8"
        raise SettingsError([Fault(str(env_file), what, "make it readable for the bot, or remove it")]) from None
    if None in lines.values():
        raise SettingsError([Fault(str(env_file), "has a line without =", "write NAME=value in each line")])
    return {name: text for name, text in lines.items() if text is not None}


def _with_policies(values: dict[str, str], group: type[Group]) -> dict[str, Any]:
    """A name that someone wrote must exist; only the default gives way to the package's policies."""
    field = group.model_fields.get("policies_dir")
    if field is None or "policies_dir" in values or field.default.is_dir():
        return values
    return {**values, "policies_dir": default_policies_dir()}


def _misspelt(given: Mapping[str, str]) -> Iterator[Fault]:
    for name in given:
        if name in KNOWN:
            continue
        bare = name.upper()
        for prefix in OUR_PREFIXES:
            bare = bare.removeprefix(prefix)
        near = difflib.get_close_matches(bare, KNOWN, n=1, cutoff=NEAR)
        if near:
            yield Fault(name, "is not a setting of this bot", f"did you mean {near[0]}? Rename it, or unset it")
        elif bare != name.upper():
            yield Fault(name, "is not a setting of this bot", f"unset it; the settings are {', '.join(KNOWN)}")


def _combinations(values: Mapping[str, str], group: type[Group]) -> Iterator[Fault]:
    if "slack_app_token" in group.model_fields and not values.keys() & {"slack_app_token", "slack_signing_secret"}:
        what = "is not set, and neither is SLACK_SIGNING_SECRET: one of them is needed"
        remedy = f"for Socket Mode {rules.APP_REMEDY.partition(';')[0]}; for HTTP mode set SLACK_SIGNING_SECRET"
        yield Fault("SLACK_APP_TOKEN", what, remedy)
    if "kube_context" in values and "kubeconfig" not in values:
        what = "names a context, but KUBECONFIG is not set and so there is no file to look it up in"
        yield Fault("KUBE_CONTEXT", what, "set KUBECONFIG, or leave KUBE_CONTEXT out when running in a pod")


def _fault(group: type[Group], values: Mapping[str, str], error: Any) -> Fault:
    """pydantic's error in our words; its own would name types, and the field as code has it."""
    field = str(error["loc"][0])
    if error["type"] == "setting":
        return Fault(field.upper(), error["ctx"]["what"], error["ctx"]["remedy"])
    what = f"is {rules.shown(values[field])}" if field in values else "is not set"
    return Fault(field.upper(), what, f"allowed: {doc_of(group.model_fields[field]).allowed}")


def _report(faults: tuple[Fault, ...]) -> str:
    count = "1 setting needs" if len(faults) == 1 else f"{len(faults)} settings need"
    lines = [f"gpu-quota-bot cannot start: {count} attention."]
    for fault in faults:
        lines += ["", f"  {fault.name} {fault.what}.", f"      {fault.remedy[0].upper()}{fault.remedy[1:]}."]
    return "\n".join([*lines, "", "Each setting is explained in docs/settings.md and in .env.example."])
