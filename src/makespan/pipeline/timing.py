"""Decisions → start times.

The decisions are who takes which stages, and that a data set enters every period; all else starts
as early as possible. In the nominal times no data set waits on its way.
"""

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, readonly
from makespan.core.numeric.jit import loop
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay
from makespan.core.system.memory import claim
from makespan.pipeline.mapping import Mapping, mapping_of, steps_of, values_of
from makespan.pipeline.problem import Pipeline

SECONDS_BEHIND = 2e-7  # to time and referee a row of a schedule


def postprocessing_seconds(problem: Pipeline) -> float:
    """Return about how many seconds it takes to time, referee and bound a large plan."""
    intervals = min(len(problem.stages), len(problem.machines))
    return SECONDS_BEHIND * (2 * intervals * problem.items) + 1e-8 * len(problem.stages)


def scheduled(problem: Pipeline, mapping: Mapping) -> Schedule:
    """Return the schedule of the first data sets, each as early as its mapping lets it.

    The rows of a data set follow its way: ``send`` from outside, ``compute``, ``transfer`` and so
    on, ``return`` to the outside; a computation's amount is the number of its stages. What takes no
    time has no row, except computations. Complexity: O(items × intervals).
    """
    edges, groups, moved = mapping.edges, mapping.groups, problem.moved
    steps = steps_of(problem, mapping)
    claim(200.0 * problem.items * len(groups), "the activities of the data sets")
    turn = np.arange(problem.items)
    members = [np.array(group)[turn % len(group)] for group in groups]
    blocks: list[tuple[Any, ...]] = []  # (kind, machine, peer, amount, seconds, delay)

    def outside(kind: Activity, machine: np.ndarray, units: float) -> None:
        seconds = units / problem.outside[machine]
        if seconds.any():
            blocks.append((kind, machine, -1, units, seconds, 0.0))

    outside(Activity.SEND, members[0], moved[0])
    for at, machine in enumerate(members):
        first, last = edges[at], edges[at + 1]
        if len(groups[at]) == 1:
            seconds = np.full(len(turn), steps.compute[at])
        elif problem.stages.durations is None:
            seconds = float(problem.stages.work[first:last].sum()) / problem.speeds[machine]
        else:
            group = list(groups[at])
            own = problem.stages.durations[first:last, group].sum(axis=0)
            seconds = own[turn % len(group)]
        blocks.append((Activity.COMPUTE, machine, -1, last - first, seconds, 0.0))
        if at + 1 < len(members):
            after = members[at + 1]
            seconds = moved[last] * problem.per_unit[machine, after]
            delay = problem.delay[machine, after]
            if (seconds + delay).any():
                blocks.append((Activity.TRANSFER, machine, after, moved[last], seconds, delay))
    outside(Activity.RETURN, members[-1], moved[-1])

    def column(place: int, dtype: type) -> np.ndarray:
        parts: list[np.ndarray] = [
            np.broadcast_to(np.asarray(block[place], dtype), turn.shape) for block in blocks
        ]
        return np.stack(parts, axis=1).ravel()

    kind, machine, peer = (column(place, np.int64) for place in range(3))
    amount, seconds, delay = (column(place, np.float64) for place in range(3, 6))
    item = np.repeat(turn, len(blocks))
    release = turn * values_of(problem, mapping, steps).period
    start, end = _flow(problem, kind, machine, peer, item, seconds, delay, release)
    return Schedule.of_columns(
        problem.machines, kind=kind, machine=machine, peer=peer, item=item, amount=amount,
        start=start, end=end, earliest=True, copy=False,
    )  # fmt: skip


def retimed(problem: Pipeline, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return ``schedule`` with the same mapping, everything as early as possible.

    Data sets enter one period of the mapping apart, whatever the factors. ``factors`` multiply the
    durations of the rows; None: nominal durations.
    """
    schedule = schedule.renamed(problem.machines)
    order, columns = _prepared(problem, schedule)
    start, end = np.empty(len(schedule)), np.empty(len(schedule))
    start[order], end[order] = _disturbed(
        problem, columns, None if factors is None else factors[order]
    )
    return schedule.timed(start, end)


def replay(problem: Pipeline, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out many times; O(rows) each time."""
    order, columns = _prepared(problem, schedule.renamed(problem.machines))

    def end(factors: Floats) -> float:
        return float(_disturbed(problem, columns, factors[order])[1].max(initial=0.0))

    return Replay(end)


def _prepared(problem: Pipeline, schedule: Schedule) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the rows in the order of data sets and their ways, and the columns of the flow."""
    release = np.arange(problem.items) * values_of(problem, mapping_of(problem, schedule)).period
    order = np.lexsort((np.arange(len(schedule)), schedule.end, schedule.start, schedule.item))
    kind, machine, peer, item, amount = (
        getattr(schedule, name)[order] for name in ("kind", "machine", "peer", "item", "amount")
    )
    seconds = (schedule.end - schedule.start)[order]
    between = kind == Activity.TRANSFER
    delay = np.where(between, problem.delay[machine, peer], 0.0)
    seconds = np.where(between, amount * problem.per_unit[machine, peer], seconds)
    return order, (kind.astype(np.int64), machine, peer, item, seconds, delay, release)


def _disturbed(
    problem: Pipeline, columns: tuple[np.ndarray, ...], factors: Floats | None
) -> tuple[Floats, Floats]:
    *names, seconds, delay, release = columns
    if factors is not None:
        seconds, delay = seconds * factors, delay * factors
    return _flow(problem, *names, seconds, delay, release)


def _flow(problem: Pipeline, *columns: np.ndarray) -> tuple[Floats, Floats]:
    rows = len(columns[0])
    free = np.zeros(3 * len(problem.machines))
    start, end = np.empty(rows), np.empty(rows)
    flow.at(rows)(*readonly(*columns), int(problem.overlap), free, start, end)
    return start, end


@loop(pays_from=20_000)  # rows
def flow(kind, machine, peer, item, seconds, delay, release, overlap, free, start, end):  # type: ignore[no-untyped-def]
    """Start every row when its data set is there and its machine, or their ports, are free.

    Rows are in the order of data sets, and of the way of each. ``free`` holds zeros: three units
    of each machine, receiving, computing and sending, or one where it does so in turn.
    """
    ready = 0.0
    for row in range(len(kind)):
        if row == 0 or item[row] != item[row - 1]:
            ready = release[item[row]]
        code, own = kind[row], 3 * machine[row]
        if code == 2:  # a transfer, which the other machine receives a delay later
            own += 2 * overlap
            other = 3 * peer[row]
            begin = max(ready, free[own], free[other] - delay[row])
            free[own] = begin + seconds[row]
            ready = begin + delay[row] + seconds[row]
            free[other] = ready
        else:
            if code == 3:
                own += overlap
            elif code == 1:
                own += 2 * overlap
            begin = max(ready, free[own])
            ready = begin + seconds[row]
            free[own] = ready
        start[row] = begin
        end[row] = ready
