"""Running pytest in a process of its own from within a test."""

import os


def outer_environment(**more: str) -> dict[str, str]:
    """This process's environment as it was before the run began to add to it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST_", "FIDELITY"))}
    return {**kept, **more}
