"""The linear programme for a given sequence of chunks."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.divisible.linear import with_deadline
from makespan.divisible.methods.multi_installment import SEQUENCE_OF_CHUNKS
from makespan.divisible.needs import NO_BUDGET, NO_WORKER_DEADLINES
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sequences import best_amounts
from makespan.divisible.timing import timed


def _no_activation(problem: DivisibleLoad) -> str | None:
    return "activation is not given" if problem.activation is None else None


@register(
    "divisible",
    name="activation",
    needs=(
        *SEQUENCE_OF_CHUNKS,
        Need("an activation", _no_activation),
        NO_WORKER_DEADLINES,
        NO_BUDGET,
    ),
    proves="linear programme of the sequence, or its chain with non-negative prices",
    complexity="a sparse linear programme; O(chunks) where the chain is proved",
    source="paper 002 (A. Benoit, 2016), multi-round scheduling, for a given order of chunks",
)
def activation(problem: DivisibleLoad, control: Control) -> Solution:
    """Best amounts for the given sequence of chunks, empty chunks paying their fixed costs."""
    assert problem.activation is not None
    sequence = problem.workers_in(problem.activation)
    sized = best_amounts(problem, sequence, control)
    if sized is None:
        if control.expired():
            return Solution(schedule=None)
        return Solution(schedule=None, infeasible="no amounts for this activation keep the limits")
    solution = Solution(schedule=timed(problem, sized.plan), optimal=True)
    return with_deadline(problem, solution)
