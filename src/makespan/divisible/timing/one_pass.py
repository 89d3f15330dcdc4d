"""One chunk a worker, all sent before any result returns: rows and times in one pass."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers, constant, frozen, readonly
from makespan.core.numeric.binding import bind, is_plain
from makespan.core.numeric.jit import loop
from makespan.core.schedule import COLUMNS, Activity, Schedule
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import MASTER, DivisibleLoad

NONE = -1


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
    """Return the earliest schedule of such a plan (:func:`is_single_round`): sends, work, returns.

    Results of the chunks ``back`` return in that order; the master's own computation lasts
    ``own_seconds``. Complexity: O(chunks), compiled where there are many.
    """
    star, count = problem.star, len(plan)
    sent, ended = np.zeros(count + 1), np.empty(count)  # the port is free at 0, then behind each
    released = star.range_of("release")[1] > 0
    began = np.empty(count) if released else sent[1:]
    times_back = np.empty(len(back)), np.empty(len(back))
    given = {
        "worker": plan.worker, "units": plan.amount, "back": back, "send": star.send_per_unit,
        "compute": star.compute_per_unit, "return_": star.return_per_unit,
        "send_fixed": star.send_fixed, "compute_fixed": star.compute_fixed,
        "return_fixed": star.return_fixed, "release": star.release,
    }  # fmt: skip
    form = time_all.form(count)
    if not is_plain(form):
        given = dict(zip(given, readonly(*given.values()), strict=True))
    returning, returned = times_back
    bind(
        form, **given, fixed=star.has_fixed_costs, released=released,
        one_port=problem.ports == 1, sent=sent, began=began, ended=ended, returning=returning,
        returned=returned,
    )()  # fmt: skip
    own = (0.0, own_seconds)
    return laid_out(problem, plan, back, ((sent[:-1], sent[1:]), (began, ended), times_back, own))


def laid_out(
    problem: DivisibleLoad, plan: Plan, back: Integers, times: Sequence[tuple[Any, Any]]
) -> Schedule:
    """Return the rows of a plan: sends, computations, returns (``back``), the master's own.

    ``times`` are starts and ends of each.
    """
    count = len(plan)
    far, chunk = plan.worker + 1, np.arange(count)
    in_turn = len(back) == count and np.array_equal(back, chunk)  # then columns are shared
    home = (far, chunk, plan.amount) if in_turn else (far[back], back, plan.amount[back])
    parts = (
        (count, Activity.SEND, MASTER, far, chunk, plan.amount),
        (count, Activity.COMPUTE, far, NONE, chunk, plan.amount),
        (len(back), Activity.RETURN, home[0], MASTER, *home[1:]),
        (plan.master > 0, Activity.COMPUTE, MASTER, NONE, count, plan.master),
    )
    return Schedule.joined(
        [_part(problem, *part, *its) for part, its in zip(parts, times, strict=True)], earliest=True
    )


def _part(problem: DivisibleLoad, length: int, *columns: Any) -> Schedule:
    """Return rows of which some columns are one number throughout."""
    types = (np.int8, *3 * (np.int64,), *3 * (np.float64,))
    values: dict[str, Any] = {
        name: frozen(column)
        if isinstance(column, np.ndarray)
        else constant(column, int(length), dtype)
        for name, column, dtype in zip(COLUMNS, columns, types, strict=True)
    }
    return Schedule(machines=problem.machines, **values)


@loop(pays_from=1_000)
def time_all(  # type: ignore[no-untyped-def]
    worker, units, back,
    send, compute, return_, send_fixed, compute_fixed, return_fixed, release,
    fixed, released, one_port,
    sent, began, ended, returning, returned,
):  # fmt: skip
    """Fill in the times; ``fixed``, ``released``: whether any worker has fixed costs, a release.

    A send waits for the one before it, a computation for its send and its worker's release, a
    return for its computation and the port. Send k lasts from ``sent[k]`` to ``sent[k + 1]``.
    """
    port = sent[0]
    for chunk in range(len(worker)):
        to, x = worker[chunk], units[chunk]
        lasts, works = send[to] * x, compute[to] * x
        if fixed:
            lasts += send_fixed[to]
            works += compute_fixed[to]
        port += lasts
        sent[chunk + 1] = port
        begin = max(port, release[to]) if released else port
        began[chunk], ended[chunk] = begin, begin + works
    if not one_port:
        port = 0.0
    for place in range(len(back)):
        chunk = back[place]
        of = worker[chunk]
        begin = max(port, ended[chunk])
        lasts = return_[of] * units[chunk]
        if fixed:
            lasts += return_fixed[of]
        port = begin + lasts
        returning[place], returned[place] = begin, port
