"""Duplication: what a task waits for longest is executed once more on its machine."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import MAX_ROWS, Step, Table, listed, number
from makespan.taskgraph.bounds import least_durations
from makespan.taskgraph.levels import by_level, colevels, ranks
from makespan.taskgraph.limits import worth
from makespan.taskgraph.list_scheduling.duplication import SECONDS_THINNED, DuplicationSchedule
from makespan.taskgraph.list_scheduling.fallback import cannot_end
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.needs import DUPLICATION, QUICKLY_COPIED, SINGLE_CORES
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import retimed

MOST = 32
"""Copies that are tried for one task on one machine."""


@register(
    "taskgraph",
    name="duplication",
    needs=(DUPLICATION, SINGLE_CORES),
    reach=(QUICKLY_COPIED,),
    complexity="O(n m k (c d + g)), k the copies tried for a task on a machine, up to 32, c the "
    "copies of a task, d its predecessors, g the gaps that are tried",
    source="Ahmad and Kwok 1998 (the predecessor whose data come last is copied, and its own "
    "before it); for unequal machines Hagras and Janeček 2005",
)
def duplication(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """By falling upward rank, each task goes where it ends first, with copies of predecessors.

    On each machine that is tried, the predecessor whose data come last is copied into a gap, after
    what lets that copy start earlier, and so on, as long as the task starts earlier. Copies that
    nobody needs in the end go. Where ``heft`` gives a shorter plan, that is kept.

    Ties of ranks go to the lowest task; of machines to the fewest copies, then to the lowest
    machine.

    Parameters
    ----------
    w1, w2
        Weights of work and of data on a path, as of ``heft``.
    """
    dag = problem.dag
    order = by_level(dag, ranks(problem, w1, w2))
    least = least_durations(problem)
    plain = inserted(problem, control, order)
    if cannot_end(problem, control):
        return Solution(schedule=plain)
    earliest = colevels(dag, least, 0.0 * dag.size, dag.release) - least
    plan = DuplicationSchedule(problem, order, earliest, MOST)
    with control.reserving(SECONDS_THINNED * (len(order) + len(dag.source))):
        while plan.placed < len(order):
            if control.expired():
                return Solution(schedule=plain)
            plan.place(1 if control.log_steps else None)
            if control.log_steps:
                _log(problem, control, int(order[plan.placed - 1]), plan.tries())
        copied = plan.schedule(control)
    timed = plain if plain.earliest else retimed(problem, plain)
    plans = (plain, timed, copied)
    best = min(plans, key=lambda each: worth(problem, each))
    if best is not plans[-1]:
        control.step("the plan of heft, without copies, is as short: it is kept")
    return Solution(schedule=best)


def _log(
    problem: TaskGraph, control: Control, task: int, tries: list[tuple[float, int, int]]
) -> None:
    """Log where a task goes, given the end, the copies and the machine of all tries, best first."""
    name, machines = problem.dag.names[task], problem.machines
    names = ("machine", "end", "copies")
    rows = [(machines[machine], end, float(copies)) for end, copies, machine in tries]
    (where, end, copies), more = rows[0], " with copies of predecessors" * (rows[0][2] > 0)
    shown = listed((f"{each}: {number(ends)}" for each, ends, _ in rows), MAX_ROWS)
    control.step(
        Step(
            text=f"{name} would end at {shown}; {name} to {where}{more}, ends at {number(end)}",
            cells={"task": name, "to": where, "copies": copies, "end": end},
            items={"chosen": (task,), "placed": (task,)},
            tables=(Table(f"{name} on the machines", names, tuple(rows[:MAX_ROWS]), 0),),
        )
    )
