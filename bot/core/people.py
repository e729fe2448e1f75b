"""Who somebody is, as Slack knows them. Made by the chat adapter; read by verdicts, flows and views."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """One Slack account. Identity is the user id alone; the workspace a click came from says nothing."""

    id: str
    name: str
    timezone: str = "UTC"
    """IANA name."""
    full_member: bool = True
    """False for guests, people of other organisations, bots and deactivated accounts: they never ask nor decide."""
