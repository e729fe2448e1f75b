"""Sends one request to the API server and hands back status and JSON. Used by adapters/kube/cluster.

The official client supplies configuration, authentication and TLS; its models are not used, since objects are read as
plain JSON. Nothing is retried here: a second PATCH would be answered 422 by the first one's success, and that answer
would then "prove" that the first one had not landed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import urllib3
import yaml
from kubernetes import client, config

from bot.adapters.kube.streams import Stream
from bot.core.errors import Unavailable

CONNECT_SECONDS = 3.0
READ_SECONDS = 20.0
CONNECTIONS = 32
"""Kept open: as many as threads may ask at a time."""
USER_AGENT = "gpu-quota-bot"
_BROKEN = (urllib3.exceptions.HTTPError, client.ApiException, OSError)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server said. `body` is its JSON, or an empty object when it was none."""

    status: int
    body: Mapping[str, Any]

    @property
    def message(self) -> str:
        """The Status object's message, or "" if there is none."""
        return str(self.body.get("message") or "")


class KubeApi:
    """One API server. Safe for several threads."""

    def __init__(self, api_client: Any, what: str) -> None:
        self._client = api_client
        self._what = what

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Sequence[Mapping[str, Any]] | None = None,
    ) -> Answer:
        """One request, once. Raises Unavailable when there is no answer (it may have been carried out all the same)."""
        try:
            response = self._call(method, path, query, body, READ_SECONDS)
            return Answer(response.status, _json(response.data))
        except _BROKEN as error:
            raise self._unavailable(error) from error

    def watch(self, path: str, query: Mapping[str, str], silent_for: float) -> Stream | Answer:
        """A stream of lines, or the answer that was given instead of it. Raises Unavailable."""
        try:
            response = self._call("GET", path, query, None, silent_for)
            if response.status == 200:
                return Stream(response, self._unavailable)
            return Answer(response.status, _json(response.data))
        except _BROKEN as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> Unavailable:
        return Unavailable(self._what, _plain(error))

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: Sequence[Mapping[str, Any]] | None,
        read_seconds: float,
    ) -> Any:
        """urllib3's response, nothing of whose body has been read."""
        headers = {"Accept": "application/json", "User-Agent": USER_AGENT}
        if body is not None:
            headers["Content-Type"] = "application/json-patch+json"
        call = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params=headers,
            body=list(body) if body is not None else None,
            auth_settings=["BearerToken"],
        )
        return self._client.call_api(*call, _request_timeout=(CONNECT_SECONDS, read_seconds)).response

    def close(self) -> None:
        """Let go of the pooled connections."""
        self._client.close()


def connect(kubeconfig: str | None, context: str | None, what: str = "API server") -> KubeApi:
    """Configure from a kubeconfig file, or from the pod's service account when `kubeconfig` is None.

    Raises Unavailable with the reason if there is no usable configuration.
    """
    configuration = client.Configuration()
    try:
        if kubeconfig is None:
            config.load_incluster_config(client_configuration=configuration)
        else:
            config.load_kube_config(config_file=kubeconfig, context=context, client_configuration=configuration)
    except (config.ConfigException, yaml.YAMLError, OSError) as error:
        raise Unavailable(what, f"no usable configuration: {error}") from error
    configuration.retries = False
    configuration.connection_pool_maxsize = CONNECTIONS
    return KubeApi(client.ApiClient(configuration), what)


def _json(raw: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _plain(error: Exception) -> str:
    """The cause in a few words: urllib3's texts carry object addresses and whole URLs."""
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return "connection refused"
    if isinstance(error, urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(error, urllib3.exceptions.ProtocolError):
        return "connection lost"
    return type(error).__name__
