"""The segmented reduction notebook: makespans of given plans, and how long its searches take."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from makespan.core.errors import ProblemError
from makespan.core.inputs.suggest import suggesting
from makespan.reduction.heuristics.order import given_sends
from makespan.reduction.problem import Order, Reduction

Plan = Sequence[Sequence[Any]]


@suggesting
def evaluate(
    plan: Plan,
    latency: Any,
    transfer: Any,
    reduce: Any,
    *,
    order: Order = "greedy",
    segment_sizes: Any = None,
    compatible: bool = False,
) -> float | Fraction:
    """Return the makespan of a plan.

    Parameters
    ----------
    plan
        n rows: the destinations of each machine's m segments, counted from 1; or per machine the
        succession of its sends as (segment, destination) pairs.
    latency, transfer, reduce, segment_sizes
        As in :class:`~makespan.Reduction`.
    order
        ``"greedy"`` or ``"backfilling"``, for destinations.
    compatible
        Return exactly the float that the notebook's ``evaluate`` returns, order of additions
        included, and infinity where it does, for one machine too.

    Returns
    -------
    int, Fraction or float
        Exact: an integer or a fraction where all times are, else the nearest float. Where the
        times have no common unit, floats are added.

    Raises
    ------
    ProblemError
        For trees that are none, and for a deadlock, with its cycle.

    Complexity: O(n m log(n m)).

    Source: array reduction notebook, ``evaluate``; corrected for one machine (0, not infinity).

    >>> evaluate([(1, 1), (1, 3), (1, 1)], 0.1, 1, 0.3)
    3.8
    >>> evaluate([(), ((2, 3), (1, 1)), ((1, 1), (2, 1))], 1, 1, 1)
    6
    """
    sequences = len(plan) > 1 and len(plan[1]) > 0 and np.ndim(plan[1][0]) == 1
    if compatible:
        if sequences or order != "greedy" or segment_sizes is not None:
            raise ProblemError("compatible: takes destinations in greedy order, no segment_sizes")
        return notebook_evaluate(plan, float(latency), float(transfer), float(reduce))
    problem = Reduction(
        machines=len(plan),
        segments=len(plan[-1]) if len(plan) else 1,
        latency=latency,
        transfer=transfer,
        reduce=reduce,
        segment_sizes=segment_sizes,
        order="free" if sequences else order,
        sequences=plan if sequences else None,
        destinations=None if sequences else plan,
    )
    if len(plan) == 1:
        return 0
    _, end, why = given_sends(problem)
    if why:
        raise ProblemError(why)
    unit = problem.unit
    if unit is None:
        return float(end)
    return _in_kind_of(int(end) * unit, (latency, transfer, reduce))


def _in_kind_of(value: Fraction, given: tuple[Any, ...]) -> float | Fraction:
    """Return ``value`` as an integer or fraction where all given times are, else as a float."""
    if not all(isinstance(time, (Rational, np.integer)) for time in given):
        return float(value)
    return int(value) if value.denominator == 1 else value


def notebook_evaluate(plan: Plan, alpha: float, beta: float, gamma: float) -> float:
    """Return what ``evaluate`` of the array reduction notebook returns, bit for bit.

    A solution that sends in a cycle or to itself gives infinity, and so does a single machine. The
    root's row is not checked. Complexity: O(n² m).
    """
    machines = len(plan)
    if machines == 1:
        return float("inf")
    reducing, sending, receiving = [0.0] * machines, [0.0] * machines, [0.0] * machines
    end = -float("inf")
    for column in range(len(plan[0])):
        ready = [0.0] * machines
        target = [int(row[column]) - 1 for row in plan]
        for _ in range(machines - 1):
            leaves = [machine for machine in range(machines) if machine not in target]
            if not leaves:
                return float("inf")
            start, sender = min(
                (max(ready[leaf], sending[leaf], receiving[target[leaf]] - alpha), leaf)
                for leaf in leaves
            )
            receiver = target[sender]
            sending[sender] = start + beta
            receiving[receiver] = start + alpha + beta
            reducing[receiver] = max(reducing[receiver], receiving[receiver]) + gamma
            ready[receiver] = reducing[receiver]
            target[sender] = sender
        end = max(end, ready[0])
    return end


SAMPLE = ((1, 1, 1), (1, 3, 3), (1, 1, 1), (1, 1, 1))
MIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Predicted minutes of plain enumeration, by numbers of machines (row) and segments from 1."""

    seconds_per_solution: float  # what one evaluation of 4 machines and 3 segments took
    search: tuple[tuple[float, ...], ...]  # minutes, over destinations
    ordered: tuple[tuple[float, ...], ...]  # minutes, with every order of sends

    def __str__(self) -> str:
        def table(rows: tuple[tuple[float, ...], ...]) -> list[str]:
            return [" ".join(f"{minutes:10.3g}" for minutes in row) for row in rows]

        lines = [f"{self.seconds_per_solution:.3g} s a solution; minutes of the search:"]
        lines += [*table(self.search), "minutes with the order of sends:", *table(self.ordered)]
        return "\n".join(lines)


@suggesting
def estimate(machines: int = 8, segments: int = 8) -> Estimate:
    """Time one evaluation and predict the minutes of both of the notebook's searches.

    Parameters
    ----------
    machines, segments
        The largest numbers in the tables.

    Source: array reduction notebook: (n - 1)^(m(n - 1)) solutions, times (m!)^(n - 1) with the
    order of sends.

    >>> predicted = estimate(4, 2)
    >>> round(predicted.ordered[3][1] / predicted.search[3][1])
    8
    """
    evaluations, started = 0, time.process_time()
    while (spent := time.process_time() - started) < MIN_SECONDS:
        notebook_evaluate(SAMPLE, 1.0, 1.0, 1.0)
        evaluations += 1
    each = spent / evaluations
    sizes = [[(n, m) for m in range(1, segments + 1)] for n in range(1, machines + 1)]
    return Estimate(
        seconds_per_solution=each,
        search=tuple(tuple(estimate_minutes(each, n, m) for n, m in row) for row in sizes),
        ordered=tuple(
            tuple(estimate_minutes(each, n, m, ordered=True) for n, m in row) for row in sizes
        ),
    )


def estimate_minutes(
    seconds: float, machines: int, segments: int, *, ordered: bool = False
) -> float:
    """Return the minutes of one search at so many seconds a solution; infinite beyond floats.

    >>> round(estimate_minutes(60.0, 3, 2)), round(estimate_minutes(60.0, 3, 2, ordered=True))
    (16, 64)
    """
    solutions: int = (machines - 1) ** (segments * (machines - 1))
    if ordered:
        solutions *= math.factorial(segments) ** (machines - 1)
    try:
        return seconds / 60 * float(solutions)
    except OverflowError:
        return math.inf
