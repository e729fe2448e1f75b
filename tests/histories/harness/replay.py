"""Show one history again: `python -m tests.histories.harness.replay SEED [WORD]` prints its events (with WORD)."""

import sys

from tests.histories.harness.history import run


def main() -> None:
    """The events, then what is broken and the steps."""
    seed, word = int(sys.argv[1]), " ".join(sys.argv[2:])
    history = run(seed)
    for index, event in enumerate(history.log):
        if word in str(event):
            sys.stdout.write(f"{index} {event}\n")
    sys.stdout.write(f"{history}\n")


if __name__ == "__main__":
    main()
