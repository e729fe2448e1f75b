"""Whether a PodDisruptionBudget is there, selects the pods, and means something. Called by core/readiness/judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.core.readiness.facts import Budget, Share

Fault = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Pods:
    """What a budget would protect. `job`: Kubernetes cannot count its pods for a percentage or maxUnavailable."""

    namespace: str
    labels: Mapping[str, str]
    count: int
    job: bool


def budgets_of(pods: Pods, budgets: Sequence[Budget]) -> list[Budget]:
    """Those that select these pods."""
    here = [budget for budget in budgets if budget.namespace == pods.namespace]
    return [budget for budget in here if budget.selector is not None and budget.selector.selects(pods.labels)]


def budget_faults(pods: Pods, budgets: Sequence[Budget]) -> Iterator[Fault]:
    """One pod needs no budget, and one that lets it never go holds up its node."""
    found = budgets_of(pods, budgets)
    if len(found) > 1:
        names = " and ".join(sorted(budget.name for budget in found)[:3])
        problem = f"{len(found)} PodDisruptionBudgets select its pods, {names}: with more than one, evicting fails"
        yield "budget-twice", problem, "Leave one of them"
    elif found:
        yield from _meaning(pods, found[0])
    elif pods.count > 1:
        yield _missing(pods, budgets)


def _missing(pods: Pods, budgets: Sequence[Budget]) -> Fault:
    others = sorted(budget.name for budget in budgets if budget.namespace == pods.namespace)
    spec = f"minAvailable: {pods.count}" if pods.job else "maxUnavailable: 1"
    if not others:
        problem = f"No PodDisruptionBudget: a drain or kube-scheduler may take any of its {pods.count} pods"
        return "budget-missing", problem, f"Add one with {spec} that selects its pods"
    names = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    problem = f"No PodDisruptionBudget selects its {pods.count} pods; there are {names}"
    return "budget-not-matching", problem, f"Correct the selector of one, with {spec}"


def _meaning(pods: Pods, budget: Budget) -> Iterator[Fault]:
    what = f"PodDisruptionBudget {budget.name}"
    if pods.job and (budget.max_unavailable is not None or isinstance(budget.min_available, str)):
        problem = f"{what} does not work for a Job: Kubernetes can count its pods for a number of minAvailable only"
        yield "budget-uncountable", problem, f"Set minAvailable: {pods.count} on it, and no maxUnavailable"
        return
    stay = _staying(pods.count, budget)
    if stay <= 0 and pods.count > 1:
        problem = f"{what} protects nothing: all {pods.count} pods may go at once"
        yield (
            "budget-useless",
            problem,
            f"Set {f'minAvailable: {pods.count}' if pods.job else 'maxUnavailable: 1'} on it",
        )
    elif pods.job and stay < pods.count:
        problem = f"{what} keeps {stay} of {pods.count} pods, and the Job needs all of them"
        yield "budget-too-small", problem, f"Set minAvailable: {pods.count} on it"
    elif not pods.job and stay >= max(1, pods.count):
        problem = f"{what} lets no pod go, so draining its nodes never ends"
        yield (
            "budget-blocks",
            problem,
            "Set maxUnavailable: 1 on it" if pods.count > 1 else "Run two pods, or delete it",
        )


def _staying(count: int, budget: Budget) -> int:
    """Pods that have to stay. Kubernetes rounds percentages up, both ways; a budget that says neither lets none go."""
    if budget.max_unavailable is not None:
        return count - _pods(budget.max_unavailable, count)
    return count if budget.min_available is None else _pods(budget.min_available, count)


def _pods(share: Share, count: int) -> int:
    if isinstance(share, str):
        digits = share.strip().removesuffix("%")
        return -(-int(digits) * count // 100) if digits.isascii() and digits.isdigit() else 0
    return share or 0
