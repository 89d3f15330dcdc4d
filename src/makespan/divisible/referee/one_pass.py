"""Large schedules of one chunk a worker: most rules at once, where nothing is wrong.

The pass knows one form, that in which chunks are numbered and listed as they are sent, and says
only whether a schedule of that form keeps the rules. All else is left to the rules themselves,
one by one: other forms, and whatever has a fault, to be told which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.jit import compiles
from makespan.core.schedule import COLUMNS, Activity, Schedule
from makespan.divisible.platform import NUMBERS
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.referee import amounts, chunks, resources, sequences, times
from makespan.divisible.referee.reading import NONE, RELATIVE_TOLERANCE, Reading

MANY = 100_000
"""From so many rows on, the compiled loop is worth loading."""

WITHIN = (
    *chunks.RULES,
    *resources.RULES,
    *(times.duration, times.precedence, times.windows, amounts.memory),
    *(sequences.rounds, sequences.discipline, sequences.use),
)
"""The rules that a schedule keeps in which the pass finds no fault."""


def read_in_one_pass(problem: DivisibleLoad, schedule: Schedule) -> Reading | None:
    """Return what the rules beyond those :data:`WITHIN` read; None where these are to be asked.

    Complexity: O(rows), compiled.
    """
    if len(schedule) < MANY or not compiles() or problem.ports not in (1, 2):
        return None
    sent, computed, returned = (
        int(np.count_nonzero(schedule.kind == activity))
        for activity in (Activity.SEND, Activity.COMPUTE, Activity.RETURN)
    )
    own, seconds = computed - sent, RELATIVE_TOLERANCE * schedule.makespan
    if own not in (0, 1) or (problem.use == "all" and sent < len(problem.star)):
        return None
    if own and not _is_masters(problem, schedule, sent, seconds):
        return None
    load = problem.load
    if load is None:
        load = float(schedule.amount[schedule.kind == Activity.COMPUTE].sum())
    units = RELATIVE_TOLERANCE * load
    if not _faultless(problem, schedule, (sent, returned, own), seconds, units):
        return None
    rows = np.arange(len(schedule))
    sends, computes, returns = np.split(rows[: 2 * sent + returned], [sent, 2 * sent])
    back = np.broadcast_to(NONE, sent)
    if returned:
        back = back.copy()
        back[schedule.item[returns]] = returns
    return Reading(
        problem=problem,
        schedule=schedule,
        sends=sends,
        computes=np.append(computes, rows[-1:]) if own else computes,
        returns=returns,
        repeated=rows[:0],
        chunk=sends,
        send=sends,
        compute=computes,
        return_=back,
        own=rows[len(rows) - own :],
        orphans=rows[:0],
        seconds=seconds,
        units=units,
    )


def _is_masters(problem: DivisibleLoad, schedule: Schedule, sent: int, seconds: float) -> bool:
    """Whether the last row is a computation of the master's own, and has no fault."""
    cost = getattr(problem.star.master, "compute", None)
    last = {name: getattr(schedule, name)[-1].item() for name in COLUMNS}
    if not isinstance(cost, Affine) or not last["amount"] or 0 <= last["item"] < sent:
        return False
    nominal = cost.fixed + cost.per_unit * last["amount"]
    in_time = abs(nominal - (last["end"] - last["start"])) <= seconds
    return in_time and (last["kind"], last["machine"], last["peer"]) == (
        Activity.COMPUTE,
        MASTER,
        NONE,
    )


def _faultless(
    problem: DivisibleLoad,
    schedule: Schedule,
    counts: tuple[int, int, int],
    seconds: float,
    units: float,
) -> bool:
    from makespan.divisible.referee import kernels

    faultless: Any = kernels.faultless
    star = problem.star
    rank = np.empty(0, dtype=np.int64)
    if problem.order is not None:
        rank = np.empty(len(star), dtype=np.int64)
        rank[problem.workers_in(problem.order)] = np.arange(len(star))
    limited = star.release.any() or (star.memory < np.inf).any() or (star.deadline < np.inf).any()
    fixed = star.send_fixed.any() or star.compute_fixed.any() or star.return_fixed.any()
    return bool(
        faultless(
            *counts,
            *readonly(*(getattr(schedule, name) for name in COLUMNS), rank),
            *readonly(*(getattr(star, name) for name in NUMBERS[:9])),
            bool(fixed),
            bool(limited),
            problem.ports == 1,
            problem.discipline == "lifo",
            problem.discipline == "fifo",
            _may_be_empty(problem),
            seconds,
            units,
        )
    )


def _may_be_empty(problem: DivisibleLoad) -> bool:
    asked = problem.activation is not None or problem.transfers is not None
    return asked or problem.use == "all"
