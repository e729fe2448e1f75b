"""The card's words, lines and buttons in every state, as approvers and the requester read them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.impact import AtRisk, Move, Workers
from bot.core.loans import LoanEnd, LoanKind, LoanState
from bot.core.offers import with_terms
from bot.core.requests import RequestState
from bot.core.standing import Blocker
from bot.views.facts import CardFacts, Late, Pressed, Returned, Surface, Worse
from bot.views.ids import Action, picture_of
from bot.views.loan_state import CardState, state_of
from bot.views.request_card import card
from tests.support.view_facts import World, at
from tests.support.view_gallery import extensions
from tests.support.view_text import buttons, labels, seen

T, B = World(), World(kind=LoanKind.BORROW)
TITLE = "8 a100 for vision, 3 days, transfer · Q-142"
WHO = "@requester · paper deadline, last ablation runs"


def test_waiting_card_of_a_borrow_reads_as_designed() -> None:
    assert seen(card(B.card(), Surface.CHANNEL)) == [
        "⏳ 8 a100 for vision, 3 days, borrow · Q-142",
        "Waiting: 0 of 2 approvals",
        "@requester · paper deadline, last ablation runs",
        "3 days from approval (at once: Sat 5 Dec 14:05), 576 GPU-h",
        "• 4 free by quota in gpu-pool at this moment, not 8 (read 14:05)",
        "• vision: may borrow 12 instead of 4; Kueue may reclaim it",
        "• No running workload becomes preemptible",
        "Needs: nlp lead, then gpu-admins. Lapses Sat 5 Dec 14:05",
        "[Approve] [Change] [Deny] [Details]",
    ]


def test_waiting_card_of_a_transfer_names_what_the_lender_risks() -> None:
    assert seen(card(T.card(), Surface.LEAD))[4:] == [
        "• nlp lends 8: 24 -> 16; vision 16 -> 24; gpu-pool stays 48",
        "• nlp uses 20: 4 GPUs become preemptible, likely bert-large (4); nlp has 4 GPUs waiting",
        "• 0 free by quota at this moment: vision would reclaim 4, or wait",
        "Needs: nlp lead (lends), then gpu-admins. Lapses Sat 5 Dec 14:05",
        "[Approve] [Change] [Deny] [Details]",
    ]


STAYS = "no queue here is set to reclaim: borrowed GPUs stay until the work ends"
USES, ONE_WAITS = "nlp uses 20: ", "; nlp has 1 GPU waiting"
FOUR_AT_RISK = "4 GPUs become preemptible, likely w0 (1), w1 (1), w2 (1) and 2 more; nlp has 4 GPUs waiting"
FIVE = tuple(AtRisk(f"w{i}", 1) for i in range(5))
GIT = (
    "it may set the quota back within minutes. "
    "Tell it to ignore resourceGroups (how: Details), or let the bot propose changes for Git: "
    "admins set write: propose for it in the policy."
)

WORKERS = "vision's work runs on worker clusters (MultiKueue): their quota limits it too"
WORKERS_UNKNOWN = "Whether worker clusters limit vision too is not known: the bot may not list admissionchecks"


@pytest.mark.parametrize(
    ("world", "changes", "line"),
    [
        (B, {"borrowed_is_reclaimable": False}, "vision: may borrow 12 instead of 4; " + STAYS),
        (B, {"free": 12}, "12 free by quota in gpu-pool at this moment (read 14:05)"),
        (T, {"borrower_reclaims": False}, "0 free by quota at this moment: vision waits until nlp's work ends"),
        (T, {"free": 9}, "9 free by quota at this moment (read 14:05)"),
        (T, {"preemptible": 0, "lender_waiting": 0}, "nlp uses 20: nothing of it becomes preemptible"),
        (T, {"preemptible": 1, "at_risk": (), "lender_waiting": 1}, USES + "1 GPU becomes preemptible" + ONE_WAITS),
        (T, {"at_risk": FIVE}, USES + FOUR_AT_RISK),
        (T, {"lender_lending_limit": Move("nlp", 20, 16)}, "nlp's lendingLimit 20 is lowered to 16 with it"),
        (T, {"borrower_lending_limit": Move("vision", 16, 24)}, "vision's lendingLimit 16 is raised to 24 with it"),
        (T, {"stopped": ("vision",)}, "vision is stopped: nothing is admitted now"),
        (T, {"workers": Workers("vision")}, WORKERS),
        (B, {"workers": Workers("vision", "the bot may not list admissionchecks")}, WORKERS_UNKNOWN),
        (T, {"managed_by": (("vision", "Argo CD"),)}, "Warning: vision is managed by Argo CD: " + GIT),
    ],
)  # fmt: skip
def test_impact_line(world: World, changes: dict[str, object], line: str) -> None:
    facts = world.card(impact=world.impact(**changes))
    assert f"• {line}" in seen(card(facts, Surface.CHANNEL))


def test_without_live_figures_the_card_says_since_when() -> None:
    lines = seen(card(T.card(impact=None, no_figures_since=at("13:58")), Surface.CHANNEL))
    assert "• No live figures since 13:58" in lines
    assert not any("free" in line for line in lines)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"duration": None, "until": at("18:00", 4)}, "From approval until Fri 4 Dec 18:00, at most 415.3 GPU-h"),
        ({"start": at("18:00", 4)}, "Fri 4 Dec 18:00 to Mon 7 Dec 18:00, 576 GPU-h"),
        ({"duration": timedelta(hours=36)}, "36 h from approval (at once: Fri 4 Dec 02:05), 288 GPU-h"),
    ],
)
def test_terms_say_start_end_and_worth(changes: dict[str, object], line: str) -> None:
    facts = T.card(T.request(ask=T.ask(**changes)))
    assert seen(card(facts, Surface.CHANNEL))[3] == line


PRESSED = Pressed(T.admin, at("14:18"))
WORSE = Worse(PRESSED, at("14:05"), free=(4, 0), at_risk=(AtRisk("bert-large", 4),), other=("nlp lends at most 4 now",))
DENIED = T.request(RequestState.DENIED, words="no more before the deadline week", decided_by="UADMIN")
BY_RULE = T.request(RequestState.DENIED, words="No transfers in the freeze.", decided_by="rule:freeze")
GIVEN_BACK = T.over(LoanEnd.RETURNED, at("09:00", 3))
APPROVED = "Approved: @lead-nlp 14:12, @admin 14:20"
AS_APPROVED = "Put in force when it is back; ends Sat 5 Dec 14:20 as approved. Last try 14:31"
ADMINS = "The bot writes nothing here until an admin says what the number means. Not counted as lent"
NONE: list[str] = []
OPEN = ["Approve", "Change", "Deny", "Details"]
ANSWERS = ["Accept", "Keep mine", "Withdraw"]

STATES: dict[str, tuple[CardFacts, str, list[str], list[str], list[str]]] = {
    "waiting": (T.card(), "⏳ Waiting: 0 of 2 approvals", [], OPEN, ["Withdraw"]),
    "one given": (
        T.card(approvals=T.given(1)),
        "⏳ Waiting: 1 of 2 approvals",
        ["@lead-nlp approved 14:12 (lends)"],
        OPEN,
        ["Withdraw"],
    ),
    "checking": (T.card(checking=PRESSED), "⏳ Checking the cluster, pressed by Admin 14:18", [], NONE, NONE),
    "changed at click": (
        T.card(worse=WORSE),
        "⚠️ Changed since 14:05: look again",
        [
            "Free: 4 -> 0",
            "Becomes preemptible: bert-large (4)",
            "nlp lends at most 4 now",
            "Not approved yet; pressed by Admin 14:18",
        ],
        OPEN,
        ["Withdraw"],
    ),
    "counter-offer": (
        T.card(offered=T.offered(), approvals=T.given(1)),
        "⏳ Changed by @admin: 4 a100, 2 days, transfer from nlp. Waiting for @requester",
        ["Because: no more before the deadline week", "@lead-nlp approved 14:12 (lends)"],
        OPEN,
        ANSWERS,
    ),
    "counter-offer, changed at click": (
        T.card(worse=replace(WORSE, at_risk=(), other=()), offered=T.offered(words="")),
        "⚠️ Changed since 14:05: look again",
        [
            "Free: 4 -> 0",
            "Changed by @admin: 4 a100, 2 days, transfer from nlp. Waiting for @requester",
            "Not approved yet; pressed by Admin 14:18",
        ],
        OPEN,
        ANSWERS,
    ),
    "starts later": (
        T.approved(T.loan(state=LoanState.SCHEDULED, start=at("18:00", 4), end=at("18:00", 7), in_force_at=None)),
        "⏳ Approved, starts Fri 4 Dec 18:00, ends Mon 7 Dec 18:00",
        [APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "being put in force": (
        T.approved(T.loan(in_force_at=None), T.standing(8)),
        "⏳ Approved 14:20, being put in force; ends Sat 5 Dec 14:20",
        [APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "in force, transfer": (
        T.approved(standing=T.standing()),
        "✅ In force since 14:20, ends Sat 5 Dec 14:20",
        [
            APPROVED,
            "vision 16 -> 24, nlp 24 -> 16. This is quota: 0 GPUs free by quota at this moment (14:20)",
        ],
        NONE,
        ["Extend", "Return"],
    ),
    "in force, borrow": (
        B.approved(standing=B.standing()),
        "✅ In force since 14:20, ends Sat 5 Dec 14:20",
        [APPROVED, "vision may borrow 12 (was 4), if free: 4 free by quota at this moment (14:20)"],
        NONE,
        ["Extend", "Return"],
    ),
    "in force by a rule": (
        replace(
            T.approved(standing=T.standing(), approvals=()),
            request=T.request(RequestState.APPROVED, decided_by="rule:small-and-short"),
        ),
        "✅ In force since 14:20, ends Sat 5 Dec 14:20",
        [
            "Approved by rule small-and-short",
            "vision 16 -> 24, nlp 24 -> 16. This is quota: 0 GPUs free by quota at this moment (14:20)",
        ],
        NONE,
        ["Extend", "Return"],
    ),
    "API down": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.API_DOWN), last_try=at("14:31")),
        "⏳ Approved 14:20, not in force: the API server is not answering since 14:02",
        [AS_APPROVED, APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "Kueue down": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.KUEUE_DOWN), last_try=at("14:31")),
        "⏳ Approved 14:20, not in force: Kueue's webhook is not answering since 14:02",
        [AS_APPROVED, APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "no right": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.NO_RIGHT)),
        "⚠️ Approved 14:20, not in force: the bot may not write ClusterQueue vision",
        ["Admins: allow patch on it", APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "cannot read": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.CANNOT_READ, words="cannot list")),
        "⚠️ Approved 14:20, not in force: the bot cannot read the queues",
        ["cannot list", "Admins see why in the platform channel", APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "refused": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.REFUSED, words="must not exceed 40")),
        "⚠️ Approved 14:20, not in force: Kueue refused the change",
        ["must not exceed 40", "Admins see why in the platform channel", APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "paused": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.PAUSED, words="Ada")),
        "⏳ Approved 14:20, not in force: quota changes are paused by Ada since 14:02",
        ["Put in force when they go on; ends Sat 5 Dec 14:20", APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "short": (
        T.approved(standing=T.blocked(Blocker.SHORT, 2)),
        "⚠️ Only 2 of 8 in force: nlp does not have that much for now",
        ["The rest follows by itself when nlp has it", APPROVED],
        NONE,
        ["Extend", "Return"],
    ),
    "reverted by GitOps": (
        T.approved(standing=T.blocked(Blocker.IN_QUESTION, lowered=8, words="argocd-controller")),
        "⚠️ Not in force since 14:02: argocd-controller set vision back to 16",
        [ADMINS, APPROVED],
        NONE,
        NONE,
    ),
    "edited down": (
        T.approved(standing=T.blocked(Blocker.IN_QUESTION, 4, lowered=8)),
        "⚠️ Only 4 of 8 in force since 14:02: somebody changed vision to 20",
        [ADMINS, APPROVED],
        NONE,
        ["Extend", "Return"],
    ),
    "lender edited up": (
        T.approved(standing=T.blocked(Blocker.IN_QUESTION, words="kubectl-edit")),
        "⚠️ Not in force since 14:02: kubectl-edit set nlp back to 24; vision was lowered with it",
        [ADMINS, APPROVED],
        NONE,
        NONE,
    ),
    "edited before it was in force": (
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.IN_QUESTION)),
        "⚠️ Approved 14:20, not in force: somebody changed the quota outside the bot",
        [ADMINS, APPROVED],
        NONE,
        ["Withdraw"],
    ),
    "suspended": (
        T.approved(T.loan(suspended="ClusterQueue nlp is gone"), T.standing(0)),
        "⚠️ Suspended: ClusterQueue nlp is gone",
        ["Counts as not lent until it ends Sat 5 Dec 14:20", "Needed still: request again"],
        NONE,
        NONE,
    ),
    "denied": (
        T.card(DENIED, decider=T.admin),
        "⛔ Denied by @admin 14:20: no more before the deadline week",
        [],
        NONE,
        ["Request again"],
    ),
    "denied by policy": (T.card(BY_RULE), "⛔ Denied by rule freeze: No transfers in the freeze.", [], NONE, NONE),
    "withdrawn": (
        T.card(T.request(RequestState.WITHDRAWN), decider=T.requester),
        "⚪ Withdrawn by @requester 14:20",
        [],
        NONE,
        NONE,
    ),
    "lapsed": (
        T.card(T.request(RequestState.LAPSED)),
        "⚪ Lapsed Sat 5 Dec 14:05: nobody decided in 3 days. Nothing changed",
        [],
        NONE,
        ["Request again"],
    ),
    "ended, nothing above": (
        T.approved(T.over(), T.standing(0)),
        "⚪ Ended Sat 5 Dec 14:20. vision 24 -> 16, nlp 16 -> 24. Nothing runs above quota",
        [],
        NONE,
        NONE,
    ),
    "ended, borrow": (
        B.approved(B.over(), B.standing(0, above=4)),
        "⚪ Ended Sat 5 Dec 14:20. vision may borrow 4 again (was 12). Nothing runs above quota",
        [],
        NONE,
        NONE,
    ),
    "ended, work runs on": (
        T.approved(T.over(), T.runs_on()),
        "⚪ Ended Sat 5 Dec 14:20, quota lowered. 8 GPUs stay in use above it, likely resnet-sweep (8)",
        [],
        NONE,
        ["Request again"],
    ),
    "ended, work ran on": (
        T.approved(T.over(), T.standing(0), clear_since=at("16:05", 5)),
        "⚪ Ended Sat 5 Dec 14:20. vision 24 -> 16, nlp 16 -> 24. Nothing runs above quota",
        ["Above quota: 0 since 16:05"],
        NONE,
        NONE,
    ),
    "ended late": (
        T.approved(T.over(), late=Late(at("14:40", 5), timedelta(minutes=20), "the bot was down")),
        "⚪ Ended Sat 5 Dec 14:40, 20 min late: the bot was down",
        [],
        NONE,
        NONE,
    ),
    "ended by an admin": (
        T.approved(T.over(LoanEnd.ENDED_BY_ADMIN, at("09:00", 3)), decider=T.admin),
        "⚪ Ended by @admin Thu 3 Dec 09:00",
        [],
        NONE,
        NONE,
    ),
    "ended, API down": (
        T.approved(T.over(), T.blocked(Blocker.API_DOWN, 8)),
        "⏳ Ended Sat 5 Dec 14:20; quota not lowered yet: the API server is not answering since 14:02",
        [],
        NONE,
        NONE,
    ),
    "ended, in question": (
        T.approved(T.over(), T.blocked(Blocker.IN_QUESTION, 4)),
        "⚠️ Ended Sat 5 Dec 14:20; quota left at 20, because it is not clear what 20 means",
        [],
        NONE,
        NONE,
    ),
    "ended, being lowered": (
        T.approved(T.over(), T.standing(8)),
        "⏳ Ended Sat 5 Dec 14:20; quota is being lowered",
        [],
        NONE,
        NONE,
    ),
    "ended, lender waits": (
        T.approved(T.over(), T.standing(0, lowered=8)),
        "⏳ Ended Sat 5 Dec 14:20; quota is lowered, nlp gets 8 back soon",
        [],
        NONE,
        NONE,
    ),
    "returned in part": (
        T.approved(
            T.loan(amount=4), T.standing(4), returned=(Returned(T.requester, at("09:00", 3), 4),), approvals=T.given()
        ),
        "✅ In force: 4 of 8, ends Sat 5 Dec 14:20",
        [
            "4 returned by @requester Thu 3 Dec 09:00",
            APPROVED,
            "vision 16 -> 20, nlp 24 -> 20. This is quota: 0 GPUs free by quota at this moment (14:20)",
        ],
        NONE,
        ["Extend", "Return"],
    ),
    "returned": (
        T.approved(GIVEN_BACK, decider=T.requester),
        "⚪ Returned by @requester Thu 3 Dec 09:00, 53 h early",
        [],
        NONE,
        NONE,
    ),
    "withdrawn before it was in force": (
        T.approved(T.over(LoanEnd.RETURNED, at("14:40"), in_force_at=None), T.standing(0), decider=T.requester),
        "⚪ Withdrawn by @requester Wed 2 Dec 14:40",
        [],
        NONE,
        NONE,
    ),
    "observed": (
        T.approved(observe=True),
        "✅ Approved in observe mode: nothing was written",
        [APPROVED],
        NONE,
        NONE,
    ),
}  # fmt: skip


def _for_admins(facts: CardFacts) -> list[str]:
    """On the channel's copy, as long as the loan is not over."""
    return ["End"] if facts.loan and facts.loan.ended_at is None and not facts.observe else []


