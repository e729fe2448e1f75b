"""Others may write a queue in the version of Kueue's API that the bot does not speak; Kueue converts where it has both.

Where there is one version only, the other is not found, and nothing is written.
"""

from bot.core.convergence.facts import AnswerKind
from bot.core.kueue import FlavorResource
from bot.core.loans import LoanKind
from tests.cluster.api import APPLY, JSON_PATCH, Obj, condition
from tests.cluster.places import GROUP
from tests.cluster.recorder import Recorder
from tests.cluster.replica import Installation
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually

QUOTA = "/spec/resourceGroups/0/flavors/0/resources/0"


def _queues(site: Site) -> str:
    return f"/apis/{GROUP}/{site.other_version}/clusterqueues"


def _manifest(site: Site, name: str, nominal: str) -> Obj:
    entry = {"name": GPU, "nominalQuota": nominal, "borrowingLimit": "2"}
    groups = [{"coveredResources": [GPU], "flavors": [{"name": site.flavor(), "resources": [entry]}]}]
    spec = {site.other_cohort_field: site.cohort, "namespaceSelector": {}, "resourceGroups": groups}
    return {**site.named("clusterqueues", name, {"spec": spec}), "apiVersion": f"{GROUP}/{site.other_version}"}


def test_a_queue_of_the_other_version_is_read_the_same(site: Site) -> None:
    name = site.name("older")
    manifest = _manifest(site, name, "8")
    if not site.converts:
        assert site.api.request("POST", _queues(site), manifest).status == 404
        return
    site.create(_queues(site), manifest)
    eventually("active", lambda: condition(site.get_queue(name), "Active") == "True")
    seen = site.bot().read().queues[name]
    quota = seen.quotas[FlavorResource(site.flavor(), GPU)]
    assert (seen.cohort, quota.nominal, quota.borrowing_limit) == (site.cohort, 8, 2)


def test_a_number_of_the_bots_is_the_same_in_the_other_version(site: Site, bot: Installation) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    reply = site.api.request("GET", f"{_queues(site)}/{borrower}")
    if not site.converts:
        assert reply.status == 404
        return
    assert reply.body["spec"]["resourceGroups"] == site.get_queue(borrower)["spec"]["resourceGroups"]
    assert reply.body["metadata"]["annotations"] == site.get_queue(borrower)["metadata"]["annotations"]


def test_an_apply_in_the_other_version_is_asked_about_and_put_back(site: Site, bot: Installation) -> None:
    """What a GitOps tool with older manifests does in the middle of a loan."""
    lender, borrower = site.queue("lender", 8, borrowingLimit="2"), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.first.converge()
    query = {"fieldManager": "argocd-controller", "force": "true"}
    path = f"{_queues(site)}/{lender}"
    reply = site.api.request("PATCH", path, _manifest(site, lender, "8"), APPLY, query)
    if not site.converts:
        assert reply.status == 404
        return
    assert reply.status == 200, str(reply)
    seen = Recorder(site)
    bot.first.converge()
    question = bot.record(lender).question
    assert question is not None
    assert (question.live, question.manager) == (8, "argocd-controller")
    bot.answer(lender, AnswerKind.PUT_BACK)
    assert [site.quota(queue)["nominalQuota"] for queue in (lender, borrower)] == ["4", "8"]
    assert max(seen.sums()) == 16


def test_a_patch_in_the_other_version_is_validated_as_in_this_one(site: Site) -> None:
    queue = site.queue("held", 8, lendingLimit="6")
    body = [{"op": "replace", "path": f"{QUOTA}/nominalQuota", "value": "5"}]
    reply = site.api.request("PATCH", f"{_queues(site)}/{queue}", body, JSON_PATCH)
    if not site.converts:
        assert reply.status == 404
        return
    assert reply.status == 403, str(reply)
    assert "must be less than or equal to the nominalQuota" in reply.message
