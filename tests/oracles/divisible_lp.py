"""Linear programmes for divisible loads, written out as the slides state them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def one_round(
    load: float,
    order: list[int],
    send: list[float],
    compute: list[float],
    *,
    send_fixed: list[float] | None = None,
    compute_fixed: list[float] | None = None,
    master: float | None = None,
) -> tuple[float, list[float]]:
    """Return the least makespan for workers served in ``order``, and the loads in that order.

    Every worker of the order pays its fixed costs. Benoit 2016, main constraint of the MILP with
    the order fixed.
    """
    count = len(order)
    latency = send_fixed or [0.0] * len(send)
    start_up = compute_fixed or [0.0] * len(send)
    computes = master is not None
    width = count + 2  # loads in order, the master's load, the makespan
    rows, limits = [], []
    for place, worker in enumerate(order):
        row = np.zeros(width)
        for earlier in range(place + 1):
            row[earlier] += send[order[earlier]]
        row[place] += compute[worker]
        row[-1] = -1.0
        rows.append(row)
        fixed = sum(latency[order[earlier]] for earlier in range(place + 1)) + start_up[worker]
        limits.append(-fixed)
    if computes:
        row = np.zeros(width)
        row[count] = master
        row[-1] = -1.0
        rows.append(row)
        limits.append(0.0)
    total = np.ones(width)
    total[-1] = 0.0
    total[count] = 1.0 if computes else 0.0
    cost = np.zeros(width)
    cost[-1] = 1.0
    bounds = [(0, None)] * count + [(0, None if computes else 0.0), (0, None)]
    solved = linprog(
        cost, A_ub=np.array(rows), b_ub=limits, A_eq=[total], b_eq=[load], bounds=bounds
    )
    assert solved.status == 0, solved.message
    return float(solved.fun), solved.x[:count].tolist()
