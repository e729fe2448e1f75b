"""Connections of Socket Mode: one envelope to one of them, up to ten, reconnects, refusals; and Grid's identities."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from slack_sdk import WebClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from bot.demo.slack import Setup


@pytest.fixture
def link(town):
    """Opens bare WebSocket connections, without any client library's help, and closes them."""
    app_client = WebClient(base_url=town.slack.api_url)
    with ExitStack() as opened:

        def open_one() -> ClientConnection:
            url = app_client.apps_connections_open(app_token=town.slack.app_token)["url"]
            return opened.enter_context(connect(url))

        yield open_one


def test_the_first_frame_is_hello(town, link) -> None:
    hello = json.loads(link().recv(5))
    assert (hello["type"], hello["num_connections"]) == ("hello", 1)
    assert hello["connection_info"]["app_id"] == town.slack.app_id


def test_the_eleventh_connection_is_too_many(town, link) -> None:
    for number in range(10):
        link().recv(5)
        town.slack.wait_for(lambda wanted=number + 1: town.slack.connections == wanted)
    eleventh = link()
    assert json.loads(eleventh.recv(5))["reason"] == "too_many_websockets"
    with pytest.raises(ConnectionClosed):
        eleventh.recv(5)
    assert town.slack.connections == 10


def test_a_ticket_opens_one_connection(town) -> None:
    app_client = WebClient(base_url=town.slack.api_url)
    url = app_client.apps_connections_open(app_token=town.slack.app_token)["url"]
    with connect(url) as connection:
        assert json.loads(connection.recv(5))["type"] == "hello"
    with pytest.raises(InvalidStatus, match="403"), connect(url):
        pass


def test_the_handshake_can_be_refused(town, link) -> None:
    town.slack.faults.refuse_websocket()
    with pytest.raises(InvalidStatus, match="503"):
        link()
    assert json.loads(link().recv(5))["type"] == "hello"


def test_each_envelope_goes_to_one_connection_in_turn(town, bots) -> None:
    seen: list[str] = []

    def app(name: str):
        found = bots.app(town)
        found.command("/gpu-quota")(lambda ack: (seen.append(name), ack()))
        return found

    bots.over_socket(town, app("one"))
    bots.over_socket(town, app("two"))
    for _ in range(4):
        assert town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status").acked
    assert sorted(seen) == ["one", "one", "two", "two"]


def test_a_client_told_to_refresh_connects_anew_and_loses_nothing(town, bots) -> None:
    app = bots.app(town)
    app.command("/gpu-quota")(lambda ack: ack())
    handler = bots.over_socket(town, app)
    old = handler.client.session_id()
    assert town.slack.disconnect("refresh_requested") == 1
    town.slack.wait_for(lambda: handler.client.session_id() != old and town.slack.connections == 1)
    assert town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status").acked


def test_while_one_leaves_the_other_gets_the_envelopes(town, link) -> None:
    leaving = link()
    leaving.recv(5)
    town.slack.wait_for(lambda: town.slack.connections == 1)
    town.slack.disconnect()
    assert json.loads(leaving.recv(5))["type"] == "disconnect"
    staying = link()
    staying.recv(5)
    town.slack.wait_for(lambda: town.slack.connections == 2)
    with ThreadPoolExecutor(1) as ada:
        for _ in range(2):
            opening = ada.submit(town.slack.open_home, town.ada.id)
            envelope = json.loads(staying.recv(5))
            staying.send(json.dumps({"envelope_id": envelope["envelope_id"]}))
            assert opening.result(5).acked
    with pytest.raises(TimeoutError):
        leaving.recv(0.01)


