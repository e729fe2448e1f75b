"""The connection that Slack sends through in Socket Mode, for as long as the bot runs. Held by app/run.

Slack's own client connects again by itself only after it was connected once, and its `connect` and `close` may meet
its own reconnecting half-way: two sessions, one of which nobody reads. So all goes one way here, under both locks.
"""

import socket
import threading
from contextlib import suppress

import structlog
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

log = structlog.get_logger(__name__)

RECEIVERS = 16
PING_SECONDS = 2.0
"""Slack's client calls a connection dead after four or five of these without an answer; its own 10 make 50 s."""


class SocketMode:
    """Not connected until `keep_connected` is called; call it again every few seconds."""

    def __init__(self, bolt: App, app_token: str) -> None:
        self._handler = SocketModeHandler(bolt, app_token, concurrency=RECEIVERS, ping_interval=PING_SECONDS)
        self._lock = threading.Lock()

    @property
    def connected(self) -> bool:
        return bool(self._handler.client.is_connected())

    def keep_connected(self) -> None:
        """Connect unless there is a connection. A Slack that is down is for the next call."""
        client = self._handler.client
        with self._lock:
            if client.closed or client.is_connected():
                return
            try:
                client.connect_to_new_endpoint()
            except Exception as error:
                log.warning("Slack is not reachable yet", why=type(error).__name__)

    def close(self) -> None:
        """Take nothing more."""
        with self._lock:
            self._wake_reader()
            self._handler.close()
            self._handler.client.disconnect()  # what its own reconnecting has opened while it was being closed

    def _wake_reader(self) -> None:
        """Slack's client waits at its close until its reader has read something: here that there is no more to read.

        Answers can still be sent.
        """
        client = self._handler.client
        client.closed, client.auto_reconnect_enabled = True, False
        client.current_session_state.terminated = True
        connected = client.current_session.sock if client.current_session is not None else None
        if connected is not None:
            with suppress(OSError):  # the other end was faster
                socket.socket.shutdown(connected, socket.SHUT_RD)  # not SSLSocket's, which would end the encryption
