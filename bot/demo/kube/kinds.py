"""The kinds this API server knows: their names, versions and schemas. Read by routing, discovery and validation.

Kueue's kinds are stored as v1beta2; v1beta1 has schemas of its own (conversion.py translates). Core kinds are open:
nothing in them is pruned or defaulted, and only what the simulator itself reads (pod templates) is checked. Roles,
admission policies and disruption budgets are kept, and decide nothing here.
"""

from dataclasses import dataclass

from bot.demo.kube.schema import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    LABELS,
    OPEN,
    QUANTITY,
    SELECTOR,
    STRING,
    Node,
    items,
    loose,
    obj,
    text,
)

KUEUE = "kueue.x-k8s.io"
OLD, NEW = "v1beta1", "v1beta2"
RBAC, ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_BINDING = "ValidatingAdmissionPolicyBinding"
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"

_NAME = text(pattern=DNS_SUBDOMAIN, longest=253)
_STOP = text(enum=("None", "Hold", "HoldAndDrain"), default="None")
_FAIR = obj(weight=QUANTITY)
_QUOTA = obj(
    ("name", "nominalQuota"), name=STRING, nominalQuota=QUANTITY, borrowingLimit=QUANTITY, lendingLimit=QUANTITY
)
_FLAVOR = obj(("name", "resources"), name=_NAME, resources=items(_QUOTA, 1, 64, keys=("name",)))
_GROUP = obj(
    ("coveredResources", "flavors"),
    coveredResources=items(STRING, 1, 64),
    flavors=items(_FLAVOR, 1, 64, keys=("name",)),
)
GROUPS = items(_GROUP, 0, 16)
_PREEMPTION = obj(
    (),
    {},
    reclaimWithinCohort=text(enum=("Never", "LowerPriority", "Any"), default="Never"),
    withinClusterQueue=text(enum=("Never", "LowerPriority", "LowerOrNewerEqualPriority"), default="Never"),
    borrowWithinCohort=obj(
        (), {}, policy=text(enum=("Never", "LowerPriority"), default="Never"), maxPriorityThreshold=INTEGER
    ),
)
_STRATEGY = obj(admissionChecks=items(obj(("name",), name=_NAME, onFlavors=items(_NAME)), 0, 64))


def _fungibility(borrow: tuple[str, ...], preempt: tuple[str, ...], stop: str) -> Node:
    return obj(
        (),
        {},
        whenCanBorrow=text(enum=borrow, default=stop),
        whenCanPreempt=text(enum=preempt, default="TryNextFlavor"),
        preference=text(enum=("BorrowingOverPreemption", "PreemptionOverBorrowing")),
    )


def _cluster_queue(**more: Node) -> Node:
    return obj(
        resourceGroups=GROUPS,
        queueingStrategy=text(enum=("StrictFIFO", "BestEffortFIFO"), default="BestEffortFIFO"),
        namespaceSelector=SELECTOR,
        preemption=_PREEMPTION,
        admissionChecksStrategy=_STRATEGY,
        admissionScope=obj(("admissionMode",), admissionMode=STRING),
        stopPolicy=_STOP,
        fairSharing=_FAIR,
        **more,
    )


_RESOURCES = Node("object", open=True, values=QUANTITY)
_ASKS = loose(requests=_RESOURCES, limits=_RESOURCES)
_CONTAINER = loose(("name",), name=STRING, resources=_ASKS)
_PODS = loose(("containers",), containers=items(_CONTAINER), nodeSelector=LABELS)
_TEMPLATE = loose(("spec",), spec=_PODS, metadata=OPEN)
_POD_SET = loose(("name", "template"), name=STRING, count=INTEGER, template=_TEMPLATE)
_JOB = loose(("template",), parallelism=INTEGER, template=_TEMPLATE)


def _workload(**more: Node) -> Node:
    return obj(
        podSets=items(_POD_SET, 1, 8, keys=("name",)),
        queueName=_NAME,
        priority=INTEGER,
        active=Node("boolean", default=True),
        maximumExecutionTimeSeconds=INTEGER,
        **more,
    )


_COHORT = obj(parentName=_NAME, resourceGroups=GROUPS, fairSharing=_FAIR)
_LOCAL_QUEUE = obj(clusterQueue=_NAME, stopPolicy=_STOP, fairSharing=_FAIR)
_FLAVOR_SPEC = obj(
    nodeLabels=LABELS, nodeTaints=items(ANYTHING, 0, 8), tolerations=items(ANYTHING, 0, 8), topologyName=STRING
)


def _check(**more: Node) -> Node:
    parameters = obj(("apiGroup", "kind", "name"), apiGroup=STRING, kind=STRING, name=_NAME)
    return obj(("controllerName",), controllerName=STRING, parameters=parameters, **more)


