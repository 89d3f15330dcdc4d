"""Many rounds with returns on two channels: sends and results at the same time."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.divisible.methods.returns.sends_first import (
    ROUNDS_WITH_RETURNS,
    _all_sends_first,
    best_rounds,
)
from makespan.divisible.needs import at_most, says
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="two-channels",
    needs=(*ROUNDS_WITH_RETURNS, Need("two ports", says("ports", 2))),
    reach=(at_most(2_000),),
    complexity="a sparse linear programme for each number of rounds and workers tried",
    source="Yang and Casanova 2003, section 5.4, an open question there: linear programme for "
    "given orders",
)
def two_channels(problem: DivisibleLoad, control: Control) -> Solution:
    """Round-robin sends on one channel, results in the same order on the other.

    ``details["bottleneck"]`` says what limits the plan: ``input``, ``output`` or
    ``computation``, whichever is busy for the largest part of it; ``details["busy"]`` has the
    parts. On equal workers in many rounds the input is the limit where c > d and N c > w, the
    output where d > c and N d > w, and the computation where neither channel fills up.
    """
    sized = best_rounds(problem, _all_sends_first, control)
    if sized is None:
        return Solution(schedule=None)
    schedule = timed(problem, sized.plan.without_empty())
    busy = busy_parts(schedule)
    bottleneck = max(busy, key=lambda name: busy[name])
    note = f"the {bottleneck} is the bottleneck: busy {100 * busy[bottleneck]:.1f} % of the time"
    return Solution(
        schedule=schedule, notes=(note,), details={"bottleneck": bottleneck, "busy": busy}
    )


def busy_parts(schedule: Schedule) -> dict[str, float]:
    """Return the part of the makespan in which sends, results and the workers used are busy."""
    lasting = schedule.end - schedule.start

    def total(kind: Activity) -> float:
        return float(lasting[schedule.kind == kind].sum()) / (schedule.makespan or 1.0)

    used = len(np.unique(schedule.machine[schedule.kind == Activity.COMPUTE])) or 1
    return {
        "input": total(Activity.SEND),
        "output": total(Activity.RETURN),
        "computation": total(Activity.COMPUTE) / used,
    }
