"""Nothing that the bot shows in any test breaks Slack's published limits: a pytest plugin, so that no view escapes.

It stands where everything passes: in the fake Slack, and where the simulated Slack reads what it was sent. A test in
which something broken was shown fails, whatever else it is about.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.core.messages import Message, Modal
from bot.demo.slack import limits
from tests.support.slack_schema import Broken, Kind, broken, broken_view

OF_THE_SIMULATOR = Path(__file__).parent.parent / "demo" / "slack"
"""Its tests send what no bot should, and blocks that this bot has no use for."""


class Watch:
    """What was broken since it was last asked."""

    def __init__(self) -> None:
        self._found: list[Broken] = []

    def saw(self, shown: Message | Modal) -> None:
        """A message or a modal that the fake Slack shows."""
        self._found += broken_view(shown)

    def received(self, kind: Kind, sent: dict[str, Any]) -> None:
        """What the simulated Slack was sent."""
        self._found += broken(kind, sent)

    def taken(self) -> list[Broken]:
        """All of it, once."""
        found, self._found = self._found, []
        return found


WATCH = Watch()


@pytest.fixture(autouse=True, scope="session")
def _the_simulator_is_watched() -> Iterator[None]:
    check_message, check_view, check_metadata = limits.check_message, limits.check_view, limits.check_metadata

    def message(blocks: Any) -> list[str]:
        WATCH.received("message", {"text": "not looked at here", "blocks": limits.without_nulls(blocks)})
        return check_message(blocks)

    def view(sent: Any, kind: Kind) -> list[str]:
        WATCH.received(kind, limits.without_nulls(sent))
        return check_view(sent, kind)

    def metadata(sent: Any) -> list[str]:
        WATCH.received("message", {"text": "not looked at here", "metadata": sent})
        return check_metadata(sent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "check_message", message)
        patch.setattr(limits, "check_view", view)
        patch.setattr(limits, "check_metadata", metadata)
        yield
    assert WATCH.taken() == []  # by what ran on after the last test


@pytest.fixture(autouse=True)
def _slacks_limits_are_kept(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    found = WATCH.taken()
    if not request.path.is_relative_to(OF_THE_SIMULATOR):
        assert found == []
