"""Who else writes a ClusterQueue: GitOps tools, field managers, Kueue itself. Used by adapters/kube/objects."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

FIELD_MANAGER = "gpu-quota-bot"
"""The name under which the API server books the bot's own writes."""
PREFIX = "gpu-quota-bot.io/"

_TOOLS = {
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "argocd.argoproj.io/instance": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}
_MANAGERS = {
    "argocd-controller": "Argo CD",
    "argocd-application-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
    "helm": "Helm",
}
"""Names under which the tools write, where they leave no other mark."""


def annotations_of_ours(metadata: Json) -> dict[str, str]:
    """The bot's own annotations, full keys."""
    return {key: value for key, value in (metadata.get("annotations") or {}).items() if key.startswith(PREFIX)}


def managing_tool(metadata: Json) -> str | None:
    """The tool that owns the object by its labels, its annotations or who writes its quotas; None if none says so."""
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    for key, tool in _TOOLS.items():
        if key in annotations or key in labels:
            return tool
    if labels.get("app.kubernetes.io/managed-by") == "Helm":
        return "Helm"
    return _MANAGERS.get(spec_manager(metadata) or "")


def spec_manager(metadata: Json, quotas: str = "f:resourceGroups") -> str | None:
    """The field manager, other than the bot, that wrote the quotas last, as far as managedFields tell.

    `quotas` is the part of the spec that has them.
    """
    writers = [
        (entry.get("time") or "", str(entry.get("manager")))
        for entry in metadata.get("managedFields") or ()
        if not entry.get("subresource")
        and entry.get("manager") != FIELD_MANAGER
        and quotas in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
    ]
    return max(writers)[1] if writers else None


def quota_automation(status: Json) -> str | None:
    """Why spec quotas are not for people to write: Kueue computes or overrides them. None if it does not."""
    if status.get("effectiveQuotas"):
        return "effectiveQuotas"
    for condition in status.get("conditions") or ():
        if condition.get("type") == "MultiKueueManagerQuotaAutomation" and condition.get("status") == "True":
            return "MultiKueue quota automation"
    return None
