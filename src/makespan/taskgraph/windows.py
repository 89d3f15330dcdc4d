"""What has to fit between the earliest start of tasks and what comes behind them."""

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.taskgraph.problem import TaskGraph

WINDOWS = 256  # earliest starts, and as many tails, that windows begin and end at
LOOKS = 1_000_000  # tasks that windows are packed with, over all windows


def least_makespan(
    problem: TaskGraph, head: Floats, least: Floats, tail: Floats, known: float
) -> float:
    """Return a makespan that no plan can beat, at least ``known``.

    No task starts before its ``head``, and ``tail`` passes from its end to that of the plan. So
    all tasks with a head of ``a`` or more and a tail of ``c`` or more are executed within a window
    that is shorter than the plan by ``a + c``. Their work takes all cores a time, and of the ``k m
    + 1`` longest, ``k + 1`` share one of ``m`` cores. Source: Carlier 1987 for windows, Dell'Amico
    and Martello 1995 for tasks that share. With copies, all of this holds for that copy of each
    task which ends first. Complexity: O(n log n), and O(n) for each of a few windows.
    """
    dag, count = problem.dag, int(problem.cores.sum())
    fastest = np.sort(np.repeat(problem.network.speed, problem.cores))[::-1]
    if int(dag.cores.sum()) <= count and fastest[0] == fastest[-1]:
        return known  # a path is as long
    begins, row = _steps(head)
    ends, column = _steps(tail)
    cell = row * len(ends) + column

    def inside(amount: Floats | Integers) -> Floats:
        """Sum over the tasks of every window."""
        table = np.bincount(cell, weights=amount, minlength=len(begins) * len(ends))
        table = table.reshape(len(begins), len(ends))[::-1, ::-1]
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1)[::-1, ::-1])

    busy = np.minimum(np.rint(inside(dag.cores)).astype(np.int64), count)
    outside = np.where(busy, begins[:, None] + ends, -np.inf)
    works = [(least * dag.cores, np.arange(1.0, count + 1.0))]
    if not len(dag.own):
        works.append((dag.work * dag.cores, np.cumsum(fastest)))
    for amount, rate in works:
        length = inside(amount) / rate[busy - 1]
        i, j = np.unravel_index(int((outside + length).argmax()), outside.shape)
        within = (head >= begins[i]) & (tail >= ends[j])  # summed again, as sums above are rounded
        known = max(known, float(outside[i, j] + amount[within].sum() / rate[busy[i, j] - 1]))
    shared = -(-np.rint(inside(np.ones(len(dag)))) // count)
    most = outside + np.minimum(shared * least.max(), 2 * inside(least) / count)
    longest = np.argsort(-least, kind="stable")
    for window in np.argsort(-most, axis=None, kind="stable")[: LOOKS // len(dag)].tolist():
        i, j = divmod(window, len(ends))
        if most[i, j] <= known:
            break
        within = (head[longest] >= begins[i]) & (tail[longest] >= ends[j])
        known = max(known, float(outside[i, j]) + _packed(least[longest[within]], count))
    return known


def _steps(times: Floats) -> tuple[Floats, Integers]:
    """Return some of the times, rising, and for each time the last one that is not later."""
    steps = np.unique(times)
    if len(steps) > WINDOWS:
        steps = steps[np.linspace(0, len(steps) - 1, WINDOWS).astype(np.int64)]
    return steps, np.searchsorted(steps, times, side="right") - 1


def _packed(least: Floats, cores: int) -> float:
    """Return how long one of the cores is busy at least; the least durations fall."""
    total = np.concatenate(([0.0], np.cumsum(least)))
    shared = np.arange(1, (len(least) - 1) // cores + 1)
    last = shared * cores + 1
    return float((total[last] - total[last - shared - 1]).max(initial=0.0))
