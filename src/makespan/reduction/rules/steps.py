"""Steps of reductions and broadcasts: the sends, in the order in which methods decide them."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Slot, Step, Table, number
from makespan.reduction.problem import Reduction, segment_name

MACHINES = 12
"""Machines up to which the table of who has what is shown."""


def logged(
    problem: Reduction, control: Control, solution: Solution, *, backwards: bool = False
) -> Solution:
    """Log the sends of a plan one after another, and return its solution.

    ``backwards``: as the method decides them, in the reversed time of a broadcast, in which those
    who have a segment become more with every copy; the rarest is copied first.
    """
    if not control.log_steps or solution.schedule is None:
        return solution
    schedule = solution.schedule
    sends = schedule.rows_of(Activity.SEND)
    reverse = backwards and problem.statement.combining
    key = -schedule.end[sends] if reverse else schedule.start[sends]
    copies = np.ones(int(schedule.item.max(initial=0)) + 1, dtype=np.int64)
    for row in sends[np.argsort(key, kind="stable")].tolist():
        _log(problem, control, schedule, row, copies if backwards else None, reverse=reverse)
    return solution


def _log(
    problem: Reduction,
    control: Control,
    schedule: Schedule,
    row: int,
    copies: np.ndarray | None,
    *,
    reverse: bool,
) -> None:
    sender = schedule.machines[schedule.machine[row]]
    receiver = schedule.machines[schedule.peer[row]]
    start, end = float(schedule.start[row]), float(schedule.end[row])
    segment = int(schedule.item[row])
    name = segment_name(segment)
    tables: tuple[Table, ...] = ()
    why = ""
    if copies is not None:
        by_count = np.argsort(copies, kind="stable")[:MACHINES].tolist()
        rows = tuple((segment_name(each), int(copies[each])) for each in by_count)
        chosen = by_count.index(segment) if segment in by_count else -1
        tables = (Table("machines with each segment", ("segment", "machines"), rows, chosen),)
        why = f" (on {int(copies[segment])} so far)"
        copies[segment] += 1
    control.step(
        Step(
            text=f"t = {number(start)}: {sender} sends segment {name} to {receiver}, "
            f"until {number(end)}{why}",
            cells={
                "from": start, "until": end, "sender": sender, "segment": name, "to": receiver,
                **({"machines that have it": why.strip(" ()").split()[1]} if why else {}),
            },
            items={"chosen": (segment,)},
            slots=(Slot(sender, start, end, "chosen"),),
            tables=tables,
            time=None if reverse else start,
            since=start if reverse else None,
        )
    )  # fmt: skip
