"""What the bot may do in Slack and why: each Web API method it calls, with the scopes that the call needs.

cli/manifest asks for exactly these. tests/test_manifest.py compares the table with the calls in the code, in both
directions, and plays a story on a simulated workspace that grants nothing else.
"""

from dataclasses import dataclass

COMMANDS = "commands"


@dataclass(frozen=True, slots=True)
class Need:
    """A method of slack_sdk's WebClient. `scopes` are all needed, and empty where the bot token alone will do."""

    method: str
    scopes: tuple[str, ...]
    why: str


_HISTORY = ("channels:history", "groups:history", "im:history")
"""Public channels, private ones, direct messages: which one a notice went to is the installation's choice."""

NEEDS = (
    Need("auth_test", (), "the bot's own workspace, so that guests and people of other workspaces cannot approve"),
    Need("chat_getPermalink", (), "link from the Home tab to a card"),
    Need("chat_postMessage", ("chat:write",), "post cards and notices"),
    Need("chat_update", ("chat:write",), "keep a posted card true"),
    Need("conversations_history", _HISTORY, "look whether a notice was posted when Slack's answer was lost"),
    Need("conversations_open", ("im:write",), "find the direct message in which a lost notice would be"),
    Need("conversations_replies", _HISTORY, "the same for a notice in a thread"),
    Need("files_upload_v2", ("files:write",), "send the log as CSV to the admin who asked for it"),
    Need("usergroups_users_list", ("usergroups:read",), "who is in a user group that policies name"),
    Need("users_info", ("users:read",), "name, time zone, and whether somebody is a full member"),
    Need("views_open", (), "open the form"),
    Need("views_publish", (), "show the Home tab"),
    Need("views_update", (), "show in the form what came of it"),
)


def bot_scopes() -> dict[str, str]:
    """Scope -> what for, sorted: those of the methods, and the one that lets Slack deliver commands and shortcuts."""
    reasons: dict[str, list[str]] = {COMMANDS: ["receive the slash command and the shortcut"]}
    for need in NEEDS:
        for scope in need.scopes:
            reasons.setdefault(scope, []).append(need.why)
    return {scope: "; ".join(reasons[scope]) for scope in sorted(reasons)}
