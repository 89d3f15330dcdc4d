"""Chunks in a given sequence: the linear programme by paths, and every short sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.optimize import linprog

Workers = Sequence[tuple[float, float, float, float]]
"""(C, c, W, w) of each worker."""


def best_of_sequence(
    load: float,
    sequence: Sequence[int],
    workers: Workers,
    *,
    master: tuple[float, float] | None = None,
    memory: Sequence[float] | None = None,
) -> tuple[float, list[float]]:
    """Return the least makespan of a sequence and its amounts, every entry paying fixed costs.

    One row a chunk: the sends up to it, and the computations of this and all later chunks of
    the same worker, end by T.
    """
    count = len(sequence)
    rows, limits = [], []
    for k, worker in enumerate(sequence):
        row, fixed = np.zeros(count + 2), 0.0
        for earlier in sequence[: k + 1]:
            fixed += workers[earlier][0]
        for place in range(k + 1):
            row[place] += workers[sequence[place]][1]
        for place in range(k, count):
            if sequence[place] == worker:
                row[place] += workers[worker][3]
                fixed += workers[worker][2]
        row[-1] = -1.0
        rows.append(row)
        limits.append(-fixed)
    if master is not None:
        row = np.zeros(count + 2)
        row[count], row[-1] = master[1], -1.0
        rows.append(row)
        limits.append(-master[0])
    total = np.append(np.ones(count + 1), 0.0)
    cost = np.append(np.zeros(count + 1), 1.0)
    most = [None if memory is None else memory[worker] for worker in sequence]
    bounds = [(0, limit) for limit in most] + [(0, None if master else 0.0), (0, None)]
    solved = linprog(
        cost, A_ub=np.array(rows), b_ub=limits, A_eq=[total], b_eq=[load], bounds=bounds
    )
    assert solved.status == 0, solved.message
    return float(solved.fun), solved.x[:count].tolist()


def best_of_all(load: float, most: int, workers: Workers) -> float:
    """Return the least makespan of all sequences of at most ``most`` chunks."""
    return min(
        best_of_sequence(load, sequence, workers)[0]
        for count in range(1, most + 1)
        for sequence in product(range(len(workers)), repeat=count)
    )
