"""Seconds of each task on each machine → pieces that are in nobody's way: an open shop.

No machine and no task has more than the whole length to do, and this is enough: the seconds, with
idle time beside them, are a sum of matchings (Birkhoff and von Neumann).
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.independent.placing.pieces import Piece

UNITS = 2**44
"""Parts of the length in which seconds are counted: sums of whole numbers are exact."""

Row = dict[int, int]
"""The units in a row of a table, by column, those above 0."""


def shopped(seconds: Floats, start: float) -> list[Piece]:
    """Return the pieces of tasks that begin at ``start``, without an overlap.

    They end after the most seconds of a task (row) or machine (column), the least that there can
    be. Complexity: O(e) matchings of O(e) each, for e pairs of a task and a machine.
    Source: Gonzalez and Sahni 1976; Lawler and Labetoulle 1978, section 3.
    """
    length = float(max(seconds.sum(axis=0).max(initial=0.0), seconds.sum(axis=1).max(initial=0.0)))
    if length <= 0:
        return []
    unit = length / UNITS
    units = np.rint(seconds / unit).astype(np.int64)
    whole, tasks = int(max(units.sum(axis=0).max(), units.sum(axis=1).max())), len(units)
    rows = _with_idle_time(units, whole)
    column_of, row_of = [-1] * len(rows), [-1] * len(rows)
    latest: dict[int, list[int]] = {}  # by machine: its last piece
    pieces, now = [], 0
    while now < whole:
        for row, column in enumerate(column_of):
            if column < 0:
                _match(rows, row, column_of, row_of)
        step = min(rows[row][column] for row, column in enumerate(column_of))
        for row, column in enumerate(column_of):
            if row < units.shape[1] and column < tasks:
                if row in latest and latest[row][0] == column and latest[row][3] == now:
                    latest[row][3] = now + step
                else:
                    latest[row] = [column, row, now, now + step]
                    pieces.append(latest[row])
            rows[row][column] -= step
            if not rows[row][column]:
                del rows[row][column]
                column_of[row] = row_of[column] = -1
        now += step
    return [Piece(task, one, start + a * unit, start + b * unit) for task, one, a, b in pieces]


def _with_idle_time(units: Integers, whole: int) -> list[Row]:
    """Return a table, machines and idle times of tasks by tasks and idle times of machines, all of
    whose rows and columns add up to ``whole``.
    """
    tasks, machines = units.shape
    rows: list[Row] = [{} for _ in range(machines + tasks)]
    for task, machine in np.argwhere(units).tolist():
        count = int(units[task, machine])
        rows[machine][task] = rows[machines + task][tasks + machine] = count
    for machine, count in enumerate((whole - units.sum(axis=0)).tolist()):
        if count:
            rows[machine][tasks + machine] = count
    for task, count in enumerate((whole - units.sum(axis=1)).tolist()):
        if count:
            rows[machines + task][task] = count
    return rows


def _match(rows: list[Row], first: int, column_of: list[int], row_of: list[int]) -> None:
    """Give a row a column, others moving on: an augmenting path, which Hall's theorem promises."""
    came_from: dict[int, int] = {}
    front = [first]
    while True:
        ahead = []
        for row in front:
            for column in rows[row]:
                if column in came_from:
                    continue
                came_from[column] = row
                if row_of[column] >= 0:
                    ahead.append(row_of[column])
                    continue
                free = column
                while free >= 0:
                    taker = came_from[free]
                    row_of[free] = taker
                    free, column_of[taker] = column_of[taker], free
                return
        front = ahead
