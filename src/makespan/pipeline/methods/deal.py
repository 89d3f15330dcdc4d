"""Intervals dealt to several machines: branch and bound over groups."""

from collections.abc import Iterator
from copy import copy
from itertools import combinations, pairwise

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.bounds import objective_bound
from makespan.pipeline.construction import Best, known_mapping, solution_of
from makespan.pipeline.mapping import Mapping, excess, fits, steps_of, values_of, worth
from makespan.pipeline.needs import ONE_VALUE, SEVERAL, entries
from makespan.pipeline.problem import Pipeline

NO_PLAN = "no mapping, dealt or not, keeps within memory and limits"
STRICTLY = 1 - 1e-12


@register(
    needs=(SEVERAL, ONE_VALUE),
    reach=(entries(1e6),),
    proves="all intervals and groups of machines are enumerated, but for what bounds exclude; "
    "not of the makespan",
    complexity="exponential; idle machines join the slowest groups first",
    source="Benoit and Robert 2008 for the model; branch and bound",
)
def deal(problem: Pipeline, control: Control) -> Solution:
    """Intervals that machines take in turn: idle ones join, then all groups are tried."""
    best = Best(problem, known_mapping(problem, control))
    most = min(problem.replicas, problem.items, len(problem.machines))
    _join(problem, best, most, control)
    if best.rank[0] > 0.0:
        best = Best(problem)
    search = _Search(problem, best, most, control)
    search.go(0, (0,), ())
    complete, bound = not search.stopped, objective_bound(problem)
    if best.mapping is None:
        return Solution(
            schedule=None, infeasible=NO_PLAN if complete else None, stopped=not complete
        )
    if problem.objective == "makespan":  # nothing is proved: data sets of a group differ there
        return solution_of(problem, best.mapping, stopped=not complete)
    return solution_of(problem, best.mapping, bound=bound, optimal=complete, stopped=not complete)


def _join(problem: Pipeline, best: Best, most: int, control: Control) -> None:
    """Let idle machines join the group whose pace improves most, while that is better."""
    while best.mapping is not None and not control.expired():
        mapping = best.mapping
        idle = [each for each in range(len(problem.machines)) if each not in set(mapping.machines)]
        steps = steps_of(problem, mapping)
        load = [
            seconds / len(group)
            for seconds, group in zip(steps.compute, mapping.groups, strict=True)
        ]
        slowest = int(np.argmax(load))
        if len(mapping.groups[slowest]) >= most:
            return
        better = False
        for machine in idle:
            groups = list(mapping.groups)
            groups[slowest] = (*groups[slowest], machine)
            tried = Mapping(mapping.edges, tuple(groups))
            if _ordered(problem, tried) and best.offer(tried):
                better = True
        if not better:
            return


def _ordered(problem: Pipeline, mapping: Mapping) -> bool:
    if problem.order == "free":
        return True
    return all(max(one) < min(other) for one, other in pairwise(mapping.groups))


class _Search:
    """Depth-first search over the ends of intervals and their groups."""

    def __init__(self, problem: Pipeline, best: Best, most: int, control: Control) -> None:
        self.problem, self.best, self.most, self.control = problem, best, most, control
        self.stopped = False
        self.silent = copy(problem)  # of the first stages, nothing is known to be handed over
        object.__setattr__(self.silent, "output", 0.0)
        self.cheapest = np.append(np.cumsum(problem.table.min(axis=1)[::-1])[::-1], 0.0)

    def go(self, stage: int, edges: tuple[int, ...], groups: tuple[tuple[int, ...], ...]) -> None:
        """Try every next interval and group behind ``stage``."""
        problem = self.problem
        if self.stopped or self.control.expired():
            self.stopped = True
            return
        if stage == len(problem.stages):
            mapping = Mapping(edges, groups)
            if excess(problem, values_of(problem, mapping)) == 0.0:
                self.best.offer(mapping)
            return
        for end in range(len(problem.stages), stage, -1):
            for group in self._groups(groups):
                tried = Mapping((*edges, end), (*groups, group))
                if self._may_do(tried, end):
                    self.go(end, tried.edges, tried.groups)

    def _groups(self, groups: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
        """Yield groups of machines that are left; of machines alike, one of each size."""
        used = {machine for group in groups for machine in group}
        left = [each for each in range(len(self.problem.machines)) if each not in used]
        if self.problem.order == "given" and groups:
            left = [each for each in left if each > max(groups[-1])]
        for size in range(1, min(self.most, len(left)) + 1):
            if self.problem.alike:
                yield tuple(left[:size])
            else:
                yield from combinations(left, size)

    def _may_do(self, mapping: Mapping, end: int) -> bool:
        """Whether a mapping of the first stages fits and may lead to a better one."""
        problem = self.problem
        if not fits(problem, mapping):
            return False
        part = problem if end == len(problem.stages) else self.silent
        values = values_of(part, mapping)
        values = values._replace(latency=values.latency + float(self.cheapest[end]))
        if excess(problem, values) > 0.0:
            return False
        return worth(problem, values) < self.best.rank[1] * STRICTLY
