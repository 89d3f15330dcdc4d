"""Better sequences of machines: exchanges, insertions and removals, each cut optimally."""

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.bounds import objective_bound
from makespan.pipeline.chains import Cutter
from makespan.pipeline.construction import Best, cuts, known_mapping, only_period, solution_of
from makespan.pipeline.needs import FEW_MACHINES, ONE_EACH, ONE_VALUE, entries
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import Costs

SHARE = 0.15  # what part of the time it may take where an exact search follows
PATIENCE = 20  # moves without success, for each pair of machines, after which it ends
NEAR = 1.02  # sequences are tried whose period is up to so many times the best one's


@register(
    needs=(ONE_EACH, ONE_VALUE),
    reach=(entries(4e6),),
    complexity="O(k n l) a move, with k machines in use and l stages of an interval at most",
    source="exchanges of machines in the manner of Benoit and Robert 2008; the stages between them "
    "by dynamic programming",
)
def local_search(problem: Pipeline, control: Control) -> Solution:
    """From the best mapping known, machines change places, come and go while that is better.

    A sequence that is a little worse may be gone on from; the best mapping is kept.
    """
    start = known_mapping(problem, control)
    if start is None:
        return Solution(schedule=None)
    best = Best(problem, start)
    with control.sharing(SHARE if FEW_MACHINES.unmet(problem) is None else 1.0):
        _improved(problem, control, best)
    return solution_of(problem, best.mapping)


def _improved(problem: Pipeline, control: Control, best: Best) -> None:
    """Change the sequence of machines at random until nothing better is found for long."""
    assert best.mapping is not None
    alone = only_period(problem)
    cutter = _cutter(problem, best)
    count, rng, bound = len(problem.machines), control.rng, objective_bound(problem)
    sequence, here = best.mapping.machines, best.rank
    idle, patience = 0, PATIENCE * count * count
    while idle < patience and not control.expired():
        if best.rank[0] == 0.0 and best.rank[1] <= bound:
            return
        idle += 1
        tried = _moved(sequence, count, rng)
        if problem.order == "given":
            tried = sorted(tried)
        if not tried or len(tried) > len(problem.stages):
            continue
        most = best.rank[1] * NEAR if alone and best.rank[0] == 0.0 else np.inf
        found = Best(problem)
        for mapping in cuts(problem, cutter, tried, most):
            found.offer(mapping)
        if found.mapping is None:
            continue
        if best.offer(found.mapping):
            idle = 0
            control.report(best.rank[1], bound)
            cutter = _cutter(problem, best)
        if found.rank <= here or (
            found.rank[0] <= best.rank[0] and found.rank[1] <= best.rank[1] * NEAR
            and rng.random() < 0.05
        ):  # fmt: skip
            sequence, here = tried, found.rank


def _cutter(problem: Pipeline, best: Best) -> Cutter:
    """Return what cuts sequences, into intervals that may be of a better mapping."""
    most = best.rank[1] * NEAR if only_period(problem) and best.rank[0] == 0.0 else np.inf
    return Cutter(Costs.of(problem, most), problem.overlap)


def _moved(sequence: list[int], count: int, rng: np.random.Generator) -> list[int]:
    """Return a sequence with one machine exchanged, moved, inserted or taken out."""
    tried, kind = list(sequence), int(rng.integers(5))
    at = int(rng.integers(len(tried)))
    if kind <= 1 and len(tried) > 1:
        other = int(rng.integers(len(tried)))
        tried[at], tried[other] = tried[other], tried[at]
    elif kind == 2 and len(tried) > 1:
        tried.insert(int(rng.integers(len(tried))), tried.pop(at))
    elif kind == 3 and len(tried) > 1 and rng.random() < 0.5:
        del tried[at]
    elif len(tried) < count:
        new = int(rng.integers(count))
        if new not in tried:
            if kind == 4:
                tried[at] = new
            else:
                tried.insert(at, new)
    return tried
