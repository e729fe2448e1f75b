"""Who lives in a history's town: teams, leads, admins, a guest, and two policies that reload into each other."""

from collections.abc import Collection
from typing import Any

from bot.core.people import Person
from bot.core.policy import Policy, read_policy
from tests.support.oracle.messages import HOSTILE

TEAMS = ("alpha", "beta", "gamma")
ADMINS = ("U0ADMINA", "U0ADMINB", "U0ADMINC")
GUEST = "U0GUEST"
NOBODY = "U0NOBODY"
ONCALL = "U0ONCALL"
"""May decide what nobody answered for `ESCALATES_AFTER_HOURS`, by the first of the two policies."""
ESCALATES_AFTER_HOURS = 4
GROUP = "S0ADMINS"
GPU = "nvidia.com/gpu"
WITH_QUOTA = ("beta", "beta-work", "gpu")
"""The team with a ResourceQuota, its namespace and its name."""


def member(team: str) -> str:
    """An ordinary member."""
    return f"U0{team.upper()}"


def lead(team: str) -> str:
    """The one lead."""
    return f"U0LEAD{team.upper()}"


def everybody() -> dict[str, Person]:
    """All accounts. Names are as hostile as names can be."""
    users = [*ADMINS, NOBODY, ONCALL, *(member(team) for team in TEAMS), *(lead(team) for team in TEAMS)]
    people = {user: Person(user, f"{user.lower()} {HOSTILE}") for user in users}
    return {**people, GUEST: Person(GUEST, f"guest {HOSTILE}", full_member=False)}


def policy(version: int, *, resource_quota: bool = False, in_git: Collection[str] = ()) -> Policy:
    """Version 0: one admin is enough, version 1: it takes two and the second is named."""
    documents = _documents(version)
    if resource_quota:
        team, namespace, name = WITH_QUOTA
        named = {"namespaces": [namespace], "resource_quota": {"namespace": namespace, "name": name}}
        documents["teams.yaml"]["teams"][team] |= named
    documents["clusters.yaml"]["clusters"]["default"]["queues"] = {name: {"write": "propose"} for name in in_git}
    result = read_policy(documents, f"v{version}")
    assert isinstance(result, Policy), result
    return result


def meant(version: int, group: frozenset[str]) -> dict[str, Any]:
    """The oracle's `people`: who is behind each step, told from this file alone."""
    admins = set(group) | ({"U0ADMINC"} if version else set())
    who = {"group:gpu-admins": admins, "admins": admins, "group:on-call": {ONCALL}}
    who |= {f"leads:{team}": {lead(team)} for team in TEAMS}
    return {
        "who": {name: frozenset(people - {GUEST}) for name, people in who.items()},
        "own": False,
        "outside": (GUEST,),
        "escalates": None if version else "group:on-call",
        "after": ESCALATES_AFTER_HOURS * 3600.0,
    }


def _documents(version: int) -> dict[str, Any]:
    teams = {
        team: {
            "channel": f"C0{team.upper()}",
            "members": [member(team), *(["U0ADMINA"] if team == "alpha" else [])],
            "leads": [lead(team)],
            "queues": [team],
        }
        for team in TEAMS
    }
    rules: list[dict[str, Any]] = [
        {"name": "small", "if": {"amount": {"at_most": 1}}, "then": {"approve": "auto"}},
        {
            "name": "big",
            "if": {"amount": {"more_than": 3}},
            "then": {"steps": [{"who": "team-leads"}, {"who": "group gpu-admins", "count": 2}]},
        },
        {"name": "rest", "then": {"steps": [{"who": "group gpu-admins", "count": 1 + version}]}},
    ]
    for rule in rules:
        rule |= {"at_end": "evict", "grace": "10min"}
    limits = {
        "most_per_request": 16,
        "most_on_loan_per_team": 60,
        "open_requests_per_person": 50,
        "requests_per_hour": 200,
    }
    approvals = {
        "groups": {"gpu-admins": [GROUP, *(["U0ADMINC"] if version else [])], "on-call": [ONCALL]},
        "unanswered": {
            "remind_after": "2h",
            "escalate_after": f"{ESCALATES_AFTER_HOURS}h",
            **({} if version else {"escalate_to": "on-call"}),
        },
        "admins": "gpu-admins",
        "approvals_channel": "C0APPROVALS",
        "platform_channel": "C0PLATFORM",
        "kinds": ["borrow", "transfer", "extra"],
        "rules": rules,
        "limits": limits,
        "lapse_after": "12h",
        "idle_loans": {"after": "8min", "again_after": "1h", "not_in_last": "10min"},
    }
    cluster = {
        "accelerators": {GPU: {"one": "GPU", "many": "GPUs"}},
        "default_flavor": "a100",
        "lenders": {"alpha": {}, "beta": {}, "gamma": {"consent": "none"}},
    }
    return {
        "teams.yaml": {"teams": teams},
        "approvals.yaml": approvals,
        "clusters.yaml": {"clusters": {"default": cluster}},
    }
