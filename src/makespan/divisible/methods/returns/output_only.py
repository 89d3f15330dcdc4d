"""Results without input: the input-only problem in reversed time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.schedule import Activity
from makespan.core.solution import Solution
from makespan.divisible.methods.returns.round_robin import ROUNDS_WITH_RETURNS
from makespan.divisible.methods.rounds.multi_round import multi_round
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.needs import at_most, nonzero, says
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="output-only",
    needs=(
        *ROUNDS_WITH_RETURNS,
        Need("sends without any cost", nonzero("send_fixed", "send_per_unit")),
        Need("one result at a time (ports 1 or 2)", says("ports", 1, 2)),
        Need("no given order", lambda problem: problem.order and "order is given"),
    ),
    reach=(at_most(10_000),),
    complexity="that of multi-round",
    source="Yang and Casanova 2003, section 5 and figure 4: the input-only schedule, flipped",
)
def output_only(problem: DivisibleLoad, control: Control, *, effort: float = 1.0) -> Solution:
    """Results only: plan the same star with sends in place of results, and reverse time."""
    star = problem.star
    flipped = star.changed(
        send_fixed=star.return_fixed,
        send_per_unit=star.return_per_unit,
        return_fixed=0.0,
        return_per_unit=0.0,
    )
    forward = replace(problem, platform=flipped, discipline=None, return_order=None)
    found = multi_round(forward, control, effort=effort)
    if found.schedule is None:
        return found
    sends = found.schedule.rows_of(Activity.SEND)[::-1]
    plan = Plan.of(
        found.schedule.peer[sends] - 1,
        found.schedule.amount[sends],
        transfers=sends_then_returns(len(sends), np.arange(len(sends))),
    )
    return replace(found, schedule=timed(problem, plan))
