"""Pieces of tasks that may be cut → the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from makespan.core.schedule import Activity, Schedule
from makespan.independent.problem import IndependentTasks


class Piece(NamedTuple):
    """A part of a task on a machine, from ``start`` to ``end``."""

    task: int
    machine: int
    start: float
    end: float


def cut(problem: IndependentTasks, pieces: Sequence[Piece]) -> Schedule:
    """Return the schedule of these pieces.

    Tasks without any, too short to count or only waiting for their release, have an empty one.
    """
    task, machine, start, end = np.array(pieces).reshape(-1, 4).T
    item = task.astype(np.int64)
    release = np.zeros(len(problem.durations)) if problem.release is None else problem.release
    some = (problem.least_seconds > 0) | (release > 0)
    some[item] = False
    others = np.flatnonzero(some)
    where = np.zeros(len(others), dtype=np.int64)
    if problem.durations.ndim == 2:
        where = problem.durations[others].argmin(axis=1)
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=np.append(machine.astype(np.int64), where),
        peer=-1,
        item=np.append(item, others),
        amount=np.append(end - start, np.zeros(len(others))),
        start=np.append(start, release[others]),
        end=np.append(end, release[others]),
    )
