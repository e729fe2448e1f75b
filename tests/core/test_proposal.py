"""Completing a request against the live picture: what is filled in, asked and refused, in the interface's words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, CohortSnapshot, FlavorResource, Quota
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.policy import Policy
from bot.core.proposal import Proposal, propose
from bot.core.requests import Ask
from tests.support.quota import A100, GPU, NOW, ask, documents, draft, loan, picture, policy, queue, transfer

MIG = "nvidia.com/mig-1g.5gb"


def proposed(of: Draft, world: ClusterPicture | None = None, rules: Policy | None = None, **more: Any) -> Proposal:
    result = propose(of, world or picture(), rules or policy(), **more)
    assert isinstance(result, Proposal), result
    return result


def asked(of: Draft, world: ClusterPicture | None = None, rules: Policy | None = None, **more: Any) -> Question:
    result = propose(of, world or picture(), rules or policy(), **more)
    assert isinstance(result, Question), result
    return result


def refused(
    of: Draft, world: ClusterPicture | None = None, rules: Policy | None = None, **more: Any
) -> tuple[str, str | None]:
    with pytest.raises(Refused) as caught:
        propose(of, world or picture(), rules or policy(), **more)
    return caught.value.sentence, caught.value.field


def changed(name: str, **changes: Any) -> ClusterPicture:
    """The usual picture with one queue changed."""
    usual = picture()
    return replace(usual, queues={**usual.queues, name: replace(usual.queues[name], **changes)})


def lenders(**lenders: Any) -> Policy:
    files = documents()
    files["clusters.yaml"]["clusters"]["default"]["lenders"] = lenders
    return policy(files)


def _all_kinds() -> Policy:
    files = documents()
    files["approvals.yaml"]["kinds"] = [kind.value for kind in LoanKind]
    return policy(files)


class TestKind:
    def test_a_queue_with_a_limit_borrows(self) -> None:
        assert proposed(draft()).ask == ask(8)

    def test_from_a_lender_it_is_a_transfer(self) -> None:
        assert proposed(draft(lender="nlp")).ask == transfer(8)

    @pytest.mark.parametrize("kind", [None, LoanKind.BORROW])
    @pytest.mark.parametrize(("name", "free"), [("nlp", 4), ("vision", 4), ("robotics", 4)])
    def test_without_a_borrowing_limit_no_loan_is_needed(self, kind: LoanKind | None, name: str, free: int) -> None:
        world = changed(name, quotas={A100: Quota(picture().queues[name].quotas[A100].nominal)})
        assert refused(draft(kind=kind, team=name, queue=name), world) == (
            f"{name} may borrow without a limit already (no borrowingLimit). No loan is needed; {free} a100 free "
            "at this moment. To be safe from reclaim ask for a transfer.",
            AskField.KIND,
        )

    @pytest.mark.case("QUO-08")
    @pytest.mark.parametrize(
        ("said", "what"),
        [
            ({"kind": LoanKind.BORROW}, "it cannot borrow"),
            ({}, "it cannot borrow"),
            ({"kind": LoanKind.TRANSFER}, "no queue can lend to it"),
            ({"lender": "nlp"}, "no queue can lend to it"),
        ],
    )
    @pytest.mark.parametrize("amount", [1, 4, 16])
    def test_quo_08_without_cohort_nothing_can_be_borrowed(self, said: dict[str, Any], what: str, amount: int) -> None:
        world = changed("vision", cohort=None)
        words = f"vision is in no cohort, so {what}, and extra loans are off here."
        assert refused(draft(amount, **said), world) == (words, AskField.KIND)

    @pytest.mark.case("QUO-08")
    @pytest.mark.parametrize(
        ("said", "what"),
        [({"kind": LoanKind.BORROW}, "it cannot borrow"), ({"lender": "nlp"}, "no queue can lend to it")],
    )
    def test_quo_08_where_extra_loans_are_on_one_is_offered(self, said: dict[str, Any], what: str) -> None:
        words = f"vision is in no cohort, so {what}. An extra loan is possible: request 4 a100 as extra"
        alone = changed("vision", cohort=None)
        assert refused(draft(4, **said), alone, rules=_all_kinds()) == (words, AskField.KIND)

    def test_without_cohort_the_bot_proposes_an_extra_loan_and_says_why(self) -> None:
        made = proposed(draft(4), changed("vision", cohort=None), rules=_all_kinds())
        assert (made.ask.kind, made.ask.lender) == (LoanKind.EXTRA, None)
        assert made.notes == (
            "vision is in no cohort: it cannot borrow and nobody can lend to it, so this is an extra loan.",
        )

    def test_in_a_cohort_an_extra_loan_is_made_only_where_it_is_named(self) -> None:
        assert proposed(draft(4), rules=_all_kinds()).ask.kind is LoanKind.BORROW
        assert proposed(draft(4, kind=LoanKind.EXTRA), rules=_all_kinds()).ask.kind is LoanKind.EXTRA

    def test_an_extra_loan_has_no_lender(self) -> None:
        words = "An extra loan has no lender: it raises vision alone. Ask for a transfer from nlp."
        said = draft(4, kind=LoanKind.EXTRA, lender="nlp")
        assert refused(said, rules=_all_kinds()) == (words, AskField.LENDER)

    @pytest.mark.parametrize("cohort", [None, "gpu-pool"])
    def test_extra_loans_are_off(self, cohort: str | None) -> None:
        words = ("extra loans are off here.", AskField.KIND)
        assert refused(draft(kind=LoanKind.EXTRA), changed("vision", cohort=cohort)) == words

    @pytest.mark.parametrize(
        ("on", "said", "words"),
        [
            ("borrow", {"kind": LoanKind.TRANSFER}, "transfer loans are off here."),
            ("borrow", {"lender": "nlp"}, "transfer loans are off here."),
            ("transfer", {"kind": LoanKind.BORROW}, "borrow loans are off here."),
        ],
    )
    def test_a_kind_that_policy_turned_off(self, on: str, said: dict[str, Any], words: str) -> None:
        files = documents()
        files["approvals.yaml"]["kinds"] = [on]
        assert refused(draft(**said), rules=policy(files)) == (words, AskField.KIND)

    def test_where_only_transfers_are_on_the_bot_proposes_one(self) -> None:
        files = documents()
        files["approvals.yaml"]["kinds"] = ["transfer"]
        assert proposed(draft(), rules=policy(files)).ask == transfer(8)

    @pytest.mark.parametrize(
        "world",
        [
            picture(queue("nlp", 24, 4, lending=0), queue("vision", 16, 0, borrowing=4)),
            picture(queue("vision", 16, 0, borrowing=4)),
            picture(queue("nlp", 4, 0), queue("vision", 12, 0, borrowing=4)),
        ],
    )
    def test_a_borrow_that_brings_nothing_says_so(self, world: ClusterPicture) -> None:
        words = "The most vision can ever get is 16 a100: a higher borrowingLimit does not change that."
        assert words in proposed(draft(), world).notes

    def test_a_borrow_of_what_is_not_free_says_so(self) -> None:
        world = changed("nlp", reserved={A100: 24})
        assert proposed(draft(), world).notes == ("0 free at this moment. A transfer makes it certain.",)
        assert proposed(draft()).notes == ()

    def test_a_borrow_from_somebody_is_not_a_borrow(self) -> None:
        words = "A borrow has no lender: it takes what is free in gpu-pool. Ask for a transfer from nlp."
        assert refused(draft(kind=LoanKind.BORROW, lender="nlp")) == (words, AskField.LENDER)


class TestQueue:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"stop_policy": "Hold"}, "vision is stopped: quota would not help now. Ask the platform channel."),
            ({"stop_policy": "HoldAndDrain", "active": False}, "vision is stopped: quota would not help now."),
            ({"deleting": True}, "vision is being deleted: quota would not help now. Ask the platform channel."),
            ({"active": False}, "vision is not active: Kueue admits nothing there now. Ask the platform channel."),
            (
                {"quota_automation": "MultiKueue quota automation"},
                "vision's quota is written by Kueue itself (MultiKueue quota automation). The bot does not change it. "
                "Ask on the worker clusters' queues.",
            ),
            (
                {"quota_automation": "status.effectiveQuotas"},
                "vision's quota is written by Kueue itself (status.effectiveQuotas). The bot does not change it.",
            ),
            (
                {"quotas": {A100: Quota(16, 4, whole=False)}},
                "vision's quota of a100 is not a whole number in the cluster. The bot does not change it.",
            ),
        ],
    )
    def test_a_queue_that_quota_cannot_help_or_that_is_not_the_bots(self, changes: dict[str, Any], words: str) -> None:
        sentence, field = refused(draft(), changed("vision", **changes))
        assert sentence.startswith(words)
        assert field == AskField.QUEUE

    @pytest.mark.parametrize("name", ["visoin", "vision2", "gone"])
    def test_a_queue_that_is_not_in_the_cluster(self, name: str) -> None:
        near = "" if name == "gone" else " Near: vision."
        assert refused(draft(queue=name)) == (f"No queue {name} that you can see.{near}", AskField.QUEUE)

    @pytest.mark.case("SEC-05")
    @pytest.mark.parametrize("name", ["nlp", "robotics"])
    def test_sec_05_a_hidden_queue_is_not_there(self, name: str) -> None:
        hidden = refused(draft(queue=name), visible={"vision"})[0]
        missing = refused(draft(queue="x-none"), visible={"vision"})[0]
        assert hidden == missing.replace("x-none", name)

    def test_a_draft_without_a_place_is_a_mistake_of_the_caller(self) -> None:
        with pytest.raises(ValueError, match="no place"):
            propose(draft(queue=None), picture(), policy())


TWO_GROUPS = {
    FlavorResource("gpu-a40", GPU): Quota(4, 4),
    FlavorResource("gpu-a100", GPU): Quota(8, 4),
    FlavorResource("default", "memory"): Quota(2 * 2**40),
    FlavorResource("default", "github.com/fuse"): Quota(10_000),
}


class TestFlavor:
    @pytest.mark.case("QUO-12")
    @pytest.mark.parametrize("order", [1, -1])
    def test_quo_12_several_flavors_and_no_default_are_asked_for(self, order: int) -> None:
        quotas = dict(list(TWO_GROUPS.items())[::order])
        question = asked(draft(2), changed("vision", quotas=quotas))
        assert question.field == AskField.FLAVOR
        assert set(question.options) == {"gpu-a40", "gpu-a100"}
        assert question.sentence.startswith("Which flavor? vision lists gpu-a")

    @pytest.mark.case("QUO-12")
    @pytest.mark.parametrize(("by_queue", "flavor"), [({}, "gpu-a40"), ({"vision": "gpu-a100"}, "gpu-a100")])
    def test_quo_12_a_configured_default_is_taken(self, by_queue: dict[str, str], flavor: str) -> None:
        files = documents()
        files["clusters.yaml"]["clusters"]["default"].update(default_flavor="gpu-a40", default_flavors=by_queue)
        found = proposed(draft(2), changed("vision", quotas=TWO_GROUPS), policy(files)).ask
        assert (found.flavor, found.resource, found.amount) == (flavor, GPU, 2)

    @pytest.mark.case("QUO-12")
    @pytest.mark.parametrize("flavor", ["gpu-a40", "gpu-a100"])
    def test_quo_12_a_named_flavor_is_taken(self, flavor: str) -> None:
        assert proposed(draft(2, flavor=flavor), changed("vision", quotas=TWO_GROUPS)).ask.flavor == flavor

    @pytest.mark.case("QUO-12")
    def test_quo_12_resources_that_are_no_accelerators_are_never_offered(self) -> None:
        quotas = {FlavorResource("default", "memory"): Quota(1), FlavorResource("default", "cpu"): Quota(1)}
        assert refused(draft(2), changed("vision", quotas=quotas)) == ("vision lists no accelerator.", AskField.FLAVOR)
        only = {**quotas, A100: Quota(8, 4)}
        assert proposed(draft(2), changed("vision", quotas=only)).ask.resource == GPU

    @pytest.mark.case("QUO-15")
    @pytest.mark.parametrize(
        "said",
        [{"resource": MIG}, {"resource": "mig-1g.5gb"}, {"flavor": "mig-1g.5gb"}, {"flavor": "a100-mig"}],
    )
    def test_quo_15_mig_slices_are_found_by_flavor_or_resource(self, said: dict[str, str]) -> None:
        quotas = {A100: Quota(8, 4), FlavorResource("a100-mig", MIG): Quota(14, 7)}
        found = proposed(draft(7, **said), changed("vision", quotas=quotas)).ask
        assert (found.flavor, found.resource, found.amount) == ("a100-mig", MIG, 7)

    def test_a_flavor_with_two_accelerators_is_asked_about(self) -> None:
        quotas = {A100: Quota(8, 4), FlavorResource("a100", MIG): Quota(14, 7)}
        question = asked(draft(7), changed("vision", quotas=quotas))
        assert question.options == (GPU, MIG)
        assert question.sentence == f"Which resource? a100 of vision has {GPU} and {MIG}."

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            ({"flavor": "a10"}, "No flavor a10. Near: a100. vision lists: a100."),
            ({"flavor": "tpu"}, "No flavor tpu. vision lists: a100."),
            ({"flavor": "h100"}, "vision does not list h100. It lists: a100."),
            ({"resource": "amd.com/gpu"}, f"No accelerator amd.com/gpu here. There are: {GPU}, {MIG}."),
            ({"resource": MIG}, f"vision does not list {MIG}. It lists: {GPU}."),
            ({"flavor": "a100", "resource": MIG}, f"vision does not list {MIG} in a100. It lists: {GPU}."),
        ],
    )
    def test_what_the_queue_does_not_list_is_refused_with_what_it_lists(self, said: dict[str, Any], words: str) -> None:
        world = changed("nlp", quotas={A100: Quota(24), FlavorResource("h100", GPU): Quota(8)})
        assert refused(draft(**said), world) == (words, AskField.FLAVOR)

    def test_flavors_of_hidden_queues_are_neither_near_nor_there(self) -> None:
        world = changed("nlp", quotas={A100: Quota(24), FlavorResource("h200", GPU): Quota(8)})
        assert refused(draft(flavor="h200"), world, visible={"vision"})[0] == "No flavor h200. vision lists: a100."


class TestNumbers:
    @pytest.mark.case("QUO-13")
    @pytest.mark.parametrize("amount", [0, -1, -8])
    def test_quo_13_less_than_one_is_refused(self, amount: int) -> None:
        words = f"{amount} is not a number of GPUs. Whole numbers from 1, like 8."
        assert refused(draft(amount)) == (words, AskField.AMOUNT)

    @pytest.mark.parametrize(
        ("said", "question"),
        [
            ({"amount": None}, Question(AskField.AMOUNT, "How many GPUs?")),
            ({"duration": None}, Question(AskField.UNTIL, "Until when?")),
        ],
    )
    def test_what_was_not_said_is_asked(self, said: dict[str, Any], question: Question) -> None:
        assert asked(draft(**said)) == question

    @pytest.mark.parametrize(
        ("said", "refusal"),
        [
            ({"duration": None, "until": NOW}, ("This time has passed.", AskField.UNTIL)),
            ({"start": NOW - timedelta(minutes=1)}, ("This time has passed.", AskField.START_AT)),
            (
                {"duration": None, "until": NOW + timedelta(hours=1), "start": NOW + timedelta(hours=1)},
                ("Start is after the end.", AskField.START_AT),
            ),
        ],
    )
    def test_times_that_cannot_be(self, said: dict[str, Any], refusal: tuple[str, str]) -> None:
        assert refused(draft(**said)) == refusal

    def test_an_end_goes_before_a_duration(self) -> None:
        found = proposed(draft(until=NOW + timedelta(days=1))).ask
        assert (found.duration, found.until) == (None, NOW + timedelta(days=1))


class TestLender:
    @pytest.mark.parametrize(
        ("amount", "at_most", "words"),
        [
            (16, 8, "nlp can lend at most 8 a100 now (24, of which 16 reserved)."),
            (25, None, "nlp can lend at most 24 a100 now (24, of which 16 reserved)."),
            (2, 1, "nlp can lend at most 1 a100 now (24, of which 16 reserved)."),
        ],
    )
    def test_a_lender_that_is_too_small(self, amount: int, at_most: int | None, words: str) -> None:
        rules = lenders(nlp={} if at_most is None else {"at_most": at_most})
        assert refused(draft(amount, lender="nlp"), rules=rules) == (words, AskField.LENDER)
        assert refused(draft(amount, kind=LoanKind.TRANSFER), rules=rules) == (words, AskField.AMOUNT)

    @pytest.mark.parametrize("rule", [{"only_idle": True}, {"consent": "none"}])
    @pytest.mark.parametrize(("amount", "enough"), [(8, True), (9, False)])
    def test_some_lend_only_what_nobody_holds(self, rule: dict[str, Any], amount: int, enough: bool) -> None:
        of = draft(amount, lender="nlp")
        if enough:
            assert proposed(of, rules=lenders(nlp=rule)).ask.lender == "nlp"
        else:
            words = "nlp can lend at most 8 a100 now (24, of which 16 reserved)."
            assert refused(of, rules=lenders(nlp=rule))[0] == words

    @pytest.mark.parametrize(
        ("open_loan", "most"),
        [
            (loan(1, 6, kind=LoanKind.TRANSFER, lender="nlp"), 4),  # counts toward at_most 10, nominal is lower already
            (loan(1, 20, kind=LoanKind.TRANSFER, lender="nlp", in_force_at=None), 0),
            (loan(1, 20, kind=LoanKind.TRANSFER, lender="nlp", state=LoanState.SCHEDULED, in_force_at=None), 0),
            (loan(1, 6, kind=LoanKind.TRANSFER, lender="nlp", state=LoanState.CLOSED), 10),
            (loan(1, 6, kind=LoanKind.TRANSFER, lender="robotics"), 10),
            (loan(1, 6, kind=LoanKind.TRANSFER, lender="nlp", flavor="h100"), 10),
            (loan(1, 6), 10),
        ],
    )
    def test_what_a_lender_has_promised_already_is_taken_off(self, open_loan: Loan, most: int) -> None:
        words = refused(draft(16, lender="nlp"), rules=lenders(nlp={"at_most": 10}), loans=(open_loan,))[0]
        assert words.startswith(f"nlp can lend at most {most} a100 now")

    @pytest.mark.parametrize(
        ("changes", "most"),
        [
            ({"state": LoanState.SCHEDULED, "in_force_at": None}, 18),
            ({"in_force_at": None}, 18),
            ({"in_force_at": NOW}, 24),
            ({"state": LoanState.RETURNING}, 24),
        ],
    )
    def test_what_is_promised_and_not_yet_out_of_the_live_number_cannot_be_lent_twice(
        self, changes: dict[str, Any], most: int
    ) -> None:
        promised = loan(1, 6, kind=LoanKind.TRANSFER, lender="nlp", **changes)
        words = refused(draft(30, lender="nlp"), loans=(promised,))[0]
        assert words.startswith(f"nlp can lend at most {most} a100 now")

    @pytest.mark.parametrize(
        ("lender", "world", "words"),
        [
            ("vision", picture(), "vision cannot lend to itself."),
            ("robotics", changed("robotics", deleting=True), "robotics is being deleted."),
            (
                "nlp",
                changed("nlp", cohort="other"),
                "nlp and vision are not in the same cohort, so no quota can move between them.",
            ),
            (
                "nlp",
                changed("nlp", quotas={FlavorResource("h100", GPU): Quota(8)}),
                f"nlp does not list a100 with {GPU}.",
            ),
            ("nlp", changed("nlp", quota_automation="MultiKueue quota automation"), "nlp's quota is written by Kueue"),
            ("nlp", changed("nlp", quotas={A100: Quota(24, whole=False)}), "nlp's quota of a100 is not a whole number"),
            ("gone", picture(), "No queue gone that you can see."),
        ],
    )
    def test_a_queue_that_cannot_lend(self, lender: str, world: ClusterPicture, words: str) -> None:
        sentence, field = refused(draft(2, lender=lender), world)
        assert sentence.startswith(words)
        assert field == AskField.LENDER

    def test_a_queue_that_policy_does_not_let_lend(self) -> None:
        words = "robotics does not lend. These do: nlp."
        assert refused(draft(2, lender="robotics"), rules=lenders(nlp={}, vision={})) == (words, AskField.LENDER)
        assert refused(draft(2, lender="robotics"), rules=lenders())[0] == "robotics does not lend. No queue here does."

    @pytest.mark.case("SEC-05")
    def test_sec_05_hidden_lenders_are_neither_named_nor_chosen(self) -> None:
        visible = {"vision", "robotics"}
        assert refused(draft(2, lender="nlp"), visible=visible)[0] == "No queue nlp that you can see."
        rules = lenders(nlp={})
        assert refused(draft(2, lender="robotics"), rules=rules, visible=visible)[0].endswith("No queue here does.")
        words = ("No queue here lends a100 to vision.", AskField.KIND)
        assert refused(draft(2, kind=LoanKind.TRANSFER), rules=rules, visible=visible) == words

    def test_same_tree_is_enough(self) -> None:
        world = picture(
            queue("nlp", 24, 0, cohort="left"),
            queue("vision", 16, 0, cohort="right", borrowing=4),
            cohorts=(CohortSnapshot("left", "top"), CohortSnapshot("right", "top")),
        )
        assert proposed(draft(lender="nlp"), world).ask.lender == "nlp"

    def test_the_lender_with_most_idle_is_chosen(self) -> None:
        world = picture(queue("nlp", 24, 20), queue("vision", 16), queue("robotics", 12, 0))
        assert proposed(draft(8, kind=LoanKind.TRANSFER), world).ask.lender == "robotics"
        assert proposed(draft(16, kind=LoanKind.TRANSFER), world).ask.lender == "nlp"


AMOUNTS = st.integers(1, 30)
QUOTAS = st.builds(Quota, st.integers(0, 24), st.none() | st.integers(0, 8), st.none() | st.integers(0, 24))


@given(
    AMOUNTS,
    st.sampled_from([None, *LoanKind]),
    st.sampled_from([None, "nlp", "robotics", "vision", "none"]),
    st.fixed_dictionaries({name: st.tuples(QUOTAS, st.integers(0, 30)) for name in ("nlp", "vision", "robotics")}),
)
def test_whatever_the_picture_an_accepted_request_is_one_that_can_be_carried_out(
    amount: int, kind: LoanKind | None, lender: str | None, quotas: dict[str, tuple[Quota, int]]
) -> None:
    world = picture(*(queue(name, 0, held, quotas={A100: quota}) for name, (quota, held) in quotas.items()))
    found = answer(draft(amount, kind=kind, lender=lender), world)
    if isinstance(found, str):
        assert found.endswith(".")
        return
    assert found.kind is (kind or (LoanKind.TRANSFER if lender else LoanKind.BORROW))
    assert (found.lender is not None) == (found.kind is LoanKind.TRANSFER)
    if found.lender is not None:
        assert found.lender != "vision"
        assert world.queues[found.lender].quotas[A100].nominal >= amount
    else:
        assert world.queues["vision"].quotas[A100].borrowing_limit is not None


def answer(of: Draft, world: ClusterPicture) -> Ask | str:
    """The request, or the sentence that refuses it."""
    try:
        result = propose(of, world, policy())
    except Refused as refusal:
        return refusal.sentence
    assert isinstance(result, Proposal)
    return result.ask
