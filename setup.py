"""Puts alembic/ and policies/, top-level folders here, into the wheel under bot/_data (see bot/resources.py).

All else is in pyproject.toml. `alembic/` must not be a package of its own: it would hide the library of that name.
"""

from setuptools import find_packages, setup

DATA = {
    "bot._data.alembic": "alembic",
    "bot._data.alembic.versions": "alembic/versions",
    "bot._data.policies": "policies",
}

setup(
    packages=[*find_packages(include=["bot", "bot.*"]), *DATA],
    package_dir=DATA,
)
