"""The level algorithm: tasks with most work left have the fastest machines, equal ones share."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats


def needed(work: Floats, speeds: Floats) -> float:
    """Return the least time in which machines do the work of tasks that may be cut.

    ``work`` and ``speeds`` have the most first. Complexity: O(n + m).
    Source: Horvath, Lam and Sethi 1977.
    """
    few = min(len(work), len(speeds))
    if not few:
        return 0.0
    most = np.cumsum(work[:few]) / np.cumsum(speeds[:few])
    return float(max(most.max(), work.sum() / speeds.sum()))


def worked_off(work: Floats, speeds: Floats, length: float) -> Floats:
    """Return what is left of ``work``, the most first, after so many seconds of the algorithm.

    Complexity: O(n) events of O(m).
    """
    values, counts = np.unique(-work, return_counts=True)
    levels = [list(each) for each in zip((-values).tolist(), counts.tolist(), strict=True)]
    running = np.concatenate([[0.0], np.cumsum(speeds)])
    left = length
    while left > 0 and levels:
        rates, used = [], 0
        for _, count in levels:
            upto = min(used + count, len(speeds))
            rates.append(float(running[upto] - running[used]) / count)
            used = upto
            if used == len(speeds):
                break
        step, meets = left, -1
        for at, rate in enumerate(rates):
            slower = rates[at + 1] if at + 1 < len(rates) else 0.0
            gap = levels[at][0] - (levels[at + 1][0] if at + 1 < len(levels) else 0.0)
            if rate > slower and gap <= step * (rate - slower):
                step, meets = gap / (rate - slower), at
        for at, rate in enumerate(rates):
            levels[at][0] -= rate * step
        left -= step
        if meets >= 0:
            _, count = levels.pop(meets)
            if meets < len(levels):  # the next has the level now, else there is none left
                levels[meets][1] += count
    rest = np.repeat([level for level, _ in levels], [count for _, count in levels])
    return np.concatenate([rest, np.zeros(len(work) - len(rest))])
