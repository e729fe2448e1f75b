"""Who people are and who is in a group: at most 60 s old, never a guess, and never a kept failure."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.core.errors import Rejected, Unavailable
from bot.demo.slack import DEFAULT_SCOPES
from tests.support.slack_town import Town


def test_a_person_has_the_name_and_the_time_zone_that_slack_knows(town: Town) -> None:
    ada = town.chat.person(town.ada)
    assert (ada.id, ada.name, ada.timezone, ada.full_member) == (town.ada, "ada", "Europe/Zurich", True)


@pytest.mark.parametrize(
    ("traits", "is_full"),
    [
        ({}, True),
        ({"is_restricted": True}, False),
        ({"is_restricted": True, "is_ultra_restricted": True}, False),
        ({"is_stranger": True, "team_id": "T0ELSEWHERE"}, False),
        ({"team_id": "T0ELSEWHERE"}, False),
        ({"deleted": True}, False),
        ({"is_bot": True}, False),
    ],
)
def test_only_members_of_the_workspace_are_full_members(town: Town, traits: dict[str, Any], is_full: bool) -> None:
    person = town.slack.add_person("someone", **traits).id
    assert town.chat.person(person).full_member is is_full


@pytest.mark.parametrize(
    ("traits", "is_full"),
    [
        ({"id": "W0GRID", "enterprise_id": "E0HOME"}, True),
        ({"id": "W0GRID", "enterprise_id": "E0HOME", "team_id": "T0SISTER"}, True),
        ({"id": "W0GRID", "enterprise_id": "E0OTHER", "team_id": "T0SISTER"}, False),
        ({"id": "W0GRID", "enterprise_id": "E0HOME", "is_restricted": True}, False),
        ({"id": "W0GRID", "team_id": "T0SISTER"}, False),
    ],
)
def test_in_a_grid_the_whole_organisation_is_at_home(
    make_town: Callable[..., Town], traits: dict[str, Any], is_full: bool
) -> None:
    town = make_town(enterprise_id="E0HOME")
    person = town.slack.add_person("someone", **traits).id
    assert town.chat.person(person).full_member is is_full


def test_a_change_is_seen_after_sixty_seconds(town: Town) -> None:
    town.chat.person(town.ada)
    town.slack.change_person(town.ada, is_restricted=True)
    town.clock.move(seconds=59.9)
    assert town.chat.person(town.ada).full_member
    town.clock.move(seconds=0.1)
    assert not town.chat.person(town.ada).full_member
    assert town.count("users.info") == 2


def test_a_group_that_changed_is_seen_after_sixty_seconds(town: Town) -> None:
    bob = town.slack.add_person("bob").id
    group = town.slack.add_group("nlp-team", town.ada).id
    assert town.chat.group_members(group) == {town.ada}
    town.slack.change_group(group, members=(bob,))
    town.clock.move(seconds=59)
    assert town.chat.group_members(group) == {town.ada}
    town.clock.move(seconds=1)
    assert town.chat.group_members(group) == {bob}


def test_a_clock_that_goes_back_keeps_nothing(town: Town) -> None:
    town.chat.person(town.ada)
    town.clock.move(hours=-1)
    town.chat.person(town.ada)
    assert town.count("users.info") == 2


@pytest.mark.parametrize("fault", ["http_500", "drop_before", "drop_after", "not_json", "rate_limited"])
def test_a_look_up_that_failed_is_never_kept(town: Town, fault: str) -> None:
    group = town.slack.add_group("nlp-team", town.ada).id
    for method, look_up in (
        ("users.info", lambda: town.chat.person(town.ada).id),
        ("usergroups.users.list", lambda: town.chat.group_members(group)),
    ):
        getattr(town.slack.faults, fault)(method)
        with pytest.raises(Unavailable):
            look_up()
        assert look_up() in (town.ada, {town.ada})


def test_a_group_is_never_empty_because_it_could_not_be_looked_up(make_town: Callable[..., Town]) -> None:
    town = make_town(scopes=DEFAULT_SCOPES - {"usergroups:read"})
    group = town.slack.add_group("nlp-team", town.ada).id
    with pytest.raises(Rejected, match="missing_scope needed: usergroups:read"):
        town.chat.group_members(group)


def test_a_kept_answer_outlives_an_outage_for_its_sixty_seconds(town: Town) -> None:
    town.chat.person(town.ada)
    town.slack.go_down()
    assert town.chat.person(town.ada).full_member
    town.clock.move(seconds=60)
    with pytest.raises(Unavailable):
        town.chat.person(town.ada)


def test_who_is_not_there_is_said(town: Town) -> None:
    with pytest.raises(Rejected, match="user_not_found"):
        town.chat.person("U0NOBODY")
    with pytest.raises(Rejected, match="no_such_subteam"):
        town.chat.group_members("S0NOWHERE")
