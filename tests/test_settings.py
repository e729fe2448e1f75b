"""Settings are read once, checked all at once, and say what to do without showing a secret."""

import os
import re
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.settings import Convergence, Database, Group, Policies, Settings, SettingsError, load_settings

BOT = "xoxb-2910-4422-JustForTests"
APP = "xapp-1-A0-77-JustForTests"
MINIMAL = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to start in, with policies and nothing else."""
    (tmp_path / "policies").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(**environ: str) -> Settings:
    return load_settings({**MINIMAL, **environ}, None, Settings)


def faults(environ: dict[str, str], group: type[Group] = Settings) -> dict[str, str]:
    """NAME -> what is wrong and what to do."""
    with pytest.raises(SettingsError) as caught:
        load_settings(environ, None, group)
    return {fault.name: f"{fault.what} | {fault.remedy}" for fault in caught.value.faults}


def test_two_tokens_are_enough() -> None:
    settings = load()
    assert settings.slack_bot_token.get_secret_value() == BOT
    assert settings.socket_mode
    assert settings.database_url.get_secret_value() == "sqlite:///gpu-quota-bot.db"
    assert (settings.http_port, settings.converge_every, settings.lease_seconds) == (8080, 60.0, 15.0)
    assert not settings.observe_only


def test_a_signing_secret_instead_of_the_app_token_is_http_mode() -> None:
    settings = load_settings({"SLACK_BOT_TOKEN": BOT, "SLACK_SIGNING_SECRET": "8f742231b10e"}, None, Settings)
    assert not settings.socket_mode


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("LOG_LEVEL", "debug", "DEBUG"),
        ("LOG_FORMAT", "Console", "console"),
        ("OBSERVE_ONLY", "true", True),
        ("OBSERVE_ONLY", "0", False),
        ("HTTP_PORT", "0", 0),
        ("HTTP_HOST", "::1", "::1"),
        ("HTTP_HOST", "[::1]", "::1"),
        ("SLACK_API_URL", "http://slack.test/api", "http://slack.test/api/"),
        ("PROMETHEUS_URL", "https://prom.example/k8s/", "https://prom.example/k8s"),
        ("CONVERGE_EVERY", " 2.5\n", 2.5),
    ],
)
def test_a_value_is_read_as_people_write_it(name: str, text: str, value: object) -> None:
    assert getattr(load(**{name: text}), name.lower()) == value


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("postgres://u:p@db:5432/quota", "postgresql+psycopg://u:p@db:5432/quota"),
        ("postgresql://u:p%40@db/quota?sslmode=require", "postgresql+psycopg://u:p%40@db/quota?sslmode=require"),
        ("postgresql+psycopg://u@/quota?host=/run/pg", "postgresql+psycopg://u@/quota?host=/run/pg"),
        ("sqlite:///bot.db", "sqlite:///bot.db"),
        ("sqlite:////tmp/bot.db", "sqlite:////tmp/bot.db"),
    ],
)
def test_a_database_url_comes_out_as_the_driver_wants_it(url: str, normal: str) -> None:
    assert load(DATABASE_URL=url).database_url.get_secret_value() == normal


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://u:hunter2@db/x", "is for mysql"),
        ("postgresql+asyncpg://u:hunter2@db/x", "through psycopg"),
        ("postgresql://u:hunter2@db", "names no database"),
        ("postgresql://u:hunter2/ab@db:54x2/quota", "write @ : / ? # and % as"),
        ("host=db dbname=x password=hunter2", "is not a database URL"),
        ("xoxb-hunter2:a", "is not a database URL"),
        ("sqlite://bot.db", "three slashes"),
        ("sqlite://", "forget every loan"),
        ("sqlite:///:memory:", "forget every loan"),
        ("sqlite:///nowhere/bot.db", "there is no such folder"),
    ],
)
def test_a_database_url_of_no_use_is_refused_with_the_reason(url: str, said: str) -> None:
    fault = faults({**MINIMAL, "DATABASE_URL": url})["DATABASE_URL"]
    assert said in fault
    assert "hunter2" not in fault


@pytest.mark.parametrize(
    ("name", "token", "said"),
    [
        ("SLACK_APP_TOKEN", BOT, "holds a bot token (xoxb-); it belongs in SLACK_BOT_TOKEN"),
        ("SLACK_BOT_TOKEN", APP, "holds an app-level token (xapp-); it belongs in SLACK_APP_TOKEN"),
        ("SLACK_SIGNING_SECRET", APP, "holds an app-level token (xapp-)"),
        ("SLACK_BOT_TOKEN", "xoxp-JustForTests", "a user token (xoxp-)"),
        ("SLACK_APP_TOKEN", "xoxp-JustForTests", "a user token (xoxp-)"),
        ("SLACK_BOT_TOKEN", "xoxe.xoxb-1-JustForTests", "token rotation"),
        ("SLACK_BOT_TOKEN", "xoxc-JustForTests", "a person's login"),
        ("SLACK_BOT_TOKEN", "JustForTests", "does not hold a Slack token: it would begin with xoxb-"),
        ("SLACK_APP_TOKEN", "JustForTests", "it would begin with xapp-"),
        ("SLACK_BOT_TOKEN", '"xoxb-JustForTests"', "without quotation marks"),
        ("SLACK_BOT_TOKEN", "xoxb-Just ForTests", "has a space"),
        ("SLACK_BOT_TOKEN", "xoxb-", "the beginning of a token only"),
        ("SLACK_BOT_TOKEN", "xoxb-...", "the beginning of a token only"),
    ],
)
def test_a_token_in_the_wrong_place_is_named_as_such(name: str, token: str, said: str) -> None:
    found = faults({**MINIMAL, name: token})
    assert said in found[name]
    assert "JustForTests" not in "".join(found.values())


def test_without_either_way_in_both_are_offered() -> None:
    found = faults({"SLACK_BOT_TOKEN": BOT})
    assert list(found) == ["SLACK_APP_TOKEN"]
    assert "Socket Mode" in found["SLACK_APP_TOKEN"]
    assert "SLACK_SIGNING_SECRET" in found["SLACK_APP_TOKEN"]


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("LOG_LEVEL", "loud", "DEBUG, INFO, WARNING or ERROR"),
        ("LOG_FORMAT", "xml", "json or console"),
        ("OBSERVE_ONLY", "perhaps", "true or false"),
        ("HTTP_PORT", "65536", "0 to 65535"),
        ("HTTP_PORT", "80a", "0 to 65535"),
        ("CONVERGE_EVERY", "61", "0.05 to 60"),
        ("CONVERGE_EVERY", "nan", "0.05 to 60"),
        ("LEASE_SECONDS", "0", "0.5 to 300"),
        ("INSTALL_NAME", "Ümlaut", "1 to 63 of a-z"),
        ("HTTP_HOST", "http://bot.test:80", "without port or path"),
        ("SLACK_API_URL", "slack.com/api", "http://host"),
        ("PROMETHEUS_URL", "ftp://prom", "http://host"),
        ("PROMETHEUS_URL", "http://prom/api?x=1", "leave out"),
        ("KUBECONFIG", "/nowhere/config", "name a kubeconfig file"),
        ("POLICIES_DIR", "nowhere", "teams.yaml, approvals.yaml and clusters.yaml"),
    ],
)
def test_a_malformed_value_is_answered_with_the_allowed_ones(name: str, text: str, allowed: str) -> None:
    found = faults({**MINIMAL, name: text})
    assert list(found) == [name]
    assert allowed in found[name]


def test_everything_that_is_wrong_is_in_one_report() -> None:
    environ = {"SLACK_APP_TOKEN": BOT, "HTTP_PORT": "x", "LOG_FORMAT": "x", "SLACK_BOT_TOKE": BOT, "KUBE_CONTEXT": "x"}
    with pytest.raises(SettingsError) as caught:
        load_settings(environ, None, Settings)
    report = caught.value.report
    names = ["HTTP_PORT", "KUBE_CONTEXT", "LOG_FORMAT", "SLACK_APP_TOKEN", "SLACK_BOT_TOKE", "SLACK_BOT_TOKEN"]
    assert [fault.name for fault in caught.value.faults] == names
    assert all(f"\n  {name} " in report for name in names)
    assert report.startswith("gpu-quota-bot cannot start: 6 settings need attention.")
    assert "pydantic" not in report


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SLACK_BOT_TOKE", "SLACK_BOT_TOKEN"),
        ("SLACK_API_TOKEN", "SLACK_APP_TOKEN"),
        ("POLICYS_DIR", "POLICIES_DIR"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("KUBE_CONFIG", "KUBECONFIG"),
        ("slack_bot_token", "SLACK_BOT_TOKEN"),
        ("GPUQ_LOG_LEVEL", "LOG_LEVEL"),
        ("GPU_QUOTA_BOT_OBSERVE_ONLY", "OBSERVE_ONLY"),
    ],
)
def test_a_misspelt_name_is_a_fault_with_the_near_one(name: str, near: str) -> None:
    assert f"did you mean {near}?" in faults({**MINIMAL, name: "1"})[name]


def test_a_name_with_our_prefix_and_near_nothing_lists_what_there_is() -> None:
    assert "LOG_FORMAT" in faults({**MINIMAL, "GPUQ_COLOUR": "1"})["GPUQ_COLOUR"]


OTHERS = re.findall(
    r"\w+",
    "PATH HOME HOSTNAME LOGNAME LANG TERM PWD SHLVL USER HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy "
    "KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT SLACK_WEBHOOK_URL SLACK_CHANNEL "
    "SLACK_CLIENT_ID SLACK_CLIENT_SECRET PROMETHEUS_PORT LOG_FILE LOG_DIR DATABASE_HOST DATABASE_NAME PGHOST "
    "PGPASSWORD KUBE_EDITOR KUBE_CTX PIP_INDEX_URL INSTALL_DIR HTTP_TIMEOUT VIRTUAL_ENV PYTHONPATH DATABASE_PORT",
)


def test_other_programs_variables_are_none_of_our_business() -> None:
    assert load(**dict.fromkeys(OTHERS, "x")) == load()


def test_an_env_file_is_read_and_the_environment_wins(working_folder: Path) -> None:
    env_file = working_folder / ".env"
    env_file.write_text(
        f'SLACK_BOT_TOKEN="{BOT}"\nexport SLACK_APP_TOKEN={APP}\nHTTP_PORT=1\nLOG_LEVEL=ERROR # quiet\n'
    )
    settings = load_settings({"HTTP_PORT": "2", "LOG_LEVEL": ""}, env_file, Settings)
    assert (settings.http_port, settings.slack_bot_token.get_secret_value()) == (2, BOT)
    assert settings.log_level == "INFO", "an empty value is no value, wherever it stands"


def test_an_env_file_is_taken_literally(working_folder: Path) -> None:
    (working_folder / ".env").write_bytes(b"\xef\xbb\xbfDATABASE_URL=postgresql://u:a${HOME}b@db/x\n")
    settings = load_settings(MINIMAL, working_folder / ".env", Settings)
    assert settings.database_url.get_secret_value() == "postgresql+psycopg://u:a${HOME}b@db/x"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"LOG_LEVEL=\xff\n", "is not text in UTF-8"),
        (b"LOG_LEVEL\n", "has a line without ="),
        (b"xoxb-JustForTests\n", "has a line without ="),
    ],
)
def test_an_env_file_that_is_none_is_named(working_folder: Path, content: bytes, said: str) -> None:
    (working_folder / ".env").write_bytes(content)
    with pytest.raises(SettingsError, match=said) as caught:
        load_settings(MINIMAL, working_folder / ".env", Settings)
    assert "JustForTests" not in caught.value.report


def test_a_misspelt_name_in_the_env_file_is_a_fault_too(working_folder: Path) -> None:
    (working_folder / ".env").write_text("LOG_LEVLE=DEBUG\n")
    with pytest.raises(SettingsError, match=r"Did you mean LOG_LEVEL\?"):
        load_settings(MINIMAL, working_folder / ".env", Settings)


def test_the_process_environment_is_read_only_when_it_is_handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PORT", "1")
    assert load().http_port == 8080


@pytest.mark.parametrize("group", [Database, Policies, Convergence])
def test_a_command_asks_for_no_more_than_it_needs(group: type[Group]) -> None:
    assert load_settings({"HTTP_PORT": "not its business"}, None, group).model_fields_set <= set(group.model_fields)


def test_the_packaged_policies_stand_in_for_an_absent_default_folder(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = working_folder / "packaged"
    packaged.mkdir()
    monkeypatch.setattr("bot.settings.loading.default_policies_dir", lambda: packaged)
    assert load().policies_dir == Path("policies")
    (working_folder / "policies").rmdir()
    assert load().policies_dir == packaged
    assert "no such folder" in faults({**MINIMAL, "POLICIES_DIR": "policies"})["POLICIES_DIR"]


def test_a_kubeconfig_may_be_several_joined(working_folder: Path) -> None:
    (working_folder / "config").touch()
    joined = os.pathsep.join(["/nowhere", "config"])
    assert load(KUBECONFIG=joined, KUBE_CONTEXT="prod").kubeconfig == joined


def test_secrets_show_in_no_text_of_the_settings() -> None:
    settings = load(DATABASE_URL="postgresql://u:hunter2@db/x", PROMETHEUS_URL="http://u:hunter2@prom")
    assert not any(secret in f"{settings!r} {settings}" for secret in ("JustForTests", "hunter2"))


SECRETS = st.sampled_from(
    [BOT, APP, "postgresql://u:JustForTests@db", "http://JustForTests@prom", "x xoxb-JustForTests"]
)


@given(st.dictionaries(st.sampled_from(sorted(name.upper() for name in Settings.model_fields)), SECRETS))
def test_no_secret_reaches_the_report_or_the_traceback_wherever_it_was_put(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({**environ, "HTTP_PORT": "x"}, None, Settings)
    assert "JustForTests" not in caught.value.report
    assert "JustForTests" not in "".join(traceback.format_exception(caught.value))
    assert not isinstance(caught.value.__context__, ValidationError)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        load().http_port = 1
