"""Keeps the tests on this machine: a connection or a look-up beyond loopback is an error. Used by tests/conftest.py."""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any, NoReturn

import pytest


class NetworkForbidden(RuntimeError):
    """Not an OSError, so that no retry and no `except OSError` of the code under test swallows it."""


def forbid_beyond_loopback() -> Callable[[], None]:
    """Patch `socket` for this process; the value returned takes the patch back."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex", "sendto"):
        patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
    real_getaddrinfo = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host is not None and not _is_loopback(host):
            _refuse(host)
        return real_getaddrinfo(host, *args, **kwargs)

    patch.setattr(socket, "getaddrinfo", getaddrinfo)
    return patch.undo


def _guarded(real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: socket.socket, *args: Any) -> Any:
        address = args[-1] if args else None  # sendto(data, address) and sendto(data, flags, address) end alike
        if self.family in {socket.AF_INET, socket.AF_INET6} and not (address and _is_loopback(address[0])):
            _refuse(address)
        return real(self, *args)

    return call


def _is_loopback(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _refuse(target: object) -> NoReturn:
    raise NetworkForbidden(f"tests stay on loopback; this one reached for {target!r}")
