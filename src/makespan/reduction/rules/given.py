"""Plans that the problem gives: destinations or sequences, brought into order."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.rules.order import deadlock, ordered_by_rule, ordered_by_sequence
from makespan.reduction.sends import Sends


def parents_of(problem: Reduction) -> Integers:
    """Return the given destinations, counted from 0: a row per machine, a column per segment."""
    if problem.destinations is not None:
        return np.array(problem.destinations, dtype=np.int64) - 1
    assert problem.sequences is not None
    parents = np.zeros((len(problem.machines), len(problem.sizes)), dtype=np.int64)
    for machine, row in enumerate(problem.sequences):
        for segment, destination in row:
            parents[machine, segment - 1] = destination - 1
    return parents


def given_sends(problem: Reduction) -> tuple[Sends | None, Any, str]:
    """Return the sends of the given plan in order, its makespan in units, or why it never ends."""
    parents = parents_of(problem)
    if problem.sequences is None:
        order = "backfilling" if problem.order == "backfilling" else "greedy"
        return *ordered_by_rule(problem, parents, order), ""
    segments = np.zeros(parents.shape, dtype=np.int64)
    for machine, row in enumerate(problem.sequences):
        segments[machine, : len(row)] = [segment - 1 for segment, _ in row]
    sends, end = ordered_by_sequence(problem, parents, segments)
    cycle = deadlock(parents, segments, sends)
    if not cycle:
        return sends, end, ""
    names = problem.machines
    steps = [
        f"{names[machine]} waits to send {segment_name(segment)} until {names[other]} has sent"
        for (machine, segment), (other, _) in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    ]
    return None, None, f"sequences: deadlock: {'; '.join(steps)}"
