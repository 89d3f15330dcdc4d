"""Planners of halves: functions that plan what is only copied or only combined, and merge both.

Methods and other planners call them as functions; each is a method of its own, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.reduction.problem import Reduction


@dataclass(frozen=True, slots=True)
class Planner:
    """A function that plans, and what it needs of a problem."""

    run: Callable[..., Solution]
    needs: tuple[Need, ...]

    def __call__(self, problem: Reduction, control: Control, **options: Any) -> Solution:
        return self.run(problem, control, **options)

    def applies(self, problem: Reduction) -> bool:
        """Whether a problem has all that the function needs."""
        return all(need.unmet(problem) is None for need in self.needs)


def planner(
    *, needs: tuple[Need, ...], **facts: Any
) -> Callable[[Callable[..., Solution]], Planner]:
    """Register the decorated function as the method of these ``facts``, and make it a planner."""

    def decorate(run: Callable[..., Solution]) -> Planner:
        return Planner(register("reduction", needs=needs, **facts)(run), needs)

    return decorate