def _for_lender(facts: CardFacts) -> list[str]:
    """On the copies of the lender's leads, while their quota is lent."""
    return ["Ask back"] if facts.loan and facts.loan.lender and state_of(facts) is CardState.IN_FORCE else []


@pytest.mark.parametrize("name", STATES)
def test_state_of_a_card(name: str) -> None:
    facts, state, lines, channel_buttons, requester_buttons = STATES[name]
    symbol, _, line_two = state.partition(" ")
    for surface, expected in (
        (Surface.CHANNEL, channel_buttons or _for_admins(facts)),
        (Surface.LEAD, channel_buttons or _for_lender(facts)),
        (Surface.REQUESTER, requester_buttons),
    ):
        message = card(facts, surface)
        shown = seen(message)
        kind = facts.request.ask.kind.value
        assert shown[0] == f"{symbol} 8 a100 for vision, 3 days, {kind} · Q-142", "line 1 keeps its words"
        assert shown[1 : 3 + len(lines)] == [line_two, *lines, WHO]
        assert labels(message) == expected


def test_a_new_revision_has_a_new_block_id() -> None:
    old, new = (card(T.card(T.request(revision=one)), Surface.CHANNEL) for one in (3, 4))
    assert [picture_of(message.blocks[-1]["block_id"]) for message in (old, new)] == [
        ("card", "142", 3),
        ("card", "142", 4),
    ]


