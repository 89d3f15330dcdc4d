"""What systems do: equal numbers of stages, or in proportion to memory."""

from functools import partial

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.construction import solution_of
from makespan.pipeline.mapping import Mapping, fits
from makespan.pipeline.needs import ONE_EACH
from makespan.pipeline.problem import Pipeline

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
    edges = np.concatenate([[0], np.cumsum(number[machines])]).tolist()
    mapping = Mapping.of(edges, machines)
    if not fits(problem, mapping):
        note = "the shares don't fit into the memory of the machines"
        return Solution(schedule=None, notes=(note,))
    return solution_of(problem, mapping)
