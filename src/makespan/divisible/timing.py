"""Decisions → start times, as early as possible.

Every activity starts when the last activity before it, in the order decided, has left each thing
it needs (the port, the link, the worker) and the activity it builds on (send → compute → return)
has ended. The result is the earliest schedule with these orders.
"""

from __future__ import annotations

import numpy as np

from makespan.core.costs import Affine
from makespan.core.replay import Replay
from makespan.core.schedule import Activity, Floats, Integers, Schedule
from makespan.divisible.dispatch import Dispatch
from makespan.divisible.plan import Plan
from makespan.divisible.platform import Master, Star
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.tree_timing import retimed_tree


def timed(problem: DivisibleLoad, plan: Plan, factors: Floats | None = None) -> Schedule:
    """Return the earliest schedule of a plan.

    Parameters
    ----------
    problem
        The problem, its master chosen.
    plan
        The decisions. Every chunk of it pays its fixed costs, also an empty one.
    factors
        Factors on the durations of the rows of the schedule; None for nominal durations.

    Complexity: O(chunks), vectorised where every worker gets one chunk and nothing returns.
    """
    rows, order = _rows(problem, plan)
    return _earliest(problem, rows, order, factors)


def retimed(problem: DivisibleLoad, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return ``schedule`` with the same decisions and orders, everything as early as possible.

    ``factors`` are on the durations of the rows of the schedule; None for nominal durations.
    """
    if not problem.is_star:
        return retimed_tree(problem, schedule, factors)
    problem = with_schedules_master(problem, schedule)
    schedule = schedule.renamed(problem.machines)
    if _is_simple(problem, schedule):
        return _earliest(problem, schedule, schedule.rows_of(Activity.SEND), factors)
    return _earliest(problem, schedule, _order_in_time(schedule), factors)


def _order_in_time(schedule: Schedule) -> Integers:
    """Return the rows by start; at one time, sends come before what builds on them."""
    stage = np.where(schedule.kind == Activity.COMPUTE, 1, schedule.kind * 2)
    return np.lexsort((stage, schedule.end, schedule.start))


def replay(problem: DivisibleLoad, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out so many times.

    Complexity: O(rows) a repetition, compiled where there are many.
    """
    if not problem.is_star:
        return Replay(lambda factors: retimed_tree(problem, schedule, factors).makespan)
    problem = with_schedules_master(problem, schedule)
    schedule = schedule.renamed(problem.machines)
    nominal = _lasting(problem, schedule)
    fixed = Dispatch.of(problem, schedule, _order_in_time(schedule))

    def end(factors: Floats) -> float:
        duration = nominal * factors
        return float((fixed.starts(duration, repetitions) + duration).max(initial=0.0))

    return Replay(end)


def with_schedules_master(problem: DivisibleLoad, schedule: Schedule) -> DivisibleLoad:
    """Return the problem with the master that the schedule chose, where the problem leaves it."""
    if not problem.chooses_master:
        return problem
    names = problem.machines
    sends = np.flatnonzero(schedule.kind == Activity.SEND)
    row = int(sends[0]) if len(sends) else 0
    name = schedule.machines[int(schedule.machine[row])] if len(schedule) else names[0]
    return problem.with_master(names.index(name))


def _rows(problem: DivisibleLoad, plan: Plan) -> tuple[Schedule, Integers]:
    """Return the plan's activities without times, and the order in which they are dispatched."""
    chunks = np.arange(len(plan), dtype=np.int64)
    returned = problem.star.returns[plan.worker]
    back = chunks[returned]
    own = np.arange(1 if plan.master > 0 else 0)
    machine = plan.worker + 1
    count = len(plan)
    schedule = Schedule.of_columns(
        problem.machines,
        kind=np.concatenate(
            [
                np.full(count, Activity.SEND),
                np.full(count, Activity.COMPUTE),
                np.full(len(back), Activity.RETURN),
                np.full(len(own), Activity.COMPUTE),
            ]
        ),
        machine=np.concatenate([chunks * 0 + MASTER, machine, machine[back], own + MASTER]),
        peer=np.concatenate([machine, chunks * 0 - 1, back * 0 + MASTER, own - 1]),
        item=np.concatenate([chunks, chunks, back, own + count]),
        amount=np.concatenate(
            [plan.amount, plan.amount, plan.amount[back], np.full(len(own), plan.master)]
        ),
        start=0.0,
        end=0.0,
    )
    return schedule, _dispatch_order(plan, chunks, back, len(own))


def _dispatch_order(plan: Plan, chunks: Integers, back: Integers, own: int) -> Integers:
    """Return the rows in the order of transfers, each computation right behind its send."""
    count = len(chunks)
    transfers = plan.transfers
    if transfers is None:
        transfers = np.concatenate([chunks, -1 - back])
    row_of_return = np.full(count, -1, dtype=np.int64)
    row_of_return[back] = 2 * count + np.arange(len(back))
    sends = transfers >= 0
    first = np.where(sends, transfers, row_of_return[np.where(sends, 0, -1 - transfers)])
    second = np.where(sends, transfers + count, -1)
    pairs = np.stack([first, second], axis=1).ravel()
    master = np.arange(2 * count + len(back), 2 * count + len(back) + own)
    return np.concatenate([pairs[pairs >= 0], master])


def durations(problem: DivisibleLoad, schedule: Schedule) -> Floats:
    """Return the nominal seconds of every row of a schedule."""
    star = problem.star
    worker = np.where(schedule.kind == Activity.SEND, schedule.peer, schedule.machine) - 1
    result = np.empty(len(schedule))
    for activity, of in (
        (Activity.SEND, "send"),
        (Activity.COMPUTE, "compute"),
        (Activity.RETURN, "return"),
    ):
        rows = np.flatnonzero((schedule.kind == activity) & (worker >= 0))
        fixed = getattr(star, f"{of}_fixed")[worker[rows]]
        per_unit = getattr(star, f"{of}_per_unit")[worker[rows]]
        result[rows] = fixed + per_unit * schedule.amount[rows]
    own = np.flatnonzero(worker < 0)
    cost = master_cost(star)
    result[own] = cost.fixed + cost.per_unit * schedule.amount[own]
    return result


def master_cost(star: Star) -> Affine:
    """Return the master's cost of computing, zero if it does not compute."""
    cost = star.master.compute if isinstance(star.master, Master) else None
    return cost if isinstance(cost, Affine) else Affine()


def _lasting(problem: DivisibleLoad, rows: Schedule) -> Floats:
    """Return the seconds that rows last; under an uplink sends stay as slow as they are."""
    duration = durations(problem, rows)
    master = problem.star.master
    if isinstance(master, Master) and master.uplink is not None:
        sends = rows.kind == Activity.SEND  # their rates are decisions
        duration[sends] = np.maximum(duration, rows.end - rows.start)[sends]
    return duration


def _earliest(
    problem: DivisibleLoad, rows: Schedule, order: Integers, factors: Floats | None
) -> Schedule:
    duration = _lasting(problem, rows)
    if factors is not None:
        duration = duration * factors
    if _is_simple(problem, rows):
        sends = order[rows.kind[order] == Activity.SEND]
        start = _simple_starts(problem, rows, sends, duration)
    else:
        start = Dispatch.of(problem, rows, order).starts(duration)
    return Schedule.of_columns(
        rows.machines,
        kind=rows.kind,
        machine=rows.machine,
        peer=rows.peer,
        item=rows.item,
        amount=rows.amount,
        start=start,
        end=start + duration,
    )


def _is_simple(problem: DivisibleLoad, rows: Schedule) -> bool:
    """Whether there is one chunk per worker, computed after it came, and nothing returns."""
    sends = rows.kind == Activity.SEND
    computes = rows.kind == Activity.COMPUTE
    return (
        problem.ports in (1, 2)
        and np.count_nonzero(sends) + np.count_nonzero(computes) == len(rows)
        and _all_different(rows.machine[computes])
        and _all_different(rows.peer[sends])
    )


def _all_different(machines: Integers) -> bool:
    return len(machines) == 0 or int(np.bincount(machines).max()) <= 1


def _simple_starts(
    problem: DivisibleLoad, rows: Schedule, sends: Integers, duration: Floats
) -> Floats:
    """Return the starts when the sends follow one another and nothing else is waited for."""
    start = np.zeros(len(rows))
    ends = np.cumsum(duration[sends])
    start[sends[1:]] = ends[:-1]
    arrival = np.zeros(len(problem.machines))
    arrival[rows.peer[sends]] = ends
    release = np.concatenate([[0.0], problem.star.release])
    computes = rows.kind == Activity.COMPUTE
    machine = rows.machine[computes]
    start[computes] = np.maximum(arrival[machine], release[machine])
    return start
