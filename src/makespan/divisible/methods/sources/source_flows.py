"""What goes over each link by the programme of sums, in one piece or in several."""

from __future__ import annotations

import numpy as np

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import SOURCES
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.outcome import solution_of
from makespan.divisible.sources.sequences import Sequences, by_turns
from makespan.divisible.sources.sums import Sums

PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MAX_LINKS = 5_000
A_PAIR = 5e-8
"""Seconds that the programme takes for each pair of links, where there are many."""
MOST_CHUNKS = 600
"""Chunks of a sequence that is cut into more pieces."""


def _many(problem: DivisibleLoad) -> str | None:
    links = len(problem.holders) * len(problem.platform)
    return f"there could be {links:,}" if links > MAX_LINKS else None


@register(
    "divisible",
    name="source-flows",
    needs=(SOURCES,),
    reach=(Need(f"at most {MAX_LINKS:,} links", _many),),
    complexity="linear programmes of as many variables as links, and as chunks",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, the programme of a given order",
)
def source_flows(problem: DivisibleLoad, control: Control) -> Solution:
    """What goes over each link by the bound, the links in turn, sized by a linear programme."""
    links = len(problem.holders) * len(problem.platform)
    if links > MAX_LINKS:
        control.claim(A_PAIR * links**2, f"the linear programme of {links:,} links")
    sums = Sums(problem)
    answer = sums.solve(control)
    if answer.verdict is Verdict.INFEASIBLE:
        return Solution(schedule=None, infeasible="no plan places the load within the limits")
    if answer.verdict is Verdict.UNBOUNDED:
        return Solution(schedule=None, notes=("the load by the deadline has no maximum",))
    search = Sequences(problem, Control())
    flows, own = sums.flows(answer)
    flows = np.where(flows > 1e-9 * flows.sum(), flows, 0.0)
    scaled, computing = search.scaled, own > 1e-9 * own.sum()
    able = scaled.able
    ways = [able] if bool((able == computing).all()) else [able, computing]
    work = flows * np.where(flows > 0, scaled.compute, 0.0)
    for key in (-work, np.where(scaled.linked, scaled.send, 0.0)):
        line = by_turns(flows, scaled, key)
        for pieces in PIECES:
            many = pieces * len(line)
            if pieces > search.most or (pieces > 1 and (many > MOST_CHUNKS or control.expired())):
                break
            for computes in ways:
                search.tried(line * pieces, computes)
    every = sorted(search.links, key=lambda link: float(scaled.send[link]))
    if len(every) <= MOST_CHUNKS and not control.expired():
        search.tried(every, ways[-1])
    return solution_of(problem, search.plan, answer, sums.scaled)
