"""What methods for independent tasks need of a problem."""

from __future__ import annotations

from makespan.core.registry import Need
from makespan.independent.problem import IndependentTasks


def _preemptive(problem: IndependentTasks) -> str | None:
    return "preemptive is true" if problem.preemptive else None


def _not_preemptive(problem: IndependentTasks) -> str | None:
    return None if problem.preemptive else "preemptive is false"


NO_PREEMPTION = Need("tasks that run in one piece", _preemptive)
PREEMPTION = Need("tasks that may be cut (preemptive = true)", _not_preemptive)
