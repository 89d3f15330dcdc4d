"""The optimum by constraint programming, for small graphs."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import CP_SAT, register
from makespan.core.solution import Solution
from makespan.taskgraph.methods.local_search import local_search
from makespan.taskgraph.needs import (
    FEW_CORES,
    NO_CONTENTION,
    NO_DUPLICATION,
    NO_GIVEN_PLAN,
    OVERLAP,
    few_steps,
)
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.search.complete import PROVES, proved
from makespan.taskgraph.search.machines import OnMachines

MAX_CONSTRAINTS = 200_000
QUICKLY_BUILT = 30_000


def _constraints(problem: TaskGraph) -> int:
    """Return the tasks on machines, and the edges times their pairs of machines."""
    machines, edges = len(problem.network), len(problem.dag.source)
    pairs = 2 * machines if problem.network.routing.is_uniform else machines * machines
    return len(problem.dag) * machines + edges * pairs


FEW, QUICK = (
    few_steps(most, "tasks on machines and edges between them", _constraints)
    for most in (MAX_CONSTRAINTS, QUICKLY_BUILT)
)


@register(
    "taskgraph",
    name="cp-sat",
    needs=(CP_SAT, NO_GIVEN_PLAN, OVERLAP, NO_CONTENTION, NO_DUPLICATION, FEW_CORES, FEW),
    reach=(QUICK,),
    proves=PROVES,
    complexity="exponential",
    source="optional intervals on machines, and a literal per edge and per pair of machines; "
    "OR-tools CP-SAT",
)
def cp_sat(problem: TaskGraph, control: Control) -> Solution:
    """Choose machines and starts together, from the best plan known or from ``local-search``.

    Times that have no common unit are rounded down: the optimum of that model is a lower bound,
    and the plan is timed with the true times.
    """
    start = control.known_or(lambda: local_search(problem, control))
    seconds = problem.network.routing.seconds_of(problem.dag.size)
    times = np.concatenate([problem.durations.ravel(), seconds.ravel(), problem.dag.release])
    return proved(problem, control, start, times, OnMachines)
