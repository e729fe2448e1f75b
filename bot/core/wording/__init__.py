"""What a person types after `/gpu-quota`, turned into typed words or a fault that points at the offending part.

Start at `commands.parse_command`. Nothing is imported here, so that `bot.core.amounts`, `durations` and `instants` can
use `wording.faults` without a circle.
"""
