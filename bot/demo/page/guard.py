"""Keeps other web sites out of the page's server: they can make a browser send requests to loopback.

The Host header must name this server (no other name can be made to point here), and whatever reads or changes the
world needs the run's token, which only the page itself can read. Called by `routes`; pure.
"""

import secrets
from dataclasses import dataclass

from bot.demo.page.wire import Answer, Request

TOKEN_HEADER = "x-demo-token"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """For one run: its port and its secret token."""

    port: int
    token: str

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    def refuse(self, request: Request) -> Answer | None:
        """The refusal, or None for a request that may go on."""
        if request.headers.get("host") not in self.hosts:
            return Answer(421, b"This server is the demo's, on loopback.")
        if not request.path.startswith("/api/"):
            return None
        origin = request.headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return Answer(403, b"Another site may not do this.")
        given = request.headers.get(TOKEN_HEADER, "").encode("utf-8", "surrogateescape")
        if not secrets.compare_digest(given, self.token.encode()):
            return Answer(403, b"The token of this run is missing. Reload the page.")
        if request.verb == "POST" and request.headers.get("content-type") != "application/json":
            return Answer(415, b"Send JSON.")
        return None
