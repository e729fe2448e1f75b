"""The ResourceQuota of one team, and what others do to it. Steps of a history, as in steps.py."""

from typing import Any

from bot.core.loans import LoanKind
from tests.histories.harness import people
from tests.histories.harness.steps import ANNOTATION, MANAGERS, Step, approve_one, ask, others
from tests.histories.harness.town import Town

TEAM, NAMESPACE, NAME = people.WITH_QUOTA
KEY = f"requests.{people.GPU}"
_PATH = "/spec/hard/" + KEY.replace("/", "~1")
JSON_PATCH = "application/json-patch+json"


def a_quota(town: Town) -> str:
    """The path of the ResourceQuota, with something on loan beside it; one that was deleted or emptied is put back."""
    if town.random.random() < 0.5:
        ask(town, LoanKind.TRANSFER, town.random.choice([1, 2]), at_once=True)
        approve_one(town, presses=4)
        town.tend()
    live = town.sim.cluster.get("resourcequotas", NAMESPACE, NAME)
    if live is None:
        others(town, town.add_quota)
    elif KEY not in live["spec"]["hard"]:
        _patch(town, {"op": "add", "path": _PATH, "value": str(town.random.choice([6, 9]))})
    return town.sim.path("resourcequotas", NAMESPACE, NAME)


def _patch(town: Town, *operations: dict[str, Any]) -> None:
    path, manager = town.sim.path("resourcequotas", NAMESPACE, NAME), town.random.choice(MANAGERS)
    others(town, lambda: town.sim.request("PATCH", path, list(operations), manager=manager, content_type=JSON_PATCH))


def _moved(town: Town) -> dict[str, Any]:
    live = town.sim.cluster.get("resourcequotas", NAMESPACE, NAME)
    assert live is not None
    number = max(0, int(live["spec"]["hard"][KEY]) + town.random.choice([-3, -2, -1, 1, 2, 3]))
    return {"op": "add", "path": _PATH, "value": str(number)}


def edit_quota(town: Town) -> None:
    """Somebody types another number; sometimes the annotation goes with it."""
    a_quota(town)
    live = town.sim.cluster.get("resourcequotas", NAMESPACE, NAME)
    if live is None or KEY not in live["spec"]["hard"]:
        return  # the API refused to put it back
    operations = [_moved(town)]
    if ANNOTATION in (live["metadata"].get("annotations") or {}) and town.random.random() < 0.3:
        operations.append({"op": "remove", "path": "/metadata/annotations/" + ANNOTATION.replace("/", "~1")})
    _patch(town, *operations)


def take_key_out(town: Town) -> None:
    """Nothing counts the team's GPUs any more, until somebody puts the key back."""
    a_quota(town)
    _patch(town, {"op": "remove", "path": _PATH})


def recreate_quota(town: Town) -> None:
    """Deleted, and back with its first number at once or when somebody needs it."""
    path = a_quota(town)
    others(town, lambda: town.sim.request("DELETE", path))
    if town.random.random() < 0.5:
        town.tend()
    if town.random.random() < 0.7:
        others(town, town.add_quota)


QUOTA_STEPS: dict[str, Step] = {
    "edit ResourceQuota": edit_quota,
    "take out its key": take_key_out,
    "re-create ResourceQuota": recreate_quota,
}
