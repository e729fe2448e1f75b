"""Commands, clicks, forms and events reach a real Bolt app over Socket Mode and over signed HTTP alike."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from slack_bolt import Ack

from bot.demo.slack import Setup, Tamper


def button(action_id: str, value: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": action_id,
        "value": value,
        "text": {"type": "plain_text", "text": action_id.title()},
        **more,
    }


def actions(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "actions", "block_id": "card:1", "elements": list(elements)}]


def test_a_command_is_acknowledged_and_its_answer_shown_to_the_one_who_typed(town, bots, mode) -> None:
    app, seen = bots.app(town), []

    @app.command("/gpu-quota")
    def handle(ack: Ack, body: dict[str, Any]) -> None:
        seen.append(body)
        ack(text="Asked the approvers.")

    bots.connect(town, app, mode)
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota request 8 for @bob & <b>")

    assert (delivery.acked, delivery.error, delivery.shown) == (True, None, "Asked the approvers.")
    assert seen[0]["text"] == f"request 8 for <@{town.bob.id}|bob> &amp; &lt;b&gt;"
    assert seen[0]["user_id"] == town.ada.id
    assert [m.text for m in town.slack.ephemerals(town.ada.id)] == ["Asked the approvers."]
    assert town.slack.ephemerals(town.bob.id) == ()


def test_an_answer_in_the_channel_is_seen_by_all(town, bots, mode) -> None:
    app = bots.app(town)
    app.command("/gpu-quota")(lambda ack: ack(text="4 free", response_type="in_channel"))
    bots.connect(town, app, mode)
    town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota show")
    assert [m.text for m in town.slack.messages(town.room.id)] == ["4 free"]


def test_without_an_acknowledgement_in_time_the_person_sees_operation_timeout(make_town, bots, mode) -> None:
    town = make_town(Setup(ack_limit=0.15))
    app, release = bots.app(town), threading.Event()

    @app.command("/gpu-quota")
    def handle(ack: Ack) -> None:
        release.wait(5)
        ack()

    bots.connect(town, app, mode)
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    release.set()
    assert not delivery.acked
    assert delivery.shown == "/gpu-quota failed with the error “operation_timeout”"


def test_an_unknown_listener_is_a_dispatch_failure_over_http(town, bots) -> None:
    bots.over_http(town, bots.app(town))
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    assert (delivery.status, delivery.error) == (404, "dispatch_failed")


def test_nobody_connected_is_a_dispatch_failure(town) -> None:
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    assert (delivery.acked, delivery.error) == (False, "dispatch_failed")


def test_an_answer_that_breaks_the_limits_is_an_invalid_command_response(town, bots, mode) -> None:
    app = bots.app(town)
    app.command("/gpu-quota")(lambda ack: ack(text="x", blocks=[{"type": "header"}]))
    bots.connect(town, app, mode)
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    assert delivery.error == "invalid_command_response"


def test_a_press_carries_the_button_and_the_message_and_can_replace_it(town, bots, mode) -> None:
    app, seen = bots.app(town), []

    @app.action("approve")
    def handle(ack: Ack, body: dict[str, Any], respond: Callable[..., Any]) -> None:
        ack()
        seen.append(body)
        respond(text="Approved", replace_original=True)

    bots.connect(town, app, mode)
    confirm = {
        "title": {"type": "plain_text", "text": "Approve Q-1?"},
        "text": {"type": "plain_text", "text": "8 a100"},
        "confirm": {"type": "plain_text", "text": "Approve"},
        "deny": {"type": "plain_text", "text": "Not now"},
    }
    town.client.chat_postMessage(
        channel=town.room.id, text="8 a100", blocks=actions(button("approve", "R1", confirm=confirm))
    )
    card = town.slack.messages(town.room.id)[0]

    delivery = town.slack.press(town.bob.id, card, "approve")

    assert delivery.acked
    assert delivery.dialog == "Approve Q-1?\n8 a100\n[Approve] [Not now]"
    done = town.slack.wait_for(lambda: [m for m in town.slack.messages(town.room.id) if m.edited_ts])[0]
    assert (done.text, done.blocks) == ("Approved", ())
    body = seen[0]
    assert body["actions"][0]["value"] == "R1"
    assert body["actions"][0]["block_id"] == "card:1"
    assert (body["user"]["id"], body["message"]["ts"]) == (town.bob.id, card.ts)


def test_an_ephemeral_can_be_pressed_and_deleted_by_its_response_url(town, bots, mode) -> None:
    app = bots.app(town)

    @app.action("pick")
    def handle(ack: Ack, body: dict[str, Any], respond: Callable[..., Any]) -> None:
        ack()
        assert body["container"]["is_ephemeral"]
        assert "message" not in body
        respond(delete_original=True)

    bots.connect(town, app, mode)
    town.client.chat_postEphemeral(
        channel=town.room.id, user=town.ada.id, text="Which?", blocks=actions(button("pick", "F1"))
    )
    whisper = town.slack.ephemerals(town.ada.id)[0]
    assert town.slack.press(town.ada.id, whisper, "pick").acked
    town.slack.wait_for(lambda: not town.slack.ephemerals(town.ada.id))
    with pytest.raises(LookupError, match="does not see"):
        town.slack.press(town.bob.id, whisper, "pick")


def test_opening_the_home_is_an_event_and_what_is_published_is_seen(town, bots, mode) -> None:
    app = bots.app(town)

    @app.event("app_home_opened")
    def handle(event: dict[str, Any], client) -> None:
        view = {"type": "home", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "GPU quota"}}]}
        client.views_publish(user_id=event["user"], view=view)

    bots.connect(town, app, mode)
    assert town.slack.open_home(town.ada.id).acked
    home = town.slack.wait_for(lambda: town.slack.home(town.ada.id))
    assert town.slack.render_text(home) == "GPU quota"


def test_shortcuts_and_suggestions(town, bots, mode) -> None:
    app, called = bots.app(town), []
    app.shortcut("gpuq_request")(lambda ack, body: (ack(), called.append(body["type"])))
    app.shortcut("gpuq_message_why")(lambda ack, body: (ack(), called.append(body["message"]["text"])))
    options = [{"text": {"type": "plain_text", "text": "a100"}, "value": "a100"}]
    app.options("flavor")(lambda ack, payload: ack(options=options if payload["value"] == "a1" else []))
    bots.connect(town, app, mode)
    said = town.slack.say(town.ada.id, town.room.id, "why?")
    assert town.slack.use_shortcut(town.ada.id, "gpuq_request").acked
    assert town.slack.use_message_shortcut(town.ada.id, said, "gpuq_message_why").acked
    assert called == ["shortcut", "why?"]
    select = {"type": "external_select", "action_id": "flavor", "min_query_length": 1}
    town.client.chat_postMessage(channel=town.room.id, text="Which?", blocks=actions(select))
    card = town.slack.messages(town.room.id)[-1]
    assert town.slack.suggest(town.ada.id, card, "flavor", "a1").answer == {"options": options}


@pytest.mark.parametrize(
    "tamper", [Tamper(secret="another"), Tamper(age=301), Tamper(suffix=b"&x=1")], ids=["secret", "old", "body"]
)
def test_a_request_that_is_not_slacks_is_refused(town, bots, tamper: Tamper) -> None:
    app, seen = bots.app(town), []
    app.command("/gpu-quota")(lambda ack, body: (seen.append(body), ack()))
    bots.over_http(town, app)
    good = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    forged = town.slack.forge(good, tamper)
    assert (good.status, forged.status) == (200, 401)
    assert len(seen) == 1


def test_a_repetition_is_the_very_same_and_a_redelivery_says_so(town, bots, mode) -> None:
    app, attempts = bots.app(town), []

    @app.event("app_home_opened")
    def handle(body: dict[str, Any], request) -> None:
        attempts.append((body["event_id"], request.headers.get("x-slack-retry-num")))

    bots.connect(town, app, mode)
    first = town.slack.open_home(town.ada.id)
    second = town.slack.repeat(first)
    third = town.slack.redeliver(first)
    town.slack.wait_for(lambda: len(attempts) == 3)
    assert sorted((a[1] or ["0"])[0] for a in attempts) == ["0", "0", "1"]
    assert len({a[0] for a in attempts}) == 1
    assert second.parcel == first.parcel
    assert third.parcel.retry_attempt == 1
    if mode == "socket":
        assert third.parcel.envelope_id != first.parcel.envelope_id
    else:
        assert second.parcel.signed == first.parcel.signed
