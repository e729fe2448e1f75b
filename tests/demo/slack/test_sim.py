"""The simulator as a whole: it starts and stops without a trace, waits without sleeping, and is no bottleneck."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import RemoteDisconnected

import pytest
from slack_sdk import WebClient

from bot.demo.slack import SlackSim
from bot.demo.slack.http_server import HttpAnswer, HttpServer


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("slack-sim")]


def test_it_stops_with_every_thread_gone_even_while_a_call_is_held() -> None:
    with ThreadPoolExecutor(1) as pool, SlackSim() as slack:
        gate = slack.faults.hold("auth.test")
        calling = pool.submit(WebClient(token=slack.bot_token, base_url=slack.api_url, retry_handlers=[]).auth_test)
        gate.wait_for_arrival()
        slack.stop()
        with pytest.raises(RemoteDisconnected):
            calling.result(5)
    assert own_threads() == []


def test_waiting_ends_with_the_change_or_with_a_timeout(town) -> None:
    posting = threading.Thread(target=town.client.chat_postMessage, kwargs={"channel": town.room.id, "text": "x"})
    posting.start()
    found = town.slack.wait_for(lambda: town.slack.messages(town.room.id))
    posting.join(5)
    assert [m.text for m in found] == ["x"]
    with pytest.raises(TimeoutError):
        town.slack.wait_for(lambda: False, timeout=0.01)


def test_two_hundred_commands_at_once_are_not_slowed_by_the_simulator(town) -> None:
    """A bot that acknowledges at once is seen to answer all of them well within Slack's 3 s."""
    server = HttpServer(lambda _: HttpAnswer(), "echo")
    server.start()
    town.slack.use_http(f"http://127.0.0.1:{server.port}/slack/events")
    try:
        with ThreadPoolExecutor(200) as people:
            began = time.monotonic()
            command = (town.ada.id, town.room.id, "/gpu-quota status")
            deliveries = list(people.map(lambda _: town.slack.type_command(*command), range(200)))
            took = time.monotonic() - began
    finally:
        server.stop()
    assert all(delivery.acked for delivery in deliveries)
    assert len({delivery.payload["trigger_id"] for delivery in deliveries}) == 200
    assert took < 3


def test_it_imports_nothing_of_the_bot_outside_its_own_package() -> None:
    script = "import sys, bot.demo.slack; print(*sorted(m for m in sys.modules if m.partition('.')[0] == 'bot'))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert [m for m in loaded if not m.startswith("bot.demo.slack")] == ["bot", "bot.demo"]


def test_acts_that_a_person_could_not_do_are_the_tests_mistake(town) -> None:
    slack, ada = town.slack, town.ada.id
    with pytest.raises(LookupError, match="is not in gpu"):
        slack.type_command(town.guest.id, town.room.id, "/gpu-quota status")
    with pytest.raises(LookupError, match="not a valid command"):
        slack.type_command(ada, town.room.id, "/other")
    with pytest.raises(LookupError, match="no modal open"):
        slack.submit_view(ada)
    said = slack.say(town.bob.id, town.room.id, "hello")
    with pytest.raises(LookupError, match="0 elements approve"):
        slack.press(ada, said, "approve")
