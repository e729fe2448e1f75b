"""Where the files that travel with the package lie: the migrations and the default policies.

In the repository they are top-level folders; setup.py puts them into the wheel under bot/_data. Used by the settings,
the command line and the database adapter.
"""

from importlib.resources import files
from pathlib import Path

import bot


def alembic_dir() -> Path:
    """The folder with alembic.ini, env.py and versions/."""
    return _folder("alembic")


def default_policies_dir() -> Path:
    """The folder with the policies to start from: teams.yaml, approvals.yaml, clusters.yaml."""
    return _folder("policies")


def _folder(name: str) -> Path:
    """`name` inside the installed package, else beside the package in a checkout. Raises FileNotFoundError."""
    package = Path(str(files(bot)))  # alembic and people's editors need real files: the package is never run from a zip
    for candidate in (package / "_data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"{name}/ is neither in the installed package {package} nor beside it")
