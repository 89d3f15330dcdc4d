"""Plans that may be good where durations are uncertain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import applicability, find_method, within_reach
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.placing.in_order import inserted
from makespan.taskgraph.placing.in_time import cannot_end
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.scenarios.drawn import Scenarios, changed, errors_of
from makespan.taskgraph.timing import machine_of_tasks

LINE_UP = ("heft", "peft", "cpop", "mcp", "etf", "dls", "min-min", "sufferage", "local-search")
"""The methods whose plans for the durations as stated are candidates."""
DRAWN = 1_000
"""Factors of each error that a quantile is taken of."""


def candidates(
    problem: TaskGraph, control: Control, noise: Noise, count: int
) -> Iterator[Schedule]:
    """Yield the plans of the quick methods, for durations as stated and for safe ones, then those
    of ``heft`` for up to ``count`` scenarios; as many as the time allows, one at least.

    Safe durations are their 90 % quantiles: another problem only where errors differ.
    """
    yield from _in_turn(problem, control)
    rng = np.random.default_rng(int(control.rng.integers(2**31)))
    safe = _safe(problem, noise, rng)
    if safe is not None and not control.expired():
        for plan in _in_turn(safe, control):
            yield carried_over(problem, control, plan)
    if not count or cannot_end(problem, control):
        return
    scenarios = Scenarios.drawn(problem, noise, count, rng)
    for scenario in range(count):
        if control.expired():
            return
        drawn = scenarios.disturbed(scenario)
        plan = inserted(drawn, control, by_level(drawn.dag, ranks(drawn)))
        yield carried_over(problem, control, plan)


def carried_over(problem: TaskGraph, control: Control, plan: Schedule) -> Schedule:
    """Return the plan with the machines and the order of a plan for other durations."""
    start = np.zeros(len(problem.dag))
    rows = np.flatnonzero(plan.kind == Activity.COMPUTE)
    start[plan.item[rows]] = plan.start[rows]
    order = np.lexsort((problem.dag.position, start))
    return inserted(problem, control, order, pinned=machine_of_tasks(problem, plan))


def _in_turn(problem: TaskGraph, control: Control) -> Iterator[Schedule]:
    before, best = control.incumbent, None
    for index, name in enumerate(LINE_UP):
        method = find_method("taskgraph", name)
        if index and (control.expired() or not within_reach(method, problem)):
            continue
        if applicability(method, problem).applies:
            control.incumbent = best  # local search starts from it
            try:
                with control.aside():
                    found = method.run(problem, control)
            except TooLarge:
                continue
            finally:
                control.incumbent = before
            assert found.schedule is not None
            yield found.schedule
            if best is None or found.makespan < best.makespan:
                best = found


def _safe(problem: TaskGraph, noise: Noise, rng: np.random.Generator) -> TaskGraph | None:
    """Return the problem with the 90 % quantiles of all durations; None if all errors agree."""
    errors, transfers = errors_of(problem, noise), noise.of_transfers()
    levels, place = np.unique(np.append(errors, transfers), return_inverse=True)
    if len(levels) == 1:
        return None
    draws: Floats = noise.drawn(rng, (DRAWN, len(levels)), levels)
    factors = np.quantile(draws, 0.9, axis=0)[place]
    return changed(problem, factors[:-1].reshape(errors.shape), factors[-1:])
