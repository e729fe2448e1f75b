"""A stream of lines from the API server, as many at a time as have come. Opened by adapters/kube/client."""

import select
from collections.abc import Callable, Iterator
from typing import Any

import urllib3

MOST = 500
"""Lines given at a time, though more are there already."""
_HARDLY_A_LINE = 64 * 1024 * 1024
"""Bytes without an end of line: no object is so large, etcd takes 1.5 MB."""


class Stream:
    """An open watch. `bursts` is for one thread, `interrupt` for any other."""

    def __init__(self, response: Any, unavailable: Callable[[Exception], Exception]) -> None:
        self._response = response
        self._unavailable = unavailable
        self._interrupted = False
        self._poll = select.poll()
        self._poll.register(response.fileno(), select.POLLIN)

    def bursts(self) -> Iterator[list[bytes]]:
        """Whole lines. Ends when the server ends it, or says nothing for as long as was allowed; then what has no end
        of line is dropped. Raises Unavailable when the connection breaks: lines that were not given yet are lost."""
        lines: list[bytes] = []
        rest = b""
        try:
            for chunk in self._response.read_chunked():
                *whole, rest = (rest + chunk).split(b"\n")
                lines += whole
                if len(rest) > _HARDLY_A_LINE:
                    raise urllib3.exceptions.ProtocolError("a line without end")
                if lines and (len(lines) >= MOST or not self._more()):
                    yield lines
                    lines = []
        except urllib3.exceptions.ReadTimeoutError:
            return
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if self._interrupted:
                return
            raise self._unavailable(error) from error
        if lines:
            yield lines

    def _more(self) -> bool:
        """Whether more has come. What the layers above the socket have read already does not count: then the lines
        are given a little early."""
        return bool(self._poll.poll(0))

    def interrupt(self) -> None:
        """Let whoever waits for the next line wait no longer: for them it ends."""
        self._interrupted = True
        try:
            self._response.shutdown()
        except (OSError, RuntimeError, ValueError):
            return  # it has ended by itself

    def close(self) -> None:
        """Let go of the connection; it is not used again."""
        self._response.close()
