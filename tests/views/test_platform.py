"""What the platform channel, leads and refused people are told, word by word."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.messages import Message
from bot.views import loan_trouble, lost_names, platform, refusals, thread_lines
from bot.views.parts import Group
from bot.views.platform import CaughtUp, Held, Outage, Turn
from bot.views.refusals import Decided, Outcome
from bot.views.request_card import return_button
from bot.views.thread_lines import Asked, EventKind, ThreadEvent
from tests.support.view_facts import World, at
from tests.support.view_text import labels, seen

T = World()
LATE = timedelta(hours=1, minutes=52)
DOWN = Outage(at("14:02"), held=(Held(142, Turn.START), Held(139, Turn.END, at("14:20"))))
UP = Outage(
    at("14:02"),
    at("16:12"),
    done=(CaughtUp(142, Turn.START, at("16:12"), timedelta(0)), CaughtUp(139, Turn.END, at("16:12"), LATE)),
    ended_on_time=2,
    messages=3,
)
BARE = Outage(at("17:50"), at("18:20"))
NOTHING_LATE = replace(BARE, done=())
BROKEN = platform.PolicyTrouble("policies/teams.yaml", "unknown key lead; allowed: leads, members", at("14:02"), 12)
TROUBLE = loan_trouble.QueueTrouble(
    "vision", at("14:02"), (142,), words="forbidden", flavor="a100", before=20, after=12
)
BESIDE = replace(TROUBLE, queue="vision-train/gpu", flavor=None)
UNREADABLE = platform.Unreadable(at("14:02"), "forbidden", "list", "clusterqueues.kueue.x-k8s.io")
CAUGHT_UP = "Q-142 in force 16:12, Q-139 ended 16:12 (1 h 52 min late)"

TOLD: dict[str, tuple[Message, list[str]]] = {
    "API down": (
        platform.api_down(DOWN),
        [
            "⚠️ The API server is not answering since 14:02",
            "Loans are neither put in force nor taken back; 2 wait: Q-142 (start), Q-139 (end 14:20)",
        ],
    ),
    "API down, several clusters": (
        platform.api_down(Outage(at("14:02"), cluster="eu-1")),
        [
            "⚠️ The API server of eu-1 is not answering since 14:02",
            "Loans are neither put in force nor taken back",
        ],
    ),
    "API back": (platform.api_back(UP), ["✅ API server back 16:12", CAUGHT_UP]),
    "API back, not known what was late": (platform.api_back(BARE), ["✅ API server back 18:20"]),
    "API back, nothing late": (platform.api_back(NOTHING_LATE), ["✅ API server back 18:20", "No loan was late"]),
    "Kueue down": (
        platform.kueue_down(DOWN),
        [
            "⚠️ Kueue is not answering since 14:02: quota cannot be changed",
            "New Jobs may fail too",
            "Reading works",
            "2 loans wait: Q-142 (start), Q-139 (end 14:20)",
        ],
    ),
    "Kueue back": (platform.kueue_back(UP), ["✅ Kueue back 16:12", CAUGHT_UP]),
    "Slack back": (
        platform.slack_back(UP),
        [
            "✅ Slack was not reachable 14:02 to 16:12",
            "Meanwhile: 2 loans ended on time, 3 messages sent now, marked late",
        ],
    ),
    "database back": (
        platform.database_back(UP),
        ["✅ Database back 16:12", "It was not answering since 14:02. Nothing was written meanwhile"],
    ),
    "the bot was down": (
        platform.bot_was_down(UP),
        [
            "✅ The bot was down 14:02 to 16:12",
            "Late: Q-139 ended 16:12 (1 h 52 min late)",
            "3 messages sent late",
        ],
    ),
    "the bot was down, nothing late": (
        platform.bot_was_down(NOTHING_LATE),
        ["✅ The bot was down 17:50 to 18:20", "No loan was late"],
    ),
    "no approver": (
        platform.no_approver("vision", (142,)),
        [
            "⚠️ No approver is configured for vision, so nobody can approve",
            "Waiting for one: Q-142",
            "Admins: set approvers in policies/approvals.yaml",
        ],
    ),
    "policy broken": (
        platform.policy_broken(BROKEN),
        [
            "⚠️ policies/teams.yaml cannot be used since 14:02",
            "Line 12: unknown key lead; allowed: leads, members",
            "The last good policy stays in force. Check: gpu-quota-bot policy check",
        ],
    ),
    "policy good": (
        platform.policy_broken(replace(BROKEN, good_since=at("14:30"))),
        ["✅ policies/teams.yaml is good again since 14:30", "It could not be used since Wed 2 Dec 14:02"],
    ),
    "suspended": (
        loan_trouble.suspended(T.loan(), "ClusterQueue nlp is gone", at("14:02")),
        [
            "⚠️ 8 a100 (Q-142) suspended since 14:02",
            "ClusterQueue nlp is gone",
            "Counts as not lent until it ends Sat 5 Dec 14:20, even if the cause goes away",
            "Needed still: request again",
        ],
    ),
    "short": (
        loan_trouble.short(T.loan(amount=4), 2, 22),
        [
            "⚠️ 2 of 4 a100 in force for now (Q-142)",
            "nlp has 22 now, too few for what it lent",
            "vision gets the rest by itself when nlp has it again",
        ],
    ),
    "annotation stripped": (
        loan_trouble.annotation_stripped(TROUBLE),
        [
            "⚠️ vision a100: the bot's annotation is gone since 14:02",
            "Quota is as it should be, and loans go on from the database",
            "Loans: Q-142",
            "The next change of a loan writes it again. Nothing to do",
        ],
    ),
    "other install": (
        loan_trouble.other_install(replace(TROUBLE, words="gpu-bot-2", cluster="eu-1")),
        [
            "⚠️ vision a100 on eu-1 is written by another installation: gpu-bot-2",
            "This bot writes nothing there until only one of them is left",
            "Loans: Q-142",
        ],
    ),
    "missing right": (
        loan_trouble.missing_right(replace(TROUBLE, flavor=None)),
        [
            "⚠️ The bot may not write ClusterQueue vision since 14:02",
            "forbidden",
            "Loans: Q-142",
            "Allow patch on it in the bot's ClusterRole; it tries again by itself",
        ],
    ),
    "cannot list queues": (
        platform.cannot_read(UNREADABLE),
        [
            "⚠️ The bot may not list clusterqueues since 14:02",
            "forbidden",
            "Loans are neither put in force nor taken back; it tries again by itself",
            "Allow list on clusterqueues.kueue.x-k8s.io in the bot's ClusterRole",
        ],
    ),
    "cannot list workloads, several clusters": (
        platform.cannot_read(replace(UNREADABLE, resource="workloads.kueue.x-k8s.io", cluster="eu-1")),
        [
            "⚠️ The bot may not list workloads on eu-1 since 14:02",
            "forbidden",
            "What waits, and what a loan means for running work, is not known",
            "Allow list on workloads.kueue.x-k8s.io in the bot's ClusterRole",
        ],
    ),
    "cannot list admission checks": (
        platform.cannot_read(replace(UNREADABLE, resource="admissionchecks.kueue.x-k8s.io")),
        [
            "⚠️ The bot may not list admissionchecks since 14:02",
            "forbidden",
            "Whether quota on worker clusters (MultiKueue) limits a loan too is not known",
            "Allow list on admissionchecks.kueue.x-k8s.io in the bot's ClusterRole",
        ],
    ),
    "cannot discover": (
        platform.cannot_read(replace(UNREADABLE, verb="get", resource="/apis/kueue.x-k8s.io")),
        [
            "⚠️ The bot may not get /apis/kueue.x-k8s.io since 14:02",
            "forbidden",
            "Loans are neither put in force nor taken back; it tries again by itself",
            "Allow get on /apis/kueue.x-k8s.io in the bot's ClusterRole",
        ],
    ),
    "no Kueue": (
        platform.cannot_read(platform.Unreadable(at("14:02"), "Kueue: not installed")),
        [
            "⚠️ The bot cannot read the queues since 14:02",
            "Kueue: not installed",
            "Loans are neither put in force nor taken back; it tries again by itself",
        ],
    ),
    "write refused": (
        loan_trouble.write_refused(replace(TROUBLE, words="must not exceed 40", loans=())),
        [
            "⚠️ Kueue refused a change of vision a100 at 14:02",
            "must not exceed 40",
            "The bot tries again in 10 minutes, or when the queue changes",
        ],
    ),
    "not whole": (
        loan_trouble.not_whole(replace(TROUBLE, words="500m", loans=())),
        [
            "⚠️ Quota of vision a100 is 500m, not a whole number",
            "The bot does not write it until it is whole",
        ],
    ),
    "lendingLimit moved": (
        loan_trouble.lending_limit_moved(TROUBLE),
        [
            "⚠️ vision a100: lendingLimit was changed from 20 to 12",
            "That is its own limit from now on: it stays when the loans end. Nothing to do",
            "Loans: Q-142",
        ],
    ),
    "Kueue writes quota": (
        loan_trouble.kueue_writes_quota(replace(TROUBLE, words="MultiKueue quota automation")),
        [
            "⚠️ vision a100's quota is now written by Kueue itself",
            "By MultiKueue quota automation",
            "The bot does not change it any more. Ask on the worker clusters' queues",
            "When Kueue stops, loans here go on, or go back if they are over",
            "Loans: Q-142",
        ],
    ),
    "no ResourceQuota": (
        loan_trouble.no_resource_quota(replace(BESIDE, words="ResourceQuota vision-train/gpu is not there")),
        [
            "⚠️ ResourceQuota vision-train/gpu is not there",
            "Loans go on without it. If pods are counted elsewhere, they may be refused there",
            "Loans: Q-142",
            "Set it right, or resource_quota in policies/teams.yaml",
        ],
    ),
    "ResourceQuota key without effect": (
        loan_trouble.keys_without_effect(replace(BESIDE, words="limits.nvidia.com/gpu, nvidia.com/gpu")),
        [
            "⚠️ ResourceQuota vision-train/gpu: limits.nvidia.com/gpu and nvidia.com/gpu have no effect",
            "Kubernetes counts GPUs by requests. alone. The bot changes only that",
            "Nobody should rely on that: take it out",
        ],
    ),
    "ResourceQuota that may not be written": (
        loan_trouble.missing_right(BESIDE),
        [
            "⚠️ The bot may not write ResourceQuota vision-train/gpu since 14:02",
            "forbidden",
            "Loans: Q-142",
            "Allow patch on it in the bot's ClusterRole; it tries again by itself",
        ],
    ),
    "ResourceQuota that refused": (
        loan_trouble.write_refused(BESIDE),
        [
            "⚠️ The API server refused a change of ResourceQuota vision-train/gpu at 14:02",
            "forbidden",
            "Loans: Q-142",
            "The bot tries again in 10 minutes, or when the quota changes",
        ],
    ),
    "ResourceQuotas that may not be read": (
        platform.cannot_read(platform.Unreadable(at("14:02"), "forbidden", "get", "resourcequotas")),
        [
            "⚠️ The bot may not get resourcequotas since 14:02",
            "forbidden",
            "Loans go on without the team's ResourceQuota: pods above it are refused",
            "Allow get on resourcequotas in the bot's ClusterRole",
        ],
    ),
    "Kueue writes quota, ended": (
        loan_trouble.kueue_writes_quota(replace(TROUBLE, words="effectiveQuotas", ended=(142,), loans=())),
        [
            "⚠️ vision a100's quota is now written by Kueue itself",
            "By effectiveQuotas",
            "Ended, not returned: Q-142",
            "The bot does not change it any more",
            "When Kueue stops, loans here go on, or go back if they are over",
        ],
    ),
    "Kueue writes quota no more": (
        loan_trouble.kueue_writes_quota(replace(TROUBLE, words="effectiveQuotas", over_since=at("16:12"))),
        [
            "✅ Kueue writes vision a100's quota no more since 16:12",
            "Loans go on. Where a number is not the bot's, it asks what it means",
            "Loans: Q-142",
        ],
    ),
    "team gone": (
        lost_names.name_gone(
            "team vision is not in the policy any more", lost_names.LostStanding((142,), (143,), (144,), at("14:20"))
        ),
        [
            "⚠️ Team vision is not in the policy any more",
            "On loan: Q-142. They go on and end by themselves; what is for that team comes here",
            "To end one now: /gpu-quota end Q-142",
            "Waiting: Q-143. Held until Wed 2 Dec 14:20, then lapsed unless the name is back",
            "Lapsed: Q-144. Who asked was told to ask again",
            "Gone by mistake: put it back into policies/. Renamed: nothing to do",
        ],
    ),
    "team back": (
        lost_names.name_back("team vision", lost_names.LostStanding((142,), (143,), (144,), at("14:20"))),
        [
            "✅ Team vision is in the policy again",
            "Waits on as before: Q-143",
            "On loan: Q-142",
            "Lapsed meanwhile: Q-144. Who asked was told to ask again",
        ],
    ),
    "thread: approved": (
        thread_lines.thread_line(ThreadEvent(EventKind.APPROVED, at("14:12"), T.lead, "nlp lends 8")),
        ["14:12 Lead of nlp approved (nlp lends 8)"],
    ),
    "thread: denied": (
        thread_lines.thread_line(ThreadEvent(EventKind.DENIED, at("14:22"), T.admin, words="no more now")),
        ["14:22 Admin denied: no more now"],
    ),
    "thread: in force": (
        thread_lines.thread_line(ThreadEvent(EventKind.IN_FORCE, at("14:20"))),
        ["14:20 in force"],
    ),
    "next step": (
        thread_lines.next_step(T.card(), Asked(T.steps()[0], (T.lead,))),
        ["@lead-nlp: your approval is next, 8 a100 for vision, your queue lends (Q-142)"],
    ),
    "next step, group": (
        thread_lines.next_step(T.card(), Asked(T.steps()[1], group=Group("SGPU0ADMINS", "gpu-admins"))),
        ["@gpu-admins: your approval is next, 8 a100 for vision (Q-142)"],
    ),
    "refused": (refusals.refused("No queue visoin that you can see."), ["No queue visoin that you can see."]),
    "already approved": (
        refusals.already_decided(Decided("Q-142", Outcome.APPROVED, at("14:20"), T.admin)),
        ["Q-142 was already approved by @admin at 14:20."],
    ),
    "already denied": (
        refusals.already_decided(Decided("Q-142", Outcome.DENIED, at("14:18"), T.lead, words="no more now")),
        ["Q-142 was already denied by @lead-nlp at 14:18: no more now"],
    ),
    "failed": (
        refusals.failed("7F3A-21", nothing_changed=True),
        ["That did not work, and it is not your doing. Reference 7F3A-21. Nothing was changed."],
    ),
    "failed, doubtful": (
        refusals.failed("7F3A-21", request=142),
        ["That did not work, and it is not your doing. Reference 7F3A-21. Check Q-142 before trying again."],
    ),
    "slow": (
        refusals.slow_answer(),
        ["Asking the cluster. The answer comes here; if it takes over 30 minutes, by DM."],
    ),
    "withdraw of a loan": (
        refusals.in_force_already(T.loan()),
        ["Q-142 is in force; return it instead.", "[Return]"],
    ),
    "which loan": (
        refusals.which_loan((T.loan(), T.loan(id=143)), ("Which one goes back?",), return_button),
        [
            "Which one goes back?",
            "Q-142: 8 a100 for vision, ends Sat 5 Dec 14:20",
            "[Return]",
            "Q-143: 8 a100 for vision, ends Sat 5 Dec 14:20",
            "[Return]",
        ],
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told(name: str) -> None:
    message, lines = TOLD[name]
    assert seen(message) == lines


def test_platform_messages_carry_no_buttons() -> None:
    assert [
        name
        for name, (message, _) in TOLD.items()
        if name not in {"withdraw of a loan", "which loan"} and labels(message)
    ] == []


def test_an_outage_with_many_loans_names_ten() -> None:
    held = tuple(Held(number, Turn.START) for number in range(1, 13))
    assert seen(platform.api_down(Outage(at("14:02"), held=held)))[1].endswith("Q-10 (start) and 2 more")
