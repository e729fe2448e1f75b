"""Names that look like the one somebody typed; every "Near:" and "Did you mean" asks here."""

from collections.abc import Iterable

MOST_SUGGESTIONS = 5
"""As many as there are buttons for "which did you mean"."""
FARTHEST = 2


def edit_distance(one: str, other: str) -> int:
    """Letters to insert, drop, change or swap with their neighbour to get from one word to the other."""
    older: list[int] = []
    previous = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        older, previous = previous, row
    return previous[-1]


def near(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Up to five of `names` at most two edits away, the nearest first, whatever the case.

    Half of a word must be right, or everything short would be near everything else: "foo" is not near "who".
    """
    typed = name.lower()
    found: list[tuple[int, str]] = []
    for candidate in set(names):
        longer = max(len(typed), len(candidate))
        if abs(len(typed) - len(candidate)) > FARTHEST:
            continue
        distance = edit_distance(typed, candidate.lower())
        if distance <= FARTHEST and 2 * distance < longer:
            found.append((distance, candidate))
    return tuple(candidate for _, candidate in sorted(found)[:MOST_SUGGESTIONS])
