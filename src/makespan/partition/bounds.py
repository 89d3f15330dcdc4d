"""Lower bounds on the makespan of a partition."""

import numpy as np

from makespan.core.solution import Bound
from makespan.partition.model.curves import Curves
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import LARGEST, first_containing, value_of
from makespan.partition.threshold.sums import sums_of

CHEAPEST = "every resource takes one of its counts, and the dearest of the cheapest ends last"
ENDS = "at a lower threshold the greatest (least) allowed counts add up to less (more) than tasks"

SLICE = 1 << 16  # entries that are looked at in one go

MET_WITHIN = 0.0  # a makespan is one of the given costs: nothing is rounded


def bounds(problem: Partition) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan; only that of the cheapest counts with "most"."""
    if isinstance(problem.costs, Curves):
        return (
            Bound(
                value=_largest(problem.costs_of(np.array(problem.costs.lower))),
                name="least counts",
                source="costs never fall, and no resource takes less than its least count",
            ),
        )
    choices = problem.choices
    if len(choices.empty_rows):
        return (Bound(value=np.inf, name="no allowed count", source="a resource allows nothing"),)
    sums = sums_of(choices)
    found = [Bound(value=value_of(sums.largest_least()), name="cheapest counts", source=CHEAPEST)]
    if problem.require == "all":
        ends = first_containing(sums, problem.tasks, LARGEST)
        value = np.inf if ends is None else value_of(ends.limit)
        found.append(Bound(value=value, name="extreme counts", source=ENDS))
    return tuple(found)


def _largest(costs: np.ndarray) -> float:
    return float(costs.max()) if np.isfinite(costs).all() else np.inf


def grain(problem: Partition) -> float | None:
    """Return 1.0 where all costs are whole: the makespan is one of them."""
    costs = problem.costs
    if isinstance(costs, Curves):
        times = [getattr(f, name, 0.5) for f in costs.functions for name in ("fixed", "per_unit")]
        values = np.array(times, dtype=np.float64)
    else:
        values = costs.values
    parts = (values[start : start + SLICE] for start in range(0, len(values), SLICE))
    return 1.0 if all(bool((part == np.rint(part)).all()) for part in parts) else None
