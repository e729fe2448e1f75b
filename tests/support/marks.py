"""Marks with a meaning: which case of the case list a test holds, and which program of the machine it needs."""

import shutil
from importlib.util import find_spec

import pytest


def case(*ids: str) -> pytest.MarkDecorator:
    """`@case("quota-07")`: this test holds that case of the case list, over the given and further inputs."""
    return pytest.mark.case(*ids)


def needs_program(name: str, for_what: str) -> pytest.MarkDecorator:
    """Skip out loud where `name` is not on the PATH; a failure with CI=true."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name} on the PATH, needed for {for_what}")


def needs_module(name: str, for_what: str) -> pytest.MarkDecorator:
    """The same for a Python package: requirements/test.txt has it, an older environment may not."""
    return pytest.mark.skipif(find_spec(name) is None, reason=f"no package {name}, needed for {for_what}")
