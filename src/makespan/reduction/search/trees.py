"""All trees into the root, and which solutions are the same up to renaming machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers


def all_trees(machines: int, links: Any = None) -> Integers:
    """Return the n^(n-2) trees into machine 0, one a row of parents, in lexicographic order.

    Those over missing ``links``, a table of who has one to whom, are left out.

    Source: Cayley's formula; every machine's parent reaches the root.

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

    ``solutions`` has the shape (count, machines, segments), entries counted from 0. The root
    keeps its name: a permutation that moves it can't match. Machines are coloured by what they send
    and receive until the colours are stable, ties are broken one machine at a time, and the
    machines put in the order of their colours. Equal forms are isomorphic; the few classes whose
    colours agree and whose forms differ are compared by search.

    Complexity: O(count n² m) for the colours.
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
