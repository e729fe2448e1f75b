"""Plain requests to an API server, with the official client's configuration. What people and tests do, not the bot."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import urllib3
import yaml
from kubernetes import client, config

from tests.cluster.waiting import PATIENCE

Obj = dict[str, Any]
JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


class Said(Exception):
    """The API server refused a request that had to work."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: HTTP status, JSON (an empty object for anything else), and the server's warnings."""

    status: int
    body: Obj
    warnings: str = ""

    @property
    def message(self) -> str:
        """The Status object's message."""
        return str(self.body.get("message") or "")

    def __str__(self) -> str:
        """As a refusal is compared and a difference is recorded: the status, then the message or else the spec."""
        return f"{self.status} {self.message or orjson.dumps(self.body.get('spec')).decode()}"

    @property
    def fields(self) -> set[str]:
        """The fields that a refusal names."""
        return {cause.get("field", "") for cause in (self.body.get("details") or {}).get("causes") or ()}


class Api:
    """One user of one API server."""

    def __init__(self, kubeconfig: Path) -> None:
        configuration = client.Configuration()
        config.load_kube_config(config_file=str(kubeconfig), client_configuration=configuration)
        configuration.retries = False
        self._configuration = configuration
        self._client = client.ApiClient(configuration)
        self.kubeconfig = kubeconfig

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        query: Mapping[str, str] | None = None,
    ) -> Reply:
        """One request."""
        call = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": JSON, "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        response = self._client.call_api(*call, _request_timeout=60)
        try:
            decoded = orjson.loads(response.read())
        except orjson.JSONDecodeError:
            decoded = {}
        warnings = response.headers.get("warning", "")
        return Reply(response.status, decoded if isinstance(decoded, dict) else {}, warnings)

    def must(self, method: str, path: str, body: Any = None, content_type: str = JSON, **query: str) -> Obj:
        """The body of a request that has to work. Raises Said."""
        reply = self.request(method, path, body, content_type, query)
        if reply.status >= 400:
            raise Said(f"{method} {path}: {reply}")
        return reply.body

    def try_get(self, path: str) -> Obj | None:
        """The object, or None while there is none or no server either."""
        try:
            reply = self.request("GET", path)
        except (urllib3.exceptions.HTTPError, client.ApiException, OSError):
            return None
        return reply.body if reply.status == 200 else None

    def watch(self, path: str, since: str) -> Iterator[Obj]:
        """The events after a resourceVersion, until the caller has enough or the patience of tests is over."""
        query = {"watch": "true", "resourceVersion": since, "timeoutSeconds": f"{PATIENCE:.0f}"}
        call = self._client.param_serialize(
            "GET", path, query_params=list(query.items()), header_params={"Accept": JSON}, auth_settings=["BearerToken"]
        )
        response = self._client.call_api(*call, _request_timeout=PATIENCE + 30).response
        try:
            for line in response:
                yield orjson.loads(line)
        finally:
            response.close()

    def as_token(self, token: str, path: Path) -> Path:
        """Write a kubeconfig for the same server and another user."""
        authority = self._configuration.ssl_ca_cert
        path.write_text(kubeconfig(self._configuration.host, token, Path(authority).read_bytes() if authority else b""))
        return path

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()


def kubeconfig(server: str, token: str, authority: bytes) -> str:
    """The text of a kubeconfig for one server (with the PEM of who signed its certificate) and one bearer token."""
    trusted = {"certificate-authority-data": base64.b64encode(authority).decode()} if authority else {}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "tested", "cluster": {"server": server, **trusted}}],
            "users": [{"name": "tested", "user": {"token": token}}],
            "contexts": [{"name": "tested", "context": {"cluster": "tested", "user": "tested"}}],
            "current-context": "tested",
        }
    )


def reason(obj: Obj | None, kind: str) -> tuple[str, str]:
    """(reason, message) of a condition that is there."""
    found = next(one for one in (obj or {})["status"]["conditions"] if one["type"] == kind)
    return found["reason"], found["message"]


def condition(obj: Obj | None, kind: str) -> str:
    """The status of a condition: True, False, or empty if it is not there."""
    conditions = ((obj or {}).get("status") or {}).get("conditions") or ()
    return next((one["status"] for one in conditions if one["type"] == kind), "")
