"""The policy in force. Implemented by adapters/policy_files.PolicyFiles."""

from typing import Protocol

from bot.core.policy import Policy


class Policies(Protocol):
    """The last good policy; a broken file on reload does not change it."""

    @property
    def policy(self) -> Policy:
        """Never blocks, never fails."""
        ...
