"""Loads at several sources: sequences of sends, changed while that helps."""

from __future__ import annotations

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.methods.sources.source_flows import source_flows
from makespan.divisible.needs import SOURCES, at_most
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.outcome import solution_of, undated
from makespan.divisible.sources.scaled import Scaled
from makespan.divisible.sources.sequences import Sequences
from makespan.divisible.sources.sums import Sums

MAX_WORKERS = 200
SHARE = 0.3  # of the time that is left, for what proves the plan
MAX_LINKS, MAX_WHOLE = 1_000, 60
"""Links up to which the end of a plan tightens its bound, and whole numbers do."""


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
    answer, scaled = _proof_of(problem, best.makespan, control)
    return solution_of(problem, best, answer, scaled)


def _proof_of(
    problem: DivisibleLoad, makespan: float, control: Control
) -> tuple[Answer | None, Scaled]:
    """Return the best programme of sums for plans that end before one that is known.

    None where it says no more than the bounds do. Complexity: linear programmes of as many
    variables as links, and up to 60 links a mixed-integer one, to the limit of ``control``.
    """
    horizon = makespan if problem.load is not None else np.inf
    links = int(Scaled(problem).linked.sum())
    if not problem.has_latencies or links > MAX_LINKS or control.expired():
        return None, Scaled(problem)
    sums = Sums(problem, horizon=horizon)
    answer = sums.solve(control)
    if links <= MAX_WHOLE and answer.verdict is Verdict.OPTIMAL:
        whole = Sums(problem, horizon=horizon, relaxed=sums)
        better = whole.programme.solve(control)
        if better.bound > answer.bound:
            answer = better
    return answer, sums.scaled
