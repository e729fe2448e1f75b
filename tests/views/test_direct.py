"""Direct messages as their reader gets them: what happened is line 1, what to do is the button."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.core.loans import LoanEnd, LoanKind, LoanState
from bot.core.messages import Message
from bot.core.requests import RequestState
from bot.core.standing import Blocker
from bot.views import direct
from bot.views.facts import CardFacts, Late, Returned
from tests.support.view_facts import World, at
from tests.support.view_gallery import extensions
from tests.support.view_text import seen

T, B = World(), World(kind=LoanKind.BORROW)
LATE = Late(at("16:30"), timedelta(hours=2, minutes=10), "the API server was not answering")
PART = Returned(T.requester, at("09:00", 3), 4)
ALL = Returned(T.lead, at("09:00", 3), 8)

EXTENSIONS = extensions(T)
MESSAGES: dict[str, tuple[Callable[[CardFacts], Message], CardFacts, list[str]]] = {
    "in force, transfer": (
        direct.in_force,
        T.approved(standing=T.standing()),
        [
            "✅ 8 a100 for vision until Sat 5 Dec 14:20 (Q-142)",
            "Approved by @lead-nlp and @admin, in force since 14:20",
            "Guaranteed quota; 0 GPUs free by quota at this moment, so work may wait or reclaim",
            "Nothing to do: your queue admits more by itself",
            "[Return]",
        ],
    ),
    "in force, borrow, by a rule": (
        direct.in_force,
        B.approved(
            standing=B.standing(), request=B.request(RequestState.APPROVED, decided_by="rule:small"), approvals=()
        ),
        [
            "✅ 8 a100 for vision until Sat 5 Dec 14:20 (Q-142)",
            "Approved by rule small, in force since 14:20",
            "Borrowed quota; 4 GPUs free by quota at this moment; Kueue may reclaim it",
            "Nothing to do: your queue admits more by itself",
            "[Return]",
        ],
    ),
    "waits for the API": (
        direct.waits,
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.API_DOWN)),
        [
            "⏳ 8 a100 approved, not in force yet (Q-142)",
            "The API server is not answering since 14:02",
            "You hear when it is in force",
            "[Withdraw]",
        ],
    ),
    "waits for a right": (
        direct.waits,
        T.approved(T.loan(in_force_at=None), T.blocked(Blocker.NO_RIGHT)),
        [
            "⚠️ 8 a100 approved, not in force yet (Q-142)",
            "The bot may not write ClusterQueue vision",
            "The admins know. You hear when it is in force",
            "[Withdraw]",
        ],
    ),
    "starts later": (
        direct.waits,
        T.approved(T.loan(state=LoanState.SCHEDULED, start=at("18:00", 4), end=at("18:00", 7), in_force_at=None)),
        [
            "⏳ 8 a100 approved, starts Fri 4 Dec 18:00 (Q-142)",
            "Ends Mon 7 Dec 18:00",
            "You hear when it is in force",
            "[Withdraw]",
        ],
    ),
    "in force later": (
        direct.in_force_later,
        T.approved(standing=T.standing(free=9), late=LATE),
        [
            "✅ 8 a100 in force now (Q-142), 2 h 10 min late",
            "Ends Sat 5 Dec 14:20 as approved",
            "Guaranteed quota; 9 GPUs free by quota at this moment",
            "Need the lost time back: Extend",
            "[Extend] [Return]",
        ],
    ),
    "ended by an admin, at once": (
        direct.ended,
        T.approved(
            T.over(LoanEnd.ENDED_BY_ADMIN, at("15:00")), T.standing(), decider=T.admin, end_words="node maintenance"
        ),
        ["⏳ Ended: 8 a100 (Q-142)", "By @admin: node maintenance", "Quota of vision is being lowered"],
    ),
    "ended by an admin, quota is back": (
        direct.ended,
        T.approved(T.over(LoanEnd.ENDED_BY_ADMIN, at("15:00")), T.standing(0), decider=T.admin),
        ["⚪ Ended: 8 a100 (Q-142)", "By @admin", "Quota of vision is 16 again. Nothing runs above it"],
    ),
    "denied": (
        direct.denied,
        T.card(T.request(RequestState.DENIED, words="nlp needs it from Friday", decided_by="UADMIN"), decider=T.admin),
        ["⛔ 8 a100 for vision: denied (Q-142)", "@admin: nlp needs it from Friday", "[Request again]"],
    ),
    "denied by a rule": (
        direct.denied,
        T.card(T.request(RequestState.DENIED, words="No transfers in the freeze.", decided_by="rule:freeze")),
        ["⛔ 8 a100 for vision: denied (Q-142)", "Rule freeze: No transfers in the freeze."],
    ),
    "lapsed": (
        direct.lapsed,
        T.card(T.request(RequestState.LAPSED)),
        [
            "⚪ Q-142 lapsed: nobody decided in 3 days",
            "Nothing changed. Ask nlp lead, or request again",
            "[Request again]",
        ],
    ),
    "withdrawn by a lead": (
        direct.withdrawn,
        T.card(T.request(RequestState.WITHDRAWN), decider=T.lead),
        ["⚪ 8 a100 for vision: withdrawn (Q-142)", "By @lead-nlp. Nothing changed"],
    ),
    "not in force": (
        direct.not_in_force,
        T.approved(standing=T.blocked(Blocker.IN_QUESTION, lowered=8, words="argocd-controller")),
        [
            "⚠️ 8 a100 not in force since 14:02 (Q-142)",
            "argocd-controller set vision back to 16",
            "The admins know. Work above 16 is not admitted",
        ],
    ),
    "not in force, in part": (
        direct.not_in_force,
        T.approved(standing=T.blocked(Blocker.SHORT, 2)),
        [
            "⚠️ Only 2 of 8 a100 in force since 14:02 (Q-142)",
            "nlp does not have that much for now",
            "The admins know. Work above 18 is not admitted",
        ],
    ),
    "ended, work runs on": (
        direct.ended,
        T.approved(T.over(), T.runs_on()),
        [
            "⚪ Ended: 8 a100 (Q-142)",
            "Quota of vision is 16 again; 24 are in use",
            "8 GPUs run on above quota, likely resnet-sweep (8)",
            "Kueue takes them back when nlp needs them and its policy allows",
            "[Request again]",
        ],
    ),
    "ended, nobody reclaims": (
        direct.ended,
        T.approved(T.over(), T.runs_on(taken_back_by_kueue=False)),
        [
            "⚪ Ended: 8 a100 (Q-142)",
            "Quota of vision is 16 again; 24 are in use",
            "8 GPUs run on above quota, likely resnet-sweep (8)",
            "nlp is not set to reclaim (reclaimWithinCohort: Never): they stay until the work ends",
            "[Request again]",
        ],
    ),
    "ended, borrow": (
        direct.ended,
        B.approved(B.over(), B.runs_on()),
        [
            "⚪ Ended: 8 a100 (Q-142)",
            "vision may borrow 4 again (was 12)",
            "8 GPUs run on above quota, likely resnet-sweep (8)",
            "Kueue takes them back when other queues need them and their policy allows",
            "[Request again]",
        ],
    ),
    "ended, nothing above": (
        direct.ended,
        T.approved(T.over(), T.standing(0)),
        ["⚪ Ended: 8 a100 (Q-142)", "Quota of vision is 16 again. Nothing runs above it"],
    ),
    "ended, API down": (
        direct.ended,
        T.approved(T.over(), T.blocked(Blocker.API_DOWN, 8)),
        [
            "⏳ Ended: 8 a100 (Q-142)",
            "Quota of vision is not lowered yet: the API server is not answering since 14:02",
        ],
    ),
    "ended, no figures": (
        direct.ended,
        T.approved(T.over()),
        ["⚪ Ended: 8 a100 (Q-142)", "What still runs is not known: no live figures"],
    ),
    "returned in part": (
        direct.returned,
        T.approved(T.loan(amount=4), T.standing(4), returned=(PART,)),
        [
            "✅ 4 a100 returned, 4 kept until Sat 5 Dec 14:20 (Q-142)",
            "By @requester Thu 3 Dec 09:00",
            "[Return]",
        ],
    ),
    "returned": (
        direct.returned,
        T.approved(T.over(LoanEnd.RETURNED, at("09:00", 3)), T.runs_on(), returned=(ALL,)),
        [
            "⚪ 8 a100 returned (Q-142), 53 h early",
            "By @lead-nlp Thu 3 Dec 09:00",
            "Quota of vision is 16 again; 24 are in use",
            "8 GPUs run on above quota, likely resnet-sweep (8)",
            "Kueue takes them back when nlp needs them and its policy allows",
        ],
    ),
    "lent": (
        direct.lent,
        T.approved(standing=T.standing()),
        [
            "⏳ nlp lends 8 a100 to vision until Sat 5 Dec 14:20",
            "Q-142, @requester, nlp 24 -> 16",
            "[Show] [Ask back]",
        ],
    ),
    "back, still in use": (
        direct.back,
        T.approved(T.over(), T.runs_on()),
        [
            "⚪ 8 a100 of quota are back with nlp",
            "8 GPUs are still in use by vision; Kueue reclaims them when your work needs them",
            "[Show]",
        ],
    ),
    "back, nobody reclaims": (
        direct.back,
        T.approved(T.over(), T.runs_on(taken_back_by_kueue=False)),
        [
            "⚪ 8 a100 of quota are back with nlp",
            "8 GPUs are still in use by vision; your queue is not set to reclaim: they stay until the work ends",
            "[Show]",
        ],
    ),
    "extended": (
        direct.extended,
        EXTENSIONS["extension approved"],
        [
            "✅ Q-142 now ends Mon 7 Dec 14:20 (+2 days)",
            "8 a100 for vision. Approved by @lead-nlp and @admin",
            "[Return]",
        ],
    ),
    "extension denied": (
        direct.denied,
        EXTENSIONS["extension denied"],
        [
            "⛔ +2 days for Q-142: 8 a100 for vision: denied",
            "@admin: no more before the deadline week",
            "Still ends Sat 5 Dec 14:20",
            "[Return]",
        ],
    ),
    "extension denied by a rule": (
        direct.denied,
        EXTENSIONS["extension denied by rule"],
        [
            "⛔ +2 days for Q-142: 8 a100 for vision: denied",
            "Rule small-and-short: no more before the deadline week",
            "Still ends Sat 5 Dec 14:20",
        ],
    ),
    "extension lapsed": (
        direct.lapsed,
        EXTENSIONS["extension lapsed"],
        ["⚪ Q-142's extension lapsed: nobody decided in 3 days", "Still ends Sat 5 Dec 14:20"],
    ),
    "extension withdrawn": (
        direct.withdrawn,
        EXTENSIONS["extension withdrawn"],
        ["⚪ +2 days for Q-142: 8 a100 for vision: withdrawn", "By @requester. Nothing changed"],
    ),
    "back, free": (
        direct.back,
        T.approved(T.over(), T.standing(0)),
        ["⚪ 8 a100 of quota are back with nlp", "Nothing of vision runs above its quota", "[Show]"],
    ),
    "lender waits": (
        direct.lender_waits,
        T.approved(T.over(), T.blocked(Blocker.IN_QUESTION, 4, lowered=8, words="kubectl-edit")),
        [
            "⏳ 8 a100 of quota are not back with nlp yet (Q-142)",
            "kubectl-edit changed vision to 20",
            "It comes back by itself after that. The admins know",
            "[Show]",
        ],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_direct_message(name: str) -> None:
    view, facts, expected = MESSAGES[name]
    assert seen(view(facts)) == expected


@pytest.mark.parametrize("name", MESSAGES)
def test_text_is_line_1_without_its_symbol(name: str) -> None:
    """The notification says what happened; people stand in it as names, dates as tokens that Slack localises."""
    view, facts, expected = MESSAGES[name]
    text = view(facts).text
    if "<!date" not in text:
        assert text == expected[0].split(" ", 1)[1]
    else:
        assert (
            "|2026-12-05 14:20 +01:00>" in text
            or "|2026-12-02 14:02 +01:00>" in text
            or "|2026-12-04" in text
            or "|2026-12-07" in text
        )
