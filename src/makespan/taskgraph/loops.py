"""Loops over graphs: run as they are on lists where little is to do, compiled on arrays else.

Every loop is written once, in the part of Python that Numba compiles, so that the plain twin and
the compiled loop are the same text and give the same results to the bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import readonly

Column = Callable[[Any], Any]

COMPILE_FROM = 2_000_000
"""Elementary steps from which loading a compiler pays off."""
LOADED_FROM = 1_000
"""Elementary steps from which compiled loops are used where the compiler is there already."""


def pays_off(steps: float, least: int = COMPILE_FROM) -> bool:
    """Whether a compiled loop is worth it: ``least`` steps, or few where one is loaded."""
    return steps >= (LOADED_FROM if "numba" in sys.modules else least)


def run(
    loop: Callable[..., Any],
    steps: int,
    inputs: tuple[np.ndarray, ...],
    outputs: tuple[np.ndarray, ...],
    numbers: tuple[float, ...] = (),
) -> Any:
    """Run ``loop(*inputs, *outputs, *numbers)``; it writes into ``outputs``.

    Parameters
    ----------
    loop
        One of the functions of this module.
    steps
        About how many elementary steps it takes: many are compiled, few are not.
    inputs, outputs
        Arrays; the loop reads the first and writes the second.
    numbers
        Scalars that the loop takes after them.
    """
    if pays_off(steps):
        return compiled(loop)(*readonly(*inputs), *outputs, *numbers)
    lists = [column.tolist() for column in outputs]
    value = loop(*(column.tolist() for column in inputs), *lists, *numbers)
    for column, values in zip(outputs, lists, strict=True):
        column[:] = values
    return value


def chosen(loop: Callable[..., Any], steps: int) -> tuple[Callable[..., Any], Column]:
    """Return a loop that will be called often, and what makes the columns that it takes.

    Parameters
    ----------
    steps
        About how many elementary steps all calls take together.
    """
    if pays_off(steps):
        return compiled(loop), np.array
    return loop, lambda values: np.asarray(values).tolist()


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return the compiled twin of a loop of this module."""
    from makespan.core.numeric.jit import kernel

    return kernel(loop)


def topological(first_out, target, waiting, order):  # type: ignore[no-untyped-def]
    """Write a topological order (first ready, first out); return how many tasks it holds.

    ``waiting`` holds the number of predecessors of each task, and is used up.
    """
    tail = 0
    for task in range(len(order)):
        if waiting[task] == 0:
            order[tail] = task
            tail += 1
    head = 0
    while head < tail:
        task = order[head]
        head += 1
        for position in range(first_out[task], first_out[task + 1]):
            successor = target[position]
            waiting[successor] -= 1
            if waiting[successor] == 0:
                order[tail] = successor
                tail += 1
    return tail


