"""`gpu-quota-bot demo`: plays a story on embedded parts and says whether all of it came true. Called by cli."""

from collections.abc import Callable, Mapping

from bot.demo.run_stage import Stage
from bot.demo.script_loop import tell_loop

Say = Callable[[str], None]
STORIES: Mapping[str, Callable[[Stage, Say], None]] = {"loop": tell_loop}


def play(name: str, say: Say) -> int:
    """The exit code: 0 only if everything the story expects was seen."""
    try:
        with Stage() as stage:
            STORIES[name](stage, say)
    except AssertionError as error:
        say(f"\nNOT AS IT SHOULD BE: {error}")
        return 1
    say("\nAll of it came true.")
    return 0
