"""What people read: destinations and sends, derived from the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import segment_count, sends_of

SHOWN = 24


def answer(problem: Reduction, schedule: Schedule) -> dict[str, Any]:
    """Return where each machine sends each segment, and all sends; counted from 1.

    ``destinations`` has n rows and m columns, the root's row all 1. In a broadcast a row says
    from whom each segment comes. An all-reduce has ``sources`` for its broadcast as well.
    """
    schedule = schedule.renamed(problem.machines)
    segments = segment_count(problem, schedule)
    sends, rows = sends_of(problem, schedule)
    found: dict[str, Any] = {}
    shape = (len(problem.machines), segments)
    if problem.collective != "broadcast":
        into = ~sends.final
        table = np.ones(shape, dtype=np.int64)
        table[sends.sender[into], sends.segment[into]] = sends.receiver[into] + 1
        found["destinations"] = table.tolist()
    if problem.collective != "reduce":
        table = np.ones(shape, dtype=np.int64)
        out = sends.final
        table[sends.receiver[out], sends.segment[out]] = sends.sender[out] + 1
        found["sources"] = table.tolist()
    if problem.segments == "auto":
        found["segments"] = segments
    columns = (sends.sender + 1, sends.receiver + 1, sends.segment + 1, schedule.start[rows])
    found["sends"] = [
        {"from": sender, "to": receiver, "segment": segment, "start": start}
        for sender, receiver, segment, start in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return found


def lines(problem: Reduction, schedule: Schedule) -> list[str]:
    """Return the answer as lines of text: per machine, its sends in order."""
    schedule = schedule.renamed(problem.machines)
    segments = segment_count(problem, schedule)
    sends, rows = sends_of(problem, schedule)
    names = problem.machines
    text = [f"{problem.collective} of {segments} segments over {len(names)} machines"]
    for machine in range(min(len(names), SHOWN)):
        mine = np.flatnonzero(sends.sender == machine)
        if not len(mine):
            continue
        steps = [
            f"{sends.segment[row] + 1}→{names[int(sends.receiver[row])]}"
            f" at {schedule.start[rows[row]]:.6g}"
            for row in mine[:SHOWN].tolist()
        ]
        more = f", and {len(mine) - SHOWN} more" if len(mine) > SHOWN else ""
        text.append(f"  {names[machine]} sends {', '.join(steps)}{more}")
    if len(names) > SHOWN:
        text.append(f"  and {len(names) - SHOWN} more machines")
    return text
