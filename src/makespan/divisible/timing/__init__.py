"""Decisions → start times, as early as possible.

Every activity starts when the last activity before it, in the order decided, has left each thing
it needs (the port, the link, the worker) and the activity it builds on (send → compute → return)
has ended. The result is the earliest schedule with these orders.
"""

from collections.abc import Sequence

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import NO_CHUNKS, Plan, computed
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Levels, Tree, node_loop
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.timing.dispatch import (
    Dispatch,
    dispatch_of_sources,
    durations_of_sources,
    rows_of_chunks,
)
from makespan.divisible.timing.one_pass import is_single_round, laid_out, single_round


def timed(problem: DivisibleLoad, plan: Plan, behind: Sequence[int] | None = None) -> Schedule:
    """Return the earliest schedule of a plan, in which an empty chunk pays its fixed costs, too.

    ``behind``, which matters without a front end, are the chunks of the same worker behind whose
    reception each is computed; None: its own. Complexity: O(chunks), in one pass where each worker
    gets one and all are sent before returns.
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
    """Return the earliest schedule of chunks of several sources, and of what each computes itself.

    Each port sends and receives, and workers compute, in the order of the chunks. Complexity:
    O(chunks).
    """
    return _earliest(problem, *rows_of_chunks(problem, source, worker, amount, own))


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
    """Return the chunks whose results return, in that order; ties by their rows."""
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
    if isinstance(problem.platform, Sources):
        return durations_of_sources(problem.platform, schedule)
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
    of = dispatch_of_sources if isinstance(problem.platform, Sources) else Dispatch.of
    return of(problem, rows, order)


def _earliest(
    problem: DivisibleLoad, rows: Schedule, order: Integers, factors: Floats | None = None
) -> Schedule:
    """Return the rows at their earliest, dispatched in the order given."""
    duration = _lasting(problem, rows, factors)
    start = _dispatched(problem, rows, order).starts(duration)
    return rows.timed(start, start + duration)


@node_loop
def fill_earliest(  # type: ignore[no-untyped-def]
    first, node, own, send_fixed, send, compute_fixed, compute,
    message, computation, carried, arrived, machine, peer, amount, start, end,
):  # fmt: skip
    """Fill in the rows of the earliest schedule; return how many there are.

    ``carried`` holds the loads that the nodes compute; it becomes those of their subtrees.
    ``message`` and ``computation`` are factors on the durations.
    """
    for place in range(len(own) - 1, -1, -1):
        for below in range(first[place], first[place + 1]):
            carried[place] += carried[below]
    row = 0
    for place in range(len(own)):
        clock = arrived[place]
        for below in range(first[place], first[place + 1]):
            if carried[below] <= 0.0:
                continue
            machine[row], peer[row] = node[place], node[below]
            amount[row], start[row] = carried[below], clock
            clock += (send_fixed[below] + send[below] * carried[below]) * message[below]
            arrived[below] = clock
            end[row] = clock
            row += 1
        if own[place] > 0.0:
            machine[row], peer[row] = node[place], -1
            amount[row], start[row] = own[place], arrived[place]
            lasts = (compute_fixed[place] + compute[place] * own[place]) * computation[place]
            end[row] = arrived[place] + lasts
            row += 1
    return row


def timed_tree(
    problem: DivisibleLoad,
    amount: Floats,
    levels: Levels | None = None,
    factors: Floats | None = None,
) -> Schedule:
    """Return the earliest schedule of a tree, given the units that each node computes, in O(n).

    ``levels`` are the nodes in the order of service, by link cost where left out; children whose
    subtree gets nothing are left out. ``factors`` are on the message to each node (row 0), and on
    its computation.
    """
    tree = problem.tree
    levels = tree.levels if levels is None else levels
    count = len(tree)
    own = np.asarray(amount, dtype=np.float64)[levels.node]
    message, computation = np.ones((2, count)) if factors is None else factors[:, levels.node]
    machine, peer = np.zeros((2, 2 * count), dtype=np.int64)
    units, start, end = np.zeros((3, 2 * count))
    rows = fill_earliest.run(
        count,
        (levels.first, levels.node, own, *levels.costs, message, computation),
        (own.copy(), np.zeros(count), machine, peer, units, start, end),
    )
    machine, peer = machine[:rows], peer[:rows]
    sends = peer >= 0
    return Schedule.of_columns(
        tree.names,
        kind=np.where(sends, np.int8(Activity.SEND), np.int8(Activity.COMPUTE)),
        machine=machine,
        peer=peer,
        item=np.where(sends, peer, machine),
        amount=units[:rows],
        start=start[:rows],
        end=end[:rows],
        earliest=True,
        copy=False,
    )


def retimed_tree(
    problem: DivisibleLoad, schedule: Schedule, factors: Floats | None = None
) -> Schedule:
    """Return ``schedule`` with the same loads and orders of service, everything at its earliest.

    ``factors`` are on the durations of the rows of the schedule; None for nominal durations.
    """
    tree = problem.tree
    schedule = schedule.renamed(tree.names)
    sends = schedule.rows_of(Activity.SEND)
    rank = np.full(len(tree), len(sends))
    rank[schedule.peer[sends]] = np.arange(len(sends))
    by_node = None
    if factors is not None:
        computes = schedule.kind == Activity.COMPUTE
        by_node = np.ones((2, len(tree)))
        by_node[0, schedule.peer[~computes]] = factors[~computes]
        by_node[1, schedule.machine[computes]] = factors[computes]
    return timed_tree(problem, computed(schedule), Levels.of(tree, rank), by_node)