def test_every_button_of_a_card_carries_the_request_and_nothing_else() -> None:
    shown = [one for surface in Surface for one in buttons(card(T.card(), surface))]
    assert {one["value"] for one in shown} == {"142"}
    assert {one["action_id"] for one in shown} == {
        Action.CARD_APPROVE, Action.CARD_CHANGE, Action.CARD_DENY, Action.CARD_DETAILS, Action.REQUEST_WITHDRAW,
    }  # fmt: skip


def test_the_answers_to_an_offer_name_the_offer() -> None:
    """So that a press on an old message answers no newer offer."""
    values = {
        one["text"]["text"]: one["value"] for one in buttons(card(T.card(offered=T.offered()), Surface.REQUESTER))
    }
    assert values == {"Accept": "7", "Keep mine": "7", "Withdraw": "142"}


def test_the_step_that_is_next_is_the_first_that_lacks_an_approval() -> None:
    """The approval that an accepted offer stands for may be of a later step."""
    later = T.card(approvals=(T.given(2)[1],))
    text = buttons(card(later, Surface.CHANNEL))[0]["confirm"]["text"]["text"]
    assert text.endswith("Counts for the step that is next: nlp lead.")


def test_approving_what_was_asked_for_says_that_the_offer_is_void_then() -> None:
    text = buttons(card(T.card(offered=T.offered()), Surface.CHANNEL))[0]["confirm"]["text"]["text"]
    assert text.endswith("nlp lead. The offer is void then.")


