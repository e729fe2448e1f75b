"""Whose a ClusterQueue is: by labels, annotations and managed fields as they are found in real clusters."""

from typing import Any

import pytest

from bot.adapters.kube.ownership import (
    FIELD_MANAGER,
    annotations_of_ours,
    managing_tool,
    quota_automation,
    spec_manager,
)

TRACKING = "argocd.argoproj.io/tracking-id"


@pytest.mark.parametrize(
    ("labels", "annotations", "tool"),
    [
        ({}, {TRACKING: "gpu:kueue.x-k8s.io/ClusterQueue:/vision"}, "Argo CD"),
        ({"argocd.argoproj.io/instance": "gpu"}, {}, "Argo CD"),
        (
            {"kustomize.toolkit.fluxcd.io/name": "gpu", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
            {},
            "Flux",
        ),
        (
            {
                "app.kubernetes.io/managed-by": "Helm",
                "helm.toolkit.fluxcd.io/name": "gpu",
                "helm.toolkit.fluxcd.io/namespace": "flux-system",
            },
            {"meta.helm.sh/release-name": "gpu", "meta.helm.sh/release-namespace": "kueue-system"},
            "Flux",
        ),
        (
            {"app.kubernetes.io/managed-by": "Helm"},
            {"meta.helm.sh/release-name": "gpu", "meta.helm.sh/release-namespace": "kueue-system"},
            "Helm",
        ),
        ({"app.kubernetes.io/managed-by": "Helm"}, {TRACKING: "gpu:kueue.x-k8s.io/ClusterQueue:/vision"}, "Argo CD"),
        ({"app.kubernetes.io/managed-by": "Helm"}, {}, "Helm"),
        ({"app.kubernetes.io/managed-by": "kustomize"}, {}, None),
        ({"app.kubernetes.io/instance": "gpu"}, {}, None),
        ({}, {"kubectl.kubernetes.io/last-applied-configuration": "{}"}, None),
        ({}, {"argocd.argoproj.io/sync-options": "Prune=false"}, None),
        ({}, {}, None),
    ],
)
def test_the_tool_that_owns_a_queue(labels: dict[str, str], annotations: dict[str, str], tool: str | None) -> None:
    assert managing_tool({"labels": labels, "annotations": annotations}) == tool


@pytest.mark.parametrize("metadata", [{}, {"labels": None, "annotations": None}])
def test_nothing_is_known_of_bare_metadata(metadata: dict[str, Any]) -> None:
    assert managing_tool(metadata) is None
    assert spec_manager(metadata) is None
    assert annotations_of_ours(metadata) == {}


def _entry(manager: str, time: str, **extra: Any) -> dict[str, Any]:
    fields = {"f:spec": {"f:resourceGroups": {}}}
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **extra}


@pytest.mark.parametrize(
    ("entries", "manager"),
    [
        ([_entry("kubectl-edit", "2026-12-02T08:00:00Z")], "kubectl-edit"),
        (
            [_entry("helm", "2026-12-01T08:00:00Z"), _entry("argocd-controller", "2026-12-02T08:00:00Z")],
            "argocd-controller",
        ),
        (
            [_entry("argocd-controller", "2026-12-02T08:00:00Z"), _entry("helm", "2026-12-01T08:00:00Z")],
            "argocd-controller",
        ),
        ([_entry("helm", "2026-12-01T08:00:00Z"), _entry(FIELD_MANAGER, "2026-12-02T08:00:00Z")], "helm"),
        ([_entry(FIELD_MANAGER, "2026-12-02T08:00:00Z")], None),
        ([_entry("kueue", "2026-12-02T08:00:00Z", subresource="status")], None),
        ([_entry("labeler", "2026-12-02T08:00:00Z", fieldsV1={"f:metadata": {"f:labels": {}}})], None),
        ([{"manager": "old-tool"}], None),
        ([_entry("old-tool", ""), _entry("helm", "2026-12-01T08:00:00Z")], "helm"),
    ],
)
def test_who_wrote_the_quotas_last(entries: list[dict[str, Any]], manager: str | None) -> None:
    assert spec_manager({"managedFields": entries}) == manager


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({}, None),
        ({"effectiveQuotas": []}, None),
        ({"effectiveQuotas": [{"name": "a100"}]}, "effectiveQuotas"),
        (
            {"conditions": [{"type": "MultiKueueManagerQuotaAutomation", "status": "True"}]},
            "MultiKueue quota automation",
        ),
        ({"conditions": [{"type": "MultiKueueManagerQuotaAutomation", "status": "False"}]}, None),
        ({"conditions": [{"type": "Active", "status": "True"}]}, None),
        ({"conditions": None}, None),
    ],
)
def test_quotas_that_kueue_writes_itself(status: dict[str, Any], why: str | None) -> None:
    assert quota_automation(status) == why


def test_only_annotations_of_ours_are_kept() -> None:
    ours = {"gpu-quota-bot.io/loans": "{}", "gpu-quota-bot.io/fence": "1.2"}
    foreign = {"gpu-quota-bot.iox/loans": "x", "x/gpu-quota-bot.io/": "y", "kubectl.kubernetes.io/restartedAt": "z"}
    assert annotations_of_ours({"annotations": {**ours, **foreign}}) == ours
