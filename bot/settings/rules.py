"""What a value must look like, and what to do when it does not: called by pydantic for each field of `fields`.

A rule returns the value, cleaned, or raises with the two halves of a fault: what is wrong and what to do about it.
Neither repeats a value that may be secret.
"""

import os
import re
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr
from pydantic_core import PydanticCustomError

# By prefix: what Slack calls it, and where it belongs or why it is of no use here. The first that fits counts.
TOKENS = {
    "xoxb-": ("a bot token (xoxb-)", "it belongs in SLACK_BOT_TOKEN"),
    "xapp-": ("an app-level token (xapp-)", "it belongs in SLACK_APP_TOKEN"),
    "xoxp-": ("a user token (xoxp-)", "it acts as a person, not as the bot, and is of no use here"),
    "xoxe.": ("an expiring token (xoxe.)", "it is of token rotation, which this bot does not follow"),
    "xoxe-": ("a refresh token (xoxe-)", "it is of token rotation, which this bot does not follow"),
    "xoxa-": ("a legacy workspace token (xoxa-)", "it is of no use here"),
    "xoxr-": ("a legacy refresh token (xoxr-)", "it is of no use here"),
    "xoxs-": ("a browser session's token (xoxs-)", "it is a person's login: keep it out of any configuration"),
    "xoxc-": ("a browser session's token (xoxc-)", "it is a person's login: keep it out of any configuration"),
    "xoxd-": ("a browser session's cookie (xoxd-)", "it is a person's login: keep it out of any configuration"),
}
WATCHED = ("workloads", "pods", "events")
MAYBE_SECRET = re.compile(r"xox[a-z][-.]|xapp-|:/.*@|[0-9a-f]{24}", re.IGNORECASE)
BOT_REMEDY = "put the Bot User OAuth Token (xoxb-...) here: Slack app's page, OAuth & Permissions"
APP_REMEDY = (
    "put the app-level token (xapp-...) here: Slack app's page, Basic Information, App-Level Tokens; "
    "or leave it out for HTTP mode"
)
SIGNING_REMEDY = "put the app's Signing Secret here: Slack app's page, Basic Information, App Credentials"
DATABASE_REMEDY = (
    "write sqlite:///path/to/file.db (three slashes, then the path) or postgresql://user:password@host/name"
)
POSTGRES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


def wrong(what: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{what}", {"what": what, "remedy": remedy})


def bot_token(value: SecretStr) -> SecretStr:
    return _token(value, "xoxb-", BOT_REMEDY)


def app_token(value: SecretStr) -> SecretStr:
    return _token(value, "xapp-", APP_REMEDY)


def signing_secret(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if found := token_kind(text):
        raise wrong(f"holds {found[0]}; {found[1]}", SIGNING_REMEDY)
    _one_word(text, SIGNING_REMEDY)
    return value


def _token(value: SecretStr, prefix: str, remedy: str) -> SecretStr:
    text = value.get_secret_value()
    _one_word(text, remedy)
    found = token_kind(text)
    if found is None:
        raise wrong(f"does not hold a Slack token: it would begin with {prefix}", remedy)
    if not text.startswith(prefix):
        raise wrong(f"holds {found[0]}; {found[1]}", remedy)
    if len(text) == len(prefix) or text.endswith("..."):
        raise wrong("holds the beginning of a token only", remedy)
    return value


def alerts_from(value: str) -> str:
    """Without spaces, each kind once."""
    words = [word for word in (one.strip().lower() for one in value.split(",")) if word]
    if words == ["off"]:
        return "off"
    unknown = next((word for word in words if word not in WATCHED), None)
    if unknown is not None or not words:
        what = f"names {shown(unknown)}" if unknown else "is empty"
        raise wrong(what, f"write any of {', '.join(WATCHED)} with commas between them, or off")
    return ",".join(kind for kind in WATCHED if kind in words)


def token_kind(text: str) -> tuple[str, str] | None:
    """What kind of Slack token `text` is, and where it belongs; None when it is none."""
    return next((kind for prefix, kind in TOKENS.items() if text.lower().startswith(prefix)), None)


def shown(text: str) -> str:
    """The value, fit for a log: even a harmless field may hold a secret that was put in the wrong place."""
    if MAYBE_SECRET.search(text):
        return "something that may be secret and is not shown here"
    return repr(text if len(text) <= 200 else f"{text[:200]}...")


def _one_word(text: str, remedy: str) -> None:
    if text[0] in "\"'":
        raise wrong("begins with a quotation mark", f"write the value without quotation marks; {remedy}")
    if not re.fullmatch(r"[!-~]+", text):
        raise wrong("has a space, a line break or a letter beyond ASCII in it", remedy)


def slack_api_url(value: str) -> str:
    return _web_url(value) + "/"  # slack_sdk appends method names to it


def prometheus_url(value: str | None) -> str | None:
    return value and _web_url(value)


def _web_url(text: str) -> str:
    parts = _split(text, "write it as http://host:port/path or https://host/path")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise wrong("is not a web address", "write it as http://host:port/path or https://host/path")
    if parts.query or parts.fragment:
        raise wrong("has something after the path", "leave out the part from ? or # on")
    return text.rstrip("/")


def database_url(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    parts = _split(text, f"{DATABASE_REMEDY}; in a password, write @ : / ? # and % as %40 %3A %2F %3F %23 and %25")
    if parts.scheme in POSTGRES:
        if not parts.path.strip("/"):
            raise wrong(
                "names no database", "put the database's name behind the host: postgresql://user:password@host/name"
            )
        return SecretStr(f"postgresql+psycopg{text[len(parts.scheme) :]}")
    if parts.scheme != "sqlite":
        what = f"is for {parts.scheme}" if re.match(r"[a-z0-9+]{1,24}://", text) else "is not a database URL"
        raise wrong(f"{what}; SQLite and PostgreSQL (through psycopg) are supported", DATABASE_REMEDY)
    _sqlite_file(text)
    return value


def _sqlite_file(url: str) -> None:
    if url in {"sqlite:", "sqlite://", "sqlite:///"} or ":memory:" in url or "mode=memory" in url:
        raise wrong("is a database in memory, which would forget every loan at a restart", DATABASE_REMEDY)
    if not url.startswith("sqlite:///"):
        raise wrong("has no path where the file would be", DATABASE_REMEDY)
    folder = Path(url.removeprefix("sqlite:///").partition("?")[0]).parent
    if not folder.is_dir():
        raise wrong(
            f"names a file in {shown(str(folder))}, and there is no such folder",
            "make the folder, or name another file",
        )


def _split(text: str, remedy: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # parsed only when asked for
    except ValueError:
        raise wrong("cannot be read as a URL", remedy) from None
    return parts


def host(value: str) -> str:
    bare = value.removeprefix("[").removesuffix("]")
    try:
        return str(ip_address(bare))
    except ValueError:
        pass
    if not re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?", value):
        raise wrong(
            "is neither an IP address nor a host name", "write 0.0.0.0, 127.0.0.1 or a host name, without port or path"
        )
    return value


def kubeconfig(value: str | None) -> str | None:
    if value and not any(Path(part).expanduser().is_file() for part in value.split(os.pathsep) if part):
        raise wrong(
            f"names {shown(str(value))}, and there is no such file",
            "name a kubeconfig file, or leave it out when running in a pod",
        )
    return value


def policies_dir(value: Path) -> Path:
    if not value.is_dir():
        remedy = (
            "name a folder with teams.yaml, approvals.yaml and clusters.yaml, or leave it out for the package's own"
        )
        raise wrong(f"names {shown(str(value))}, and there is no such folder", remedy)
    return value
