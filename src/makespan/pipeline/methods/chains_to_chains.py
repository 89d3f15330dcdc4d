"""Identical machines: the least period by parametric search."""

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.bounds import period_bounds
from makespan.pipeline.chains import chains
from makespan.pipeline.construction import solution_of
from makespan.pipeline.mapping import Mapping
from makespan.pipeline.needs import ALIKE, NO_TURNS, ONE_EACH, PERIOD_ONLY
from makespan.pipeline.problem import Pipeline


@register(
    needs=(ALIKE, PERIOD_ONLY, NO_TURNS, ONE_EACH),
    proves="the longest intervals within a period cover most stages, and no shorter one lets any "
    "of them grow",
    complexity="O(m log n) a probe, a few dozen probes; O(n) each where transfers matter",
    source="Pınar and Aykanat 2004",
)
def chains_to_chains(problem: Pipeline, control: Control) -> Solution:
    """The least period on identical machines, proved, for millions of stages."""
    stages, capacity = problem.stages, float(problem.memory[0])
    if stages.durations is None:
        seconds = stages.work / problem.speeds[0]
    else:
        seconds = stages.durations[:, 0]
    if not np.isfinite(seconds).all():
        return Solution(schedule=None, infeasible="a stage can run on no machine")
    work, held = (np.concatenate([[0.0], np.cumsum(column)]) for column in (seconds, problem.held))
    machines = min(len(problem.machines), len(stages))
    per_unit = float(problem.per_unit[0, 1]) if len(problem.machines) > 1 else 0.0
    transfer = problem.moved * per_unit
    low = max(bound.value for bound in period_bounds(problem))
    room = capacity * (1 + 1e-12)
    found = chains(work, held, room, machines, transfer, low * (1 - 1e-12))
    best = None if found is None else found[1]
    if held[-1] <= room and (found is None or work[-1] <= found[0]):
        best = [0, len(stages)]  # alone, it has nothing to hand over
    if best is None:
        return Solution(
            schedule=None, infeasible="no interval mapping keeps within the machines' memory"
        )
    return solution_of(problem, Mapping.of(best, range(len(best) - 1)), optimal=True)
