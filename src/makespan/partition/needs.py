"""What methods for partition problems need."""

from __future__ import annotations

from makespan.core.errors import TooLarge
from makespan.core.registry import Need
from makespan.partition.model.curves import Curves
from makespan.partition.problem import Partition


def _other_objective(*allowed: str) -> Need:
    def unmet(problem: Partition) -> str | None:
        if problem.objective in allowed:
            return None
        return f"objective is {problem.objective!r}"

    return Need("the objective " + " or ".join(repr(word) for word in allowed), unmet)


LEAST_MAKESPAN = _other_objective("makespan")
LEAST_TOTAL = _other_objective("total")
LEAST_MAKESPAN_OR_TOTAL = _other_objective("makespan", "total")
A_PAIR = _other_objective("time-then-energy", "energy-then-time")
A_FRONT = _other_objective("pareto")


def _prefers(problem: Partition) -> str | None:
    return None if problem.prefer == "lexicographic" else f"prefer is {problem.prefer!r}"


def _prefers_another(problem: Partition) -> str | None:
    if problem.prefer == "least-total" and problem.objective == "total":
        return None
    return _prefers(problem)


LEXICOGRAPHIC = Need("prefer = 'lexicographic'", _prefers)
NO_OTHER_PREFERENCE = Need("no other preference among equal sums", _prefers_another)


def _not_monotone(problem: Partition) -> str | None:
    if isinstance(problem.costs, Curves):
        return None
    choices = problem.choices
    for row in range(len(choices)):
        if not choices.contiguous[row]:
            return f"the counts of {problem.machines[row]!r} have gaps"
        if not choices.monotone[row]:
            return f"the costs of {problem.machines[row]!r} fall somewhere"
    return None


def _not_convex(problem: Partition) -> str | None:
    try:
        choices = problem.choices
    except TooLarge as error:
        return str(error)
    for row in range(len(choices)):
        if not choices.contiguous[row]:
            return f"the counts of {problem.machines[row]!r} have gaps"
        if not choices.convex[row]:
            return f"the costs of {problem.machines[row]!r} grow more slowly somewhere"
    return None


MONOTONE = Need("costs that never fall, at all counts between two limits", _not_monotone)
CONVEX = Need("costs that never grow more slowly, at all counts between two limits", _not_convex)
EVERY_TASK = Need(
    "require = 'all'", lambda problem: None if problem.require == "all" else "require is 'most'"
)
NO_DEADLINE = Need(
    "no deadline", lambda problem: None if problem.deadline is None else "deadline is given"
)
