"""The order-aware optimum by constraint programming."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import CP_SAT, Need, find_method, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.needs import COMMON_UNIT, FREE_ORDER, GIVEN_COUNT, at_most
from makespan.reduction.problem import Reduction
from makespan.reduction.search.both_ways import BothWays
from makespan.reduction.search.model import Unbuilt
from makespan.reduction.search.one_way import OneWay

MAX_ARCS = 60_000
ARCS_IN_REACH = 6_000
EXACT_PRESOLVE = 2**30  # see makespan.backends.cp_sat.search


def _sends_of_a_segment(problem: Reduction) -> int:
    """Return how many sends of a segment are possible."""
    machines = len(problem.machines)
    if problem.collective == "all-reduce":
        return 2 * machines * (machines - 1)
    return (machines - 1) ** 2


def _unmodelled(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.statement.one_way:
        return None
    if problem.collective != "all-reduce":
        return f"collective is {problem.collective!r}"
    if problem.times is not None:
        at_once = problem.times.latency + problem.times.transfer <= 0
    else:
        apart = ~np.eye(len(problem.machines), dtype=bool)
        takes = (problem.latencies + problem.transfers * problem.sizes.min())[apart]
        at_once = bool((takes <= 0).any())
    return "a send takes no time" if at_once else None


MODELLED = Need(
    "segments that are only copied, or only combined, or an all-reduce whose sends take time",
    _unmodelled,
)


def _arcs(most: int) -> Need:
    return at_most(
        most,
        "possible sends, (n - 1)² m, or 2 n (n - 1) m",
        lambda problem: _sends_of_a_segment(problem) * problem.items,
    )


@register(
    "reduction",
    name="cp-sat",
    needs=(CP_SAT, GIVEN_COUNT, MODELLED, FREE_ORDER, COMMON_UNIT, _arcs(MAX_ARCS)),
    reach=(_arcs(ARCS_IN_REACH),),
    proves="CP-SAT's optimality certificate, in whole units of time",
    complexity="exponential; (n - 1)² m optional transfers",
    source="optional intervals on ports and units; OR-tools CP-SAT",
)
def cp_sat(problem: Reduction, control: Control) -> Solution:
    """Choose destinations and times together; start from the best plan known.

    Combinations may first follow in any order, which gives a bound and mostly the optimum. Where
    the order of arrival then ends later, it is asked for and the search repeated.
    """
    done = problem.statement.one_way and not problem.statement.copied[1].any()
    if done or len(problem.machines) == 1:
        return Solution(schedule=Schedule.of_rows(problem.machines, []), optimal=True)
    from makespan.backends.cp_sat import search

    incumbent = control.incumbent.schedule if control.incumbent else None
    if incumbent is None:
        start = _first(problem, control)
        if start.infeasible is not None:
            return start
        incumbent = start.schedule
    assert incumbent is not None
    unit, least = float(problem.unit or 1), best_bound(problem)
    solution = Solution(schedule=incumbent)
    build: Any = OneWay if problem.statement.one_way else BothWays
    for in_order_of_arrival in (False, True):
        try:
            model = build(problem, control, incumbent, least, in_order_of_arrival)
        except Unbuilt:
            return replace(solution, optimal=False, stopped=True)
        found = search(
            model.model,
            control,
            in_seconds=lambda value: value * unit,
            presolve=model.most < EXACT_PRESOLVE,
        )
        bound = None if found.bound is None else _in_seconds(problem, found.bound)
        if not found.solved:
            return replace(solution, lower_bound=bound or solution.lower_bound, stopped=True)
        schedule = model.schedule(found.value)
        assert found.objective is not None
        reached = schedule.makespan <= _in_seconds(problem, round(found.objective)) * (1 + 1e-12)
        if schedule.makespan < incumbent.makespan:
            incumbent = schedule
        solution = Solution(
            schedule=incumbent,
            lower_bound=bound,
            optimal=found.outcome == "optimal" and reached,
            stopped=found.stopped,
        )
        if reached or control.expired():
            break
    return solution


def _first(problem: Reduction, control: Control) -> Solution:
    """Return a plan to start from, or that the given one never ends."""
    from makespan.reduction.methods.given_plan import given_plan
    from makespan.reduction.methods.rarest_first import rarest_first

    if problem.collective == "all-reduce":
        return find_method("reduction", "reduce-then-broadcast").run(problem, control, restarts=1)
    if problem.destinations is None and problem.sequences is None:
        return rarest_first(problem, control, restarts=20, rebuilds=0)
    return given_plan(problem, control)


def _in_seconds(problem: Reduction, units: int) -> float:
    assert problem.unit is not None
    return float(units * problem.unit)
