"""Numbers that somebody else changes while a loan is in force: hands, Argo CD, Helm."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.marks import case
from tests.support.stage import LENT, NOMINAL, CaseStage, Pair

ARGO = {"argocd.argoproj.io/tracking-id": "queues:kueue.x-k8s.io/ClusterQueue:/queue"}
ARGO_BY_LABEL = "argocd.argoproj.io/instance"
FLUX_HELM = {"helm.toolkit.fluxcd.io/name": "queues", "helm.toolkit.fluxcd.io/namespace": "flux-system"}
HELM = {"app.kubernetes.io/managed-by": "Helm"}
RELEASE = {"meta.helm.sh/release-name": "kueue-queues", "meta.helm.sh/release-namespace": "kueue"}
FLUX = {"kustomize.toolkit.fluxcd.io/name": "queues", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(24) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


@case("QUO-03")
@pytest.mark.parametrize(
    ("live", "answer", "during", "after"),
    [
        pytest.param(10, "base", 14, 10, id="10 is the new base"),
        pytest.param(14, "included", 14, 10, id="14 includes the loan"),
        pytest.param(20, "base", 24, 20, id="a larger base"),
        pytest.param(13, "restore", 12, 8, id="not wanted"),
        pytest.param(6, "base", 10, 6, id="a smaller base"),
        pytest.param(9, "included", 9, 5, id="9 includes the loan"),
        pytest.param(18, "included", 18, 14, id="18 includes the loan"),
        pytest.param(5, "restore", 12, 8, id="too low and not wanted"),
    ],
)
def test_a_changed_base_is_asked_about_and_kept(
    stage: CaseStage, pair: Pair, live: int, answer: str, during: int, after: int
) -> None:
    stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    stage.kube.hand_edit(pair.borrower, "a100", nominal=live)
    question = stage.channel_says("gpu-platform", f"{pair.borrower} a100 is {live}, expected 12")
    assert stage.nominal(pair.borrower) == live

    stage.slack.press(stage.people["ada"], question, f"gpuq_drift_{answer}")
    stage.becomes(**{pair.borrower: during})
    stage.clock.move(timedelta(days=2))
    stage.becomes(**{pair.borrower: after})
    if answer != "restore":
        assert NOMINAL not in stage.nominals_of(pair.borrower)[1:], "what the base was once is never written again"


@case("QUO-03")
@pytest.mark.parametrize(
    ("live", "answer", "after"),
    [(10, "base", 10), (14, "base", 14), (14, "included", 10), (9, "base", 9), (13, "restore", 8)],
)
def test_without_an_answer_it_is_left_alone_at_the_end_too(
    stage: CaseStage, pair: Pair, live: int, answer: str, after: int
) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    stage.kube.hand_edit(pair.borrower, "a100", nominal=live)
    stage.channel_says("gpu-platform", f"{pair.borrower} a100 is {live}, expected 12")
    stage.clock.move(timedelta(days=2, minutes=1))

    question = stage.channel_says("gpu-platform", f"Q-{loan.id} ended; quota left at {live}")
    stage.card_says(loan.id, f"quota left at {live}, because it is not clear what {live} means")
    assert stage.nominals_of(pair.borrower) == [NOMINAL, 12, live]
    stage.slack.press(stage.people["ada"], question, f"gpuq_drift_{answer}")
    stage.becomes(**{pair.borrower: after, pair.lender: LENT})
    stage.hears(pair.asker, "Ended: 4 a100", f"Quota of {pair.borrower} is {after} again")


@pytest.mark.parametrize(
    ("labels", "annotations", "tool", "manager"),
    [
        pytest.param({}, ARGO, "Argo CD", "argocd-controller", marks=case("QUO-04")),
        pytest.param({ARGO_BY_LABEL: "queues"}, {}, "Argo CD", "argocd-controller", marks=case("QUO-04")),
        pytest.param({}, FLUX, "Flux", "kustomize-controller", marks=case("QUO-04")),
        pytest.param(FLUX_HELM, {}, "Flux", "helm-controller", marks=case("QUO-04")),
        pytest.param(HELM, RELEASE, "Helm", "helm", marks=case("QUO-05")),
        pytest.param(HELM, {}, "Helm", "helm", marks=case("QUO-05")),
        pytest.param({}, RELEASE, "Helm", "helm", marks=case("QUO-05")),
        pytest.param(
            HELM | {"helm.sh/chart": "kueue-queues-1.2.0"}, RELEASE, "Helm", "Go-http-client", marks=case("QUO-05")
        ),
    ],
)
def test_what_a_tool_reverts_is_said_once_and_not_fought(
    stage: CaseStage, pair: Pair, labels: dict[str, str], annotations: dict[str, str], tool: str, manager: str
) -> None:
    """Named on the card before approval; reported as not in force after the revert; left alone from then on."""
    body = {"metadata": {"labels": labels, "annotations": annotations}}
    where = stage.kube.path("clusterqueues", "", pair.borrower)
    stage.kube.request("PATCH", where, body, content_type="application/merge-patch+json")
    number = stage.asks(pair.asker, f"4 from {pair.lender} for 2d because paper").id
    stage.card_says(number, tool, pair.borrower)
    stage.approved(number)
    stage.in_force(number)
    stage.kube.gitops_revert(pair.borrower, manager=manager)

    question = stage.channel_says("gpu-platform", f"{pair.borrower} a100 is 8, expected 12")
    assert f"Changed by {manager}" in stage.text(question)
    assert f"{tool} owns this queue" in stage.text(question)
    stage.hears(pair.asker, "4 a100 not in force since", f"{manager} set {pair.borrower} back to 8")
    stage.card_says(number, "Not in force since")
    before = len(stage.kube.history)
    stage.clock.move(timedelta(hours=3))
    stage.lent("mira", "1 from nlp for 2h because another look at the cluster")
    own = [one for one in stage.kube.history if one.name == pair.borrower and one.manager == "gpu-quota-bot"]
    assert own, "the loan was written"
    assert not [one for one in own if one in stage.kube.history[before:]], (
        "nothing was written to the queue that is in question"
    )
    assert stage.nominals_of(pair.borrower) == [8, 12, 8]
    assert stage.count("gpu-platform", f"{pair.borrower} a100 is 8") == 1
    assert stage.count_dms(pair.asker, "not in force since") == 1

    stage.slack.press(stage.people["ada"], question, "gpuq_drift_restore")
    stage.becomes(**{pair.borrower: 12})
    stage.card_says(number, "In force since")
