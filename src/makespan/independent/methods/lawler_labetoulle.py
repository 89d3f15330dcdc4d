"""The optimum with preemption on any machines, by a linear programme."""

import math

import numpy as np

from makespan.backends.highs import Programme, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import at_most, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.assignment import assigned, first_machines
from makespan.independent.bounds import best_bound
from makespan.independent.needs import MAX_PAIRS, PREEMPTION
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import Piece, cut

MET, ROUNDING = 1e-9, 1e-12
LEAST_SHARE = 1e-12


def _variables(problem: IndependentTasks) -> int:
    times = 1 if problem.release is None else len(np.unique(problem.release))
    return problem.least_seconds.size * problem.machine_count * times


@register(
    needs=(
        PREEMPTION,
        at_most(MAX_PAIRS, "triples of a task, a machine and a release", _variables),
    ),
    proves="the bound of the programme's prices, weights of machines and tasks",
    complexity="a linear programme of n m variables for each release; O(e²) for e pairs in it",
    source="Lawler and Labetoulle 1978; the pieces by Gonzalez and Sahni 1976",
)
def lawler_labetoulle(problem: IndependentTasks, control: Control) -> Solution:
    """How long each task runs on each machine between releases, then an open shop of these times.

    No task and no machine has more to do between two releases than the time there is.
    """
    machines = first_machines(problem, control)
    assert machines is not None, "there are no limits"
    start = assigned(problem, machines)
    lower = best_bound(problem)
    if control.expired() or lower >= start.makespan or not problem.least_seconds.any():
        return Solution(schedule=start, lower_bound=lower)
    found = _solved(problem, lower, control)
    if found is None:
        return Solution(schedule=start, lower_bound=lower, stopped=True)
    schedule, bound = found
    lower = max(lower, bound)
    best = min(schedule, start, key=lambda plan: plan.makespan)
    return Solution(schedule=best, lower_bound=lower, optimal=best.makespan <= lower * (1 + MET))


def _solved(
    problem: IndependentTasks, unit: float, control: Control
) -> tuple[Schedule, float] | None:
    """Return the plan of the programme, in a ``unit`` of time, and its bound; None without time."""
    tasks = np.flatnonzero(problem.least_seconds > 0)
    table = problem.table[tasks] / unit
    release = np.zeros(len(tasks)) if problem.release is None else problem.release[tasks] / unit
    times = np.unique(release)
    room = np.diff(times)
    programme = Programme()
    last = programme.variables(1, cost=1.0)
    share = np.full((*table.shape, len(times)), -1)
    there = np.isfinite(table)[:, :, None] & (release[:, None, None] <= times)
    share[there] = programme.variables(int(there.sum()), upper=1.0)
    programme.rows(share.reshape(len(tasks), -1), 1.0, low=1.0, high=1.0)
    finite = np.where(np.isfinite(table), table, 0.0)
    for at in range(len(times)):
        for variables, seconds in ((share[:, :, at].T, finite.T), (share[:, :, at], finite)):
            if at < len(room):
                programme.rows(variables, seconds, high=room[at])
            else:
                ends, factors = beside(*variables.T, last[0]), beside(*seconds.T, -1.0)
                programme.rows(ends, factors, high=0.0)
    answer = programme.solve(control)
    if not answer.found:
        return None
    shares = np.where(there, answer.values[share], 0.0)
    shares[shares < LEAST_SHARE] = 0.0
    shares /= shares.sum(axis=(1, 2), keepdims=True)
    pieces, end = [], 0.0
    for at, time in enumerate((times * unit).tolist()):
        some = shopped(shares[:, :, at] * finite * unit, max(time, end))
        end = max([end, *(piece.end for piece in some)])
        pieces += [piece._replace(task=int(tasks[piece.task])) for piece in some]
    return cut(problem, pieces), unit * _bound(answer.duals[len(tasks) :], table, there, times)


def _bound(duals: Floats, table: Floats, there: np.ndarray, times: Floats) -> float:
    """Return the bound of weights, whatever they are: that no machine and no task works longer than
    it is there, weighted, against each task where and when its weighted seconds are least.
    """
    tasks, machines = table.shape
    weights = np.maximum(0.0, -duals).reshape(len(times), machines + tasks).T
    total = float(weights[:, -1].sum())
    if total <= 0:
        return 0.0
    weights = weights / total
    with np.errstate(invalid="ignore"):
        cost = table[:, :, None] * (weights[None, :machines] + weights[machines:, None])
    least = np.where(there, cost, np.inf).min(axis=(1, 2))
    spent = weights[:, :-1].sum(axis=0) * np.diff(times)
    return math.fsum([float(times[-1]), *least.tolist(), *(-spent).tolist()]) * (1 - ROUNDING)


UNITS = 2**44  # parts of the length in which seconds are counted: sums of whole numbers are exact

Row = dict[int, int]  # the units in a row of a table, by column, those above 0


def shopped(seconds: Floats, start: float) -> list[Piece]:
    """Return the pieces of tasks that begin at ``start``, without an overlap: an open shop.

    They end after the most seconds of a task (row) or machine (column), the least that there can
    be: the seconds, with idle time beside them, are a sum of matchings (Birkhoff, von Neumann).
    Complexity: O(e) matchings of O(e) each, for e pairs of a task and a machine.
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
