"""How long the segmented reduction notebook's searches take without the improvements."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from makespan.core.inputs.suggest import suggesting
from makespan.reduction.search.evaluation import notebook_evaluate

SAMPLE = ((1, 1, 1), (1, 3, 3), (1, 1, 1), (1, 1, 1))
MIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Predicted minutes of plain enumeration.

    Parameters
    ----------
    seconds_per_solution
        What one evaluation of 4 machines and 3 segments took.
    search, ordered
        Minutes of the search over destinations, and of the one that also tries every order of
        sends; a row per number of machines from 1, a column per number of segments from 1.
    """

    seconds_per_solution: float
    search: tuple[tuple[float, ...], ...]
    ordered: tuple[tuple[float, ...], ...]

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
