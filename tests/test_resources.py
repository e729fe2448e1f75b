"""The files that travel with the package are found in a checkout; tests/test_wheel.py finds them in the wheel."""

import pytest

from bot import resources


def test_in_a_checkout_the_top_level_folders_are_used() -> None:
    assert (resources.alembic_dir() / "alembic.ini").is_file()
    assert {path.name for path in resources.default_policies_dir().iterdir()} >= {"teams.yaml", "approvals.yaml"}


def test_a_folder_that_is_nowhere_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nothing/ is neither in the installed package"):
        resources._folder("nothing")
