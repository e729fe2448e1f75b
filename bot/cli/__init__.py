"""The command `gpu-quota-bot`. `run` is kept apart so that the bot itself does not load the terminal's commands."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script and of `python -m bot`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["run"]:
        from bot.cli.serve import serve

        sys.exit(serve())
    from bot.cli.commands import app

    app(words)
