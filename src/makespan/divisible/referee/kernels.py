"""Compiled loops of the referee; nothing of the solvers' is used."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import kernel


@kernel
def faultless(  # type: ignore[no-untyped-def]
    peer, item, amount, start, end,
    machine, computed, work, begin, done,
    source, returned, data, leave, back, rank,
    send_fixed, send, compute_fixed, compute, return_fixed, return_, memory, release, deadline,
    fixed, limited, results, one_port, lifo, fifo, may_be_empty, seconds, units,
):  # fmt: skip
    """Whether nothing is wrong with sends, as many computations, and returns, a line for each.

    Chunk k is that of row k; each has a worker of its own. ``rank``: the place of each worker in
    the given order, empty where none is given; ``fixed``, ``limited``, ``results``: whether any
    worker has fixed costs; memory, a release or a deadline; results to return. False says that
    the rows have another form, or some fault.
    """
    sent = len(peer)
    served = np.zeros(len(send), dtype=np.bool_)
    waiting, place = 0, -1  # chunks whose results are to return; the rank of the last worker
    counted = results and len(returned) != sent  # where all return, each is looked at below
    began, port, ended = -np.inf, -np.inf, -np.inf
    for chunk in range(sent):
        worker, x = peer[chunk] - 1, amount[chunk]
        if worker < 0 or worker >= len(send):
            return False
        if item[chunk] != chunk or served[worker] or (x == 0.0 and not may_be_empty):
            return False
        if machine[chunk] != worker + 1 or computed[chunk] != chunk:
            return False
        if abs(work[chunk] - x) > units or (work[chunk] == 0.0 and not may_be_empty):
            return False
        served[worker] = True
        if len(rank):
            if rank[worker] < place:
                return False
            place = rank[worker]
        if counted:
            waiting += return_[worker] > 0.0 or return_fixed[worker] > 0.0
        first, last = start[chunk], end[chunk]
        if first < began or last < ended or port - first > seconds:
            return False
        lasts, works = send[worker] * x, compute[worker] * work[chunk]
        if fixed:
            lasts += send_fixed[worker]
            works += compute_fixed[worker]
        if abs(lasts - (last - first)) > seconds:
            return False
        began, port, ended = first, max(port, last), last
        first, last = begin[chunk], done[chunk]
        if ended - first > seconds or abs(works - (last - first)) > seconds:
            return False
        if limited and (
            x - memory[worker] > units
            or release[worker] - first > seconds
            or last - deadline[worker] > seconds
        ):
            return False
    if len(returned) != sent and waiting != len(returned):
        return False
    if not one_port:
        began, port = -np.inf, -np.inf
    ended = -np.inf
    met = np.zeros(sent if len(returned) else 0, dtype=np.bool_)
    before = -1
    for row in range(len(returned)):
        chunk, x, first, last = returned[row], data[row], leave[row], back[row]
        if chunk < 0 or chunk >= sent or met[chunk]:
            return False
        met[chunk] = True
        worker = peer[chunk] - 1
        if source[row] != worker + 1 or abs(x - amount[chunk]) > units:
            return False
        if not (return_[worker] > 0.0 or return_fixed[worker] > 0.0):
            return False
        if x == 0.0 and not may_be_empty:
            return False
        if first < began or last < ended or max(port, done[chunk]) - first > seconds:
            return False
        lasts = return_[worker] * x
        if fixed:
            lasts += return_fixed[worker]
        if abs(lasts - (last - first)) > seconds:
            return False
        if row > 0 and ((fifo and chunk < before) or (lifo and chunk > before)):
            return False
        began, port, ended, before = first, max(port, last), last, chunk
    return True
