"""The rules that order the sends, over all destinations, or over those of a local search."""

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import logged
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import trees
from makespan.reduction.halves.shortest_paths import quickest_ways
from makespan.reduction.heuristics.order import ordered
from makespan.reduction.heuristics.symmetry import broadcast_of
from makespan.reduction.notebook.search import MAX_LISTED, search
from makespan.reduction.notebook.trees import all_trees
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, claim_sends, float_tables_of, sends_in, tables_of
from makespan.reduction.timing import in_order

ALL_UP_TO = 30_000
SENDS_IN_ALL = 2_000_000
SHAPES = (trees.star, trees.chain, trees.binary, trees.two_tree, trees.binomial)
"""The first is planned whatever the time: it is quick at any size."""
MAX_FREE_SENDS = 5_000  # for more, there are better methods than backfilling


def _sends_in_free_order(problem: Reduction) -> int:
    return sends_in(problem) if problem.order == "free" else 0


@register(
    needs=(needs.A_REDUCTION, needs.GIVEN_COUNT, needs.GREEDY_ORDER, needs.OPEN_PLAN),
    proves="all destinations, where there are few",
    complexity="O(n m log n) for each destination matrix tried",
    source="array reduction notebook, evaluate; local search over destinations",
)
def greedy_trees(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by the greedy rule; try all destinations where few, else search."""
    return best_destinations(problem, control, "greedy", tries)


@register(
    needs=(
        needs.A_REDUCTION,
        needs.GIVEN_COUNT,
        needs.OPEN_PLAN,
        needs.BACKFILLING_ORDER,
        needs.at_most(MAX_FREE_SENDS, "sends where order = 'free'", _sends_in_free_order),
    ),
    proves="all destinations, where there are few (order = 'backfilling')",
    complexity="O(n m log(n m)) for each destination matrix tried",
    source="array reduction notebook, last section: the leaves of all segments at each step",
)
def backfilling(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by backfilling; try all destinations where they are few, else search."""
    return best_destinations(problem, control, "backfilling", tries)


def best_destinations(
    problem: Reduction, control: Control, rule: str, tries: int | None
) -> Solution:
    """Plan with ``rule`` for all destinations where they are few, for those of a search else."""
    machines, segments = len(problem.machines), len(problem.sizes)
    tables = tables_of(problem)
    # one machine more per power: Cayley's number of trees for every segment
    few = (machines - 2) * segments * math.log(machines) <= math.log(ALL_UP_TO)

    def planned(parents: Integers, clock: Control | None = control) -> _Plan:
        sends, end = ordered(problem, parents, rule, tables, clock)
        complete = len(sends) == (machines - 1) * segments
        return _Plan(parents, sends, end if complete else math.inf)

    claim_sends(problem)
    if few:
        best, through = _best_of_all(problem, planned, control)
    else:
        best, through = _local_search(problem, planned, control, tries), False
    found = Solution(
        schedule=in_order(problem, best.sends),
        optimal=through and problem.order == rule,
        stopped=not through,
    )
    return logged(problem, control, found)


class _Plan(NamedTuple):
    """Destinations, their sends in the order of the rule, and the makespan in units."""

    parents: Integers
    sends: Sends
    end: Any


def _best_of_all(problem: Reduction, planned: Any, control: Control) -> tuple[_Plan, bool]:
    """Return the plan of the best destinations, and whether all were tried."""
    trees = all_trees(len(problem.machines), problem.links)
    best: _Plan | None = None
    for choice in product(range(len(trees)), repeat=problem.items):
        plan = planned(np.ascontiguousarray(trees[list(choice)].T))
        if best is None or plan.end < best.end:
            best = plan
        if control.expired():
            return best, False
    assert best is not None
    return best, True


def _local_search(problem: Reduction, planned: Any, control: Control, tries: int | None) -> _Plan:
    """Start from the best classical tree, then send single segments elsewhere."""
    machines, segments = len(problem.machines), len(problem.sizes)
    links, shapes = problem.links, SHAPES[1:] if problem.links is None else ()
    if links is None:
        best: _Plan = planned(trees.parents_of(problem, SHAPES[0]), None)
    else:  # the quickest ways to the root
        holds, lacks = problem.statement.copied
        costs = broadcast_of(problem).over(machines)
        ways, _ = quickest_ways(problem, costs, holds, lacks)
        parents = np.zeros((machines, segments), dtype=np.int64)
        parents[ways[:, 1], ways[:, 2]] = ways[:, 0]
        best = planned(parents, None)
    for shape in shapes:
        if control.expired():
            return best
        best = min(best, planned(trees.parents_of(problem, shape)), key=_end)
    target = best_bound(problem) / float(problem.unit or 1) * (1 + 1e-12)
    rng = np.random.default_rng(control.rng.integers(2**31))
    share = SENDS_IN_ALL // (machines * segments) // (1 if machines * segments >= 200 else 10)
    for _ in range(max(20, min(5000, share)) if tries is None else tries):
        if best.end <= target or control.expired():
            break
        trial = best.parents.copy()
        for _ in range(int(rng.integers(1, 3))):
            _move(trial, rng, links)
        best = min(planned(trial), best, key=_end)
    return best


def _end(plan: _Plan) -> Any:
    return plan.end


def _move(parents: Integers, rng: np.random.Generator, links: Any) -> None:
    """Give one machine another destination for one segment, keeping a tree."""
    machines, segments = parents.shape
    segment, machine = int(rng.integers(segments)), int(rng.integers(1, machines))
    able = None if links is None else np.flatnonzero(links[machine])
    target = int(rng.integers(machines) if able is None else rng.choice(able))
    above = target
    while above not in (0, machine):
        above = int(parents[above, segment])
    if above != machine:
        parents[machine, segment] = target


MAX_MACHINES = 8
FEW_MACHINES = needs.at_most(MAX_MACHINES, "machines", lambda problem: len(problem.machines))


@register(
    needs=(needs.A_REDUCTION, needs.GIVEN_COUNT, needs.OPEN_PLAN, needs.GREEDY_ORDER, FEW_MACHINES),
    proves="all n^((n-2)m) valid solutions, merged where they meet (order = 'greedy')",
    complexity="O(S n^n) for S distinct states a segment",
    source="array reduction notebook, find_min; corrected: exact ties, the root keeps its name",
)
def exhaustive(
    problem: Reduction, control: Control, *, compatible: bool = False, listed: int = MAX_LISTED
) -> Solution:
    """Search all destinations under the greedy rule, with the counts of the notebook.

    ``compatible`` computes in floats as the notebook does, to the bit. The distinct optima are
    listed where there are at most ``listed`` optima.
    """
    claim_sends(problem)
    if control.expired():
        return Solution(
            schedule=None, notes=("the time limit was reached before the search began",)
        )
    tables = float_tables_of(problem) if compatible else tables_of(problem)
    tables = tables.over(len(problem.machines))
    transfer, latency, reduce, size, unit = tables
    found = search(
        transfer, latency, reduce, size, control=control, listed=listed, compatible=compatible
    )
    if found is None:
        return Solution(
            schedule=None, notes=("the time limit was reached before the search had finished",)
        )
    sends, _ = ordered(problem, found.best, "greedy")
    value = float(found.value) if unit is None else float(int(found.value) * unit)
    told: dict[str, Any] = {  # what the notebook prints
        "makespan": value,
        "tested": found.tested,
        "valid": found.valid,
        "optimal": found.optimal,
    }
    counted = (
        f"of {found.tested} destinations tested, {found.valid} are valid, {found.optimal} optimal"
    )
    if found.solutions is not None:  # as ``destinations`` takes them: counted from 1
        counted += f", {len(found.solutions)} of these distinct up to renaming machines"
        told["distinct"] = [(solution + 1).tolist() for solution in found.solutions]
    return Solution(
        schedule=in_order(problem, sends),
        optimal=problem.order == "greedy" and not compatible,
        details={"exhaustive": told},
        notes=(counted,),
    )
