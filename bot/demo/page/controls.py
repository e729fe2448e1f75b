"""The controls of the strip: what the world outside Slack does. Each is a model of what the page sends and a function.

They raise LookupError or the cluster's `Refused` where it cannot be done.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.demo.page.outages import Outages
from bot.demo.page.scene import Scene
from bot.demo.page.tempo import Speed, Tempo

Json = dict[str, Any]
PAST = timedelta(seconds=2)
"""How far behind the end of a loan the clock jumps."""
HIGHER = 100
"""How much a priority is raised by; an urgent job has as much."""


class Control(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Job(Control):
    queue: str
    gpus: Annotated[int, Field(ge=1, le=64)]
    urgent: bool = False


class Finish(Control):
    queue: str
    job: str


class Raise(Control):
    """A job's priority."""

    queue: str
    job: str


class Cordon(Control):
    node: str
    undo: bool = False


class Faster(Control):
    speed: Speed


class Quota(Control):
    queue: str
    nominal: Annotated[int, Field(ge=0, le=999)]


class Jump(Control):
    """To the end of the loan that ends next, or so many minutes before it."""

    before: Annotated[int, Field(ge=0, le=100_000)] = 0


class Outage(Control):
    what: Literal["slack", "api"]


class Controls:
    """Of one run; numbers the jobs it submits."""

    def __init__(self, scene: Scene, outages: Outages, tempo: Tempo) -> None:
        self._scene = scene
        self._outages = outages
        self._tempo = tempo
        self._numbers = count(1)

    def job(self, control: Job) -> Json:
        namespace, local_queue = self._local_queue(control.queue)
        name = f"{control.queue}-job-{next(self._numbers)}"
        priority = HIGHER if control.urgent else 0
        self._scene.kube.submit_job(namespace, name, local_queue, control.gpus, priority=priority)
        self._scene.kube.reconcile()
        return {"said": f"{name} submitted: {control.gpus} {self._scene.flavor}"}

    def finish(self, control: Finish) -> Json:
        namespace, _ = self._local_queue(control.queue)
        try:
            self._scene.kube.finish(namespace, control.job)
        except KeyError:
            raise LookupError(f"no job {control.job}") from None
        self._scene.kube.reconcile()
        return {"said": f"{control.job} finished"}

    def raise_priority(self, control: Raise) -> Json:
        namespace, _ = self._local_queue(control.queue)
        try:
            priority = self._scene.kube.raise_priority(namespace, control.job, HIGHER)
        except KeyError:
            raise LookupError(f"no job {control.job}") from None
        self._scene.kube.reconcile()
        return {"said": f"kubectl edit: the priority of {control.job} is {priority}"}

    def cordon(self, control: Cordon) -> Json:
        self._scene.kube.cordon(control.node, undo=control.undo)
        self._scene.kube.reconcile()
        return {"said": f"kubectl {'uncordon' if control.undo else 'cordon'} {control.node}"}

    def speed(self, control: Faster) -> Json:
        self._tempo.go(control.speed)
        told = {1: "A second is a second again", 60: "A second is a minute now", 3600: "A second is an hour now"}
        return {"said": told[control.speed]}

    def quota(self, control: Quota) -> Json:
        self._local_queue(control.queue)
        self._scene.kube.hand_edit(control.queue, self._scene.flavor, nominal=control.nominal)
        self._scene.kube.reconcile()
        return {"said": f"kubectl edit: nominalQuota of {control.queue} is {control.nominal}"}

    def jump(self, control: Jump) -> Json:
        end = self._scene.next_end()
        if end is None:
            raise LookupError("no loan is in force, so there is no end to jump to")
        ahead = end.at - timedelta(minutes=control.before) - self._scene.now() + PAST
        if ahead > timedelta(0):
            self._scene.move(ahead)
        place = f"{control.before} min before" if control.before else "at"
        return {"said": f"The clock stands {place} the end of {end.name}"}

    def outage(self, control: Outage) -> Json:
        self._outages.begin(control.what)
        return {
            "said": "Slack is away for a while" if control.what == "slack" else "The API server is away for a while"
        }

    def _local_queue(self, queue: str) -> tuple[str, str]:
        if queue not in self._scene.local_queues:
            raise LookupError("no such queue")
        return self._scene.local_queues[queue]


CONTROLS: Mapping[str, tuple[type[Control], Callable[[Controls, Any], Json]]] = {
    "job": (Job, Controls.job),
    "finish": (Finish, Controls.finish),
    "raise": (Raise, Controls.raise_priority),
    "cordon": (Cordon, Controls.cordon),
    "speed": (Faster, Controls.speed),
    "quota": (Quota, Controls.quota),
    "jump": (Jump, Controls.jump),
    "outage": (Outage, Controls.outage),
}
