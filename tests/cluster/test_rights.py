"""The least that the bot must be allowed, and what people read when a piece of it is missing."""

from pathlib import Path

import pytest

from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.errors import NoRight, Rejected
from bot.core.kueue import QueueSnapshot
from bot.core.loans import LoanKind
from tests.cluster.api import Api
from tests.cluster.landing import land
from tests.cluster.places import BOT, Rights
from tests.cluster.replica import Installation
from tests.cluster.site import GPU, Site

LISTS = ("clusterqueues", "cohorts", "localqueues", "workloads")


def _without(resource: str, verb: str) -> Rights:
    left = {name: tuple(one for one in verbs if (name, one) != (resource, verb)) for name, verbs in BOT.items()}
    return {name: verbs for name, verbs in left.items() if verbs}


def _to_nine(site: Site, queue: QueueSnapshot) -> QueueChange:
    return QueueChange(queue, {FieldKey("default", queue.name, site.flavor(), GPU, FieldName.NOMINAL): 9})


def test_these_rights_are_enough(site: Site) -> None:
    queue, bot = site.queue("enough", 8), site.bot()
    bot.workloads({queue})
    for dry_run in (True, False):
        _, result = land(bot, lambda: _to_nine(site, bot.read().queues[queue]), dry_run=dry_run)
        assert result.outcome is PatchOutcome.APPLIED


@pytest.mark.parametrize("resource", LISTS)
def test_a_missing_list_is_said_with_the_verb_and_the_resource(site: Site, resource: str) -> None:
    bot = site.bot(_without(resource, "list"))
    with pytest.raises(Rejected) as told:
        bot.read()
        bot.workloads({"any"})
    assert (told.value.what, told.value.code) == ("API server", "no right")
    assert f'cannot list resource "{resource}" in API group "kueue.x-k8s.io" at the cluster scope' in told.value.detail


@pytest.mark.parametrize(("resource", "group"), [("resourceflavors", "kueue.x-k8s.io"), ("nodes", "")])
def test_a_missing_list_of_the_hardware_is_said_as_well(site: Site, resource: str, group: str) -> None:
    bot = site.bot(_without(resource, "list"))
    with pytest.raises(NoRight) as told:
        bot.hardware(GPU)
    assert f'cannot list resource "{resource}" in API group "{group}" at the cluster scope' in told.value.words


def test_a_missing_patch_is_no_refusal_by_kueue(site: Site) -> None:
    """Both are 403; this one is for who gives rights, the other for who chose the number."""
    queue, bot = site.queue("shut", 8), site.bot(_without("clusterqueues", "patch"))
    change = _to_nine(site, bot.read().queues[queue])
    for dry_run in (True, False):
        result = bot.patch(change, dry_run=dry_run)
        assert result.outcome is PatchOutcome.FORBIDDEN
        assert 'cannot patch resource "clusterqueues" in API group "kueue.x-k8s.io"' in result.words
    assert site.quota(queue)["nominalQuota"] == "8"


def test_the_platform_channel_is_told_which_right_is_missing(site: Site, bot: Installation) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.release(bot.first)
    mute = bot.replica("mute", _without("clusterqueues", "patch"))
    assert mute.lead()
    mute.converge()
    with bot.store.read() as uow:
        notice = uow.notices.latest("missing_right:")
    assert notice is not None
    assert 'cannot patch resource "clusterqueues"' in notice.draft.facts["words"]
    assert [site.quota(queue)["nominalQuota"] for queue in (lender, borrower)] == ["8", "4"]


@pytest.mark.parametrize("resource", ["clusterqueues", "cohorts"])
def test_the_platform_channel_is_told_what_the_bot_may_not_list(site: Site, bot: Installation, resource: str) -> None:
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
    bot.release(bot.first)
    blind = bot.replica("blind", _without(resource, "list"))
    assert blind.lead()
    blind.converge()
    with bot.store.read() as uow:
        notice = uow.notices.latest("cannot_read:")
        wrong = uow.notices.latest("missing_right:")
    assert notice is not None
    assert (notice.draft.facts["verb"], notice.draft.facts["resource"]) == ("list", f"{resource}.kueue.x-k8s.io")
    assert f'cannot list resource "{resource}"' in notice.draft.facts["words"]
    assert wrong is None, "it is not the right to write that is missing"


def test_nothing_else_is_allowed(site: Site) -> None:
    """The role is the least: the bot can neither make nor delete a queue, and change no pod and no Job."""
    queue = site.queue("kept", 8)
    user = Api(site.user(BOT))
    queues = f"{site.kueue}/clusterqueues"
    answers = [
        user.request("DELETE", f"{queues}/{queue}").status,
        user.request("POST", queues, site.named("clusterqueues", site.name("made"), site.queue_spec(1))).status,
        user.request("DELETE", f"/api/v1/namespaces/{site.namespace}/pods/any").status,
        user.request("DELETE", f"/apis/batch/v1/namespaces/{site.namespace}/jobs/any").status,
    ]
    user.close()
    assert answers == [403, 403, 403, 403]


def test_an_unknown_token_is_said_to_be_one(site: Site, tmp_path: Path) -> None:
    stranger = Api(site.api.as_token("nobody-knows-it", tmp_path / "kubeconfig"))
    reply = stranger.request("GET", f"{site.kueue}/clusterqueues")
    stranger.close()
    assert (reply.status, reply.message) == (401, "Unauthorized")
