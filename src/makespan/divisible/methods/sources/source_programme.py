"""Loads at several sources: small problems proved by a mixed-integer programme."""

from __future__ import annotations

import numpy as np

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible.methods.sources.source_flows import source_flows
from makespan.divisible.needs import SOURCES
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.outcome import solution_of, undated
from makespan.divisible.sources.programme import ChunksProgramme
from makespan.divisible.sources.scaled import Scaled
from makespan.divisible.sources.sequences import Sequences

MAX_CHUNKS = 16
SHARE, ENOUGH = 0.5, 2.0
"""Of the time that is left, and seconds: the greater of both is spent."""


def _many(problem: DivisibleLoad) -> str | None:
    count = int(problem.rounds) * int(Scaled(problem).linked.sum())
    return f"there could be {count:,}" if count > MAX_CHUNKS else None


@register(
    "divisible",
    name="source-programme",
    needs=(
        SOURCES,
        Need(
            "given rounds",
            lambda problem: "rounds is 'auto'" if problem.rounds == "auto" else None,
        ),
        Need(
            "time for a load", lambda problem: None if _goal(problem) else "nothing is to be done"
        ),
    ),
    reach=(Need(f"at most {MAX_CHUNKS} chunks", _many),),
    proves="the dual bound of the branch and bound meets the plan",
    complexity="exponential in the chunks",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, with the order as choices",
)
def source_programme(problem: DivisibleLoad, control: Control) -> Solution:
    """Branch and bound over which chunks are sent, and in which order."""
    plan = (control.incumbent or source_flows(undated(problem), control)).schedule
    horizon = problem.deadline if problem.load is None else _horizon(problem, plan)
    assert horizon is not None
    scaled = Scaled(problem, horizon)
    source, worker = np.repeat(np.nonzero(scaled.linked), int(problem.rounds), axis=1)
    built = ChunksProgramme(scaled, source, worker, scaled.able, chooses=True)
    if not built.is_bounded:
        return solution_of(problem, plan, None, scaled)
    with control.sharing(SHARE, least=ENOUGH):
        answer = built.programme.solve(control)
    if answer.verdict is Verdict.INFEASIBLE and plan is None:
        return Solution(schedule=None, infeasible="no chunks keep the limits")
    search = Sequences(problem, Control())
    if plan is not None:
        search.tried_plan(plan)
    if answer.found:
        order = built.order(answer)
        links = zip(source[order].tolist(), worker[order].tolist(), strict=True)
        search.tried(list(links), built.computing(answer))
    return solution_of(problem, search.plan, answer, scaled)


def _goal(problem: DivisibleLoad) -> float | None:
    return problem.deadline if problem.load is None else problem.load


def _horizon(problem: DivisibleLoad, plan: Schedule | None) -> float:
    """Return the end of a plan; without one, when all is done if nothing goes on side by side."""
    if plan is not None and plan.makespan > 0:
        return plan.makespan
    scaled = Scaled(problem, 1.0)
    linked, rounds = scaled.linked, int(problem.rounds)
    send = np.where(linked, scaled.send_fixed + np.where(linked, scaled.send, 0.0), 0.0)
    compute = scaled.compute_fixed + scaled.compute
    own = np.where(scaled.able, scaled.own_fixed + np.where(scaled.able, scaled.own, 0.0), 0.0)
    begun = max(scaled.begin.max(initial=0.0), scaled.release.max(initial=0.0))
    return float(begun + rounds * (send.sum() + compute.sum() * len(send)) + own.sum()) or 1.0
