"""What if there is one machine more: problems with a copy of a machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from makespan.core.sensitivity import Copied
from makespan.independent.problem import IndependentTasks


def copies(
    problem: IndependentTasks, machines: Sequence[str], *, named: bool
) -> tuple[list[Copied], tuple[str, ...]]:
    """Return the tasks on one machine more, which comes last."""
    position = {name: index for index, name in enumerate(problem.machines)}
    found, known = [], set()
    for name in machines:
        index = position[name]
        alike: object = () if problem.identical else problem.table[:, index].tobytes()
        if named or alike not in known:
            known.add(alike)
            found.append(Copied(machine=name, problem=_with_copy(problem, index), optional=True))
    return found, ()


def _with_copy(problem: IndependentTasks, index: int) -> IndependentTasks:
    durations, speeds = problem.durations, problem.speeds
    if durations.ndim == 2:
        durations = np.column_stack([durations, durations[:, index]])
    return IndependentTasks(
        problem.machine_count + 1,
        durations,
        speeds=None if speeds is None else np.append(speeds, speeds[index]),
        release=0.0 if problem.release is None else problem.release,
        preemptive=problem.preemptive,
        names=problem.names,
        options=problem.options,
    )
