"""What people read: destinations and sends by name, and the steps of a method."""

from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Slot, Step, Table, number
from makespan.reduction.problem import ROOT, Reduction, segment_name
from makespan.reduction.sends import segment_count, sends_of

SHOWN = 24
COLUMNS = 100  # how many machines are shown, and how wide the line of each may be


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


MACHINES = 12  # machines up to which the table of who has what is shown


def finished(
    problem: Reduction, control: Control, schedule: Schedule, lower_bound: float, *,
    backwards: bool = False, **facts: Any,
) -> Solution:  # fmt: skip
    """Log the sends of a search's plan, and return its solution: stopped, but at the bound."""
    met = schedule.makespan <= lower_bound * (1 + 1e-12)
    found = Solution(schedule=schedule, lower_bound=lower_bound, stopped=not met, **facts)
    return logged(problem, control, found, backwards=backwards)


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
    cells: dict[str, str]
    tables: tuple[Table, ...]
    for row in sends[np.argsort(key, kind="stable")].tolist():
        sender = schedule.machines[schedule.machine[row]]
        receiver = schedule.machines[schedule.peer[row]]
        start, end = float(schedule.start[row]), float(schedule.end[row])
        segment = int(schedule.item[row])
        name, why, cells, tables = segment_name(segment), "", {}, ()
        if backwards:
            by_count = np.argsort(copies, kind="stable")[:MACHINES].tolist()
            rows = tuple((segment_name(each), int(copies[each])) for each in by_count)
            chosen = by_count.index(segment) if segment in by_count else -1
            tables = (Table("machines with each segment", ("segment", "machines"), rows, chosen),)
            why = f" (on {int(copies[segment])} so far)"
            cells = {"machines that have it": str(int(copies[segment]))}
            copies[segment] += 1
        text = f"t = {number(start)}: {sender} sends segment {name} to {receiver}, "
        control.step(
            Step(
                text=f"{text}until {number(end)}{why}",
                cells={
                    "from": start, "until": end, "sender": sender, "segment": name,
                    "to": receiver, **cells,
                },
                items={"chosen": (segment,)},
                slots=(Slot(sender, start, end, "chosen"),),
                tables=tables,
                time=None if reverse else start,
                since=start if reverse else None,
            )
        )  # fmt: skip
    return solution
