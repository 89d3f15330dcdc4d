"""What is wrong with a given plan of a reduction, by destinations or by sequences of sends."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from makespan.core.inputs.rules import Mistakes


def destinations(
    given: Any, machines: int, segments: int, mistakes: Mistakes
) -> tuple[tuple[int, ...], ...]:
    """Return whom each machine sends each segment to, counted from 1."""
    try:
        table = np.array(given)
    except ValueError:
        table = np.empty(0)
    if table.shape != (machines, segments) or table.dtype.kind not in "iu":
        mistakes.add(
            "destinations", f"is not {machines} rows of {segments} machines, counted from 1"
        )
        return ()
    _check_range("destinations", table, machines, mistakes)
    for segment in np.flatnonzero(table[0] != 1)[:20].tolist():
        mistakes.add(
            f"destinations[0][{segment}]", f"{table[0, segment]} is not 1; the root keeps all"
        )
    if not mistakes:
        _check_trees("destinations", table - 1, mistakes)
    return tuple(map(tuple, table.tolist()))


def sequences(
    given: Any, machines: int, segments: int, mistakes: Mistakes
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the segments that each machine sends, and whom to, in their order."""
    expected = f"{machines} lists of (segment, destination), counted from 1"
    try:
        rows = tuple(tuple((operator.index(a), operator.index(b)) for a, b in row) for row in given)
    except (TypeError, ValueError):
        mistakes.add("sequences", f"is not {expected}")
        return ()
    if len(rows) != machines:
        mistakes.add("sequences", f"has {len(rows)} rows; {expected} are needed")
        return rows
    if rows[0]:
        mistakes.add("sequences[0]", "is not empty; the root sends nothing")
    table = np.ones((machines, segments), dtype=np.int64)
    for machine, row in enumerate(rows[1:], start=1):
        if sorted(segment for segment, _ in row) != list(range(1, segments + 1)):
            mistakes.add(
                f"sequences[{machine}]", f"does not send each segment 1 to {segments} once"
            )
            continue
        for segment, destination in row:
            table[machine, segment - 1] = min(max(destination, 0), machines + 1)
    if not mistakes:
        _check_range("sequences", table, machines, mistakes)
    if not mistakes:
        _check_trees("sequences", table - 1, mistakes)
    return rows


def _check_range(place: str, table: Any, machines: int, mistakes: Mistakes) -> None:
    wrong = (table < 1) | (table > machines)
    for row, column in np.argwhere(wrong)[:20].tolist():
        mistakes.add(
            f"{place}[{row}][{column}]",
            f"{table[row, column]} is not a machine; they are counted from 1 to {machines}",
        )


def _check_trees(place: str, parents: Any, mistakes: Mistakes) -> None:
    """Every machine must reach the root: no self-sends, no cycles."""
    machines, _segments = parents.shape
    own = parents[1:] == np.arange(1, machines)[:, None]
    for row, column in np.argwhere(own)[:20].tolist():
        mistakes.add(f"{place}[{row + 1}][{column}]", f"machine {row + 2} sends to itself")
    if own.any():
        return
    reached = parents
    for _ in range(machines.bit_length()):
        reached = np.take_along_axis(reached, reached, axis=0)
    for segment in np.flatnonzero(reached.any(axis=0))[:20].tolist():
        cycle = _cycle_of(parents[:, segment].tolist())
        path = " → ".join(str(machine + 1) for machine in (*cycle, cycle[0]))
        mistakes.add(
            f"{place}[{cycle[0]}][{segment}]",
            f"machines {path} send segment {segment + 1} in a cycle",
        )


def _cycle_of(parents: Sequence[int]) -> tuple[int, ...]:
    """Return a cycle of a map from machines to machines in which the root maps to itself.

    >>> _cycle_of([0, 2, 1])
    (1, 2)
    """
    seen = {0}
    for start in range(1, len(parents)):
        path: list[int] = []
        machine = start
        while machine not in seen:
            seen.add(machine)
            path.append(machine)
            machine = parents[machine]
        if machine in path:
            return tuple(path[path.index(machine) :])
    return ()
