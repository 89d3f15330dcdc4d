"""First mappings: best fit within a period, splitting, and what systems do, by number or memory."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.chains import Cutter
from makespan.pipeline.construction import Best, first_mapping, solution_of
from makespan.pipeline.mapping import Mapping, fits, steps_of, values_of
from makespan.pipeline.needs import ONE_EACH, entries
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import Costs


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


@register(
    reach=(entries(4e6),),
    complexity="O(k m (n + m)) for some dozen periods, and a dynamic programme for each sequence",
    source="bisection on the period as in Benoit and Robert 2008; of the machines left the one "
    "that wastes least",
)
def best_fit(problem: Pipeline, control: Control) -> Solution:
    """Machines one after another, each the one that wastes least of a period; stages cut optimally.

    Sequences of the fastest machines, and of those with most memory, are cut, too. With limits, or
    another objective, the best of these cuts is taken.
    """
    cutter = Cutter(Costs.of(problem), problem.overlap)
    return solution_of(problem, first_mapping(problem, cutter, control))


proportional = partial(
    register, "pipeline", needs=(ONE_EACH,), published=True, complexity="O(m log m)"
)


@proportional(name="equal", source="common practice: vLLM, pytorch's pipelining, DeepSpeed uniform")
def equal(problem: Pipeline, control: Control) -> Solution:
    """As many stages on each machine, in the order of the machines, the first ones one more."""
    return _dealt(problem, np.ones(len(problem.machines)))


@proportional(
    name="memory-proportional",
    source="common practice: exo's ring partitioning, llama.cpp's default split",
)
def memory_proportional(problem: Pipeline, control: Control) -> Solution:
    """Stages in proportion to memory, in the order of the machines; largest remainders first."""
    weights = np.minimum(problem.memory, 1e300)
    return _dealt(problem, weights / float(weights.max() or 1.0))


def _dealt(problem: Pipeline, weights: Floats) -> Solution:
    """Return the mapping whose numbers of stages are nearest to shares by these weights."""
    count = len(problem.stages)
    share = weights / float(weights.sum()) * count
    number = np.floor(share + 1e-9).astype(np.int64)
    rest = np.argsort(number - share, kind="stable")[: count - int(number.sum())]
    number[rest] += 1
    machines = np.flatnonzero(number).tolist()
    mapping = Mapping.of(np.concatenate([[0], np.cumsum(number[machines])]).tolist(), machines)
    if not fits(problem, mapping):
        note = "the shares don't fit into the memory of the machines"
        return Solution(schedule=None, notes=(note,))
    return solution_of(problem, mapping)
