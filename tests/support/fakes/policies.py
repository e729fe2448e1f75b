"""The policy in force, as a test sets it."""

from bot.core.policy import Policy


class FakePolicies:
    """Implements ports.policies.Policies."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