def test_a_card_on_accepted_terms_says_what_was_asked_for_at_first() -> None:
    changed = T.request(ask=with_terms(T.ask(), T.offer().terms))
    shown = seen(card(T.card(changed, asked_first=T.offer().instead), Surface.CHANNEL))
    assert shown[0] == "⏳ 4 a100 for vision, 2 days, transfer · Q-142"
    assert "Asked for at first: 8 a100, 3 days, transfer from nlp" in shown


def test_approve_asks_what_it_counts_for() -> None:
    approve = buttons(card(T.card(approvals=T.given(1)), Surface.CHANNEL))[0]
    assert approve["style"] == "primary"
    assert approve["confirm"]["title"]["text"] == "Approve Q-142?"
    assert approve["confirm"]["text"]["text"] == (
        "8 a100 for vision, 3 days, transfer. Counts for the step that is next: gpu-admins."
    )


def test_a_confirm_says_a_length_where_a_date_cannot_be_shown() -> None:
    facts = T.card(T.request(ask=T.ask(duration=None, until=at("14:05", 5))))
    text = buttons(card(facts, Surface.CHANNEL))[0]["confirm"]["text"]["text"]
    assert text.startswith("8 a100 for vision, about 3 days, transfer.")


def test_in_observe_mode_the_confirm_says_that_nothing_is_written() -> None:
    text = buttons(card(T.card(observe=True), Surface.CHANNEL))[0]["confirm"]["text"]["text"]
    assert text.endswith("Observe mode: approving writes nothing.")


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (T.card(), "8 a100 for vision, 3 days: Requester asks, 0 of 2 approvals (Q-142)"),
        (T.approved(standing=T.standing()), "8 a100 for vision: in force (Q-142)"),
        (T.approved(T.loan(amount=4), T.standing(4)), "8 a100 for vision: 4 of 8 in force (Q-142)"),
        (T.card(DENIED, decider=T.admin), "8 a100 for vision: denied by Admin (Q-142)"),
    ],
)
def test_text_is_one_sentence_without_a_symbol(facts: CardFacts, text: str) -> None:
    assert card(facts, Surface.CHANNEL).text == text


