"""A team with a queue and a ResourceQuota: both go up and down with its loans, and what is wrong is said once."""

from typing import TYPE_CHECKING, Any

import pytest

from bot.core.loans import LoanKind
from bot.demo.kube.rbac import Rule
from bot.flows.submit_request import Submitted, submit_request
from tests.support import quota
from tests.support.fakes.cluster import TOKEN

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

NAMESPACE, NAME = "vision-train", "gpu"
PATH = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/{NAME}"
REQUESTS, LIMITS = f"requests.{quota.GPU}", f"limits.{quota.GPU}"
LISTS = Rule(("list",), ("clusterqueues", "cohorts", "localqueues", "workloads"))
JSON_PATCH = {"content-type": "application/json-patch+json"}


@pytest.fixture
def town(bench: "Bench") -> "Bench":
    """Vision's policy names a ResourceQuota of 16 GPUs."""
    changed = quota.documents()
    vision = changed["teams.yaml"]["teams"]["vision"]
    vision |= {"namespaces": [NAMESPACE], "resource_quota": {"namespace": NAMESPACE, "name": NAME}}
    changed["approvals.yaml"]["kinds"] = ["borrow", "transfer", "extra"]
    bench.policy = quota.policy(changed)
    bench.kube.add("namespaces", NAMESPACE)
    bench.kube.add("resourcequotas", NAME, {"spec": {"hard": {REQUESTS: "16"}}}, NAMESPACE)
    bench.kube.reconcile()
    return bench


def _live(town: "Bench") -> Any:
    return town.kube.cluster.get("resourcequotas", NAMESPACE, NAME)


def _hard(town: "Bench") -> int:
    return int(_live(town)["spec"]["hard"][REQUESTS])


def _edit(town: "Bench", value: str | None, key: str = REQUESTS) -> None:
    path = f"/spec/hard/{key.replace('/', '~1')}"
    body = [{"op": "add", "path": path, "value": value}] if value else [{"op": "remove", "path": path}]
    status, _, answer = town.kube.handle("PATCH", PATH, {"fieldManager": "kubectl-edit"}, JSON_PATCH, body)
    assert status == 200, answer


def _platform(town: "Bench") -> list[str]:
    town.deliver_all()
    return town.texts("C0PLATFORM")


def _card(town: "Bench") -> str:
    town.deliver_all()
    return str(town.posted("C0APPROVALS")[0].message.blocks)


def _rights(town: "Bench", *verbs: str) -> None:
    rules = (LISTS, Rule(("patch",), ("clusterqueues",)), Rule(verbs, ("resourcequotas",)))
    town.kube.access.grant(TOKEN, "bot", rules if verbs else rules[:2])


@pytest.mark.parametrize(
    "ask", [quota.transfer(8), quota.ask(8), quota.ask(8, kind=LoanKind.EXTRA)], ids=lambda a: a.kind
)
def test_the_quota_goes_up_and_down_with_the_loan(town: "Bench", ask: Any) -> None:
    town.approved(ask)
    town.converge()
    assert _hard(town) == 24
    assert "ResourceQuota" in _card(town)
    assert "16 -> 24" in _card(town)
    town.pass_time(days=4)
    town.converge()
    assert (_hard(town), town.number("vision")) == (16, 16)
    assert _platform(town) == []


def test_a_loan_is_in_force_when_the_quota_controller_has_followed(town: "Bench") -> None:
    number = town.approved(quota.ask(8, kind=LoanKind.EXTRA))
    town.kube.kueue_up = True
    town.converge()
    with town.world.store.read() as uow:
        loan = uow.loans.get(number)
    assert loan is not None
    assert loan.in_force_at is not None
    assert _live(town)["status"]["hard"] == {REQUESTS: "24"}


def test_an_edit_by_hand_is_asked_about_once_and_the_loan_stays_in_force(town: "Bench") -> None:
    town.approved(quota.transfer(8))
    town.converge()
    _edit(town, "40")
    for _ in range(3):
        town.converge()
    (text,) = _platform(town)
    assert text == f"ResourceQuota {NAMESPACE}/{NAME} {REQUESTS} is 40, expected 24: someone changed it outside the bot"
    assert (_hard(town), town.number("vision")) == (40, 24)
    assert "left alone until an admin says" in _card(town)


