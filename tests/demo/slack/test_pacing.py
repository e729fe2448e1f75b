"""Rate limits by Slack's tiers, on the injected clock: 429 with Retry-After, and on again when it is over."""

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

from bot.demo.slack import Setup


def until_refused(call: Callable[[], object]) -> tuple[int, SlackApiError]:
    """How often the call went through, and the refusal."""
    for count in range(1000):
        try:
            call()
        except SlackApiError as refused:
            return count, refused
    raise AssertionError("never refused")


@pytest.mark.parametrize(
    ("method", "args", "burst", "retry_after"),
    [
        ("chat.postMessage", {"text": "x"}, 4, 1),
        ("chat.update", {"text": "x"}, 50, 2),
        ("usergroups.list", {}, 20, 3),
        ("usergroups.users.list", {}, 20, 3),
        ("users.lookupByEmail", {"email": "ada@example.com"}, 50, 2),
        ("views.publish", {"view": {"type": "home", "blocks": []}}, 100, 1),
    ],
)
def test_calls_beyond_the_pace_are_refused_until_time_has_passed(
    make_town, method: str, args: dict[str, Any], burst: int, retry_after: int
) -> None:
    town = make_town(Setup())
    group = town.slack.add_group("gpu-admins", town.ada.id)
    posted = town.client.chat_postMessage(channel=town.room.id, text="x")
    town.clock.advance(minutes=1)
    places = {"channel": town.room.id, "ts": posted["ts"], "user_id": town.ada.id, "usergroup": group.id}

    def call() -> object:
        return town.client.api_call(method, json={**places, **args})

    went, refused = until_refused(call)
    assert went == burst
    assert refused.response.status_code == 429
    assert refused.response.data["error"] == "ratelimited"
    assert refused.response.headers["Retry-After"] == str(retry_after)
    town.clock.advance(seconds=retry_after)
    assert call()["ok"]


def test_each_channel_has_its_own_pace_and_a_person_and_their_dm_share_one(make_town) -> None:
    town = make_town(Setup())
    other = town.slack.add_channel("other")
    went, _ = until_refused(lambda: town.client.chat_postMessage(channel=town.room.id, text="x"))
    assert went == 4
    assert town.client.chat_postMessage(channel=other.id, text="x")["ok"]
    dm = town.slack.open_dm(town.ada.id).id
    turns = iter([town.ada.id, dm] * 10)
    went, _ = until_refused(lambda: town.client.chat_postMessage(channel=next(turns), text="x"))
    assert went == 4


def test_pacing_can_be_lifted(make_town) -> None:
    town = make_town(Setup())
    town.slack.pacer.on = False
    for _ in range(10):
        town.client.chat_postMessage(channel=town.room.id, text="x")
    assert len(town.slack.messages(town.room.id)) == 10


def test_the_sdks_own_retry_handler_understands_the_answer(town) -> None:
    town.client.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=1))
    town.slack.faults.rate_limited("chat.postMessage", retry_after=0)
    assert town.client.chat_postMessage(channel=town.room.id, text="x")["ok"]
    assert [call.status for call in town.slack.calls("chat.postMessage")] == [429, 200]
