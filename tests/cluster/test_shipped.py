"""policies/kubernetes does what it says: training yields and comes back, inference stays, quotas refuse."""

from dataclasses import replace

import pytest

from bot.core.readiness.judge import judge
from tests.cluster.api import MERGE_PATCH, Obj, Reply, condition, reason
from tests.cluster.places import REAL
from tests.cluster.shipped import A100, H100, Shipped
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually
from tests.support.shipped import the

ON_REAL_ONES = pytest.mark.parametrize("place", REAL, indirect=True)
INTERVAL = "gpu-quota-bot.io/checkpoint-interval"


@pytest.fixture
def shipped(site: Site) -> Shipped:
    """The folder for this Kueue, applied and in force."""
    made = Shipped(site)
    made.apply(made.base)
    made.until_active()
    return made


def test_everything_applies_and_once_more_changes_nothing(site: Site) -> None:
    shipped = Shipped(site)
    for folder in (shipped.base, "examples", *(["deny"] if shipped.base == "base" else [])):
        first, again = shipped.apply(folder), shipped.apply(folder)
        assert len(first) >= 9
        pairs = [
            (old, new) for old, new in zip(first, again, strict=True) if new["kind"] != "Job"
        ]  # Kueue writes it too
        changed = [new["metadata"]["name"] for old, new in pairs if old.get("spec") != new.get("spec")]
        assert changed == []


def test_training_never_preempts_inference(shipped: Shipped) -> None:
    """Not with all of its own quota idle, not by priority: what it asks for waits."""
    serving = [shipped.job(f"serve{n}", "inference", 8, H100, "inference") for n in range(2)]
    for one in serving:
        one.until_running()
    training = shipped.job("train", "nlp-train", 8, H100)
    training.until_waiting()
    assert [one.was_evicted() for one in serving] == [False, False]
    own = shipped.job("own", "nlp-train", 24, A100)
    own.until_running()
    assert not training.runs()
    assert [one.runs() for one in serving] == [True, True]


def test_training_yields_what_it_borrowed_of_inference_and_comes_back(shipped: Shipped) -> None:
    training = shipped.job("train", "nlp-train", 12, H100)
    training.until_running()
    eventually("started", lambda: not training.suspended())
    serving = shipped.job("serve", "inference", 8, H100, "inference")
    serving.until_running()
    eventually("stopped", training.suspended)
    assert reason(training.workload(), "Preempted")[0] == "InCohortReclamation"
    assert not serving.was_evicted()
    serving.end()
    training.until_running()
    eventually("started again", lambda: not training.suspended())


def test_inference_finds_what_it_keeps_back_free_without_preempting_anybody(shipped: Shipped) -> None:
    training = shipped.job("train", "nlp-train", 12, H100)
    training.until_running()
    serving = shipped.job("serve", "inference", 4, H100, "inference")
    serving.until_running()
    assert training.runs()
    assert not training.was_evicted()


def test_a_team_gets_its_own_back_and_spare_work_of_a_queue_goes_first(shipped: Shipped) -> None:
    spare, borrowed = (
        shipped.job("spare", "vision-train", 10, A100, "training-spare"),
        shipped.job("more", "vision-train", 10, A100),
    )
    for one in (spare, borrowed):
        one.until_running()
    owners = [
        shipped.job("owner", "nlp-train", 24, A100),
        shipped.job("other", "robotics-sim", 8, A100, "training-spare"),
    ]
    for one in owners:
        one.until_running()
    eventually("the spare work stopped", spare.suspended)
    assert reason(spare.workload(), "Preempted")[0] == "InCohortReclamation"
    assert borrowed.runs(), "it is inside vision's own quota now"


def _refused(reply: Reply, shipped: Shipped, quota: str) -> str:
    """The numbers of a refusal by a quota."""
    assert reply.status == 403, reply
    words = shipped.site.unmarked(reply.message)
    _, _, numbers = words.partition(f"is forbidden: exceeded quota: {quota}, ")
    return numbers


def test_quotas_refuse_more_gpus_than_the_queue_can_ever_have(shipped: Shipped) -> None:
    like = the("Job", "train-example", folder="examples")
    pods = f"/api/v1/namespaces/{shipped.named('vision-train')}/pods"
    shipped.site.create(pods, shipped.pod("first", like, "vision-train", 32))
    key = f"requests.{GPU}"

    def second() -> str:
        reply = shipped.site.api.request("POST", pods, shipped.pod("second", like, "vision-train", 1))
        return _refused(reply, shipped, "gpu")

    assert second() == f"requested: {key}=1, used: {key}=32, limited: {key}=32"


def test_quotas_refuse_training_that_calls_itself_inference(shipped: Shipped) -> None:
    serving = the("Deployment", "serve-example", folder="examples")
    there, here = (f"/api/v1/namespaces/{shipped.named(name)}/pods" for name in ("nlp-train", "inference"))
    reply = shipped.site.api.request("POST", there, shipped.pod("sly", serving, "nlp-train", 1))
    assert _refused(reply, shipped, "no-high-priority") == "requested: pods=1, used: pods=0, limited: pods=0"
    shipped.site.create(here, shipped.pod("serve", serving, "inference", 1))
    training = the("Job", "train-example", folder="examples")
    shipped.site.create(there, shipped.pod("honest", training, "nlp-train", 1))


