"""Decisions → start times, as early as possible.

Every activity starts when the last activity before it, in the order decided, has left each thing
it needs (the port, the link, the worker) and the activity it builds on (send → compute → return)
has ended. The result is the earliest schedule with these orders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import NO_CHUNKS, Plan
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.timing import sources
from makespan.divisible.timing.dispatch import Dispatch
from makespan.divisible.timing.one_pass import is_single_round, laid_out, single_round
from makespan.divisible.timing.trees import retimed_tree


def timed(
    problem: DivisibleLoad,
    plan: Plan,
    behind: Sequence[int] | None = None,
) -> Schedule:
    """Return the earliest schedule of a plan.

    Parameters
    ----------
    problem
        The problem, its master chosen.
    plan
        The decisions. Every chunk of it pays its fixed costs, also an empty one.
    behind
        For each chunk, the chunk of the same worker behind whose reception it is computed; None:
        behind its own. It matters without a front end.

    Complexity: O(chunks), in one pass where each worker gets one and all are sent before returns.
    """
    if is_single_round(problem, plan) and not problem.star.beyond:
        own = problem.star.master_cost
        own_seconds = own.fixed + own.per_unit * plan.master
        return single_round(problem, plan, _returned(problem, plan), own_seconds)
    rows = laid_out(problem, plan, _returned(problem, plan), 4 * [(0.0, 0.0)])
    return _earliest(problem, rows, _dispatch_order(problem, plan, behind))


def timed_sources(
    problem: DivisibleLoad, source: Integers, worker: Integers, amount: Floats, own: Floats
) -> Schedule:
    """Return the earliest schedule of chunks of several sources.

    Parameters
    ----------
    problem
        A problem of several sources.
    source, worker, amount
        Of each chunk, in an order in which each port sends and receives, and workers compute.
    own
        Units that each source computes.

    Complexity: O(chunks).
    """
    return _earliest(problem, *sources.rows_of_chunks(problem, source, worker, amount, own))


def retimed(problem: DivisibleLoad, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return ``schedule`` with the same decisions and orders, everything as early as possible.

    ``factors`` are on the durations of the rows of the schedule; None for nominal durations.
    """
    if isinstance(problem.platform, Tree):
        return retimed_tree(problem, schedule, factors)
    problem, schedule = matched(problem, schedule)
    return _earliest(problem, schedule, _order_in_time(problem, schedule), factors)


def _order_in_time(problem: DivisibleLoad, schedule: Schedule) -> Integers:
    """Return the rows by start; at one time, sends come before what builds on them.

    Given transfers keep their order then, too.
    """
    stage = np.where(schedule.kind == Activity.COMPUTE, 1, schedule.kind * 2)
    if problem.transfers is not None:
        stage = _given_places(problem, schedule)
    return np.lexsort((stage, schedule.end, schedule.start))


def _given_places(problem: DivisibleLoad, schedule: Schedule) -> Integers:
    """Return the places of the rows in the given transfers, of computations behind their sends."""
    assert problem.transfers is not None
    workers = problem.workers_in(name for _, name in problem.transfers) + 1
    places: dict[tuple[str, int], list[int]] = {}
    for place, ((what, _), worker) in enumerate(zip(problem.transfers, workers, strict=True)):
        places.setdefault((what, int(worker)), []).append(2 * place)
    found = np.full(len(schedule), 2 * len(workers), dtype=np.int64)
    of_item: dict[int, int] = {}
    for what, activity in (("send", Activity.SEND), ("return", Activity.RETURN)):
        column = schedule.peer if activity == Activity.SEND else schedule.machine
        for row in schedule.rows_of(activity).tolist():
            left = places.get((what, int(column[row])))
            if left:
                found[row] = left.pop(0)
            if activity == Activity.SEND:
                of_item[int(schedule.item[row])] = int(found[row])
    for row in np.flatnonzero(schedule.kind == Activity.COMPUTE).tolist():
        found[row] = of_item.get(int(schedule.item[row]), -1) + 1
    return found


