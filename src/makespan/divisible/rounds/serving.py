"""Serving workers as they ask: chunks whose sizes and receivers are decided while a plan runs."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop

FIXED, GUIDED, FACTORING, WEIGHTED = range(4)
"""Rules: chunks of a fixed size; a share of what is left; half of it in a batch for all; the
same, by the workers' speeds."""


@loop(pays_from=200_000)  # chunks over all repetitions, times workers
def serve(
    head_worker: Integers,
    head_amount: Floats,
    load: float,
    rule: int,
    size: float,
    unit: float,
    ahead: int,
    weight: Floats,
    costs: Floats,
    factors: Floats,
    worker_of: Integers,
    amount_of: Floats,
) -> tuple[int, float]:
    """Carry out a plan that decides while it runs; return its chunks' number and its makespan.

    Parameters
    ----------
    head_worker, head_amount
        Chunks that are sent first, one after another, whatever happens.
    load
        Units to serve after these.
    rule, size, unit
        How large chunks are: ``size`` is that of ``FIXED``; sizes are rounded up to multiples
        of ``unit``.
    ahead
        1: a worker asks when it has nothing left to compute. 2: when it starts its last chunk.
        The worker that asked first is served first.
    weight
        The workers' shares of a batch, 1 on average.
    costs
        (4, n): C, c, W and w.
    factors
        (2, n, chunks): factors on the transfer and on the computation of each chunk, if it goes to
        that worker. One for all workers, or for all chunks, stands for as many.
    worker_of, amount_of
        Where the chunks are written to.
    """
    workers = costs.shape[1]
    busy, asks = np.zeros(workers), np.zeros(workers)
    port, end, left = 0.0, 0.0, load
    batch, served = 0.0, 0
    most, count = len(worker_of), 0
    rows, columns = factors.shape[1], factors.shape[2]
    while count < len(head_worker) or left > 0.0:
        if count < len(head_worker):
            worker = head_worker[count]
            amount = head_amount[count]
            begin = port
        else:
            worker = int(np.argmin(asks))
            begin = max(port, asks[worker])
            if rule == GUIDED:
                wanted = left / workers
            elif rule == FIXED:
                wanted = size
            else:
                if served == 0:
                    batch = left / (2.0 * workers)
                served = (served + 1) % workers
                wanted = batch * weight[worker] if rule == WEIGHTED else batch
            amount = max(unit, np.ceil(wanted / unit - 1e-9) * unit)
            if amount >= left or left - amount < 1e-9 * unit or count == most - 1:
                amount = left
            left -= amount
        row, column = min(worker, rows - 1), min(count, columns - 1)
        took = costs[0, worker] + costs[1, worker] * amount
        port = begin + took * factors[0, row, column]
        start = max(port, busy[worker])
        lasts = costs[2, worker] + costs[3, worker] * amount
        busy[worker] = start + lasts * factors[1, row, column]
        asks[worker] = busy[worker] if ahead == 1 else start
        end = max(end, busy[worker])
        worker_of[count] = worker
        amount_of[count] = amount
        count += 1
    return count, end