def _try(shipped: Shipped, namespace: str, priority: str, annotations: Obj) -> Reply:
    """Submit a Job as a dry run."""
    job = the("Job", "train-example", folder="examples")
    job["metadata"] |= {"namespace": namespace, "annotations": annotations}
    job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = priority
    body = shipped.renamed(job)
    body["metadata"]["name"] = shipped.site.name("tried")
    return shipped.site.api.request("POST", shipped.collection(body), body, query={"dryRun": "All"})


@ON_REAL_ONES
def test_a_job_that_does_not_say_how_often_it_saves_is_warned_about_first_and_refused_later(shipped: Shipped) -> None:
    """The simulator keeps the rule and does not judge by it."""

    def warned() -> str:
        reply = _try(shipped, "vision-train", "training", {})
        assert reply.status == 201
        return reply.warnings

    words = eventually("the rule in force", warned)
    assert "This Job can be preempted and does not say how often it saves a checkpoint." in words
    assert _try(shipped, "vision-train", "training", {INTERVAL: "30min"}).warnings == ""
    if shipped.base != "base":
        return
    shipped.apply("deny")
    eventually("the refusal in force", lambda: _try(shipped, "vision-train", "training", {}).status == 422)
    assert "or none if it may start again from the beginning." in _try(shipped, "nlp-train", "", {}).message
    for interval in ("30min", "none"):
        assert _try(shipped, "vision-train", "training-spare", {INTERVAL: interval}).status == 201
    assert _try(shipped, "inference", "inference", {}).status == 201
    sly = _try(shipped, "vision-train", "inference", {})
    assert sly.status == 422
    assert "The priority" in sly.message


@ON_REAL_ONES
def test_kueue_can_still_stop_and_start_a_job_from_before_the_rule(shipped: Shipped) -> None:
    shipped.apply("deny" if shipped.base == "base" else shipped.base)
    job = shipped.job("old", "nlp-train", 8, A100)
    job.until_running()
    path = f"/apis/batch/v1/namespaces/{shipped.named('nlp-train')}/jobs/{job.name}"
    shipped.site.api.must("PATCH", path, {"metadata": {"annotations": {INTERVAL: None}}}, MERGE_PATCH)
    workload = job.workload()
    assert workload is not None
    at = f"{shipped.site.kueue}/namespaces/{shipped.named('nlp-train')}/workloads/{workload['metadata']['name']}"
    shipped.site.api.must("PATCH", at, {"spec": {"active": False}}, MERGE_PATCH)
    eventually("stopped", job.suspended)


@ON_REAL_ONES
def test_on_a_full_node_inference_takes_the_place_of_training_and_training_of_nothing(shipped: Shipped) -> None:
    """kube-scheduler: spare work stays where training would need its place, since training preempts nobody."""
    site, mark = shipped.site, shipped.site.mark
    taint = {"key": "tests", "value": mark, "effect": "NoSchedule"}
    site.node("node", 8, {"tests": mark}, taints=[taint])
    here = {"nodeSelector": {"tests": mark}, "tolerations": [{**taint, "operator": "Equal"}]}
    training = the("Job", "train-example", folder="examples")
    spare = the("Job", "train-example", folder="examples")
    spare["spec"]["template"]["spec"]["priorityClassName"] = "training-spare"
    serving = the("Deployment", "serve-example", folder="examples")

    def submit(word: str, like: Obj, namespace: str) -> str:
        pods = f"/api/v1/namespaces/{shipped.named(namespace)}/pods"
        site.create(pods, shipped.pod(word, like, namespace, 8, terminationGracePeriodSeconds=0, **here))
        return f"{pods}/{site.name(word)}"

    first = submit("spare", spare, "nlp-train")
    eventually("bound", lambda: site.api.must("GET", first)["spec"].get("nodeName"))
    waiting = submit("train", training, "nlp-train")
    unplaced = eventually("told", lambda: _unplaced(site.api.must("GET", waiting)))
    assert "not eligible due to preemptionPolicy=Never" in unplaced
    urgent = submit("serve", serving, "inference")
    eventually("bound", lambda: site.api.must("GET", urgent)["spec"].get("nodeName"))
    assert site.api.try_get(first) is None or condition(site.api.try_get(first), "DisruptionTarget") == "True"


def _unplaced(pod: Obj) -> str:
    return reason(pod, "PodScheduled")[1] if condition(pod, "PodScheduled") == "False" else ""


def _found(shipped: Shipped) -> set[tuple[str, str]]:
    """(object, check) of what readiness finds in the namespaces of this test, with the rights that are shipped."""
    facts = shipped.site.bot().preemption_facts((GPU,))
    here = {shipped.named(name) for name in ("vision-train", "inference")}
    works = tuple(work for work in facts.works if work.namespace in here)
    assert facts.unread == ()
    assert {work.kind for work in works} == {"Job", "Deployment"}
    found = judge([replace(facts, works=works, stack=())]).findings
    return {(one.thing, one.check) for one in found if one.namespace}


def test_readiness_proves_from_live_objects_that_inference_stays_and_names_what_breaks_it(shipped: Shipped) -> None:
    shipped.apply("examples")
    serving = f"Deployment {shipped.named('inference')}/{shipped.named('serve-example')}"
    job = f"/apis/batch/v1/namespaces/{shipped.named('vision-train')}/jobs/{shipped.named('train-example')}"
    eventually("a Workload", lambda: shipped.site.workload_of(shipped.named("vision-train"), job.rpartition("/")[2]))
    assert _found(shipped) == set()
    shipped.site.edit(shipped.named("inference"), "borrowingLimit", "4")
    assert _found(shipped) == {(serving, "preemptible-borrows")}
