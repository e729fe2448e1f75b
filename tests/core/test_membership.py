"""Who may ask, decide and see: the refusals are the sentences of the interface, and an unknown group is never empty."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.membership import (
    OUTSIDER,
    Allowed,
    Groups,
    NotAllowed,
    Roles,
    Unknown,
    groups_of_roles,
    groups_of_steps,
    may_approve,
    may_deny,
    may_handle,
    may_request,
    open_step,
    roles_of,
    step_words,
    stuck,
    visible_queues,
)
from bot.core.requests import Approval, ApprovalStep
from tests.support.quota import NO_GROUPS, NOW, documents, person, policy, request, with_rules

POLICY = policy()
GROUPS: Groups = {
    "S0NLP": frozenset({"U0GROUPNLP"}),
    "S0VISION": frozenset({"U0BOTH"}),
    "S0ROBOTICS": frozenset({"U0BOTH"}),
    "S0ADMINS": frozenset({"U0GROUPADMIN"}),
}
BORROW = request(142, "leads:vision", "group:gpu-admins")
TRANSFER = request(142, "leads:nlp", "group:gpu-admins")


def approved(*who: str, request_id: int = 142) -> tuple[Approval, ...]:
    """One approval per step in order."""
    return tuple(Approval(request_id, step, one, NOW + timedelta(minutes=step)) for step, one in enumerate(who))


@pytest.mark.parametrize(
    ("user", "teams", "leads", "admin"),
    [
        ("U0NLP", ("nlp",), (), False),
        ("U0GROUPNLP", ("nlp",), (), False),
        ("U0LEADVISION", ("vision",), ("vision",), False),
        ("U0BOTH", ("vision", "robotics"), (), False),
        ("U0ADMIN", (), (), True),
        ("U0GROUPADMIN", (), (), True),
        ("U0STRANGER", (), (), False),
    ],
)
def test_roles_come_from_ids_and_user_groups(
    user: str, teams: tuple[str, ...], leads: tuple[str, ...], admin: bool
) -> None:
    assert roles_of(POLICY, person(user), GROUPS) == Roles(teams, leads, admin)


def test_a_failed_look_up_is_remembered_and_takes_nothing_away_that_is_certain() -> None:
    groups: Groups = {**GROUPS, "S0NLP": Unknown("ratelimited")}
    assert roles_of(POLICY, person("U0NLP"), groups) == Roles(("nlp",), (), admin=False, unknown=("S0NLP",))


def test_a_group_that_was_not_looked_up_counts_as_unknown_not_as_empty() -> None:
    assert roles_of(POLICY, person("U0STRANGER"), {}).unknown == ("S0ADMINS", "S0NLP", "S0ROBOTICS", "S0VISION")


def test_the_groups_to_look_up_are_those_that_can_matter() -> None:
    assert groups_of_roles(POLICY) == {"S0NLP", "S0VISION", "S0ROBOTICS", "S0ADMINS"}
    assert groups_of_steps(POLICY, BORROW.steps) == {"S0ADMINS"}
    assert groups_of_steps(POLICY, BORROW.steps[:1]) == frozenset()


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize(
    ("user", "team", "words"),
    [
        ("U0VISION", "vision", None),
        ("U0LEADVISION", "vision", None),
        ("U0ADMIN", "vision", None),
        ("U0BOTH", "nlp", "You can request for your own teams: vision, robotics. For another one ask its lead."),
        ("U0STRANGER", "vision", "You are in no team: ask an admin."),
    ],
)
def test_sec_05_requests_are_for_the_own_team_unless_one_is_admin(user: str, team: str, words: str | None) -> None:
    who = person(user)
    assert may_request(roles_of(POLICY, who, GROUPS), who, team) == words


def test_a_failed_look_up_refuses_a_request_in_words_instead_of_calling_somebody_a_stranger() -> None:
    who = person("U0STRANGER")
    words = may_request(roles_of(POLICY, who, {**GROUPS, "S0NLP": Unknown("timeout")}), who, "nlp")
    assert words is not None
    assert "S0NLP" in words
    assert "Try again" in words


@pytest.mark.case("SLA-06")
@pytest.mark.parametrize("user", ["U0VISION", "U0LEADVISION", "U0ADMIN", "W0123ABCD"])
def test_sla_06_guests_and_outsiders_neither_ask_nor_decide_whatever_a_list_says(user: str) -> None:
    guest = person(user, full_member=False)
    assert roles_of(POLICY, guest, GROUPS) == Roles((), (), admin=False)
    assert may_request(roles_of(POLICY, guest, GROUPS), guest, "vision") == OUTSIDER
    assert may_approve(POLICY, guest, BORROW, (), GROUPS) == NotAllowed(OUTSIDER)
    assert may_deny(POLICY, guest, BORROW, GROUPS) == NotAllowed(OUTSIDER)
    assert may_handle(Roles((), (), admin=False), guest, BORROW, "vera") == OUTSIDER


@pytest.mark.parametrize(
    ("user", "given", "step"),
    [
        ("U0LEADVISION", (), 0),
        ("U0ADMIN", ("U0LEADVISION",), 1),
        ("U0ADMINTWO", ("U0LEADVISION",), 1),
        ("U0GROUPADMIN", ("U0LEADVISION",), 1),
    ],
)
def test_those_that_the_open_step_asks_may_approve(user: str, given: tuple[str, ...], step: int) -> None:
    assert may_approve(POLICY, person(user), BORROW, approved(*given), GROUPS) == Allowed(step)


@pytest.mark.case("SEC-01")
@pytest.mark.parametrize(
    ("user", "given", "words"),
    [
        ("U0STRANGER", (), "Only the nlp lead and gpu-admins can decide Q-142. Not recorded as a decision."),
        ("U0LEADROBOTICS", (), "Only the nlp lead and gpu-admins can decide Q-142. Not recorded as a decision."),
        ("U0LEADNLP", ("U0OTHER",), "Only the nlp lead and gpu-admins can decide Q-142. Not recorded as a decision."),
        ("U0ADMIN", (), "The nlp lead decides first. You are asked after that."),
        ("U0LEADNLP", ("U0LEADNLP",), "You gave approval 1 of 2. Somebody else gives the second."),
        ("U0VISION", (), "Q-142 is yours: somebody else decides. You can withdraw it."),
    ],
)
def test_sec_01_others_are_refused_in_the_words_of_the_interface(user: str, given: tuple[str, ...], words: str) -> None:
    assert may_approve(POLICY, person(user), TRANSFER, approved(*given), GROUPS) == NotAllowed(words)


@pytest.mark.case("APP-05")
@pytest.mark.parametrize("requester", ["U0ADMIN", "U0LEADVISION", "U0GROUPADMIN", "U0ADMINTWO"])
def test_app_05_nobody_decides_their_own_request_unless_the_policy_lets_them(requester: str) -> None:
    own = replace(BORROW, ask=replace(BORROW.ask, requester=requester), steps=(ApprovalStep("group:all"),))
    files = documents()
    files["approvals.yaml"]["groups"]["all"] = ["U0ADMIN", "U0LEADVISION", "U0GROUPADMIN", "U0ADMINTWO"]
    refusal = NotAllowed("Q-142 is yours: somebody else decides. You can withdraw it.")
    assert may_approve(policy(files), person(requester), own, (), GROUPS) == refusal
    assert may_deny(policy(files), person(requester), own, GROUPS) == refusal
    files["approvals.yaml"]["self_approval"] = True
    assert may_approve(policy(files), person(requester), own, (), GROUPS) == Allowed(0, self_approved=True)


@pytest.mark.case("SEC-01")
@pytest.mark.parametrize("who", ["group:nobody", "group:gone", "leads:gone", "leads:"])
@pytest.mark.parametrize("user", ["U0ADMIN", "U0STRANGER", "U0LEADVISION"])
def test_sec_01_an_empty_list_of_approvers_is_nobody(who: str, user: str) -> None:
    words = "No approver is configured for vision, so nobody can approve. Admins: set approvers in the policy."
    assert may_approve(POLICY, person(user), request(142, who), (), GROUPS) == NotAllowed(words)


def test_an_empty_user_group_is_nobody_too() -> None:
    files = documents()
    files["approvals.yaml"]["groups"]["on-call"] = ["S0ADMINS"]
    asked = request(142, "group:on-call")
    assert stuck(policy(files), asked, (), NO_GROUPS)
    assert not stuck(policy(files), asked, (), GROUPS)
    assert not stuck(policy(files), asked, (), {"S0ADMINS": Unknown("timeout")})


@pytest.mark.parametrize(
    ("steps", "given", "self_approval", "words"),
    [
        ((ApprovalStep("leads:vision"),), (), False, None),
        ((ApprovalStep("leads:vision", 2),), (), False, "Only 1 of 2 approvers are configured for vision, so Q-142"),
        ((ApprovalStep("leads:vision"), ApprovalStep("leads:vision")), ("U0LEADVISION",), False, "No approver is"),
        ((ApprovalStep("group:gpu-admins", 3),), (), False, None),
        ((ApprovalStep("group:gpu-admins", 4),), (), False, "Only 3 of 4 approvers are configured for vision"),
        ((ApprovalStep("group:mine"),), (), False, "No approver is configured for vision"),
        ((ApprovalStep("group:mine"),), (), True, None),
        ((ApprovalStep("leads:vision"),), ("U0LEADVISION",), False, None),
    ],
)
def test_a_step_that_too_few_people_can_give_is_known(
    steps: tuple[ApprovalStep, ...], given: tuple[str, ...], self_approval: bool, words: str | None
) -> None:
    files = documents()
    files["approvals.yaml"].update(self_approval=self_approval)
    files["approvals.yaml"]["groups"]["mine"] = ["U0VISION"]
    said = stuck(policy(files), request(142, steps=steps), approved(*given), GROUPS)
    assert (said is None) if words is None else (said or "").startswith(words)


def test_a_failed_look_up_refuses_an_approval_but_not_of_those_who_are_listed_themselves() -> None:
    groups: Groups = {**GROUPS, "S0ADMINS": Unknown("timeout")}
    given = approved("U0LEADVISION")
    refusal = may_approve(POLICY, person("U0GROUPADMIN"), BORROW, given, groups)
    assert isinstance(refusal, NotAllowed)
    assert refusal.sentence.startswith("Slack did not say who is in user group S0ADMINS")
    assert may_approve(POLICY, person("U0ADMIN"), BORROW, given, groups) == Allowed(1)
    assert isinstance(may_deny(POLICY, person("U0GROUPADMIN"), BORROW, groups), NotAllowed)


@pytest.mark.parametrize("user", ["U0LEADVISION", "U0ADMIN", "U0GROUPADMIN"])
def test_whoever_a_step_asks_may_deny_before_it_is_their_turn(user: str) -> None:
    assert may_deny(POLICY, person(user), BORROW, GROUPS) is None


@pytest.mark.parametrize("user", ["U0STRANGER", "U0NLP", "U0LEADNLP"])
def test_others_may_not_deny(user: str) -> None:
    words = "Only the vision lead and gpu-admins can decide Q-142. Not recorded as a decision."
    assert may_deny(POLICY, person(user), BORROW, GROUPS) == NotAllowed(words)


def test_a_step_of_two_takes_two_people() -> None:
    asked = request(142, steps=(ApprovalStep("group:gpu-admins", 2),))
    one = (Approval(142, 0, "U0ADMIN", NOW),)
    assert open_step(asked.steps, one) == 0
    assert may_approve(POLICY, person("U0ADMINTWO"), asked, one, GROUPS) == Allowed(0)
    assert open_step(asked.steps, (*one, Approval(142, 0, "U0ADMINTWO", NOW))) is None


def test_asking_about_a_request_with_all_its_approvals_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="Q-142 has all"):
        may_approve(POLICY, person("U0ADMIN"), request(142), (), GROUPS)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("U0VISION", None),
        ("U0LEADVISION", None),
        ("U0ADMIN", "Only vera can accept, withdraw, extend or return Q-142 (and the vision lead)."),
        ("U0LEADNLP", "Only vera can accept, withdraw, extend or return Q-142 (and the vision lead)."),
    ],
)
def test_the_requester_and_the_teams_lead_handle_a_request(user: str, words: str | None) -> None:
    who = person(user)
    assert may_handle(roles_of(POLICY, who, GROUPS), who, BORROW, "vera") == words


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ApprovalStep("leads:nlp"), "nlp lead"),
        (ApprovalStep("leads:nlp", 2), "2 nlp leads"),
        (ApprovalStep("group:gpu-admins"), "gpu-admins"),
        (ApprovalStep("group:gpu-admins", 2), "2 of gpu-admins"),
    ],
)
def test_a_step_in_words(step: ApprovalStep, words: str) -> None:
    assert step_words(step) == words


QUEUES = frozenset({"nlp", "vision", "robotics", "nobodys"})


@pytest.mark.case("SEC-05")
@pytest.mark.parametrize(
    ("everybody", "visions", "user", "seen"),
    [
        ("all", None, "U0VISION", QUEUES),
        ("all", "own", "U0VISION", {"vision"}),
        ("own", None, "U0VISION", {"vision"}),
        ("own", ["nlp"], "U0VISION", {"vision", "nlp"}),
        ("own", "all", "U0VISION", QUEUES),
        ("own", "own", "U0BOTH", {"vision", "robotics"}),
        ("own", "own", "U0ADMIN", QUEUES),
        ("own", "own", "U0STRANGER", set()),
        (["nlp"], None, "U0STRANGER", {"nlp"}),
        ("all", None, "U0STRANGER", QUEUES),
    ],
)
def test_sec_05_who_sees_which_queues(everybody: object, visions: object, user: str, seen: set[str]) -> None:
    files = documents()
    files["teams.yaml"]["sees"] = everybody
    if visions is not None:
        files["teams.yaml"]["teams"]["vision"]["sees"] = visions
    read = policy(files)
    assert visible_queues(read, roles_of(read, person(user), GROUPS), "default", QUEUES) == seen


USERS = ["U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ADMIN", "U0ADMINTWO", "U0GROUPADMIN", "U0STRANGER"]
STEPS = st.lists(
    st.builds(
        ApprovalStep,
        st.sampled_from(["leads:vision", "leads:nlp", "group:gpu-admins", "group:nobody"]),
        st.integers(1, 2),
    ),
    min_size=1,
    max_size=3,
)


@given(STEPS, st.lists(st.sampled_from(USERS), max_size=12), st.booleans())
def test_however_people_press_each_approval_is_of_another_person_and_never_the_requesters(
    steps: list[ApprovalStep], presses: list[str], self_approval: bool
) -> None:
    rules = with_rules({"name": "all", "then": {"approve": "auto"}}, self_approval=self_approval)
    asked = request(142, steps=tuple(steps))
    given_so_far: list[Approval] = []
    for user in presses:
        if open_step(asked.steps, given_so_far) is None:
            break
        answer = may_approve(rules, person(user), asked, given_so_far, GROUPS)
        if isinstance(answer, Allowed):
            given_so_far.append(Approval(142, answer.step, user, NOW, answer.self_approved))
    people = [one.who for one in given_so_far]
    assert len(people) == len(set(people))
    assert "U0VISION" not in people  # in no list here, and it is the requester
    assert [one.step for one in given_so_far] == sorted(one.step for one in given_so_far)
    leads: Mapping[str, set[str]] = {
        "leads:vision": {"U0LEADVISION"},
        "leads:nlp": {"U0LEADNLP"},
        "group:gpu-admins": {"U0ADMIN", "U0ADMINTWO", "U0GROUPADMIN"},
        "group:nobody": set(),
    }
    assert all(one.who in leads[asked.steps[one.step].who] for one in given_so_far)
