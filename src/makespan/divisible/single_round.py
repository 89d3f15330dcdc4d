"""One chunk a worker, all sent before any result returns: rows and times in one pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import kernel
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.plan import Plan
from makespan.divisible.problem import MASTER, DivisibleLoad

COMPILE_FROM = 1_000  # chunks
SEND, RETURN, COMPUTE = int(Activity.SEND), int(Activity.RETURN), int(Activity.COMPUTE)


def is_single_round(problem: DivisibleLoad, plan: Plan) -> bool:
    """Whether workers get one chunk each, sent as numbered, and all is sent before returns."""
    if problem.ports not in (1, 2):
        return False
    count, transfers = len(plan), plan.transfers
    met = np.zeros(len(problem.star), dtype=bool)
    met[plan.worker] = True
    if int(np.count_nonzero(met)) != count:
        return False
    if transfers is None:
        return True
    in_order = bool(np.array_equal(transfers[:count], np.arange(count)))
    return in_order and bool((transfers[count:] < 0).all())


def single_round(
    problem: DivisibleLoad, plan: Plan, back: Integers, own_seconds: float
) -> Schedule:
    """Return the earliest schedule of such a plan: sends, computations, returns, the master's.

    Parameters
    ----------
    problem, plan
        See :func:`is_single_round`.
    back
        The chunks whose results return, in that order.
    own_seconds
        What the master's own computation lasts.

    Complexity: O(chunks), compiled where there are many.
    """
    star, count, own = problem.star, len(plan), plan.master > 0
    length = 2 * count + len(back) + own
    kind = np.empty(length, dtype=np.int8)
    machine, peer, item = (np.empty(length, dtype=np.int64) for _ in range(3))
    amount, start, end = (np.empty(length) for _ in range(3))
    run: Any = _compiled() if count >= COMPILE_FROM else lay_out
    run(
        *readonly(
            plan.worker, plan.amount, back,
            star.send_per_unit, star.compute_per_unit, star.return_per_unit,
            star.send_fixed, star.compute_fixed, star.return_fixed, star.release,
        ),
        bool(star.send_fixed.any() or star.compute_fixed.any() or star.release.any()),
        problem.ports == 1,
        kind, machine, peer, item, amount, start, end,
    )  # fmt: skip
    if own:
        kind[-1], machine[-1], peer[-1], item[-1] = COMPUTE, MASTER, -1, count
        amount[-1], start[-1], end[-1] = plan.master, 0.0, own_seconds
    return Schedule.of_columns(
        problem.machines,
        kind=kind,
        machine=machine,
        peer=peer,
        item=item,
        amount=amount,
        start=start,
        end=end,
        earliest=True,
        copy=False,
    )


def lay_out(  # type: ignore[no-untyped-def]
    worker, units, back,
    send, compute, return_, send_fixed, compute_fixed, return_fixed, release,
    delayed, one_port,
    kind, machine, peer, item, amount, start, end,
):  # fmt: skip
    """Fill in the rows; ``delayed``: whether any send or computation has a fixed cost or release.

    A send waits for the one before it, a computation for its send and its worker's release, a
    return for its computation and the port.
    """
    count = len(worker)
    port = 0.0
    for chunk in range(count):
        to, computed, x = worker[chunk], count + chunk, units[chunk]
        lasts, works = send[to] * x, compute[to] * x
        begin = port + lasts
        if delayed:
            begin = port + (lasts + send_fixed[to])
            works += compute_fixed[to]
        kind[chunk], machine[chunk], peer[chunk] = SEND, MASTER, to + 1
        item[chunk], amount[chunk] = chunk, x
        start[chunk], end[chunk] = port, begin
        port = begin
        if delayed:
            begin = max(begin, release[to])
        kind[computed], machine[computed], peer[computed] = COMPUTE, to + 1, -1
        item[computed], amount[computed] = chunk, x
        start[computed], end[computed] = begin, begin + works
    if not one_port:
        port = 0.0
    for place in range(len(back)):
        chunk, row = back[place], 2 * count + place
        of, x = worker[chunk], units[chunk]
        begin = max(port, end[count + chunk])
        port = begin + (return_[of] * x + return_fixed[of])
        kind[row], machine[row], peer[row] = RETURN, of + 1, MASTER
        item[row], amount[row] = chunk, x
        start[row], end[row] = begin, port


@cache
def _compiled() -> Any:
    return kernel(lay_out)
