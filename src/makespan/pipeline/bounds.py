"""Lower bounds for pipelines."""

from dataclasses import replace

import numpy as np

from makespan.core.solution import Bound, Solution
from makespan.pipeline.mapping import WITHIN, excess, mapping_of, values_of
from makespan.pipeline.problem import Pipeline

LONGEST = "every stage runs on one machine, or is dealt to several that take turns"
SHARED = (
    "the work of all stages where it is cheapest, at prices for the seconds of machines that sum "
    "to 1: the dual of fractional assignment (Lenstra, Shmoys and Tardos 1990)"
)
ALONE = "every stage where it is fastest, transfers for free"
ROUNDS = 30  # changes of the prices
MANY = 2_000_000  # entries of a table from which prices stay as they are


def bounds(problem: Pipeline) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan of the data sets: ``latency + (items - 1) * period``.

    With replicas, data sets take different ways, of which each takes the latency at least.
    Complexity: O(stages × machines).
    """
    latency, periods = latency_bound(problem), period_bounds(problem)
    after = problem.items - 1
    if problem.replicas > 1:
        return (Bound(value=latency, name="latency", source=ALONE),)
    return tuple(
        Bound(value=latency + after * bound.value, name=bound.name, source=bound.source)
        for bound in periods
    )


def period_bounds(problem: Pipeline) -> tuple[Bound, ...]:
    """Return lower bounds on the period."""
    replicas = min(problem.replicas, problem.items, len(problem.machines))
    if problem.stages.durations is None:
        longest = float(problem.stages.work.max()) / float(problem.speeds.max())
    else:
        longest = float(problem.table.min(axis=1).max())
    return (
        Bound(value=longest / replicas, name="longest stage", source=LONGEST),
        Bound(value=_shared(problem), name="shared work", source=SHARED),
    )


def _shared(problem: Pipeline) -> float:
    """Return the bound of work shared by all machines, at the best prices found."""
    if problem.stages.durations is None:
        return float(problem.stages.work.sum()) / float(problem.speeds.sum())
    table = problem.table
    share = np.ones(table.shape[1]) / table.shape[1]
    best, step = 0.0, 0.5
    for _ in range(ROUNDS if table.size < MANY else 1):
        chosen = (table * share).argmin(axis=1)
        own = table[np.arange(len(table)), chosen]
        load = np.bincount(chosen, weights=own, minlength=len(share))
        best = max(best, float((load * share).sum()))
        share = share * np.exp(step * (load / max(float(load.max()), 1e-300) - 0.5))
        share /= share.sum()
        step *= 0.9
    return best


def latency_bound(problem: Pipeline) -> float:
    """Return a lower bound on the latency: all stages where they are fastest."""
    if problem.stages.durations is None:
        work = float(problem.stages.work.sum()) / float(problem.speeds.max())
    else:
        work = float(problem.table.min(axis=1).sum())
    ends = float((problem.input / problem.outside).min() + (problem.output / problem.outside).min())
    return work + ends


def objective_bound(problem: Pipeline) -> float:
    """Return a lower bound on what is optimised; of a front, on the period."""
    if problem.objective in ("period", "pareto"):
        return max(bound.value for bound in period_bounds(problem))
    if problem.objective == "latency":
        return latency_bound(problem)
    if problem.objective == "price":
        return float(problem.price.min())
    return max(bound.value for bound in bounds(problem))


def enforce_limits(problem: Pipeline, solution: Solution) -> Solution:
    """Return the solution, without its plan where that exceeds a limit, and why none keeps it."""
    if not problem.limited:
        return solution
    if solution.schedule is not None:
        values = values_of(
            problem, mapping_of(problem, solution.schedule.renamed(problem.machines))
        )
        if excess(problem, values) == 0.0:
            return solution
        solution = replace(solution, schedule=None, optimal=False, objective=None)
    if solution.infeasible is not None:
        return solution
    for name, limit, least in (
        ("period", problem.period_limit, max(bound.value for bound in period_bounds(problem))),
        ("latency", problem.latency_limit, latency_bound(problem)),
        ("price", problem.budget, float(problem.price.min())),
    ):
        if limit is not None and least > limit * WITHIN:
            why = f"the {name} is at least {least:.12g}; the limit is {limit:.12g}"
            return replace(solution, infeasible=why)
    return solution