_CONCURRENT = obj(("migration",), migration=ANYTHING)


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource: `versions` oldest first; `spec` gives the schema of `.spec` per version (absent: open)."""

    group: str
    versions: tuple[str, ...]
    plural: str
    kind: str
    namespaced: bool
    spec: dict[str, Node]
    short: tuple[str, ...] = ()
    status: bool = True
    counts: bool = True
    """Whether metadata.generation counts its specs."""

    @property
    def custom(self) -> bool:
        """Whether it is a custom resource: no strategic merge patch, pruning, items that carry their kind."""
        return self.group == KUEUE

    @property
    def stored(self) -> str:
        return self.versions[-1]

    def api_version(self, version: str) -> str:
        return f"{self.group}/{version}" if self.group else version


def _kueue(plural: str, kind: str, namespaced: bool, old: Node | None, new: Node | None, short: str = "") -> Kind:
    spec = {version: node for version, node in ((OLD, old), (NEW, new)) if node is not None}
    return Kind(KUEUE, (OLD, NEW), plural, kind, namespaced, spec, (short,) if short else ())


KINDS: tuple[Kind, ...] = (
    _kueue(
        "clusterqueues",
        "ClusterQueue",
        False,
        _cluster_queue(
            cohort=_NAME,
            admissionChecks=items(_NAME),
            flavorFungibility=_fungibility(
                ("Borrow", "MayStopSearch", "TryNextFlavor"),
                ("Preempt", "MayStopSearch", "TryNextFlavor"),
                "MayStopSearch",
            ),
        ),
        _cluster_queue(
            cohortName=_NAME,
            concurrentAdmissionPolicy=_CONCURRENT,
            flavorFungibility=_fungibility(
                ("MayStopSearch", "TryNextFlavor"), ("MayStopSearch", "TryNextFlavor"), "MayStopSearch"
            ),
        ),
        "cq",
    ),
    _kueue("cohorts", "Cohort", False, _COHORT, _COHORT),
    _kueue("localqueues", "LocalQueue", True, _LOCAL_QUEUE, _LOCAL_QUEUE, "queue"),
    _kueue(
        "workloads",
        "Workload",
        True,
        _workload(priorityClassName=_NAME, priorityClassSource=STRING),
        _workload(priorityClassRef=obj(group=STRING, kind=STRING, name=_NAME), preemptionGates=items(ANYTHING)),
        "wl",
    ),
    _kueue("resourceflavors", "ResourceFlavor", False, _FLAVOR_SPEC, _FLAVOR_SPEC, "rf"),
    _kueue("admissionchecks", "AdmissionCheck", False, _check(retryDelayMinutes=INTEGER), _check()),
    _kueue("workloadpriorityclasses", "WorkloadPriorityClass", False, None, None),
    Kind("", ("v1",), "namespaces", "Namespace", False, {}, ("ns",)),
    Kind("", ("v1",), "nodes", "Node", False, {}, ("no",)),
    Kind("", ("v1",), "pods", "Pod", True, {"v1": _PODS}, ("po",)),
    Kind("", ("v1",), "events", "Event", True, {}, ("ev",), status=False),
    Kind("", ("v1",), "resourcequotas", "ResourceQuota", True, {}, ("quota",), counts=False),
    Kind("batch", ("v1",), "jobs", "Job", True, {"v1": _JOB}),
    Kind("", ("v1",), "configmaps", "ConfigMap", True, {}, ("cm",), status=False, counts=False),
    Kind("", ("v1",), "persistentvolumeclaims", "PersistentVolumeClaim", True, {}, ("pvc",), counts=False),
    Kind("", ("v1",), "serviceaccounts", "ServiceAccount", True, {}, ("sa",), status=False, counts=False),
    Kind("apps", ("v1",), "daemonsets", "DaemonSet", True, {"v1": _JOB}, ("ds",)),
    Kind("apps", ("v1",), "deployments", "Deployment", True, {"v1": _JOB}, ("deploy",)),
    Kind("apps", ("v1",), "statefulsets", "StatefulSet", True, {"v1": _JOB}, ("sts",)),
    Kind("policy", ("v1",), "poddisruptionbudgets", "PodDisruptionBudget", True, {}, ("pdb",)),
    Kind("scheduling.k8s.io", ("v1",), "priorityclasses", "PriorityClass", False, {}, ("pc",), status=False),
    Kind(RBAC, ("v1",), "rolebindings", "RoleBinding", True, {}, status=False, counts=False),
    Kind(RBAC, ("v1",), "roles", "Role", True, {}, status=False, counts=False),
    Kind(ADMISSION, ("v1",), "validatingadmissionpolicies", "ValidatingAdmissionPolicy", False, {}),
    Kind(ADMISSION, ("v1",), "validatingadmissionpolicybindings", _BINDING, False, {}, status=False),
)

__all__ = ["BOOLEAN", "DNS_LABEL", "DNS_SUBDOMAIN", "KINDS", "KUEUE", "NEW", "OLD", "Kind"]
