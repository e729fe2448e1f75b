"""views.*: trigger ids that wear off, stacks of modals, hashes, and the App Home."""

from typing import Any

from bot.demo.slack import Setup

MODAL: dict[str, Any] = {"type": "modal", "title": {"type": "plain_text", "text": "Request"}, "blocks": []}


def trigger(town, user: str | None = None) -> str:
    with town.slack.world.changed:
        return town.slack.world.triggers.issue(user or town.ada.id)


def test_a_trigger_opens_one_view_and_only_for_three_seconds(town, error_of) -> None:
    used, late = trigger(town), trigger(town)
    assert town.client.views_open(trigger_id=used, view=MODAL)["view"]["id"].startswith("V")
    assert error_of(lambda: town.client.views_open(trigger_id=used, view=MODAL)) == "exchanged_trigger_id"
    assert error_of(lambda: town.client.views_open(trigger_id="1.2.3", view=MODAL)) == "invalid_trigger_id"
    town.clock.advance(seconds=3.001)
    assert error_of(lambda: town.client.views_open(trigger_id=late, view=MODAL)) == "expired_trigger_id"
    early = trigger(town)
    town.slack.expire_triggers()
    assert error_of(lambda: town.client.views_open(trigger_id=early, view=MODAL)) == "expired_trigger_id"


def test_three_modals_lie_on_top_of_each_other_and_no_more(town, error_of) -> None:
    assert error_of(lambda: town.client.views_push(trigger_id=trigger(town), view=MODAL)) == "not_found"
    town.client.views_open(trigger_id=trigger(town), view=MODAL)
    for _ in range(2):
        town.client.views_push(trigger_id=trigger(town), view=MODAL)
    assert error_of(lambda: town.client.views_push(trigger_id=trigger(town), view=MODAL)) == "push_limit_reached"


def test_a_view_is_updated_by_either_id_and_by_hash(town, error_of) -> None:
    view = MODAL | {"external_id": "draft-1"}
    opened = town.client.views_open(trigger_id=trigger(town), view=view)["view"]
    again = town.client.views_update(external_id="draft-1", hash=opened["hash"], view=view)["view"]
    assert again["id"] == opened["id"]
    stale = {"view_id": opened["id"], "hash": opened["hash"], "view": view}
    assert error_of(lambda: town.client.views_update(**stale)) == "hash_conflict"
    assert error_of(lambda: town.client.views_update(view_id="V404", view=view)) == "not_found"
    other = trigger(town, town.bob.id)
    assert error_of(lambda: town.client.views_open(trigger_id=other, view=view)) == "duplicate_external_id"
    town.slack.close_view(town.ada.id)
    assert error_of(lambda: town.client.views_update(view_id=opened["id"], view=view)) == "not_found"


def test_a_view_that_breaks_the_limits_is_invalid_arguments_and_keeps_the_trigger(town, refusal) -> None:
    once = trigger(town)
    wrong = MODAL | {"title": {"type": "plain_text", "text": "x" * 25}}
    refused = refusal(lambda: town.client.views_open(trigger_id=once, view=wrong))
    assert refused.response["error"] == "invalid_arguments"
    messages = ["[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"]
    assert refused.response["response_metadata"]["messages"] == messages
    assert town.client.views_open(trigger_id=once, view=MODAL)["ok"]


def test_what_is_no_view_at_all(town, refusal) -> None:
    def said(**args: Any) -> tuple[str, str]:
        answer = refusal(lambda: town.client.api_call("views.update", json=args)).response
        return answer["error"], answer.get("response_metadata", {"messages": [""]})["messages"][0]

    assert said(view="[]") == ("invalid_arguments", "[ERROR] must provide an object [json-pointer:/view]")
    assert said(view=MODAL) == ("invalid_arguments", "[ERROR] missing required field: view_id")
    assert said(view=MODAL | {"blocks": ["x" * 250_000]}) == ("view_too_large", "")


def test_a_home_is_published_with_its_hash(town, error_of) -> None:
    home = {"type": "home", "blocks": []}
    first = town.client.views_publish(user_id=town.ada.id, view=home)["view"]
    second = town.client.views_publish(user_id=town.ada.id, view=home, hash=first["hash"])["view"]
    assert second["id"] == first["id"]
    stale = lambda: town.client.views_publish(user_id=town.ada.id, view=home, hash=first["hash"])  # noqa: E731
    assert error_of(stale) == "hash_conflict"
    assert error_of(lambda: town.client.views_publish(user_id="U404", view=home)) == "invalid_arguments"


def test_a_home_is_a_home_within_its_limits(town, refusal) -> None:
    def said(**args: Any) -> tuple[str, str]:
        answer = refusal(lambda: town.client.api_call("views.publish", json=args)).response
        return answer["error"], answer.get("response_metadata", {"messages": [""]})["messages"][0]

    def home(count: int) -> dict[str, Any]:
        return {"type": "home", "blocks": [{"type": "divider"}] * count}

    town.client.views_publish(user_id=town.ada.id, view=home(100))
    assert said(user_id=town.ada.id, view=home(101))[0] == "invalid_arguments"
    assert said(user_id=town.ada.id, view=MODAL)[0] == "invalid_arguments"
    assert said(view=home(1)) == ("invalid_arguments", "[ERROR] missing required field: user_id")
    assert said(user_id=town.ada.id, view={"type": "home", "blocks": ["x" * 250_000]}) == ("view_too_large", "")
    assert said(user_id=town.slack.bot_user_id, view=home(1))[0] == "invalid_arguments"
    unknown = {"type": "alert", "text": {"type": "plain_text", "text": "modals only"}}
    assert said(user_id=town.ada.id, view={"type": "home", "blocks": [unknown]})[0] == "invalid_arguments"


def test_an_app_without_the_home_tab_cannot_publish_one(make_town, error_of) -> None:
    town = make_town(Setup(home_tab=False))
    home = {"type": "home", "blocks": []}
    assert error_of(lambda: town.client.views_publish(user_id=town.ada.id, view=home)) == "not_enabled"


def test_a_hash_that_names_nothing_is_a_conflict(town, error_of) -> None:
    home = {"type": "home", "blocks": []}
    assert error_of(lambda: town.client.views_publish(user_id=town.ada.id, view=home, hash="1.2")) == "hash_conflict"
    assert town.slack.home(town.ada.id) is None