def test_an_unacknowledged_event_comes_again_with_its_attempt(make_town, bots) -> None:
    town = make_town(Setup(ack_limit=0.05))
    lost = town.slack.open_home(town.ada.id)
    assert (lost.acked, lost.error) == (False, "dispatch_failed")
    app, seen = bots.app(town), []
    app.event("app_home_opened")(lambda body, request: seen.append((body["event_id"], dict(request.headers))))
    bots.over_socket(town, app)
    again = town.slack.redeliver(lost)
    town.slack.wait_for(lambda: seen)
    assert seen[0][0] == lost.payload["event_id"]
    assert seen[0][1]["x-slack-retry-num"] == ["1"]
    assert again.parcel.retry_reason == "timeout"


def test_an_acknowledgement_of_a_click_carries_no_payload(town, link) -> None:
    """Slack reads answers only from envelopes that accept them."""
    connection = link()
    connection.recv(5)
    town.slack.wait_for(lambda: town.slack.connections)
    with ThreadPoolExecutor(1) as ada:
        acting = ada.submit(town.slack.use_shortcut, town.ada.id, "gpuq_request")
        envelope = json.loads(connection.recv(5))
        connection.send(json.dumps({"envelope_id": envelope["envelope_id"], "payload": {"text": "ignored"}}))
        delivery = acting.result(5)
    assert envelope["accepts_response_payload"] is False
    assert (delivery.acked, delivery.answer) == (True, None)


def test_events_nobody_acknowledged_come_again_three_times_and_no_more(town, bots) -> None:
    town.slack.open_home(town.ada.id)
    attempts = [[d.parcel.retry_attempt for d in town.slack.redeliver_unacked()] for _ in range(4)]
    assert attempts == [[1], [2], [3], []]
    town.slack.open_home(town.bob.id)
    app = bots.app(town)
    app.event("app_home_opened")(lambda: None)
    bots.over_socket(town, app)
    assert [d.acked for d in town.slack.redeliver_unacked()] == [True]
    assert town.slack.redeliver_unacked() == ()


def payload_of(town, **traits: Any) -> dict[str, Any]:
    person = town.slack.add_person("someone", **traits)
    town.slack.change_channel(town.room.id, members=town.room.members | {person.id})
    town.client.chat_postMessage(
        channel=town.room.id,
        text="card",
        blocks=[
            {
                "type": "actions",
                "elements": [{"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}],
            }
        ],
    )
    return town.slack.press(person.id, town.slack.messages(town.room.id)[-1], "go").payload


def test_a_stranger_comes_from_another_workspace(town) -> None:
    payload = payload_of(town, team_id="T0ELSEWHERE", is_stranger=True)
    assert (payload["user"]["team_id"], payload["team"]["id"]) == ("T0ELSEWHERE", "T0ELSEWHERE")
    assert payload["is_enterprise_install"] is False


def test_in_an_organisation_ids_start_with_w_and_payloads_name_it(make_town) -> None:
    town = make_town(Setup(enterprise_id="E0ORG", is_enterprise_install=True, pacing=False))
    payload = payload_of(town, id="W0GRID")
    assert payload["user"]["id"] == "W0GRID"
    assert payload["enterprise"]["id"] == "E0ORG"
    assert payload["is_enterprise_install"] is True
    command = town.slack.type_command("W0GRID", town.room.id, "/gpu-quota status").payload
    assert (command["enterprise_id"], command["is_enterprise_install"]) == ("E0ORG", "true")
    event = town.slack.open_home("W0GRID").payload
    assert event["authorizations"][0]["is_enterprise_install"] is True
    assert event["enterprise_id"] == "E0ORG"


def test_ids_a_bot_keeps_differ_from_run_to_run(town, make_town) -> None:
    other = make_town(Setup(pacing=False))

    def ids(which) -> set[str]:
        command = which.slack.type_command(which.ada.id, which.room.id, "/gpu-quota status").payload
        event = which.slack.open_home(which.ada.id).payload
        return {command["trigger_id"], command["response_url"].rsplit("/", 1)[-1], event["event_id"]}

    assert ids(town).isdisjoint(ids(other))
