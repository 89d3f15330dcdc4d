"""How large an answer gets, told before it is written, and before its plan is made."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from makespan.core.errors import TooLarge
from makespan.core.problem import Problem
from makespan.core.schedule import Activity, Schedule
from makespan.flow.kinds import kind_of
from makespan.flow.serialize import as_json

LARGEST = 64 * 2**20
"""Bytes of an answer."""
FEW = 10_000  # tasks whose plan is not large
SAMPLE = 500  # of them that are written to see
SURE = 1.1  # times the largest: what is more is refused before anybody knows the digits
PER_SECOND = 15e6  # bytes that are written


class _Tasks(Protocol):
    """A problem of tasks: seconds of each, or of each on each machine."""

    durations: Any


def refuse_larger(size: float, times: float = 1.0) -> None:
    """Refuse an answer of so many bytes, if these are so many times the most.

    Raises
    ------
    TooLarge
        With both sizes.
    """
    if size > times * LARGEST:
        raise TooLarge(
            f"the answer would be larger than {LARGEST // 2**20} MiB, the most: "
            f"about {size / 2**20:.0f} MiB"
        )


def size_of_plan(schedule: Schedule) -> float:
    """Return about how many bytes the rows of a schedule take."""
    rows = np.linspace(0, len(schedule) - 1, min(SAMPLE, len(schedule))).astype(np.int64)
    return _size_of(list(schedule.take(rows).records()), len(schedule))


def _size_of(some: Any, count: int) -> float:
    """Return about how many bytes that many take, where some are this."""
    return len(as_json({"some": some})) * count / max(1, len(some))


def size_of_solution(problem: Problem) -> float:
    """Return about how many bytes a plan of a problem of many tasks takes, with its answer.

    Some tasks are written as one machine would run them. Of problems of other things, whose plans
    may have few rows, nothing is known.
    """
    names = kind_of(problem).tasks(problem)
    if names is None or len(names) <= FEW:
        return 0.0
    count = len(names)
    items = np.linspace(0, count - 1, SAMPLE).astype(np.int64)
    durations = np.asarray(cast("_Tasks", problem).durations)
    seconds = durations[items].reshape(SAMPLE, -1)[:, 0]
    end = np.cumsum(seconds) * (count / SAMPLE / len(problem.machines))
    plan = Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=items % len(problem.machines),
        peer=-1,
        item=items,
        amount=seconds,
        start=end - seconds,
        end=end,
    )
    told = [(names[item], row) for item, row in zip(items.tolist(), plan.records(), strict=True)]
    answer = {key: {name: row[key] for name, row in told} for key in ("machine", "start", "end")}
    return _size_of(list(plan.records()), count) + sum(
        _size_of(each, count) for each in answer.values()
    )
