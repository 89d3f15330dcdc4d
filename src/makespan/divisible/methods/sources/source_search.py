"""Loads at several sources: sequences of sends, changed while that helps."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.methods.sources.source_flows import source_flows
from makespan.divisible.needs import SOURCES, at_most
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.outcome import solution_of, undated
from makespan.divisible.sources.proof import proof_of
from makespan.divisible.sources.sequences import Sequences

MAX_WORKERS = 200
SHARE = 0.3  # of the time that is left, for what proves the plan


@register(
    "divisible",
    name="source-search",
    needs=(SOURCES,),
    reach=(at_most(MAX_WORKERS),),
    complexity="a linear programme for each sequence tried",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, the programme of a given order; local search",
)
def source_search(problem: DivisibleLoad, control: Control) -> Solution:
    """Chunks moved, left out, taken in and sent by others; amounts by a linear programme each."""
    plan = (control.incumbent or source_flows(undated(problem), control)).schedule
    search = Sequences(problem, control)
    if plan is None:
        return Solution(schedule=None, stopped=True)
    search.tried_plan(plan)
    left = control.remaining
    with control.reserving(0.0 if left is None else SHARE * left):
        search.improve()
    best = search.plan or plan
    answer, scaled = proof_of(problem, best.makespan, control)
    return solution_of(problem, best, answer, scaled)
