"""What has to fit between the earliest start of tasks and what comes behind them."""

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.taskgraph.problem import TaskGraph

STEPS = 96  # earliest starts, and as many tails, that windows begin and end at
LOOKS = 8  # windows that are packed


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
    dag, speed, count = problem.dag, problem.network.speed, int(problem.cores.sum())
    alike = bool((speed == speed[0]).all())
    if alike and int(dag.cores.sum()) <= count:
        return known  # a path is as long
    begins, row = _steps(head)
    ends, column = _steps(tail)
    cell, shape = row * len(ends) + column, (len(begins), len(ends))

    def inside(amount: Floats | Integers | None) -> Floats:
        """Sum over the tasks of every window."""
        table = np.bincount(cell, amount, shape[0] * shape[1]).reshape(shape)
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1))

    tasks = inside(None)
    busy = tasks if dag.cores.max() == 1 else np.rint(inside(dag.cores)).astype(np.int64)
    busy = np.minimum(busy, count)
    outside = np.where(tasks, begins[:, None] + ends, -np.inf)
    area = inside(least * dag.cores)
    works = [(least * dag.cores, area, np.arange(1.0, count + 1.0))]
    if not (alike or len(dag.own)):
        fastest = np.sort(np.repeat(speed, problem.cores))[::-1]
        works.append((dag.work * dag.cores, inside(dag.work * dag.cores), np.cumsum(fastest)))
    for amount, total, rate in works:
        found = outside + total / rate[busy - 1]
        i, j = divmod(int(found.argmax()), shape[1])
        if found[i, j] > known:  # summed again, as sums of all windows at once are rounded
            within = (head >= begins[i]) & (tail >= ends[j])
            length = amount[within].sum() / rate[busy[i, j] - 1]
            known = max(known, float(outside[i, j] + length))
    most = outside + np.minimum(-(-tasks // count) * least.max(), area / count + least.max())
    worth = np.flatnonzero(most > known)
    longest = np.argsort(-least, kind="stable")
    for window in worth[np.argsort(-most.flat[worth], kind="stable")][:LOOKS].tolist():
        i, j = divmod(window, shape[1])
        within = (head[longest] >= begins[i]) & (tail[longest] >= ends[j])
        known = max(known, float(outside[i, j]) + _packed(least[longest[within]], count))
    return known


def _steps(times: Floats) -> tuple[Floats, Integers]:
    """Return some of the times, falling, and for each time the first that is not later."""
    steps = np.unique(times)
    if len(steps) > STEPS:
        steps = steps[np.linspace(0, len(steps) - 1, STEPS).astype(np.int64)]
    return steps[::-1], len(steps) - np.searchsorted(steps, times, side="right")


def _packed(least: Floats, cores: int) -> float:
    """Return how long one of the cores is busy at least; the least durations fall."""
    total = np.concatenate(([0.0], np.cumsum(least)))
    shared = np.arange(1, (len(least) - 1) // cores + 1)
    last = shared * cores + 1
    return float((total[last] - total[last - shared - 1]).max(initial=0.0))
