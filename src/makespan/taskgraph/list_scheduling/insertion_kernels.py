"""Compiled insertion: the loop of ``insertion`` for plans in which no transfer waits.

The finite gaps of a core are kept in blocks of at most ``BLOCK``; a core has a sorted row of
blocks, and each block knows its longest gap. A gap is found by bisection over the blocks and a
scan of those that may hold it; what follows the last task of a core is its ``tail``. Most tasks go
there: of each core is known ``since`` when only the gaps of its last block count, the ``widest`` of
these, and ``until`` when there are any, so that blocks are looked at only where they may hold a
task.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel

Blocks = NDArray[np.int32]

BLOCK = 64
NONE: Any = np.int64(-1)
"""An index: -1 alone is a type of its own, for which what takes it would be compiled, too."""
PADDING = 1e-14  # of its end: a gap is taken to be longer, as sums round, lest one is missed


@kernel
def first_fit(
    core: int, earliest: float, length: float, counted: float, extra: float, best: float,
    tail: Floats, rows: Blocks, blocks: Integers, count: Integers, first: Floats, last: Floats,
    longest: Floats,
) -> tuple[float, int, int]:  # fmt: skip
    """Return the first start not before ``earliest``, and the block and slot of its gap.

    Block -1 stands for the tail, where no task starts before ``earliest``. The search gives up at
    gaps whose begin, with what is ``counted`` and ``extra``, is more than ``best``.
    """
    row, number = rows[core], blocks[core]
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        block = row[middle]
        if last[block, count[block] - 1] < earliest:
            low = middle + 1
        else:
            high = middle
    for index in range(low, number):
        block = row[index]
        if first[block, 0] + counted + extra > best:
            break
        if longest[block] < length:
            continue
        for slot in range(count[block]):
            if last[block, slot] < earliest:
                continue
            begin = max(first[block, slot], earliest)
            if begin + length <= last[block, slot]:
                return begin, index, slot
    return tail[core], -1, -1


@kernel
def measure(block: int, count: Integers, first: Floats, last: Floats, longest: Floats) -> None:
    """Find the longest gap of a block again."""
    most = -1.0
    for slot in range(count[block]):
        end = last[block, slot]
        most = max(most, end - first[block, slot] + PADDING * end)
    longest[block] = most


@kernel
def put(
    core: int, index: int, slot: int, begin: float, end: float, used: int, rows: Blocks,
    blocks: Integers, count: Integers, first: Floats, last: Floats, longest: Floats,
) -> tuple[Blocks, int]:  # fmt: skip
    """Insert a gap before ``slot`` of a block; return the rows and how many blocks are used."""
    if blocks[core] == 0:
        if rows[core, 0] < 0:  # else the core's only block, emptied before
            rows[core, 0] = used
            used += 1
        longest[rows[core, 0]] = -1.0
        blocks[core] = 1
    block: Any = np.int64(rows[core, index])
    if count[block] == BLOCK:  # split it in two halves
        if blocks[core] == rows.shape[1]:
            wider = np.full((rows.shape[0], 2 * rows.shape[1]), -1, dtype=np.int32)
            np.positive(rows, wider[:, : rows.shape[1]])
            rows = wider
        half = BLOCK // 2
        for place in range(blocks[core], index + 1, -1):
            rows[core, place] = rows[core, place - 1]
        rows[core, index + 1] = used
        np.positive(first[block, half:], first[used, :half])
        np.positive(last[block, half:], last[used, :half])
        count[used] = count[block] = half
        blocks[core] += 1
        measure(used, count, first, last, longest)
        measure(block, count, first, last, longest)
        if slot > half:
            block, slot = used, slot - half
        used += 1
    for place in range(count[block], slot, -1):
        first[block, place] = first[block, place - 1]
        last[block, place] = last[block, place - 1]
    first[block, slot], last[block, slot] = begin, end
    count[block] += 1
    longest[block] = max(longest[block], end - begin + PADDING * end)
    return rows, used


@kernel
def drop(
    core: int, index: int, slot: int, rows: Blocks, blocks: Integers, count: Integers,
    first: Floats, last: Floats,
) -> None:  # fmt: skip
    """Remove a gap, and its block where it was the only one."""
    block = rows[core, index]
    count[block] -= 1
    for place in range(slot, count[block]):
        first[block, place] = first[block, place + 1]
        last[block, place] = last[block, place + 1]
    if count[block] == 0:
        blocks[core] -= 1
        for place in range(index, blocks[core]):
            rows[core, place] = rows[core, place + 1]


@kernel
def sum_up(
    core: int, rows: Blocks, blocks: Integers, count: Integers, last: Floats, longest: Floats,
    since: Floats, widest: Floats, until: Floats,
) -> None:  # fmt: skip
    """Note from when on only the last block of a core counts, its longest gap, and its last end."""
    number = blocks[core]
    since[core] = widest[core] = until[core] = -1.0
    if number > 0:
        block = rows[core, number - 1]
        widest[core], until[core] = longest[block], last[block, count[block] - 1]
    if number > 1:
        before = rows[core, number - 2]
        since[core] = last[before, count[before] - 1]


@kernel
def insert_some(
    order: Integers, pinned: Integers, bias: Floats, by_start: bool,
    work: Floats, release: Floats, own_row: Integers, own: Floats, speed: Floats, setup: Floats,
    first_core: Integers, first_in: Integers, predecessors: Integers, size: Floats,
    fixed: Floats, per_unit: Floats, uniform: bool,
    machine: Integers, start: Floats, end: Floats,
    tail: Floats, since: Floats, widest: Floats, until: Floats,
    rows: Blocks, blocks: Integers, count: Integers,
    first: Floats, last: Floats, longest: Floats, used: int,
) -> tuple[Blocks, int]:  # fmt: skip
    """Place the tasks of ``order`` one after another on the machine that suits each best.

    The least end wins, or with ``by_start`` the least start; ``bias`` (empty, or a row per task)
    is added. ``pinned`` holds the machine of tasks that have one, else -1; ``own_row`` their row
    in ``own`` or -1. With ``uniform`` all pairs of machines exchange data alike. The columns from
    ``tail`` on are the gaps; their rows and how many blocks are used are returned.
    """
    machines = len(speed)
    ready, took = np.zeros(machines), np.zeros(machines)
    counted, extra = np.zeros(machines), np.zeros(machines)
    biased = bias.shape[0] > 0
    same_fixed, same_per_unit = fixed[0, machines - 1], per_unit[0, machines - 1]
    for task in order:
        begin_in, end_in = first_in[task], first_in[task + 1]
        low, high = 0, machines
        if pinned[task] >= 0:
            low, high = pinned[task], pinned[task] + 1
        latest, place_of_latest, here = release[task], -1, release[task]
        if uniform:
            for position in range(begin_in, end_in):
                source = predecessors[position]
                arrival = end[source] + (same_fixed + same_per_unit * size[position])
                if arrival > latest:
                    latest, place_of_latest = arrival, machine[source]
            for position in range(begin_in, end_in):
                source = predecessors[position]
                arrival = end[source]
                if machine[source] != place_of_latest:
                    arrival += same_fixed + same_per_unit * size[position]
                here = max(here, arrival)
        else:
            for place in range(low, high):
                ready[place] = release[task]
            for position in range(begin_in, end_in):
                source = predecessors[position]
                origin, amount, ended = machine[source], size[position], end[source]
                for place in range(low, high):
                    arrival = ended
                    if origin != place:
                        arrival += fixed[origin, place] + per_unit[origin, place] * amount
                    ready[place] = max(ready[place], arrival)
        row, amount = own_row[task], work[task]
        best, best_core, best_place, best_start = np.inf, NONE, NONE, 0.0
        for place in range(low, high):
            earliest = ready[place]
            if uniform:
                earliest = ready[place] = here if place == place_of_latest else latest
            seconds = own[row, place] if row >= 0 else amount / speed[place] + setup[place]
            took[place] = seconds
            counted[place] = 0.0 if by_start else seconds
            if biased:
                extra[place] = bias[task, place]
            if earliest + counted[place] + extra[place] >= best:
                continue
            for core in range(first_core[place], first_core[place + 1]):
                begin = max(earliest, tail[core])
                value = begin + counted[place] + extra[place]
                if value < best:
                    best, best_core, best_place, best_start = value, core, place, begin
        best_index, best_slot = NONE, NONE
        for place in range(low, high):
            earliest = ready[place]
            if earliest + counted[place] + extra[place] > best:
                continue
            for core in range(first_core[place], first_core[place + 1]):
                if earliest > until[core] or (
                    earliest > since[core] and took[place] > widest[core]
                ):
                    continue
                begin, index, slot = first_fit(
                    core, earliest, took[place], counted[place], extra[place], best,
                    tail, rows, blocks, count, first, last, longest,
                )  # fmt: skip
                value = begin + counted[place] + extra[place]
                if value < best or (value == best and core < best_core):
                    best, best_core, best_place, best_start = value, core, place, begin
                    best_index, best_slot = index, slot
        best_end = best_start + took[best_place]
        machine[task], start[task], end[task] = best_place, best_start, best_end
        core = best_core
        if best_index < 0:
            if best_start > tail[core]:
                index = max(blocks[core] - 1, 0)
                slot = count[rows[core, index]] if blocks[core] else 0
                rows, used = put(
                    core, index, slot, tail[core], best_start, used,
                    rows, blocks, count, first, last, longest,
                )  # fmt: skip
                sum_up(core, rows, blocks, count, last, longest, since, widest, until)
            tail[core] = best_end
            continue
        block: Any = np.int64(rows[core, best_index])
        gap_start, gap_end = first[block, best_slot], last[block, best_slot]
        if gap_start < best_start:
            last[block, best_slot] = best_start
            measure(block, count, first, last, longest)
            if best_end < gap_end:
                rows, used = put(
                    core, best_index, best_slot + 1, best_end, gap_end, used,
                    rows, blocks, count, first, last, longest,
                )  # fmt: skip
        elif best_end < gap_end:
            first[block, best_slot] = best_end
            measure(block, count, first, last, longest)
        else:
            drop(core, best_index, best_slot, rows, blocks, count, first, last)
            if count[block]:
                measure(block, count, first, last, longest)
        sum_up(core, rows, blocks, count, last, longest, since, widest, until)
    return rows, used


@kernel
def sink(hole: int, heap: Integers, spot: Integers, tail: Floats) -> None:
    """Move a core down a heap to where those below it are free later; ``spot`` is where each is."""
    moved = heap[hole]
    while 2 * hole + 1 < len(heap):
        below = 2 * hole + 1
        if below + 1 < len(heap):
            one, two = heap[below], heap[below + 1]
            if tail[two] < tail[one] or (tail[two] == tail[one] and two < one):
                below += 1
        other = heap[below]
        if tail[moved] < tail[other] or (tail[moved] == tail[other] and moved < other):
            break
        heap[hole], spot[other] = other, hole
        hole = below
    heap[hole], spot[moved] = moved, hole


@kernel
def append_some(
    order: Integers, pinned: Integers,
    work: Floats, release: Floats, own_row: Integers, own: Floats, speed: Floats, setup: Floats,
    first_core: Integers, first_in: Integers, predecessors: Integers, size: Floats,
    fixed: Floats, per_unit: Floats,
    machine: Integers, start: Floats, end: Floats, tail: Floats,
) -> None:  # fmt: skip
    """Place the tasks of ``order`` behind all others, each on the core that is free first."""
    cores = len(tail)
    machine_of = np.empty(cores, dtype=np.int64)
    for place in range(len(speed)):
        machine_of[first_core[place] : first_core[place + 1]] = place
    heap, spot = np.arange(cores), np.arange(cores)
    for hole in range(cores // 2 - 1, -1, -1):
        sink(hole, heap, spot, tail)
    for task in order:
        best = heap[0]
        if pinned[task] >= 0:
            best = first_core[pinned[task]]
            for core in range(best + 1, first_core[pinned[task] + 1]):
                if tail[core] < tail[best]:
                    best = core
        begin, place = max(tail[best], release[task]), machine_of[best]
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            origin, arrival = machine[source], end[source]
            if origin != place:
                arrival += fixed[origin, place] + per_unit[origin, place] * size[position]
            begin = max(begin, arrival)
        row = own_row[task]
        seconds = own[row, place] if row >= 0 else work[task] / speed[place] + setup[place]
        machine[task], start[task], end[task] = place, begin, begin + seconds
        tail[best] = end[task]
        sink(spot[best], heap, spot, tail)
