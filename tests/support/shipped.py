"""policies/kubernetes as objects, read as `kubectl apply -k` reads it. Used wherever a test applies or judges them.

As much of kustomize as those folders use: resources, JSON patches, a ConfigMap from files. That it comes to the same
as kubectl's is a test of its own, where there is a kubectl (tests/test_preemption_manifests).
"""

import copy
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bot.demo.kube import json_patch

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "policies/kubernetes"
FOLDERS = tuple(sorted(path.parent.name for path in KUBERNETES.glob("*/kustomization.yaml")))
Obj = dict[str, Any]


def objects(folder: str) -> list[Obj]:
    """All objects of one folder, in the order of its files; the caller's own to change."""
    return copy.deepcopy(_read(folder))


@functools.cache
def _read(folder: str) -> list[Obj]:
    return list(_built(KUBERNETES / folder))


def the(kind: str, name: str, *, folder: str = "base") -> Obj:
    """One object."""
    (found,) = (obj for obj in objects(folder) if (obj["kind"], obj["metadata"]["name"]) == (kind, name))
    return found


def _built(folder: Path) -> Iterator[Obj]:
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for resource in kustomization["resources"]:
        path = (folder / resource).resolve()
        found = _built(path) if path.is_dir() else yaml.safe_load_all(path.read_text())
        for obj in found:
            yield _patched(obj, kustomization.get("patches", []))
    for generated in kustomization.get("configMapGenerator", []):
        data = {name: (folder / name).read_text() for name in generated["files"]}
        meta = {"name": generated["name"], "namespace": generated["namespace"]}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def _patched(obj: Obj, patches: list[Obj]) -> Obj:
    group = obj["apiVersion"].rpartition("/")[0]
    for patch in patches:
        target = patch["target"]
        kind, name = (re.fullmatch(target.get(key, ".*"), value) for key, value in _named(obj))
        if kind and name and target.get("group", group) == group:
            obj = json_patch.apply(obj, yaml.safe_load(patch["patch"]))
    return obj


def _named(obj: Obj) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("kind", obj["kind"]), ("name", obj["metadata"]["name"])
