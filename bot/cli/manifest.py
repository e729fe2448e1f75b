"""The Slack app manifest, for Slack's page "From a manifest". Printed by `gpu-quota-bot manifest`.

It asks for what the code uses and nothing else: the events are those that chat/listeners hears.
"""

from typing import Any
from urllib.parse import urlsplit

import yaml

from bot.adapters.slack.scopes import bot_scopes
from bot.chat.listeners import COMMAND
from bot.core.errors import Refused
from bot.settings import EVENTS_PATH
from bot.views.ids import Event, View

_APP_HOME = {"home_tab_enabled": True, "messages_tab_enabled": True, "messages_tab_read_only_enabled": True}
"""Direct messages carry notices; what somebody would type there is not read."""


def manifest_text(http: str | None = None) -> str:
    """YAML with each scope's reason behind it. `http` as in `request_url`; None for Socket Mode. Raises Refused."""
    url = None if http is None else request_url(http)
    text = yaml.safe_dump(manifest(url), sort_keys=False, allow_unicode=True, width=1000)
    for scope, why in bot_scopes().items():
        text = text.replace(f"- {scope}\n", f"- {scope}  # {why}\n")
    return text


def request_url(http: str) -> str:
    """Where Slack posts to, from the bot's public address with or without the path. Raises Refused."""
    try:
        parts = urlsplit(http)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.scheme != "https" or "@" in parts.netloc or any(c.isspace() for c in http):
        raise Refused(f"{http!r} is no address that Slack posts to. Write it like https://gpu-quota.example.com")
    if parts.path not in {"", "/", EVENTS_PATH} or parts.query or parts.fragment:
        raise Refused(f"Slack's requests are answered at {EVENTS_PATH} only. Write https://{parts.netloc}")
    return f"https://{parts.netloc}{EVENTS_PATH}"


def manifest(url: str | None) -> dict[str, Any]:
    """As Slack's schema has it. With `url` all of Slack's requests go there, without it through Socket Mode."""
    command = {
        "command": COMMAND,
        "description": "Ask for GPU quota, see it, give it back",
        "usage_hint": "request 8 a100 for 3d | status | list | show | extend | return | explain | help",
        "should_escape": True,
    }
    interactivity: dict[str, Any] = {"is_enabled": True}
    events: dict[str, Any] = {"bot_events": [one.value for one in Event]}
    if url is not None:
        command["url"] = interactivity["request_url"] = events["request_url"] = url
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {"name": "GPU quota", "description": "Lends GPU quota between teams, and back again"},
        "features": {
            "app_home": dict(_APP_HOME),
            "bot_user": {"display_name": "gpu-quota", "always_online": True},
            "shortcuts": [
                {
                    "name": "Request GPU quota",
                    "type": "global",
                    "callback_id": View.REQUEST_SHORTCUT.value,
                    "description": "Opens the form to ask for GPU quota",
                }
            ],
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(bot_scopes())}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": url is None,
            "token_rotation_enabled": False,
        },
    }
