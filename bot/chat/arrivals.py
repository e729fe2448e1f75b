"""Slack's payloads into inbox items. Pure; called by chat/listeners before the acknowledgement.

The key is made of Slack's own ids, so a redelivery of the same payload has the same key and a second click another.
Only what a handler needs is kept: payloads repeat whole messages and views, and they carry tokens.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.inbox import Arrival, InboxItem

Payload = Mapping[str, Any]

TEXT_LIMIT = 4000
"""Characters of a command that are kept. Slack's own limit for a message."""


def command(body: Payload, at: datetime) -> InboxItem:
    """A slash command. Its trigger id is unique for each time it was typed."""
    kept = {
        "user": body["user_id"],
        "channel": body.get("channel_id", ""),
        "text": str(body.get("text") or "")[:TEXT_LIMIT],
        "response_url": body.get("response_url", ""),
        "trigger_id": body.get("trigger_id", ""),
    }
    return InboxItem(f"command:{body['trigger_id']}", Arrival.COMMAND, str(body.get("command", "")), kept, at)


def action(body: Payload, pressed: Payload, at: datetime) -> InboxItem:
    """One press of a button or choice of an option."""
    container = body.get("container") or {}
    kept = {
        "user": body["user"]["id"],
        "channel": (body.get("channel") or {}).get("id", ""),
        "ts": container.get("message_ts", ""),
        "value": pressed.get("value", ""),
        "block_id": pressed.get("block_id", ""),
        "response_url": body.get("response_url", ""),
        "trigger_id": body.get("trigger_id", ""),
        "view_id": (body.get("view") or {}).get("id", ""),
        "metadata": (body.get("view") or {}).get("private_metadata", ""),
        "values": ((body.get("view") or {}).get("state") or {}).get("values") or {},
    }
    place = container.get("message_ts") or kept["view_id"]
    key = f"action:{body['user']['id']}:{place}:{pressed['action_id']}:{pressed.get('action_ts', '')}"
    return InboxItem(key, Arrival.ACTION, pressed["action_id"], kept, at)


def submission(body: Payload, at: datetime) -> InboxItem:
    """A submitted form. The same view may be submitted again after an error, with a new trigger id."""
    view = body["view"]
    kept = {
        "user": body["user"]["id"],
        "view_id": view["id"],
        "metadata": view.get("private_metadata", ""),
        "values": (view.get("state") or {}).get("values") or {},
        "trigger_id": body.get("trigger_id", ""),
    }
    key = f"submission:{view['id']}:{body.get('trigger_id') or view.get('hash', '')}"
    return InboxItem(key, Arrival.SUBMISSION, view["callback_id"], kept, at)


def shortcut(body: Payload, at: datetime) -> InboxItem:
    """A global shortcut: handled like the command without words."""
    kept = {"user": body["user"]["id"], "trigger_id": body["trigger_id"], "text": "request", "response_url": ""}
    return InboxItem(f"shortcut:{body['trigger_id']}", Arrival.COMMAND, body["callback_id"], kept, at)


def event(body: Payload, at: datetime) -> InboxItem:
    """Something that Slack tells of somebody. It tells again, under the same id, until it is acknowledged."""
    told = body["event"]
    return InboxItem(f"event:{body['event_id']}", Arrival.EVENT, told["type"], {"user": told["user"]}, at)
