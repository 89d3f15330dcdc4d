"""The trees that message-passing libraries use, pipelined over the segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.rules.order import ordered_by_rule, ordered_by_sequence, tables_of
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.sends import Sends, claim_sends
from makespan.reduction.timing import in_order

BACKFILLED_UP_TO = 2_000
Tree = Callable[[int, int], Integers]


def pipelined(
    problem: Reduction, tree: Tree, control: Control, leads: tuple[int, ...] = (0,)
) -> Solution:
    """Plan a collective over given trees, one for even and one for odd segments.

    Parameters
    ----------
    tree
        ``tree(machines, segment)`` returns the parent of every machine for a segment; the root
        is its own.
    leads
        See :func:`planned`.

    A broadcast is the reversed reduction.
    """
    schedule = planned(problem, parents_of(problem, tree), control, leads)
    return Solution(schedule=schedule, lower_bound=best_bound(problem))


def parents_of(problem: Reduction, tree: Tree) -> Integers:
    """Return the parents of every machine, a row each, in every segment, a column each."""
    claim_sends(problem)
    machines, segments = len(problem.machines), len(problem.sizes)
    pair = np.stack([tree(machines, segment) for segment in (0, 1)], axis=1)
    return np.ascontiguousarray(pair[:, np.arange(segments) % 2], dtype=np.int64)


def planned(
    problem: Reduction, parents: Integers, control: Control, leads: tuple[int, ...] = (0,)
) -> Schedule:
    """Return the schedule of trees whose machines send in order of the segments.

    Of several ``leads`` the best is taken, as far as time allows: a machine sends a segment ahead
    of one that is so many numbers before it for each level that it is deeper there. Where there
    are few sends, backfilling is tried as well.
    """
    forward = problem if problem.collective == "reduce" else as_reduction(problem)
    tables = tables_of(forward)
    depth = depths(parents) if leads != (0,) else np.zeros((len(parents), 1), dtype=np.int64)
    segments = np.arange(parents.shape[1])
    wanted = parents.size - parents.shape[1]
    best: tuple[Sends, Any] | None = None
    for lead in leads:
        if best is not None and control.expired():
            break
        order = np.argsort(segments - lead * depth, axis=1, kind="stable")
        order = np.ascontiguousarray(np.broadcast_to(order, parents.shape))
        plan = ordered_by_sequence(forward, parents, order, tables)
        if len(plan[0]) == wanted and (best is None or plan[1] < best[1]):
            best = plan
    if parents.size <= BACKFILLED_UP_TO:
        plan = ordered_by_rule(forward, parents, "backfilling", tables)
        best = plan if best is None or plan[1] < best[1] else best
    assert best is not None
    sends = best[0]
    if forward is problem:
        schedule = in_order(problem, sends)
        assert schedule is not None
        return schedule
    backwards = np.column_stack([sends.receiver, sends.sender, sends.segment])[::-1]
    return schedule_from_copies(problem, backwards)


def depths(parents: Integers) -> Integers:
    """Return how many sends each segment takes from each machine to the root.

    Each machine adds what lies above the machine that it has got to, which doubles its way.
    Complexity: O(n m log n).
    """
    depth, above = np.ones_like(parents), parents
    depth[ROOT] = 0
    while above.any():
        depth += np.take_along_axis(depth, above, axis=0)
        above = np.take_along_axis(above, above, axis=0)
    return depth


def as_reduction(problem: Reduction) -> Reduction:
    """Return the reduction that a broadcast is in reversed time."""
    latency, transfer = np.asarray(problem.latency), np.asarray(problem.transfer)
    return Reduction(
        machines=problem.machines,
        segments=problem.segments,
        latency=latency.T if latency.ndim else problem.latency,
        transfer=transfer.T if transfer.ndim else problem.transfer,
        reduce=0.0,
        segment_sizes=problem.segment_sizes,
    )


def chain(machines: int, segment: int) -> Integers:
    """Every machine sends to the one before it."""
    return np.maximum(np.arange(machines) - 1, 0)


def star(machines: int, segment: int) -> Integers:
    """Every machine sends to the root."""
    return np.zeros(machines, dtype=np.int64)


def binary(machines: int, segment: int) -> Integers:
    """Machines 2i + 1 and 2i + 2 send to machine i."""
    return np.maximum((np.arange(machines) - 1) // 2, 0)


def k_nomial(machines: int, arity: int) -> Integers:
    """Every machine sends to the one whose number lacks its lowest digit in base ``arity``.

    >>> k_nomial(8, 2).tolist()
    [0, 0, 0, 2, 0, 4, 4, 6]
    """
    parents = np.zeros(machines, dtype=np.int64)
    for machine in range(1, machines):
        weight = 1
        while machine // weight % arity == 0:
            weight *= arity
        parents[machine] = machine - machine // weight % arity * weight
    return parents


def two_tree(machines: int, segment: int) -> Integers:
    """Even segments follow a binary tree in which odd machines are leaves, odd ones another in
    which even machines are.

    Source: Sanders, Speck and Träff 2009.
    """
    inner = machines - 1
    place = np.arange(inner + 1)
    if segment % 2:
        place[1:] = place[1:] % inner + 1 if inner % 2 else inner + 1 - place[1:]
    parents = np.zeros(machines, dtype=np.int64)
    stack = [(1, inner, 0)]
    while stack:
        low, high, above = stack.pop()
        if low > high:
            continue
        step = 1 << (high.bit_length() - 1)
        while (middle := high // step * step) < low:
            step //= 2
        parents[place[middle]] = place[above] if above else 0
        stack += [(low, middle - 1, middle), (middle + 1, high, middle)]
    return parents
