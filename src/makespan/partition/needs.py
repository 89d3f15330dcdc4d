"""What methods for partition problems need."""

from collections.abc import Callable

import numpy as np

from makespan.core.errors import TooLarge
from makespan.core.registry import Need, condition, one_of
from makespan.partition.model.curves import Curves
from makespan.partition.problem import Partition


def _objective(*allowed: str) -> Need:
    return one_of("objective", *allowed, text=f"the objective {' or '.join(map(repr, allowed))}")


def _prefers_another(problem: Partition) -> str | None:
    allowed = ("least-total",) if problem.objective == "total" else ()
    return one_of("prefer", "lexicographic", *allowed).unmet(problem)


def _lacks(shape: str, how: str) -> Callable[[Partition], str | None]:
    def unmet(problem: Partition) -> str | None:
        try:
            choices = problem.choices
        except TooLarge as error:
            return str(error)
        for row in np.flatnonzero(~(choices.contiguous & getattr(choices, shape)))[:1].tolist():
            if not choices.contiguous[row]:
                return f"the counts of {problem.machines[row]!r} have gaps"
            return f"the costs of {problem.machines[row]!r} {how} somewhere"
        return None

    return unmet


def _falls(problem: Partition) -> str | None:
    curves = isinstance(problem.costs, Curves)  # which are declared not to fall
    return None if curves else _lacks("monotone", "fall")(problem)


LEAST_MAKESPAN = _objective("makespan")
LEAST_TOTAL = _objective("total")
LEAST_SUM = _objective("total", "energy")
LEAST_MAKESPAN_OR_TOTAL = _objective("makespan", "total")
A_PAIR = _objective("time-then-energy", "energy-then-time")
A_FRONT = _objective("pareto")
LEXICOGRAPHIC = one_of("prefer", "lexicographic")
NO_OTHER_PREFERENCE = Need("no other preference among equal sums", _prefers_another)
MONOTONE = Need("costs that never fall, at all counts between two limits", _falls)
CONVEX = Need(
    "costs that never grow more slowly, at all counts between two limits",
    _lacks("convex", "grow more slowly"),
)
EVERY_TASK = one_of("require", "all")
NO_DEADLINE = condition("no deadline", lambda each: each.deadline is None, "deadline is given")
