"""The trees that message-passing libraries use, pipelined over the segments: a method each."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import logged
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import Planner, planner
from makespan.reduction.heuristics.order import given_sends, ordered
from makespan.reduction.heuristics.symmetry import schedule_from_copies
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.sends import Sends, claim_sends, tables_of
from makespan.reduction.timing import in_order, kept_to

BACKFILLED_UP_TO = 2_000
LEADS = (0, 2, 4, 6, 8)  # how much earlier deeper machines send a segment of two trees
IN_TREES = (needs.ONE_WAY, *needs.FREE_PLAN)
Tree = Callable[[int, int], Integers]
ALONG: dict[Tree, Planner] = {}
"""The planners along trees that are the same for all even, and all odd segments."""


def pipelined(
    problem: Reduction, tree: Tree, control: Control, leads: tuple[int, ...] = (0,)
) -> Solution:
    """Plan a collective over given trees, one for even and one for odd segments.

    ``tree(machines, segment)`` returns the parent of every machine for a segment; the root is its
    own. For ``leads`` see :func:`planned`.

    A broadcast is the reversed reduction.
    """
    schedule = planned(problem, parents_of(problem, tree), control, leads)
    found = Solution(schedule=schedule, lower_bound=best_bound(problem))
    return logged(problem, control, found)


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
        plan = ordered(forward, parents, order, tables)
        if len(plan[0]) == wanted and (best is None or plan[1] < best[1]):
            best = plan
    if parents.size <= BACKFILLED_UP_TO:
        plan = ordered(forward, parents, "backfilling", tables)
        best = plan if best is None or plan[1] < best[1] else best
    assert best is not None
    sends = best[0]
    if forward is problem:
        return kept_to(problem, sends)
    backwards = np.column_stack([sends.receiver, sends.sender, sends.segment])[::-1]
    return schedule_from_copies(problem, backwards)


def tree_links(tree: Tree, problem: Reduction) -> tuple[Integers, Integers]:
    """Return senders and receivers of all links that the trees use."""
    every = np.arange(1, len(problem.machines))
    parents = np.concatenate([tree(len(problem.machines), segment)[1:] for segment in (0, 1)])
    ends = np.concatenate([every, every]), parents
    return ends if problem.collective == "reduce" else ends[::-1]


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
    tables: list[Any] = [problem.latency, problem.transfer]
    latency, transfer = (table.T if np.ndim(table) else table for table in tables)
    costs = {"latency": latency, "transfer": transfer, "reduce": 0.0}
    return replace(problem, collective="reduce", network=None, **costs)


def as_method(
    name: str, *, source: str = "classical", leads: tuple[int, ...] = (0,)
) -> Callable[[Tree], Tree]:
    """Register the method that pipelines over the decorated tree; its docstring is the method's."""

    def decorate(tree: Tree) -> Tree:
        def run(problem: Reduction, control: Control) -> Solution:
            return pipelined(problem, tree, control, leads)

        run.__doc__ = tree.__doc__
        asked = (*IN_TREES, needs.links_between(partial(tree_links, tree), "along its trees"))
        facts = {"complexity": "O(n m log n)", "source": source}
        ALONG[tree] = planner(name=name, needs=asked, **facts)(run)
        return tree

    return decorate


@as_method("chain", source="a pipeline; classical")
def chain(machines: int, segment: int) -> Integers:
    """Send every segment along a chain of all machines."""
    return np.maximum(np.arange(machines) - 1, 0)


@as_method("star")
def star(machines: int, segment: int) -> Integers:
    """Send every segment straight to the root."""
    return np.zeros(machines, dtype=np.int64)


@as_method("binary")
def binary(machines: int, segment: int) -> Integers:
    """Send every segment up a balanced binary tree: machine i gets from 2i + 1 and 2i + 2."""
    return np.maximum((np.arange(machines) - 1) // 2, 0)


@as_method("binomial", source="classical; what libraries use for short messages")
def binomial(machines: int, segment: int) -> Integers:
    """Send every segment up a binomial tree."""
    return without_lowest_digit(machines, 2)


@planner(
    name="k-nomial",
    needs=(*IN_TREES, needs.ALL_LINKS),
    complexity="O(n m log n)",
    source="classical; the binomial tree with digits in base k",
)
def k_nomial(problem: Reduction, control: Control, *, arity: int = 4) -> Solution:
    """Send every segment up a k-nomial tree; ``arity`` is k."""
    if isinstance(arity, bool) or not isinstance(arity, int) or arity < 2:
        raise MethodError(f"arity: {arity!r} is not allowed; it is a whole number from 2")
    return pipelined(problem, lambda machines, _: without_lowest_digit(machines, arity), control)


def without_lowest_digit(machines: int, base: int) -> Integers:
    """Every machine sends to the one whose number lacks its lowest digit in this base.

    >>> without_lowest_digit(8, 2).tolist()
    [0, 0, 0, 2, 0, 4, 4, 6]
    """
    machine = np.arange(machines)
    parents, weight = np.zeros_like(machine), 1
    while weight < machines:
        parents = np.where(machine % weight, parents, machine - machine % (weight * base))
        weight *= base
    return parents


@as_method("two-tree", source="Sanders, Speck and Träff 2009", leads=LEADS)
def two_tree(machines: int, segment: int) -> Integers:
    """Send odd and even segments up two binary trees, the leaves of one inside the other."""
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


@planner(
    name="given-plan",
    needs=(needs.A_REDUCTION, needs.GIVEN_COUNT, needs.GIVEN_PLAN),
    proves="destinations with a rule leave nothing to choose",
    complexity="O(n m log(n m))",
    source="array reduction notebook, evaluate, and its last section for sequences",
)
def given_plan(problem: Reduction, control: Control) -> Solution:
    """Start the sends of the given plan in the order of its rule, as early as possible.

    With sequences, the send that can start first goes first; on ties the lowest segment, then the
    lowest machine. A deadlock is reported with its cycle.
    """
    sends, _, why = given_sends(problem)
    if sends is None:
        return Solution(schedule=None, infeasible=why)
    settled = problem.order != "free" and problem.sequences is None
    return Solution(schedule=in_order(problem, sends), optimal=settled)
