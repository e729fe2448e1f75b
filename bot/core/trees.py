"""Which cohort tree each queue is in. Called by convergence and by core/lenders: quota moves within one tree only."""

from collections.abc import Mapping

from bot.core.kueue import ClusterPicture, CohortSnapshot


def roots(picture: ClusterPicture) -> Mapping[str, str | None]:
    """Name of the root cohort for every queue of the picture; None for a queue in no cohort.

    A cycle of parents has no root (Kueue stops all its members): the first name of the cycle stands for it.
    """
    known: dict[str, str] = {}
    return {
        name: None if queue.cohort is None else _root(queue.cohort, picture.cohorts, known)
        for name, queue in picture.queues.items()
    }


def share_a_tree(picture: ClusterPicture, one: str, other: str) -> bool:
    """Whether quota can move between two queues. Not between queues in no cohort."""
    trees = roots(picture)
    return trees.get(one) is not None and trees.get(one) == trees.get(other)


def _root(cohort: str, cohorts: Mapping[str, CohortSnapshot], known: dict[str, str]) -> str:
    path: list[str] = []
    here = cohort
    while here not in known and here not in path:
        path.append(here)
        above = cohorts[here].parent if here in cohorts else None
        if above is None:
            break
        here = above
    top = known.get(here) or (min(path[path.index(here) :]) if here in path else here)
    known.update(dict.fromkeys(path, top))
    return top
