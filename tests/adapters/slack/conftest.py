"""Workspaces with the Chat role in them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.slack_town import Clock, Town, workspace


@pytest.fixture
def make_town() -> Iterator[Callable[..., Town]]:
    """Workspaces with another setup than the usual one."""
    with ExitStack() as stack:

        def make(**setup: Any) -> Town:
            clock = Clock()
            return Town(stack.enter_context(workspace(clock, **setup)), clock)

        yield make


@pytest.fixture
def town(make_town: Callable[..., Town]) -> Town:
    return make_town()
