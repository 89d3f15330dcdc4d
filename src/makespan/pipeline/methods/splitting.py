"""Splitting: the slowest interval gives a part of its stages to the next machine."""

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.construction import Best, solution_of
from makespan.pipeline.mapping import Mapping, fits, steps_of, values_of
from makespan.pipeline.needs import ONE_EACH, entries
from makespan.pipeline.problem import Pipeline


@register(
    needs=(ONE_EACH,),
    reach=(entries(1e6),),
    published=True,
    complexity="O(k² n) with k machines in use",
    source="Benoit and Robert 2008: interval-based heuristics for links that are alike",
)
def splitting(problem: Pipeline, control: Control) -> Solution:
    """All on the fastest machine; while it helps, the slowest interval is split with the next one.

    Both parts may go to either machine; the split that gives the least period is taken.
    """
    order = np.argsort(problem.pace, kind="stable").tolist()
    mapping = Mapping.of([0, len(problem.stages)], order[:1])
    best = Best(problem, mapping)
    for machine in order[1:]:
        if control.expired():
            break
        tried = min(
            _splits(problem, mapping, machine),
            key=lambda each: values_of(problem, each).period, default=None,
        )  # fmt: skip
        if tried is None:
            break
        if (
            fits(problem, mapping)
            and values_of(problem, tried).period >= values_of(problem, mapping).period
        ):
            break
        mapping = tried
        best.offer(mapping)
    return solution_of(problem, best.mapping)


def _splits(problem: Pipeline, mapping: Mapping, machine: int) -> Iterator[Mapping]:
    """Yield the mappings in which the slowest interval shares its stages with a machine."""
    steps, edges, groups = steps_of(problem, mapping), mapping.edges, mapping.groups
    loads = [
        max(parts) if problem.overlap else sum(parts)
        for parts in zip(steps.receiving, steps.compute, steps.sending[1:], strict=False)
    ]
    slowest = int(np.argmax(loads))
    own, first, last = groups[slowest], edges[slowest], edges[slowest + 1]
    for cut in range(first + 1, last):
        for pair in ((own, (machine,)), ((machine,), own)):
            split = (*groups[:slowest], *pair, *groups[slowest + 1 :])
            tried = Mapping((*edges[: slowest + 1], cut, *edges[slowest + 1 :]), split)
            flat = tried.machines
            if problem.order == "free" or flat == sorted(flat):
                yield tried
