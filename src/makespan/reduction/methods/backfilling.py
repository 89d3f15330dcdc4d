"""Destinations for the rules that order the sends: all of them, or by local search."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.core.schedule import Integers
from makespan.reduction import classical
from makespan.reduction.bounds import best_bound
from makespan.reduction.needs import A_REDUCTION, GIVEN_COUNT, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import ordered_by_rule, tables_of
from makespan.reduction.sends import claim_sends
from makespan.reduction.timing import in_order
from makespan.reduction.trees import all_trees

ALL_UP_TO = 30_000
SENDS_IN_ALL = 2_000_000
MOST_FREE_SENDS = 5_000
SHAPES: tuple[classical.Tree, ...] = (
    classical.chain,
    classical.binary,
    classical.two_tree,
    lambda machines, _: classical.k_nomial(machines, 2),
    classical.star,
)


def _order_is(*allowed: str) -> Need:
    return Need(
        f"order = {' or '.join(map(repr, allowed))}",
        lambda problem: None if problem.order in allowed else f"order is {problem.order!r}",
    )


def _too_many(problem: Reduction) -> str | None:
    """Say that there are better methods for many sends in free order."""
    if problem.segments == "auto" or problem.order != "free":
        return None
    sends = (len(problem.machines) - 1) * problem.segments
    return f"there are {sends}" if sends > MOST_FREE_SENDS else None


@register(
    "reduction",
    name="backfilling",
    needs=(
        A_REDUCTION,
        GIVEN_COUNT,
        OPEN_PLAN,
        _order_is("backfilling", "free"),
        Need(f"at most {MOST_FREE_SENDS} sends where order = 'free'", _too_many),
    ),
    proves="all destinations, where there are few (order = 'backfilling')",
    complexity="O(n m log(n m)) for each destination matrix tried",
    source="paper 000, last section: the leaves of all segments at each step",
)
def backfilling(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by backfilling; try all destinations where they are few, else search."""
    return _search(problem, control, "backfilling", tries)


@register(
    "reduction",
    name="greedy-trees",
    needs=(A_REDUCTION, GIVEN_COUNT, OPEN_PLAN, _order_is("greedy")),
    proves="all destinations, where there are few",
    complexity="O(n m log n) for each destination matrix tried",
    source="paper 000, evaluate; local search over destinations",
)
def greedy_trees(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by the notebook's rule; try all destinations where few, else search."""
    return _search(problem, control, "greedy", tries)


def _search(problem: Reduction, control: Control, rule: str, tries: int | None) -> Solution:
    machines, segments = len(problem.machines), len(problem.sizes)
    tables = tables_of(problem)
    # one machine more per power: Cayley's number of trees for every segment
    few = (machines - 2) * segments * math.log(machines) <= math.log(ALL_UP_TO)

    def end_of(parents: Integers) -> Any:
        return ordered_by_rule(problem, parents, rule, tables)[1]

    claim_sends(problem)
    if few:
        best, through = _best_of_all(machines, segments, end_of, control)
    else:
        best, through = _local_search(problem, end_of, control, tries), False
    sends, _ = ordered_by_rule(problem, best, rule, tables)
    schedule = in_order(problem, sends)
    return Solution(
        schedule=schedule, optimal=through and problem.order == rule, stopped=not through
    )


def _best_of_all(
    machines: int, segments: int, end_of: Any, control: Control
) -> tuple[Integers, bool]:
    """Return the best destinations, and whether all were tried."""
    trees = all_trees(machines)
    best, least = np.zeros((machines, segments), dtype=np.int64), None
    for choice in product(range(len(trees)), repeat=segments):
        parents = np.ascontiguousarray(trees[list(choice)].T)
        end = end_of(parents)
        if least is None or end < least:
            best, least = parents, end
        if control.expired():
            return best, False
    return best, True


def _local_search(problem: Reduction, end_of: Any, control: Control, tries: int | None) -> Integers:
    """Start from the best classical tree, then send single segments elsewhere."""
    machines, segments = len(problem.machines), len(problem.sizes)
    best = classical.parents_of(problem, SHAPES[0])
    least = end_of(best)
    for shape in SHAPES[1:]:
        if control.expired():
            return best
        parents = classical.parents_of(problem, shape)
        end = end_of(parents)
        if end < least:
            best, least = parents, end
    target = best_bound(problem) / float(problem.unit or 1) * (1 + 1e-12)
    rng = np.random.default_rng(control.rng.integers(2**31))
    share = SENDS_IN_ALL // (machines * segments) // (1 if machines * segments >= 200 else 10)
    for _ in range(max(20, min(5000, share)) if tries is None else tries):
        if least <= target or control.expired():
            break
        trial = best.copy()
        for _ in range(int(rng.integers(1, 3))):
            _move(trial, rng)
        end = end_of(trial)
        if end <= least:
            best, least = trial, end
    return best


def _move(parents: Integers, rng: np.random.Generator) -> None:
    """Give one machine another destination for one segment, keeping a tree."""
    machines, segments = parents.shape
    segment, machine = int(rng.integers(segments)), int(rng.integers(1, machines))
    target = int(rng.integers(machines))
    above = target
    while above not in (0, machine):
        above = int(parents[above, segment])
    if above != machine:
        parents[machine, segment] = target
