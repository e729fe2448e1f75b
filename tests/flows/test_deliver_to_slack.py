"""Delivery with the real Chat role on a simulated Slack: which refusals are the message's own, and which are not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from bot.core.notices import Notice, NoticeState
from bot.demo.slack import DEFAULT_SCOPES
from tests.support.slack_town import Clock, Town, workspace

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

Plainly = Callable[[Notice], object]


@pytest.fixture
def town() -> Iterator[Town]:
    clock = Clock()
    with workspace(clock) as slack:
        yield Town(slack, clock)


@pytest.fixture
def bench(bench: "Bench", town: Town) -> "Bench":
    bench.world = replace(bench.world, chat=town.chat)
    return bench


def _texts(town: Town) -> list[str]:
    return [one.text for one in town.slack.messages(town.room)]


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive", "missing_scope"])
def test_a_bot_that_is_not_let_in_loses_nothing_that_is_due(bench: "Bench", town: Town, code: str) -> None:
    """Posts and updates wait in their order, the log says why, and all of it comes once the bot is let in again."""
    bench.owe("known", to=town.room)
    bench.deliver_all()
    bench.owe("known", to=town.room)
    for number in range(3):
        bench.owe(f"{number}", to=town.room)
    bench.owe("for ada", to=town.ada)
    for method in ("chat.postMessage", "chat.update"):
        town.slack.faults.refuse(method, code, times=None)
    with capture_logs() as logs:
        bench.deliver_all(within=7200)
    keys = ["known", "0", "1", "2", "for ada"]
    assert {bench.notice(key).state for key in keys} == {NoticeState.OWED}
    assert any(code in one.get("why", "") for one in logs)
    town.slack.faults.clear()
    bench.deliver_all()
    assert {bench.notice(key).state for key in keys} == {NoticeState.SETTLED}
    assert _texts(town) == ["known 2", "0", "1", "2"]


def test_a_channel_that_refuses_the_bot_is_given_up_and_stops_no_other(bench: "Bench", town: Town) -> None:
    other = town.slack.add_channel("secret", town.ada, with_bot=False).id
    bench.owe("a", to=other)
    bench.owe("b", to=town.room)
    bench.deliver_all()
    assert bench.notice("a").failure == "not_in_channel"
    assert _texts(town) == ["b"]


@pytest.mark.parametrize("scope", ["channels:history", "usergroups:read", "users:read"])
def test_a_scope_that_is_missing_elsewhere_stops_no_message(bench: "Bench", scope: str) -> None:
    clock = Clock()
    with workspace(clock, scopes=DEFAULT_SCOPES - {scope}) as slack:
        town = Town(slack, clock)
        bench.world = replace(bench.world, chat=town.chat)
        slack.faults.drop_before("chat.postMessage")
        bench.owe("a", to=town.room)
        bench.owe("b", to=town.room)
        bench.deliver_all()
        assert _texts(town) == ["a", "b"]


def test_an_outage_over_hours_is_tried_every_half_minute_at_most(bench: "Bench", town: Town) -> None:
    town.slack.faults.refuse("chat.postMessage", "invalid_auth", times=None)
    bench.owe("a", to=town.room)
    waits = []
    for _ in range(10):
        wait = bench.deliver()
        assert wait is not None
        waits.append(wait)
        bench.clock.advance(wait)
    assert max(waits) == timedelta(seconds=30)