def highest_ready(first_out, successors, ranked, rank, waiting, heap, order):  # type: ignore[no-untyped-def]
    """Write the tasks in the order in which the ready one of lowest rank is taken.

    ``ranked`` holds the tasks by rank. ``waiting`` holds the number of predecessors of each task,
    and is used up; ``heap`` is room for the ranks of ready tasks, as many as there are tasks.
    """
    size = 0
    placed = 0
    for value in range(len(order)):  # rising ranks are a heap already
        if waiting[ranked[value]] == 0:
            heap[size] = value
            size += 1
    while size > 0:
        first = ranked[heap[0]]
        order[placed] = first
        placed += 1
        size -= 1
        moved = heap[size]
        hole = 0
        while 2 * hole + 1 < size:
            below = 2 * hole + 1
            if below + 1 < size and heap[below + 1] < heap[below]:
                below += 1
            if moved < heap[below]:
                break
            heap[hole] = heap[below]
            hole = below
        heap[hole] = moved
        for position in range(first_out[first], first_out[first + 1]):
            task = successors[position]
            waiting[task] -= 1
            if waiting[task] == 0:
                hole = size
                size += 1
                while hole > 0 and heap[(hole - 1) // 2] > rank[task]:
                    heap[hole] = heap[(hole - 1) // 2]
                    hole = (hole - 1) // 2
                heap[hole] = rank[task]
    return placed


def distances(first, target, hops, queue):  # type: ignore[no-untyped-def]
    """Write the links on a shortest way from each node to each, in a flat table that holds -1."""
    count = len(queue)
    for start in range(count):
        row = start * count
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for position in range(first[node], first[node + 1]):
                other = target[position]
                if hops[row + other] < 0:
                    hops[row + other] = hops[row + node] + 1
                    queue[tail] = other
                    tail += 1


def path_to_exit(order, first_out, target, task_weight, edge_weight, level):  # type: ignore[no-untyped-def]
    """Write the longest path from each task to an exit task, both ends included.

    ``edge_weight`` is in the order of ``target``.
    """
    for index in range(len(order) - 1, -1, -1):
        task = order[index]
        longest = 0.0
        for position in range(first_out[task], first_out[task + 1]):
            length = edge_weight[position] + level[target[position]]
            longest = max(longest, length)
        level[task] = task_weight[task] + longest


def path_from_entry(order, first_in, source, task_weight, edge_weight, colevel):  # type: ignore[no-untyped-def]
    """Write the longest path from an entry task to each task, both ends included."""
    for index in range(len(order)):
        task = order[index]
        longest = 0.0
        for position in range(first_in[task], first_in[task + 1]):
            length = edge_weight[position] + colevel[source[position]]
            longest = max(longest, length)
        colevel[task] = task_weight[task] + longest


def lowest_path(first_in, first_out, successors, through, path, least):  # type: ignore[no-untyped-def]
    """Write the path from an entry task on over tasks through which ``least`` or more leads.

    It always goes on with the lowest task; how many it holds is returned.
    """
    task = 0
    while first_in[task] < first_in[task + 1] or through[task] < least:
        task += 1
    count = 0
    while task >= 0:
        path[count] = task
        count += 1
        following = -1
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position]
            if through[other] >= least and (following < 0 or other < following):
                following = other
        task = following
    return count


def in_sequence(  # type: ignore[no-untyped-def]
    order, machine, seconds, first_core, first_in, predecessors, size, fixed, per_unit,
    core_free, latest, start, end,
    machines, in_turn,
):  # fmt: skip
    """Write the starts and ends of tasks on their machines, one behind another in ``order``.

    What takes no time needs no core. With ``in_turn`` no task starts before the one that its
    machine took before it: ``latest`` holds when. ``core_free`` holds a heap of the times at which
    the cores of a machine are free, for each machine. ``size`` is in the order of ``predecessors``;
    tables are flat.
    """
    for index in range(len(order)):
        task = order[index]
        place = machine[task]
        first, cores = first_core[place], first_core[place + 1] - first_core[place]
        begin = core_free[first] if seconds[task] > 0.0 else 0.0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            arrival = end[source]
            if machine[source] != place:
                pair = machine[source] * machines + place
                arrival += fixed[pair] + per_unit[pair] * size[position]
            begin = max(begin, arrival)
        if in_turn:
            begin = latest[place] = max(begin, latest[place])
        start[task] = begin
        end[task] = begin + seconds[task]
        if seconds[task] > 0.0:
            hole = 0
            while 2 * hole + 1 < cores:
                one = two = first + 2 * hole + 1
                if two - first + 1 < cores:
                    two += 1
                below = two if core_free[two] < core_free[one] else one
                if end[task] <= core_free[below]:
                    break
                core_free[first + hole] = core_free[below]
                hole = below - first
            core_free[first + hole] = end[task]


def count_hops(source, target, size, place, end, fixed, following, machines, nodes):  # type: ignore[no-untyped-def]
    """Return how many rows the transfers of a plan take; see :func:`transfer_rows`."""
    count = 0
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            while at != goal:
                at = following[at * nodes + goal]
                count += 1
    return count


def transfer_rows(  # type: ignore[no-untyped-def]
    source, target, size, place, end, fixed, following, rates, setup,
    tail, head, item, amount, start, until,
    machines, nodes, row,
):  # fmt: skip
    """Write the hops of all transfers, from ``row`` on, each as soon as its data are there.

    ``place`` and ``end`` are those of tasks; tables are flat.
    """
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            time = end[source[edge]]
            while at != goal:
                via = following[at * nodes + goal]
                tail[row], head[row], item[row] = at, via, edge
                amount[row], start[row] = size[edge], time
                time += size[edge] / rates[at * nodes + via] + setup[at]
                until[row] = time
                at = via
                row += 1


def by_owner(rank, computes, owner, place, order):  # type: ignore[no-untyped-def]
    """Write the rows by the ``rank`` of the tasks that own them, computations first.

    ``place`` is room: zeros, two more than there are ranks.
    """
    for row in range(len(owner)):
        place[rank[owner[row]] + 2] += 1
    for index in range(2, len(place)):
        place[index] += place[index - 1]
    for transfers in range(2):
        for row in range(len(owner)):
            if computes[row] == (transfers == 0):
                index = rank[owner[row]] + 1
                order[place[index]] = row
                place[index] += 1


def earliest(  # type: ignore[no-untyped-def]
    order, computes, task, edge, following_hop, last, sending, receiving, seconds, after,
    first_in, in_edges, source, has_rows, machine_of, first_core,
    start, end, task_end, there, free, core_free, clock, core_of, taken_last,
    blocking,
):  # fmt: skip
    """Write the earliest start and end of every row, dispatched in ``order``.

    A row starts when the row before it on everything that it occupies has ended, and what it
    builds on is there; what takes no time needs no core. ``core_free`` holds a heap of the times at
    which the cores of a machine are free, for each machine; with ``blocking``, where a core is
    taken before its task starts, the times of its cores in turn. ``task`` is the task that a row
    computes or brings data to; ``sending`` and ``receiving`` index ``free``, or are -1.
    ``task_end`` comes in with the ends to be used for tasks that have not been dispatched.
    """
    for index in range(len(order)):
        row = order[index]
        goal = task[row]
        place = machine_of[goal]
        if clock[goal] < 0.0 and (blocking or computes[row]):
            begin = taken_last[place]
            for position in range(first_in[goal], first_in[goal + 1]):
                each = in_edges[position]
                if has_rows[each] and not blocking:
                    begin = max(begin, there[each])
                else:
                    begin = max(begin, task_end[source[each]])
            if blocking or seconds[row] > 0.0:
                core = first_core[place]
                if blocking:
                    for other in range(core + 1, first_core[place + 1]):
                        if core_free[other] < core_free[core]:
                            core = other
                begin = max(begin, core_free[core])
                core_of[goal] = core
                core_free[core] = max(begin, task_end[goal])
            taken_last[place] = begin
            clock[goal] = begin
        if computes[row]:
            start[row] = clock[goal]
            end[row] = start[row] + seconds[row]
            task_end[goal] = end[row]
            first = core_of[goal]
            if first >= 0:
                hole, cores = 0, 1 if blocking else first_core[place + 1] - first
                while 2 * hole + 1 < cores:
                    one = two = first + 2 * hole + 1
                    if two - first + 1 < cores:
                        two += 1
                    below = two if core_free[two] < core_free[one] else one
                    if end[row] <= core_free[below]:
                        break
                    core_free[first + hole] = core_free[below]
                    hole = below - first
                core_free[first + hole] = end[row]
            continue
        each = edge[row]
        if blocking:
            begin = clock[goal]
        elif following_hop[row]:
            begin = there[each]
        else:
            begin = task_end[source[each]]
        if sending[row] >= 0:
            begin = max(begin, free[sending[row]])
        if receiving[row] >= 0:
            begin = max(begin, free[receiving[row]])
        start[row] = begin
        end[row] = begin + seconds[row]
        if sending[row] >= 0:
            free[sending[row]] = end[row]
        if receiving[row] >= 0:
            free[receiving[row]] = end[row]
        there[each] = end[row] + (after[row] if last[row] else 0.0)
        if blocking:
            clock[goal] = there[each]


def parallel_time(  # type: ignore[no-untyped-def]
    topological_order, first_out, successors, out_weight, first_in, predecessors, in_weight,
    task_weight, tie, original_level, cluster,
    level, order, finish, before, last,
    zeroed,
):  # fmt: skip
    """Return the length of the longest path of the scheduled graph of a clustering.

    Edges inside a cluster count nothing, and the tasks of a cluster follow one another by level
    (``zeroed``: on the graph with these edges at nothing; else the original levels). ``order``
    comes in as the order of an earlier call, which makes sorting quick, and leaves as the order
    by level; ``finish`` holds the longest path to each task, ``before`` the task before it there.
    """
    count = len(order)
    for index in range(count - 1, -1, -1):
        task = topological_order[index]
        longest = 0.0
        if zeroed:
            for position in range(first_out[task], first_out[task + 1]):
                successor = successors[position]
                length = level[successor]
                if cluster[successor] != cluster[task]:
                    length += out_weight[position]
                longest = max(longest, length)
            level[task] = task_weight[task] + longest
        else:
            level[task] = original_level[task]
    for index in range(1, count):
        task = order[index]
        hole = index
        while hole > 0:
            other = order[hole - 1]
            if level[other] > level[task] or (
                level[other] == level[task] and tie[other] < tie[task]
            ):
                break
            order[hole] = other
            hole -= 1
        order[hole] = task
    for index in range(count):
        last[index] = -1
    total = 0.0
    for index in range(count):
        task = order[index]
        previous = last[cluster[task]]
        start = finish[previous] if previous >= 0 else 0.0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            arrival = finish[source]
            if cluster[source] != cluster[task]:
                arrival += in_weight[position]
            if arrival > start or (arrival == start and previous < 0):
                start = arrival
                previous = source
        before[task] = previous
        finish[task] = start + task_weight[task]
        last[cluster[task]] = task
        total = max(total, finish[task])
    return total


def longest_free_path(  # type: ignore[no-untyped-def]
    topological_order, first_out, successors, out_weight, task_weight, used, length, following,
):  # fmt: skip
    """Return where the longest path over tasks that are not ``used`` begins; -1 for none.

    ``following`` holds the next task of the path, -1 at its end. Ties go to the lowest task.
    """
    best = -1
    for index in range(len(topological_order) - 1, -1, -1):
        task = topological_order[index]
        if used[task]:
            continue
        longest = 0.0
        following[task] = -1
        for position in range(first_out[task], first_out[task + 1]):
            successor = successors[position]
            if used[successor]:
                continue
            ahead = out_weight[position] + length[successor]
            if (
                following[task] < 0
                or ahead > longest
                or (ahead == longest and successor < following[task])
            ):
                longest = ahead
                following[task] = successor
        length[task] = task_weight[task] + longest
        if (
            best < 0
            or length[task] > length[best]
            or (length[task] == length[best] and task < best)
        ):
            best = task
    return best


def forced_ends(  # type: ignore[no-untyped-def]
    order, first_in, predecessors, in_weight, least, ends, arrival, member, cores
):
    """Write the earliest end of each task that any plan on any machines allows.

    The predecessors whose data would come last are those worth sharing a machine with: for each
    number of them, the machine executes them (on ``cores`` at most) and waits for the data of the
    others. ``arrival`` and ``member`` are room for the last arrivals, falling.
    """
    width = len(arrival)
    for index in range(len(order)):
        task = order[index]
        kept = 0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            time = ends[source] + in_weight[position]
            hole = kept
            if kept == width:
                if time <= arrival[width - 1]:
                    continue
                hole = width - 1
            else:
                kept += 1
            while hole > 0 and arrival[hole - 1] < time:
                arrival[hole] = arrival[hole - 1]
                member[hole] = member[hole - 1]
                hole -= 1
            arrival[hole] = time
            member[hole] = source
        begin = arrival[0] if kept > 0 else 0.0
        work = 0.0
        latest = 0.0
        earliest_start = 0.0
        for shared in range(kept):
            source = member[shared]
            own_start = ends[source] - least[source]
            earliest_start = own_start if shared == 0 else min(earliest_start, own_start)
            work += least[source]
            latest = max(latest, ends[source])
            local = max(latest, earliest_start + work / cores)
            others = arrival[shared + 1] if shared + 1 < kept else 0.0
            begin = min(begin, max(local, others))
        ends[task] = begin + least[task]


def optimistic_costs(  # type: ignore[no-untyped-def]
    order, first_out, successors, transfer, work, own_row, own, speed, setup,
    table, ahead, least_ahead,
    machines, begin, until,
):  # fmt: skip
    """Write the optimistic cost table of PEFT for the tasks from ``begin`` to ``until`` in order.

    ``ahead`` holds the table with the durations of the tasks added, ``least_ahead`` the least of
    each row of it. ``own_row`` holds the row of a task in ``own``, or -1; ``transfer`` is in the
    order of ``successors``. Tables are flat, a row per task.
    """
    for index in range(until - 1, begin - 1, -1):
        task = order[index]
        row = task * machines
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position] * machines
            elsewhere = least_ahead[successors[position]] + transfer[position]
            for machine in range(machines):
                least = min(elsewhere, ahead[other + machine])
                table[row + machine] = max(table[row + machine], least)
        for machine in range(machines):
            if own_row[task] >= 0:
                seconds = own[own_row[task] * machines + machine]
            else:
                seconds = work[task] / speed[machine] + setup[machine]
            ahead[row + machine] = table[row + machine] + seconds
            if machine == 0 or ahead[row + machine] < least_ahead[task]:
                least_ahead[task] = ahead[row + machine]