def replay(problem: DivisibleLoad, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out so many times.

    Complexity: O(rows) a repetition, compiled where there are many.
    """
    if isinstance(problem.platform, Tree):
        return Replay(lambda factors: retimed_tree(problem, schedule, factors).makespan)
    problem, schedule = matched(problem, schedule)
    nominal = _lasting(problem, schedule)
    fixed = _dispatched(problem, schedule, _order_in_time(problem, schedule))

    def end(factors: Floats) -> float:
        duration = nominal * factors
        return float((fixed.starts(duration, repetitions) + duration).max(initial=0.0))

    return Replay(end)


def matched(problem: DivisibleLoad, schedule: Schedule) -> tuple[DivisibleLoad, Schedule]:
    """Return the problem with the master that the schedule chose, where the problem leaves it, and
    the schedule over its machines.
    """
    if problem.chooses_master:
        names = problem.machines
        sends = np.flatnonzero(schedule.kind == Activity.SEND)
        row = int(sends[0]) if len(sends) else 0
        name = schedule.machines[int(schedule.machine[row])] if len(schedule) else names[0]
        problem = problem.with_master(names.index(name))
    return problem, schedule.renamed(problem.machines)


def _returned(problem: DivisibleLoad, plan: Plan) -> Integers:
    """Return the chunks whose results return, in that order.

    Returns that last no time tie, and are told apart by their rows.
    """
    if not problem.has_returns:
        return NO_CHUNKS
    if plan.transfers is None:
        return np.flatnonzero(problem.star.returns[plan.worker])
    back = -1 - plan.transfers[plan.transfers < 0]
    returned: Integers = back[problem.star.returns[plan.worker[back]]]
    return returned


def _dispatch_order(problem: DivisibleLoad, plan: Plan, behind: Sequence[int] | None) -> Integers:
    """Return the rows in the order of transfers, each computation right behind its send, or
    behind another one.
    """
    count = len(plan)
    back = _returned(problem, plan)
    transfers = plan.transfers
    if transfers is None:
        transfers = np.concatenate([np.arange(count), -1 - back])
    row_of_return = np.full(count, -1, dtype=np.int64)
    row_of_return[back] = 2 * count + np.arange(len(back))
    sends = transfers >= 0
    first = np.where(sends, transfers, row_of_return[np.where(sends, 0, -1 - transfers)])
    master = np.arange(2 * count + len(back), 2 * count + len(back) + (plan.master > 0))
    place = np.empty(count, dtype=np.int64)
    place[transfers[sends]] = np.flatnonzero(sends)
    at = place if behind is None else place[np.asarray(behind, dtype=np.int64)]
    rows = np.concatenate([first, np.arange(count) + count])
    rows = rows[np.argsort(np.concatenate([np.arange(len(first)), at]), kind="stable")]
    return np.concatenate([rows[rows >= 0], master])


def durations(problem: DivisibleLoad, schedule: Schedule) -> Floats:
    """Return the nominal seconds of every row of a schedule."""
    if isinstance(problem.platform, Sources):
        return sources.durations(problem.platform, schedule)
    star = problem.star
    own = star.master_cost
    result = np.zeros(len(schedule))
    by_master = np.flatnonzero((schedule.kind == Activity.COMPUTE) & (schedule.machine == MASTER))
    result[by_master] = own.fixed + own.per_unit * schedule.amount[by_master]
    for activity, of, far in (
        (Activity.SEND, "send", schedule.peer),
        (Activity.COMPUTE, "compute", schedule.machine),
        (Activity.RETURN, "return", schedule.machine),
    ):
        rows = schedule.span_of(activity)
        worker = far[rows] - 1
        if (worker < 0).any():
            rows = np.flatnonzero((schedule.kind == activity) & (far > MASTER))
            worker = far[rows] - 1
        fixed, per_unit = getattr(star, f"{of}_fixed"), getattr(star, f"{of}_per_unit")
        lasts = per_unit[worker] * schedule.amount[rows]
        if fixed.any():
            lasts += fixed[worker]
        if activity == Activity.COMPUTE and star.beyond:
            lasts += star.beyond.seconds(per_unit, worker, schedule.amount[rows])
        result[rows] = lasts
    return result


def _lasting(problem: DivisibleLoad, rows: Schedule, factors: Floats | None = None) -> Floats:
    """Return the seconds that rows last; under an uplink sends stay as slow as they are."""
    duration = durations(problem, rows)
    master = problem.platform.master
    if isinstance(master, Master) and master.uplink is not None:
        sends = rows.kind == Activity.SEND  # their rates are decisions
        duration[sends] = np.maximum(duration, rows.end - rows.start)[sends]
    if factors is not None:
        duration *= factors
    return duration


def _dispatched(problem: DivisibleLoad, rows: Schedule, order: Integers) -> Dispatch:
    """Return what the rows of a schedule need, in the order of dispatch."""
    of = sources.dispatch if isinstance(problem.platform, Sources) else Dispatch.of
    return of(problem, rows, order)


def _earliest(
    problem: DivisibleLoad, rows: Schedule, order: Integers, factors: Floats | None = None
) -> Schedule:
    """Return the rows at their earliest, dispatched in the order given."""
    duration = _lasting(problem, rows, factors)
    start = _dispatched(problem, rows, order).starts(duration)
    return rows.timed(start, start + duration)
