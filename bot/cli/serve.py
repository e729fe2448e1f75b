"""`gpu-quota-bot run`: the bot until SIGTERM or Ctrl-C. Called by cli.main."""

import os
import signal
import sys
import threading
from pathlib import Path

from bot.adapters.logs import configure_logs
from bot.adapters.policy_files import PolicyError
from bot.app.run import Bot
from bot.core.errors import Refused, Unavailable
from bot.settings import Settings, SettingsError, load_settings

WRONG_SETTINGS = 2
CANNOT_START = 1


def serve() -> int:
    """The exit code. What keeps the bot from starting is said on standard error, with what to do."""
    try:
        settings = load_settings(os.environ, Path(".env"), Settings)
        configure_logs(settings.log_level, settings.log_format)
        bot = Bot(settings)
    except SettingsError as error:
        return _say(error.report, WRONG_SETTINGS)
    except PolicyError as error:
        return _say(f"The policies cannot be used:\n{error}", WRONG_SETTINGS)
    except Refused as error:
        return _say(error.sentence, CANNOT_START)
    except Unavailable as error:
        return _say(f"{error.what} cannot be used: {error.why}", CANNOT_START)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    bot.start()
    stopping.wait()
    bot.stop()
    return 0


def _say(words: str, code: int) -> int:
    sys.stderr.write(words.rstrip() + "\n")
    return code
