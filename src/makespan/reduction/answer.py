"""What people read: destinations and sends by name, derived from the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.schedule import Schedule
from makespan.reduction.problem import ROOT, Reduction, segment_name
from makespan.reduction.sends import segment_count, sends_of

SHOWN = 24
COLUMNS = 100
"""How many machines are shown, and how wide the line of each may be."""


def answer(problem: Reduction, schedule: Schedule) -> dict[str, Any]:
    """Return where each machine sends each segment, and all sends, by name.

    ``destinations`` has a list per machine, an entry per segment: whom it gives its part to.
    Where segments are copied, ``sources`` says from whom each comes. None stands where a machine
    keeps its part, or gets no copy.
    """
    schedule = schedule.renamed(problem.machines)
    segments = segment_count(problem, schedule)
    sends, rows = sends_of(problem, schedule)
    names = list(problem.machines)
    statement = problem.with_segments(segments).statement
    found: dict[str, Any] = {}
    for key, own, other, final, told in (
        ("destinations", sends.sender, sends.receiver, False, statement.combining),
        ("sources", sends.receiver, sends.sender, True,
         not (statement.combining and statement.one_way)),
    ):  # fmt: skip
        if not told:
            continue
        table = np.full((len(names), statement.before.shape[1]), -1)
        mine = sends.final == final
        table[own[mine], sends.segment[mine]] = other[mine]
        found[key] = {
            name: [names[peer] if peer >= 0 else None for peer in row]
            for name, row in zip(names, table.tolist(), strict=True)
        }
        if problem.collective in ("reduce", "broadcast"):
            del found[key][names[ROOT]]
    if problem.segments == "auto":
        found["segments"] = segments
    columns = (sends.sender, sends.receiver, sends.segment, schedule.start[rows])
    found["sends"] = [
        {"from": names[one], "to": names[two], "segment": segment_name(segment), "start": start}
        for one, two, segment, start in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return found


def lines(problem: Reduction, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the answer as lines of text: per machine, its first sends in order."""
    schedule = schedule.renamed(problem.machines)
    segments = segment_count(problem, schedule)
    sends, rows = sends_of(problem, schedule)
    names = problem.machines
    text = [f"{problem.collective} of {segments} segments over {len(names)} machines"]
    for machine in range(min(len(names), most)):
        mine = np.flatnonzero(sends.sender == machine)
        if not len(mine):
            continue
        line, told = f"  {names[machine]} sends", 0
        for row in mine[:most].tolist():
            name, peer = segment_name(int(sends.segment[row])), names[int(sends.receiver[row])]
            step = f"{',' * (told > 0)} {name}→{peer} at {schedule.start[rows[row]]:.6g}"
            if told and len(line) + len(step) > COLUMNS:
                break
            line, told = line + step, told + 1
        text.append(line + (f", and {len(mine) - told} more" if len(mine) > told else ""))
    if len(names) > most:
        text.append(f"  and {len(names) - most} more machines")
    return text
