"""Merge patch (RFC 7386) and server-side apply, on plain objects. Called by writes.py.

Apply knows maps and atomic lists, which is what Kueue's quotas are made of: whoever applies a part of
`resourceGroups` owns and replaces all of it.
"""

from typing import Any

from bot.demo.kube.managed_fields import Path, Writer, applied, fields, owned
from bot.demo.kube.status import ApiError, Obj, error


def merged(document: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def server_side(live: Obj, config: Obj, writer: Writer, *, force: bool) -> Obj:
    """The live object with the configuration applied. Raises 409 when another manager owns a field that would
    change.
    """
    wanted = fields(config)
    present = fields(live)
    entries = live["metadata"].get("managedFields", [])
    conflicts = _conflicts(
        entries, writer, {path for path in wanted if wanted[path] != present.get(path, wanted[path])}
    )
    if conflicts and not force:
        raise _conflict(conflicts)
    result = merged(live, {key: value for key, value in config.items() if key not in ("apiVersion", "status")})
    for path in _abandoned(entries, writer, set(wanted)):
        result = _without(result, path)
    forced = {path for _, _, path in conflicts}
    managed = applied(entries, writer, set(wanted), forced)
    return {**result, "metadata": {**result["metadata"], "managedFields": managed}}


def _conflicts(entries: list[Obj], writer: Writer, changing: set[Path]) -> list[tuple[str, str, Path]]:
    """(manager, version, path) for every field that changes and belongs to somebody else."""
    return [
        (entry["manager"], entry["apiVersion"], path)
        for entry in entries
        if not writer.owns(entry)
        for path in sorted(owned(entry) & changing)
    ]


def _abandoned(entries: list[Obj], writer: Writer, wanted: set[Path]) -> list[Path]:
    """Fields the writer applied before, no longer asks for, and shares with nobody."""
    mine = {path for entry in entries if writer.owns(entry) for path in owned(entry)}
    theirs = {path for entry in entries if not writer.owns(entry) for path in owned(entry)}
    return sorted(mine - wanted - theirs, key=len, reverse=True)


def _without(obj: Obj, path: Path) -> Obj:
    name = path[0].removeprefix("f:")
    if name not in obj:
        return obj
    if len(path) == 1:
        return {key: value for key, value in obj.items() if key != name}
    if not isinstance(obj[name], dict):
        return obj
    return {**obj, name: _without(obj[name], path[1:])}


def _conflict(conflicts: list[tuple[str, str, Path]]) -> ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{manager}" using {version}',
            "field": _dotted(path),
        }
        for manager, version, path in conflicts
    ]
    if len(causes) == 1:
        text = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = "".join(f"\n- {cause['message']}: {cause['field']}" for cause in causes)
        text = f"Apply failed with {len(causes)} conflicts:{lines}"
    return error(409, "Conflict", text, {"causes": causes})


def _dotted(path: Path) -> str:
    return "".join(f".{part.removeprefix('f:')}" for part in path)
