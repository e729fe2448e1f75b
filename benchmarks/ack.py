"""200 signed slash commands at once over HTTP while the API server hangs: is each acknowledged in Slack's 3 seconds?

    python benchmarks/ack.py [--commands 200] [--rounds 7] [--hang 9] [--slow 0]

The bot is measured against an empty Bolt handler on the same web server, in the same run, round by round in turn. Exit
code 1 if a command was not acknowledged, was late, or the bot's 99th percentile is above 1.5 times the empty handler's.
"""

import argparse
import sqlite3
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.burst import Reply, burst, percentile
from benchmarks.children import Child, Environment, empty_handler, outside, the_bot

SLACK_SECONDS = 3.0
MOST_RATIO = 1.5
LINES = ("status", "request 2 a100 for 1d because of a deadline, run {}", "show vision")
"""What people type. None of them can be answered without asking Slack, the database or the cluster."""

LEFT = """
    SELECT (SELECT count(*) FROM inbox WHERE state IN ('waiting', 'claimed'))
         + (SELECT count(*) FROM notice WHERE state IN ('owed', 'claimed'))
"""


@dataclass(slots=True)
class Measured:
    """What one server did over all rounds."""

    name: str
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    worst: float = 0.0
    failed: int = 0

    def add(self, replies: Sequence[Reply], cpu: float) -> None:
        """One round. What was not answered with 200 in time has failed."""
        times = [reply.seconds for reply in replies]
        self.p99.append(percentile(times, 99))
        self.cpu.append(cpu)
        self.worst = max(self.worst, *times)
        self.failed += sum(reply.status != 200 or reply.seconds > SLACK_SECONDS for reply in replies)

    def line(self) -> str:
        """For people."""
        return (
            f"{self.name:14} p99 {median(self.p99) * 1000:6.0f} ms   worst {self.worst * 1000:6.0f} ms   "
            f"CPU {median(self.cpu) * 1000:6.0f} ms   not acknowledged in {SLACK_SECONDS:g} s: {self.failed}"
        )


def verdict(bot: Measured, empty: Measured) -> list[str]:
    """What is wrong, nothing if all is well."""
    ratio = median(bot.p99) / median(empty.p99)
    print(bot.line())
    print(empty.line())
    print(f"p99 of the bot is {ratio:.2f} times the empty handler's; at most {MOST_RATIO} is allowed")
    print(f"CPU of the bot is {median(bot.cpu) / median(empty.cpu):.2f} times the empty handler's")
    wrong = [f"{bot.failed} commands of the bot failed"] if bot.failed else []
    return wrong + ([f"p99 is {ratio:.2f} times the empty handler's"] if ratio > MOST_RATIO else [])


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--hang", type=float, default=9.0, help="seconds that each answer of the API server takes")
    parser.add_argument(
        "--slow", type=float, default=0.0, help="seconds by which the bot is slowed down, to see it fail"
    )
    options = parser.parse_args(arguments)
    bot, empty = Measured("the bot"), Measured("empty handler")
    with Child(outside, options.hang) as world:
        environment: Environment = world.receive()
        with Child(the_bot, environment, options.slow) as one, Child(empty_handler, environment) as other:
            ports = {one: one.receive(), other: other.receive()}
            for number in range(options.rounds + 1):
                lines = [LINES[n % len(LINES)].format(f"{number}-{n}") for n in range(options.commands)]
                turns = ((other, empty), (one, bot))
                for child, measured in turns if number % 2 else turns[::-1]:
                    replies, cpu = _round(world, child, ports[child], lines)
                    if number:  # the first one warms up
                        measured.add(replies, cpu)
                world.ask("heal")
                waited = _until_handled(environment)
                print(f"round {number} of {options.rounds}; all handled after {waited:.1f} s", flush=True)
    wrong = verdict(bot, empty)
    print("\n".join(wrong) or "well")
    return 1 if wrong else 0


def _round(world: Child, child: Child, port: int, lines: Sequence[str]) -> tuple[list[Reply], float]:
    requests = world.ask("commands", lines)
    world.ask("hang")
    before = child.ask("cpu")
    replies = burst(port, requests)
    return replies, child.ask("cpu") - before


def _until_handled(environment: Environment) -> float:
    """Wait until nothing is left in the bot's inbox, and nothing is owed to Slack. Seconds."""
    began = time.monotonic()
    path = environment["DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        while database.execute(LEFT).fetchone()[0]:
            time.sleep(0.2)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
