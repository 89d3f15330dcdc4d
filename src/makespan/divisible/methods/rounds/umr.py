"""Uniform multi-round: all workers compute each round for the same time."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import (
    A_WORKER,
    ANY_WORKERS,
    IDLE_MASTER,
    NO_DEADLINE,
    NO_GIVEN_ORDER,
    NO_WINDOWS,
    SEQUENCE_OF_CHUNKS,
    SOME_LOAD,
    positive,
)
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.uniform import MAX_ROUNDS, uniform_rounds
from makespan.divisible.timing import timed

UNIFORM = (
    *SEQUENCE_OF_CHUNKS,
    NO_DEADLINE,
    NO_GIVEN_ORDER,
    SOME_LOAD,
    *NO_WINDOWS,
    ANY_WORKERS,
    IDLE_MASTER,
    A_WORKER,
    Need("positive costs per unit", positive("send_per_unit", "compute_per_unit")),
)


@register(
    "divisible",
    name="umr",
    needs=UNIFORM,
    published=True,
    complexity="O(rounds tried^2), and the chunks of the best",
    source="Yang and Casanova 2003 (UMR), and its extension to heterogeneous platforms",
)
def umr(problem: DivisibleLoad, control: Control) -> Solution:
    """Uniform multi-round (UMR): rounds of equal computing time, as many as the model says.

    Workers are taken by increasing send cost as long as rounds can grow.
    """
    assert problem.load is not None
    most = MAX_ROUNDS if problem.rounds == "auto" else int(problem.rounds)
    plan = uniform_rounds(problem.star, problem.load, most, control)
    if plan is None:
        return Solution(schedule=None, notes=("uniform rounds would need a negative chunk",))
    return Solution(schedule=timed(problem, plan))