EXTENSIONS: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "waiting": (
        "⏳ Waiting: 0 of 2 approvals",
        [
            WHO,
            "Sat 5 Dec 14:20 to Mon 7 Dec 14:20, 384 GPU-h more, 5 days in all",
            "• The same quota for longer: no number of a queue changes. Undecided, its end stays as it is",
            "Needs: nlp lead (lends), then gpu-admins. Lapses Sat 5 Dec 14:05",
        ],
        ["Approve", "Deny", "Details"],
        ["Withdraw"],
    ),
    "approved": ("✅ Extended until Mon 7 Dec 14:20", [APPROVED, WHO], NONE, NONE),
    "denied": ("⛔ Denied by @admin 14:20: no more before the deadline week", [WHO], NONE, NONE),
    "withdrawn": ("⚪ Withdrawn by @requester 14:20", [WHO], NONE, NONE),
    "lapsed": ("⚪ Lapsed Sat 5 Dec 14:05: nobody decided in 3 days. Nothing changed", [WHO], NONE, NONE),
    "lapsed with its loan": ("⚪ Lapsed Fri 4 Dec 14:20: Q-142 is over", [WHO], NONE, NONE),
}


@pytest.mark.parametrize("name", EXTENSIONS)
def test_the_card_of_an_extension_says_by_how_much_what_is_extended(name: str) -> None:
    state, lines, channel_buttons, requester_buttons = EXTENSIONS[name]
    symbol, _, line_two = state.partition(" ")
    facts = extensions(T)[f"extension {name}"]
    for surface, expected in ((Surface.CHANNEL, channel_buttons), (Surface.REQUESTER, requester_buttons)):
        message = card(facts, surface)
        shown = [line for line in seen(message) if not line.startswith("[")]
        assert shown == [f"{symbol} +2 days for Q-142: 8 a100 for vision, transfer", line_two, *lines]
        assert labels(message) == expected
        assert message.text.startswith("+2 days for Q-142: 8 a100 for vision: ")


def test_its_buttons_carry_its_own_id_and_their_confirms_its_name() -> None:
    facts = extensions(T)["extension waiting"]
    shown = [one for surface in Surface for one in buttons(card(facts, surface))]
    assert {one["value"] for one in shown} == {"150"}
    asked = {one["confirm"]["title"]["text"]: one["confirm"]["text"]["text"] for one in shown if "confirm" in one}
    assert asked == {
        "Approve Q-142's extension?": "+2 days for Q-142: 8 a100 for vision, transfer. "
        "Counts for the step that is next: nlp lead.",
        "Withdraw Q-142's extension?": "To get it again you need a new request.",
    }


def test_a_loan_says_that_its_extension_waits_and_offers_no_second() -> None:
    message = card(T.approved(standing=T.standing(), extension=T.extension()), Surface.REQUESTER)
    assert "Extension by 2 days is waiting" in seen(message)
    assert labels(message) == ["Return"]
