"""Which version of Kueue's API a server offers. Used by adapters/kube/cluster and watching."""

from bot.adapters.kube.answers import words
from bot.adapters.kube.client import Answer, KubeApi
from bot.core.errors import NoRight, Rejected, Unavailable, short_name

GROUP = "kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")
"""Newest first. The server's own preference says nothing, see design: API versions."""
NOT_INSTALLED = "not installed"


def kueue_base(api: KubeApi) -> str:
    """The path before a plural. Raises Rejected (NOT_INSTALLED, or no known version), NoRight or Unavailable."""
    answer = api.request("GET", f"/apis/{GROUP}")
    if answer.status == 404:
        raise Rejected("Kueue", NOT_INSTALLED, f"the API server does not serve {GROUP}")
    if answer.status != 200:
        raise failure(answer, "get", f"/apis/{GROUP}")
    served = {entry.get("version") for entry in answer.body.get("versions") or ()}
    for version in VERSIONS:
        if version in served:
            return f"/apis/{GROUP}/{version}"
    raise Rejected("Kueue", "unknown version", f"served: {', '.join(sorted(map(str, served)))}")


def failure(answer: Answer, verb: str, resource: str) -> Exception:
    """What an answer that is not 200 means. `resource`: a plural with its group, or a path."""
    if answer.status == 403:
        return NoRight("API server", verb, resource, words(answer))
    if answer.status == 401:
        return Rejected("API server", "unknown token", words(answer))
    return Unavailable("API server", f"{verb} {short_name(resource)}: {words(answer)}")
