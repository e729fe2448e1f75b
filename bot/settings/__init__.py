"""What an installation may set, from the environment and a `.env` file: read once at start, by the command line."""

from bot.settings.fields import EVENTS_PATH, Convergence, Database, Group, Logs, Policies, Settings, documented
from bot.settings.loading import Fault, SettingsError, load_settings

__all__ = [
    "EVENTS_PATH",
    "Convergence",
    "Database",
    "Fault",
    "Group",
    "Logs",
    "Policies",
    "Settings",
    "SettingsError",
    "documented",
    "load_settings",
]
