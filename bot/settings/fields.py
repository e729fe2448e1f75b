"""The settings, each with its unit, what is allowed and why it has its default. `load_settings` fills them.

They come in groups so that a command asks for no more than it needs: `db upgrade` runs without a Slack token.
tests/test_docs.py holds `.env.example` and docs/settings.md to what stands here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.settings import rules

EVENTS_PATH = "/slack/events"  # where Slack posts in HTTP mode; fixed, since it stands in the app's manifest


@dataclass(frozen=True, slots=True)
class Doc:
    """What a person needs to know to set a field; `reason` is the default's."""

    unit: str
    allowed: str
    reason: str


class Group(BaseSettings):
    """Filled by `load_settings` alone, never from the process environment behind its back."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", validate_default=False, hide_input_in_errors=True)

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[PydanticBaseSettingsSource, ...]:
        return (sources["init_settings"],)


class Logs(Group):
    """For every command."""

    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        BeforeValidator(str.upper),
        Doc(
            unit="level",
            allowed="DEBUG, INFO, WARNING or ERROR",
            reason="a line for each decision, write and notice, and silence while nothing happens",
        ),
    ] = "INFO"
    log_format: Annotated[
        Literal["json", "console"],
        BeforeValidator(str.lower),
        Doc(
            unit="format",
            allowed="json or console",
            reason="json is what a cluster's log collector reads; console is for people at a terminal",
        ),
    ] = "json"


class Policies(Logs):
    """For `policy check` and `policy explain`."""

    policies_dir: Annotated[
        Path,
        AfterValidator(rules.policies_dir),
        Doc(
            unit="path",
            allowed="a folder with teams.yaml, approvals.yaml and clusters.yaml",
            reason="the folder of that name where the bot is started; left out and without such a folder, the policies "
            "that come with the package",
        ),
    ] = Path("policies")


class Database(Logs):
    """For `db upgrade` and `loans`."""

    database_url: Annotated[
        SecretStr,
        AfterValidator(rules.database_url),
        Doc(
            unit="URL",
            allowed="sqlite:///path/to/file.db or postgresql://user:password@host/name",
            reason="an SQLite file needs no server and is right for one replica; PostgreSQL is for several",
        ),
    ] = SecretStr("sqlite:///gpu-quota-bot.db")
    lease_seconds: Annotated[
        float,
        Field(ge=0.5, le=300),
        Doc(
            unit="seconds",
            allowed="0.5 to 300",
            reason="how long a dead leader holds up the others: longer than a slow query, short of a person's patience",
        ),
    ] = 15.0


class Convergence(Policies, Database):
    """For `converge`."""

    kubeconfig: Annotated[
        str | None,
        AfterValidator(rules.kubeconfig),
        Doc(
            unit="path",
            allowed="a kubeconfig file, or several joined as kubectl joins them",
            reason="without it the bot uses the service account of the pod that it runs in",
        ),
    ] = None
    kube_context: Annotated[
        str | None,
        Doc(unit="name", allowed="a context of the kubeconfig", reason="without it the kubeconfig's current context"),
    ] = None
    install_name: Annotated[
        str,
        Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$"),
        Doc(
            unit="name",
            allowed="1 to 63 of a-z, 0-9, - and ., a letter or digit at both ends",
            reason="stands as `by` in the annotation on each queue, so that two installations know each other's "
            "writes; do not change it while loans are active",
        ),
    ] = "gpu-quota-bot"
    converge_every: Annotated[
        float,
        Field(ge=0.05, le=60),
        Doc(
            unit="seconds",
            allowed="0.05 to 60",
            reason="how long another writer's change may go unseen; a decision wakes the convergence at once",
        ),
    ] = 60.0
    observe_only: Annotated[
        bool,
        Doc(
            unit="switch",
            allowed="true or false",
            reason="off, so that approved loans take effect; on, the bot says what it would do and writes nothing "
            "to the cluster",
        ),
    ] = False


class Settings(Convergence):
    """For `run`: everything."""

    alerts_from: Annotated[
        str,
        AfterValidator(rules.alerts_from),
        Doc(
            unit="kinds",
            allowed="any of workloads, pods and events with commas between them, or off",
            reason="all three, so that owners hear of whatever happens to their work; leave out what the bot may not "
            "watch in the cluster, and off ends alerts",
        ),
    ] = "workloads,pods,events"
    slack_bot_token: Annotated[
        SecretStr,
        AfterValidator(rules.bot_token),
        Doc(
            unit="token",
            allowed="xoxb-..., from the Slack app's page, OAuth & Permissions, Bot User OAuth Token",
            reason="there is no bot without it",
        ),
    ]
    slack_app_token: Annotated[
        SecretStr | None,
        AfterValidator(rules.app_token),
        Doc(
            unit="token",
            allowed="xapp-..., from Basic Information, App-Level Tokens, with the scope connections:write",
            reason="with it Socket Mode, which needs no way in from outside; without it HTTP mode",
        ),
    ] = None
    slack_signing_secret: Annotated[
        SecretStr | None,
        AfterValidator(rules.signing_secret),
        Doc(
            unit="secret",
            allowed="the Signing Secret from Basic Information, App Credentials",
            reason="only HTTP mode (no SLACK_APP_TOKEN) needs it, to tell Slack from others",
        ),
    ] = None
    slack_api_url: Annotated[
        str,
        AfterValidator(rules.slack_api_url),
        Doc(
            unit="URL",
            allowed="http:// or https://, with the path of the Web API",
            reason="Slack's own; another one is for a proxy or a simulated workspace",
        ),
    ] = "https://slack.com/api/"
    http_host: Annotated[
        str,
        AfterValidator(rules.host),
        Doc(
            unit="address",
            allowed="an IP address or a host name of this machine",
            reason="all interfaces, since probes and Slack's requests come from outside the pod",
        ),
    ] = "0.0.0.0"  # noqa: S104
    http_port: Annotated[
        int,
        Field(ge=0, le=65_535),
        Doc(
            unit="TCP port",
            allowed="0 to 65535; 0 takes a free one",
            reason="needs no privilege; /healthz and /readyz answer here in both modes, /slack/events in HTTP mode",
        ),
    ] = 8080
    prometheus_url: Annotated[
        str | None,
        AfterValidator(rules.prometheus_url),
        Field(repr=False),  # may carry a password
        Doc(
            unit="URL",
            allowed="http:// or https://",
            reason="without it there is no metering and no bill, and all else works",
        ),
    ] = None

    @property
    def watched(self) -> tuple[str, ...]:
        """Plurals of the kinds that alerts come from, in order; none with off."""
        return () if self.alerts_from == "off" else tuple(self.alerts_from.split(","))

    @property
    def socket_mode(self) -> bool:
        return self.slack_app_token is not None


def documented() -> dict[str, tuple[str, Doc]]:
    """NAME -> (its default as one writes it, "" where there is none; what to know about it)."""
    return {name.upper(): (_default(field), doc_of(field)) for name, field in Settings.model_fields.items()}


def doc_of(field: FieldInfo) -> Doc:
    """The field's Doc. Raises StopIteration for a field without one."""
    return next(item for item in field.metadata if isinstance(item, Doc))


def _default(field: FieldInfo) -> str:
    value = None if field.is_required() else field.default
    match value:
        case None:
            return ""
        case SecretStr():
            return value.get_secret_value()
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            return str(value)
