"""The files of the page, read once from static/. `index.html` is given the run's token. Called by `routes`."""

from importlib.resources import files

from bot.demo.page.wire import Answer

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_TOKEN = b"{{token}}"


def load(token: str) -> dict[str, Answer]:
    """Path -> answer; there is nothing else to ask for."""
    found: dict[str, Answer] = {}
    for entry in files("bot.demo.page").joinpath("static").iterdir():
        kind = _TYPES.get("." + entry.name.rpartition(".")[2])
        if kind is not None:
            body = entry.read_bytes().replace(_TOKEN, token.encode()) if kind == _TYPES[".html"] else entry.read_bytes()
            found[f"/static/{entry.name}"] = Answer(200, body, kind)
    found["/"] = found.pop("/static/index.html")
    return found
