"""Every fault on order, as the real client suffers it, and what stands in the channel afterwards."""

import threading
from collections.abc import Callable
from http.client import RemoteDisconnected
from urllib.error import HTTPError

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler
from slack_sdk.webhook import WebhookClient

from bot.demo.slack import Faults


@pytest.mark.parametrize(
    ("arm", "expected", "handled"),
    [
        (lambda faults: faults.http_500("chat.postMessage"), SlackApiError, 0),
        (lambda faults: faults.rate_limited("chat.postMessage", 7), SlackApiError, 0),
        (lambda faults: faults.refuse("chat.postMessage", "fatal_error"), SlackApiError, 0),
        (lambda faults: faults.not_json("chat.postMessage"), SlackApiError, 1),
        (lambda faults: faults.drop_before("chat.postMessage"), RemoteDisconnected, 0),
        (lambda faults: faults.drop_after("chat.postMessage"), RemoteDisconnected, 1),
        (lambda faults: faults.http_500("*"), SlackApiError, 0),
    ],
    ids=["500", "429", "code", "not-json", "before", "after", "any-method"],
)
def test_a_fault_strikes_once_and_then_it_is_over(
    town, arm: Callable[[Faults], None], expected: type[Exception], handled: int
) -> None:
    arm(town.slack.faults)
    with pytest.raises(expected):
        town.client.chat_postMessage(channel=town.room.id, text="first")
    assert len(town.slack.messages(town.room.id)) == handled
    town.client.chat_postMessage(channel=town.room.id, text="second")
    assert town.slack.messages(town.room.id)[-1].text == "second"


def test_the_answer_of_a_limited_call_says_when_to_come_back(town) -> None:
    town.slack.faults.rate_limited("chat.update", retry_after=30)
    with pytest.raises(SlackApiError) as caught:
        town.client.chat_update(channel=town.room.id, ts="1.0", text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "30"


def test_any_code_of_slacks_can_be_the_answer(town) -> None:
    town.slack.faults.refuse("usergroups.list", "plan_upgrade_required")
    with pytest.raises(SlackApiError) as caught:
        town.client.usergroups_list()
    assert caught.value.response["error"] == "plan_upgrade_required"


def test_an_outage_breaks_everything_and_a_socket_client_comes_back_after_it(town, bots) -> None:
    app = bots.app(town)
    app.command("/gpu-quota")(lambda ack: ack())
    handler = bots.over_socket(town, app)
    town.slack.go_down()
    with pytest.raises(RemoteDisconnected):
        town.client.auth_test()
    town.slack.wait_for(lambda: town.slack.connections == 0)
    assert town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status").error == "dispatch_failed"
    town.slack.come_back()
    handler.client.connect_to_new_endpoint(force=True)
    town.slack.wait_for(lambda: town.slack.connections)
    assert town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status").acked


def test_a_fault_lasts_until_it_is_cleared(town) -> None:
    town.slack.faults.http_500("auth.test", times=None)
    for _ in range(3):
        with pytest.raises(SlackApiError):
            town.client.auth_test()
    town.slack.faults.clear("auth.test")
    assert town.client.auth_test()["ok"]


def test_a_lost_answer_and_a_client_that_tries_again_make_two_posts(town) -> None:
    """What the sdk's default handler does: the reason why posts carry an id to look for."""
    town.client.retry_handlers.append(ConnectionErrorRetryHandler())
    town.slack.faults.drop_after("chat.postMessage")
    town.client.chat_postMessage(channel=town.room.id, text="x")
    assert len(town.slack.messages(town.room.id)) == 2
    assert [call.delivered for call in town.slack.calls("chat.postMessage")] == [False, True]


def test_a_held_call_waits_unhandled_for_its_gate(town) -> None:
    gate = town.slack.faults.hold("chat.postMessage")
    posting = threading.Thread(target=town.client.chat_postMessage, kwargs={"channel": town.room.id, "text": "x"})
    posting.start()
    gate.wait_for_arrival()
    assert town.client.auth_test()["ok"]
    assert town.slack.messages(town.room.id) == ()
    gate.release()
    posting.join(5)
    assert [m.text for m in town.slack.messages(town.room.id)] == ["x"]


def test_a_slow_answer_is_handled_at_once(town) -> None:
    town.client.timeout = 0.1
    town.slack.faults.slow("chat.postMessage", seconds=60)
    with pytest.raises(TimeoutError):
        town.client.chat_postMessage(channel=town.room.id, text="x")
    assert [m.text for m in town.slack.messages(town.room.id)] == ["x"]


def test_uploads_can_fail_too(town) -> None:
    town.slack.faults.http_500("upload")
    with pytest.raises(HTTPError) as caught:
        town.client.files_upload_v2(channel=town.room.id, filename="a.csv", content="x")
    caught.value.close()
    assert [(call.method, call.status) for call in town.slack.calls()][-1] == ("upload", 500)


def test_any_method_does_not_mean_response_urls(town) -> None:
    """`*` stands for the Web API; a response URL is another service, with a fault of its own."""
    town.slack.faults.http_500("*", times=None)
    url = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status").payload["response_url"]
    assert WebhookClient(url).send(text="said").status_code == 200
    town.slack.faults.http_500("response_url")
    assert WebhookClient(url).send(text="unsaid").status_code == 500
    assert [m.text for m in town.slack.ephemerals(town.ada.id)] == ["said"]