def test_a_base_that_was_changed_before_the_loan_is_the_base(town: "Bench") -> None:
    _edit(town, "20")
    town.approved(quota.transfer(8))
    town.converge()
    assert _hard(town) == 28
    town.pass_time(days=4)
    town.converge()
    assert _hard(town) == 20


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda town: town.kube.handle("DELETE", PATH), "is not there"),
        (lambda town: _edit(town, None), f"has no {REQUESTS}"),
    ],
    ids=["no object", "no key"],
)
def test_what_is_missing_is_told_once_and_the_loan_goes_on(town: "Bench", break_it: Any, words: str) -> None:
    break_it(town)
    town.approved(quota.transfer(8))
    for _ in range(3):
        town.converge()
    (text,) = _platform(town)
    assert text.startswith(f"ResourceQuota {NAMESPACE}/{NAME} {words}")
    assert (town.number("nlp"), town.number("vision")) == (16, 24)
    assert "is not raised, pods above it are refused: " in _card(town)


def test_a_namespace_that_is_deleted_during_the_loan_leaves_nothing_to_return(town: "Bench") -> None:
    number = town.approved(quota.transfer(8))
    town.converge()
    town.kube.handle("DELETE", PATH)
    town.kube.handle("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
    town.converge()
    assert len(_platform(town)) == 1
    town.pass_time(days=4)
    town.converge()
    assert (town.number("nlp"), town.number("vision")) == (24, 16)
    with town.world.store.read() as uow:
        loan = uow.loans.get(number)
    assert loan is not None
    assert loan.state == "closed"


@pytest.mark.parametrize("key", [LIMITS, quota.GPU])
def test_a_key_without_effect_is_told_once(town: "Bench", key: str) -> None:
    _edit(town, "4", key)
    town.approved(quota.transfer(8))
    for _ in range(3):
        town.converge()
    (text,) = _platform(town)
    assert text == f"ResourceQuota {NAMESPACE}/{NAME}: {key} has no effect"
    assert _live(town)["spec"]["hard"] == {REQUESTS: "24", key: "4"}


@pytest.mark.parametrize(
    ("verbs", "words"),
    [((), "The bot may not get resourcequotas since "), (("get",), f"The bot may not write ResourceQuota {NAMESPACE}")],
    ids=["get", "patch"],
)
def test_a_missing_right_is_told_once_and_the_loan_goes_on(town: "Bench", verbs: tuple[str, ...], words: str) -> None:
    _rights(town, *verbs)
    town.approved(quota.transfer(8))
    for _ in range(3):
        town.converge()
    (text,) = _platform(town)
    assert text.startswith(words)
    assert ("Loans: " in str(town.posted("C0PLATFORM")[0].message.blocks)) is ("patch" not in verbs and bool(verbs))
    assert (town.number("nlp"), town.number("vision"), _hard(town)) == (16, 24, 16)
    assert "is not raised, pods above it are refused: " in _card(town)


def test_a_quota_that_another_policy_names_no_more_gets_its_number_back(town: "Bench") -> None:
    town.approved(quota.transfer(8))
    town.converge()
    assert _hard(town) == 24
    town.policy = quota.policy()
    town.converge()
    assert (_hard(town), town.number("vision")) == (16, 24)


def _submit(town: "Bench") -> tuple[str, ...]:
    draft = quota.draft(8, kind=LoanKind.TRANSFER, lender="nlp", flavor="a100")
    submitted = submit_request(town.world, draft, "a", town.arrival("a"))
    assert isinstance(submitted, Submitted)
    return submitted.notes


def test_the_card_says_what_becomes_of_the_quota_before_anybody_approves(town: "Bench") -> None:
    assert f"ResourceQuota {NAMESPACE}/{NAME} goes 16 -> 24 with it" in _submit(town)
    assert _hard(town) == 16


def test_the_card_says_what_is_wrong_with_the_quota(town: "Bench") -> None:
    _edit(town, "4", LIMITS)
    assert any("limits nothing" in note for note in _submit(town))


def test_the_card_says_which_tool_owns_the_quota(town: "Bench") -> None:
    body = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}}
    town.kube.handle("PATCH", PATH, {}, {"content-type": "application/merge-patch+json"}, body)
    assert any("is managed by Helm: it may set the number back" in note for note in _submit(town))


@pytest.mark.parametrize(("verbs", "verb"), [((), "get"), (("get",), "patch")])
def test_the_card_says_which_right_is_missing(town: "Bench", verbs: tuple[str, ...], verb: str) -> None:
    _rights(town, *verbs)
    assert any(note.endswith(f"Admins: allow {verb} on it") for note in _submit(town))


def test_a_team_without_a_quota_has_none_read(bench: "Bench") -> None:
    """No right is needed where no policy names one."""
    bench.kube.access.grant(TOKEN, "bot", (LISTS, Rule(("patch",), ("clusterqueues",))))
    bench.approved(quota.transfer(8))
    bench.converge()
    bench.deliver_all()
    assert bench.texts("C0PLATFORM") == []
    assert bench.number("vision") == 24
