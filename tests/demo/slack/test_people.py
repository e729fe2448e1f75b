"""users.* and usergroups.*: guests, strangers, the deleted, groups, and organisation-wide tokens."""

from bot.demo.slack import DEFAULT_SCOPES, Setup


def test_people(town, error_of) -> None:
    stranger = town.slack.add_person("eve", team_id="T0ELSEWHERE", is_stranger=True, email="eve@elsewhere.example")
    ada = town.client.users_info(user=town.ada.id, include_locale=True)["user"]
    assert (ada["tz"], ada["tz_offset"], ada["locale"]) == ("Europe/Berlin", 3600, "de-DE")
    assert ada["profile"]["email"] == "ada@example.com"
    guest = town.client.users_info(user=town.guest.id)["user"]
    assert guest["is_restricted"]
    assert "locale" not in guest
    eve = town.client.users_info(user=stranger.id)["user"]
    assert (eve["is_stranger"], eve["team_id"]) == (True, "T0ELSEWHERE")
    assert [len(page["members"]) for page in town.client.users_list(limit=2)] == [2, 2, 1]
    assert town.client.users_lookupByEmail(email="ADA@example.com")["user"]["id"] == town.ada.id
    assert error_of(lambda: town.client.users_info(user="U404")) == "user_not_found"
    assert error_of(lambda: town.client.users_lookupByEmail(email="no@example.com")) == "users_not_found"


def test_without_the_scope_no_email_is_told(make_town) -> None:
    town = make_town(Setup(scopes=DEFAULT_SCOPES - {"users:read.email"}, pacing=False))
    assert "email" not in town.client.users_info(user=town.ada.id)["user"]["profile"]


def test_user_groups(town, error_of) -> None:
    group = town.slack.add_group("gpu-admins", town.ada.id, town.bob.id)
    town.slack.change_person(town.bob.id, deleted=True)
    listed = town.client.usergroups_list(include_users=True)["usergroups"]
    assert [(g["id"], g["handle"]) for g in listed] == [(group.id, "gpu-admins")]
    assert town.client.usergroups_users_list(usergroup=group.id)["users"] == [town.ada.id]
    town.slack.change_group(group.id, is_disabled=True)
    assert town.client.usergroups_users_list(usergroup=group.id)["users"] == []
    assert error_of(lambda: town.client.usergroups_users_list(usergroup="S404")) == "no_such_subteam"


def test_an_organisation_wide_token_must_name_the_workspace(make_town, error_of) -> None:
    town = make_town(Setup(enterprise_id="E0ORG", is_enterprise_install=True, pacing=False))
    assert error_of(town.client.usergroups_list) == "missing_argument"
    assert error_of(lambda: town.client.usergroups_list(team_id="T0ELSEWHERE")) == "team_access_not_granted"
    assert town.client.usergroups_list(team_id=town.slack.team_id)["usergroups"] == []
    assert town.client.auth_test()["enterprise_id"] == "E0ORG"
