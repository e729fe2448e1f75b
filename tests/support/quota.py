"""Builders of policies and pictures for tests: the cohort gpu-pool of the messages, with anything changed by name."""

import copy
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.core.drafts import Draft
from bot.core.kueue import (
    ClusterPicture,
    CohortSnapshot,
    FlavorResource,
    Preemption,
    QueueSnapshot,
    Quota,
    WorkloadSnapshot,
)
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.people import Person
from bot.core.policy import FILES, Policy, read_policy
from bot.core.requests import ApprovalStep, Ask, QuotaRequest, RequestState

NOW = datetime(2026, 12, 2, 13, 5, tzinfo=UTC)
"""A Wednesday, 14:05 in Zurich."""
GPU = "nvidia.com/gpu"
A100 = FlavorResource("a100", GPU)

DOCUMENTS: Mapping[str, Any] = {
    "teams.yaml": {
        "teams": {
            name: {
                "channel": f"C0{name.upper()}",
                "members": [f"U0{name.upper()}", f"S0{name.upper()}"],
                "leads": [f"U0LEAD{name.upper()}"],
                "queues": [name],
                "timezone": "Europe/Zurich",
            }
            for name in ("nlp", "vision", "robotics")
        }
    },
    "approvals.yaml": {
        "groups": {"gpu-admins": ["U0ADMIN", "U0ADMINTWO", "S0ADMINS"], "nobody": []},
        "admins": "gpu-admins",
        "approvals_channel": "C0APPROVALS",
        "platform_channel": "C0PLATFORM",
        "rules": [
            {
                "name": "small-and-short",
                "if": {"amount": {"at_most": 2}, "duration": {"at_most": "24h"}, "on_loan": {"at_most": 2}},
                "then": {"approve": "auto"},
            },
            {
                "name": "big",
                "if": {"amount": {"more_than": 4}},
                "then": {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins"}]},
            },
            {"name": "rest", "then": {"steps": [{"who": "group gpu-admins"}]}},
        ],
    },
    "clusters.yaml": {
        "clusters": {
            "default": {
                "accelerators": {
                    GPU: {"one": "GPU", "many": "GPUs", "alias": "gpu"},
                    "nvidia.com/mig-1g.5gb": {"one": "slice", "many": "slices"},
                },
                "default_flavor": "a100",
                "lenders": {"nlp": {}, "vision": {"at_most": 8}, "robotics": {"only_idle": True}},
            }
        }
    },
    "alerts.yaml": {},
}
"""Parsed policy files; take a copy with `documents()`."""


def documents() -> dict[str, Any]:
    """A copy to change."""
    return copy.deepcopy(dict(DOCUMENTS))


def policy(changed: Mapping[str, Any] | None = None) -> Policy:
    """A policy of these documents. Fails with the findings if they are wrong."""
    result = read_policy(changed or documents(), "v1")
    assert isinstance(result, Policy), result
    return result


def with_rules(*rules: Mapping[str, Any], **approvals: Any) -> Policy:
    """The usual policy with other rules, and other keys of approvals.yaml."""
    changed = documents()
    changed["approvals.yaml"].update(rules=list(rules), **approvals)
    return policy(changed)


def queue(name: str, nominal: int = 8, reserved: int = 0, **changes: Any) -> QueueSnapshot:
    """A queue of gpu-pool with one entry, a100 GPUs. `borrowing` and `lending` are its limits."""
    quota = Quota(nominal, changes.pop("borrowing", None), changes.pop("lending", None), changes.pop("whole", True))
    facts: dict[str, Any] = {
        "cluster": "default",
        "uid": f"uid-{name}",
        "resource_version": "1",
        "generation": 1,
        "quotas": {A100: quota},
        "cohort": "gpu-pool",
        "reserved": {A100: reserved},
        "preemption": Preemption(reclaim_within_cohort="Any"),
    }
    return QueueSnapshot(name=name, **{**facts, **changes})


def picture(*queues: QueueSnapshot, cohorts: tuple[CohortSnapshot, ...] = ()) -> ClusterPicture:
    """These queues at NOW; without any, the three of the messages: 24, 16 and 8, with 16, 20 and 8 reserved."""
    usual = (queue("nlp", 24, 16), queue("vision", 16, 20, borrowing=4), queue("robotics", 8, 8, borrowing=0))
    return ClusterPicture(
        "default", NOW, {one.name: one for one in queues or usual}, {one.name: one for one in cohorts}
    )


def work(name: str, amount: int, *, in_queue: str = "nlp", priority: int = 0, hours_ago: float = 1) -> WorkloadSnapshot:
    """A running workload that holds a100s."""
    at = NOW - timedelta(hours=hours_ago)
    return WorkloadSnapshot(
        "ns", f"job-{name}-1", f"uid-{name}", in_queue, priority, at, at, {A100: amount}, {GPU: amount}, name
    )


def waiting(name: str, amount: int, *, in_queue: str = "nlp") -> WorkloadSnapshot:
    """A workload that waits for GPUs."""
    return WorkloadSnapshot("ns", name, f"uid-{name}", in_queue, 0, NOW, None, {}, {GPU: amount})


def ask(amount: int = 8, **changes: Any) -> Ask:
    """8 a100 for vision by borrowing, for 3 days, asked by U0VISION."""
    facts: dict[str, Any] = {
        "cluster": "default",
        "team": "vision",
        "queue": "vision",
        "flavor": "a100",
        "resource": GPU,
        "kind": LoanKind.BORROW,
        "lender": None,
        "start": None,
        "duration": timedelta(days=3),
        "until": None,
        "reason": "paper deadline",
        "requester": "U0VISION",
    }
    return Ask(amount=amount, **{**facts, **changes})


def transfer(amount: int = 8, lender: str = "nlp", **changes: Any) -> Ask:
    """The same as a transfer."""
    return ask(amount, kind=LoanKind.TRANSFER, lender=lender, **changes)


def draft(amount: int | None = 8, **changes: Any) -> Draft:
    """What the ask says, with the kind left to the bot."""
    facts: dict[str, Any] = {
        "requester": "U0VISION",
        "cluster": "default",
        "team": "vision",
        "queue": "vision",
        "duration": timedelta(days=3),
        "reason": "paper deadline",
    }
    return Draft(amount=amount, **{**facts, **changes})


def request(number: int = 142, *steps: str, of: Ask | None = None, **changes: Any) -> QuotaRequest:
    """A waiting request with steps of one person each, such as `leads:vision`."""
    facts: dict[str, Any] = {
        "state": RequestState.WAITING,
        "created_at": NOW,
        "lapses_at": NOW + timedelta(days=3),
        "origin": f"test:{number}",
        "steps": tuple(ApprovalStep(who) for who in steps),
    }
    return QuotaRequest(id=number, ask=of or ask(), **{**facts, **changes})


def loan(number: int = 1, amount: int = 2, **changes: Any) -> Loan:
    """A running borrow of vision that began an hour ago and ends in a day."""
    facts: dict[str, Any] = {
        "cluster": "default",
        "kind": LoanKind.BORROW,
        "lender": None,
        "borrower": "vision",
        "flavor": "a100",
        "resource": GPU,
        "start": NOW - timedelta(hours=1),
        "end": NOW + timedelta(days=1),
        "state": LoanState.RUNNING,
        "in_force_at": NOW,
    }
    return Loan(id=number, amount=amount, **{**facts, **changes})


def person(user: str, **changes: Any) -> Person:
    """A full member."""
    return Person(user, user.lower(), **changes)


NO_GROUPS: Mapping[str, frozenset[str]] = {
    group: frozenset() for group in ("S0NLP", "S0VISION", "S0ROBOTICS", "S0ADMINS")
}
"""All user groups of the policy, looked up and empty."""

assert set(FILES) == set(DOCUMENTS)
