"""What if there is one machine more: problems with a copy of a machine."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.sensitivity import Copied
from makespan.independent.problem import LEAST, MOST, IndependentTasks


def copies(
    problem: IndependentTasks, machines: Sequence[str], *, named: bool
) -> tuple[list[Copied], tuple[str, ...]]:
    """Return the tasks on one machine more, which comes last."""
    position = {name: index for index, name in enumerate(problem.machines)}
    found, known = [], set()
    for name in machines:
        index = position[name]
        alike: object = () if problem.identical else problem.table[:, index].tobytes()
        if not problem.alike_limits:
            least, most = problem.count_limits
            room = None if problem.capacity is None else float(problem.capacity[index])
            alike = (alike, int(least[index]), int(most[index]), room)
        if named or alike not in known:
            known.add(alike)
            optional = problem.counts != "equal"
            found.append(
                Copied(machine=name, problem=_with_copy(problem, index), optional=optional)
            )
    return found, ()


def _with_copy(problem: IndependentTasks, index: int) -> IndependentTasks:
    durations, speeds = problem.durations, problem.speeds
    if durations.ndim == 2:
        durations = np.column_stack([durations, durations[:, index]])
    return IndependentTasks(
        problem.machine_count + 1,
        durations,
        speeds=None if speeds is None else _appended(speeds, index),
        release=0.0 if problem.release is None else problem.release,
        preemptive=problem.preemptive,
        counts=_counts_with_copy(problem, index),
        sizes=problem.sizes,
        capacity=None if problem.capacity is None else _appended(problem.capacity, index),
        names=problem.names,
        options=problem.options,
    )


def _counts_with_copy(problem: IndependentTasks, index: int) -> Any:
    """Return the limits with those of a machine once more; the copy may run nothing."""
    if not isinstance(problem.counts, dict):
        return problem.counts
    least, most = (limit.tolist() for limit in problem.count_limits)
    return {LEAST: [*least, 0], MOST: [*most, most[index]]}


def _appended(values: Floats, index: int) -> Floats:
    return np.append(values, values[index])
