"""All trees into the root, the loop that extends states by them, and which solutions are alike."""

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop


def all_trees(machines: int, links: Any = None) -> Integers:
    """Return the n^(n-2) trees into machine 0, one a row of parents, in lexicographic order.

    Those over missing ``links``, a table of who has one to whom, are left out. Source: Cayley's
    formula; every machine's parent reaches the root.

    >>> all_trees(3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 2, 0]]
    """
    if machines == 1:
        return np.zeros((1, 1), dtype=np.int64)
    others = [[to for to in range(machines) if to != own] for own in range(1, machines)]
    place = np.indices((machines - 1,) * (machines - 1)).reshape(machines - 1, -1)
    grid = np.array(others)[np.arange(machines - 1), place.T]
    parents = np.column_stack([np.zeros(len(grid), dtype=np.int64), grid])
    reached = parents
    for _ in range(machines.bit_length()):
        reached = np.take_along_axis(reached, reached, axis=1)
    valid = ~reached.any(axis=1)
    if links is not None:
        valid &= links[np.arange(1, machines), parents[:, 1:]].all(axis=1)
    return np.ascontiguousarray(parents[valid])


def first_of_each_class(solutions: Integers) -> list[int]:
    """Return the first of each class of solutions that are equal up to renaming machines.

    ``solutions`` has the shape (count, machines, segments), entries counted from 0. The root keeps
    its name: a permutation that moves it can't match. Machines are coloured by what they send and
    receive until the colours are stable, ties are broken one machine at a time, and the machines
    put in the order of their colours. Equal forms are isomorphic; the few classes whose colours
    agree and whose forms differ are compared by search. Complexity: O(count n² m) for the colours.
    """
    count, machines, _ = solutions.shape
    if count == 0:
        return []
    colours = _stable(solutions, np.zeros((count, machines), dtype=np.int64))
    signatures = np.sort(colours, axis=1)
    forms = _forms(solutions, colours)
    keys = np.concatenate([signatures, forms.reshape(count, -1)], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    found: dict[bytes, list[int]] = {}
    for index in sorted(first.tolist()):
        alike = found.setdefault(signatures[index].tobytes(), [])
        if not any(_isomorphic(solutions, colours, index, other) for other in alike):
            alike.append(index)
    return sorted(index for alike in found.values() for index in alike)


def _mix(values: Any) -> Any:
    """Scatter integers over 61 bits, without overflow warnings."""
    values = values.astype(np.uint64)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Integers = ((values ^ (values >> np.uint64(31))) >> np.uint64(3)).astype(np.int64)
    return mixed


def _stable(solutions: Integers, marks: Integers) -> Integers:
    """Return colours that n rounds of comparing destinations and sources arrive at."""
    count, machines, segments = solutions.shape
    colours = _mix(marks * 2 + 1)
    colours[:, 0] = _mix(np.full(count, 7))
    for _ in range(machines):
        fresh = _mix(colours)
        for segment in range(segments):
            to = solutions[:, :, segment]
            fresh += _mix(np.take_along_axis(colours, to, axis=1) ^ (3 + 2 * segment))
            gift = _mix(colours ^ (1001 + 2 * segment)) >> 8
            for machine in range(1, machines):
                fresh[np.arange(count), to[:, machine]] += gift[:, machine]
        colours = _mix(fresh)
        colours[:, 0] = _mix(np.full(count, 7))
    stable: Integers = colours
    return stable


def _forms(solutions: Integers, colours: Integers) -> Integers:
    """Return each solution with its machines renamed in the order of individual colours."""
    count, machines, _ = solutions.shape
    marks = np.zeros((count, machines), dtype=np.int64)
    for step in range(1, machines):
        order = np.argsort(colours, axis=1, kind="stable")
        ranked = np.take_along_axis(colours, order, axis=1)
        tied = ranked[:, 1:] == ranked[:, :-1]
        rows = np.flatnonzero(tied.any(axis=1))
        if not len(rows):
            break
        first = order[rows, np.argmax(tied[rows], axis=1)]
        marks[rows, first] = step
        colours = colours.copy()
        colours[rows] = _stable(solutions[rows], marks[rows])
    order = np.argsort(np.where(np.arange(machines) == 0, -1, colours), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    moved = np.take_along_axis(rank[:, :, None], solutions, axis=1)
    renamed: Integers = np.take_along_axis(moved, order[:, :, None], axis=1)
    return renamed


def _isomorphic(solutions: Integers, colours: Integers, one: int, two: int) -> bool:
    """Whether a renaming that keeps colours turns one solution into the other."""
    first, second = solutions[one].tolist(), solutions[two].tolist()
    colour, wanted = colours[one].tolist(), colours[two].tolist()
    machines = len(first)
    name = {0: 0}

    def extend(machine: int) -> bool:
        if machine == machines:
            return all(
                [name[to] for to in first[own]] == second[name[own]] for own in range(1, machines)
            )
        for target in range(1, machines):
            if target not in name.values() and wanted[target] == colour[machine]:
                name[machine] = target
                if extend(machine + 1):
                    return True
                del name[machine]
        return False

    return extend(1)


DONE = 0
FULL_STATES = 1
FULL_EDGES = 2


@loop(pays_from=2_000)
def advance(  # type: ignore[no-untyped-def]
    states, first, last, trees, children, transfer, latency, reduce, tail, root_receives,
    root_combines, cut, clamp, out, out_bits, table, edges, counts,
):  # fmt: skip
    """Extend the states ``first`` to ``last`` by every tree; merge equal results.

    ``counts`` holds the number of states and edges so far; ``edges`` gets (state, tree, result).
    What can't end by ``cut`` is dropped: machine i needs ``tail[i]`` after its last send of this
    column, the root ``root_receives`` after receiving and ``root_combines`` after combining.
    ``clamp`` raises values to the least that they can have an effect with. Returns a code and the
    state to go on from when an array is full.
    """
    machines = trees.shape[1]
    width = 3 * machines
    mask = table.shape[0] - 1
    row = out.shape[0] - 1  # the last row is scratch
    waits = children[0].copy()
    ready = states[0, :machines].copy()
    for index in range(first, last):
        if counts[0] + trees.shape[0] >= row or 2 * (counts[0] + trees.shape[0]) > mask:
            return FULL_STATES, index
        if counts[1] + trees.shape[0] > edges.shape[0]:
            return FULL_EDGES, index
        for tree in range(trees.shape[0]):
            for place in range(width):
                out[row, place] = states[index, place]
            for machine in range(machines):
                waits[machine] = children[tree, machine]
                ready[machine] = 0
            alive = True
            for _ in range(machines - 1):
                sender = -1
                begin = ready[0]
                for machine in range(1, machines):
                    if waits[machine] == 0:
                        to = trees[tree, machine]
                        start = max(
                            ready[machine],
                            out[row, machine],
                            out[row, machines + to] - latency[machine, to],
                        )
                        if sender < 0 or start < begin:
                            sender, begin = machine, start
                to = trees[tree, sender]
                waits[sender] = -1
                waits[to] -= 1
                out[row, sender] = begin + transfer[sender, to]
                arrival = begin + latency[sender, to] + transfer[sender, to]
                out[row, machines + to] = arrival
                done = max(out[row, 2 * machines + to], arrival) + reduce[to]
                out[row, 2 * machines + to] = done
                ready[to] = done
                late = out[row, sender] + tail[sender] > cut
                if to == 0:
                    late = late or done + root_combines > cut or arrival + root_receives > cut
                if late:
                    alive = False
                    break
            if not alive:
                continue
            if clamp:
                for machine in range(machines):
                    least = out[row, machines + machine] + clamp
                    out[row, 2 * machines + machine] = max(out[row, 2 * machines + machine], least)
            mixed = 1
            for place in range(width):
                bits = out_bits[row, place]
                low, high = bits & 0x7FFFFFFF, (bits >> 31) & 0x7FFFFFFF
                mixed = (mixed * 1000003 + low + 131 * high) % 2147483647
            slot = mixed & mask
            while table[slot] >= 0:
                other = table[slot]
                same = True
                for place in range(width):
                    if out_bits[other, place] != out_bits[row, place]:
                        same = False
                        break
                if same:
                    break
                slot = (slot + 1) & mask
            if table[slot] < 0:
                table[slot] = counts[0]
                for place in range(width):
                    out[counts[0], place] = out[row, place]
                counts[0] += 1
            edges[counts[1], 0] = index
            edges[counts[1], 1] = tree
            edges[counts[1], 2] = table[slot]
            counts[1] += 1
    return DONE, last
