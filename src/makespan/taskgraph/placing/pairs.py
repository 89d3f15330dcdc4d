"""Ready tasks and machines taken together: the best pair of both is placed next."""

from __future__ import annotations

from collections.abc import Callable

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.taskgraph.placing.board import Board, Placement
from makespan.taskgraph.placing.in_time import cannot_end, in_time
from makespan.taskgraph.placing.steps import placing
from makespan.taskgraph.problem import TaskGraph

Value = Callable[[int, Placement], tuple[float, ...]]


def best_pairs(
    problem: TaskGraph, control: Control, value: Value, level: Floats, shown: str = ""
) -> Schedule:
    """Return the plan that places the pair of ready task and machine with the least ``value``.

    Ties go to the lowest task, then to the lowest machine. Tasks go behind what their machine has.
    Where nothing waits for links, only values on the machine of the latest task change, and of
    others only what became ready is new. When the time is up, :func:`in_time` says what to do.
    The log shows the ``level`` of tasks and, if ``shown`` names it, the value negated.

    Complexity: O(n w m + e m), w the widest queue of ready tasks; O((n w + e) m) tries under
    contention.
    """
    if cannot_end(problem, control):
        return in_time(problem, control)
    dag, board = problem.dag, Board(problem)
    machines = range(len(problem.network))
    first, successors = dag.first_out.tolist(), dag.successors.tolist()
    waiting = [0] * len(dag)
    for task in successors:
        waiting[task] += 1
    ready = [task for task in range(len(dag)) if not waiting[task]]
    values: dict[int, list[tuple[float, ...]]] = {}
    contended = problem.contention != "none"
    while ready:
        for task in ready:
            if control.expired():
                return in_time(problem, control)
            if contended or task not in values:
                values[task] = [value(task, board.try_on(task, each)) for each in machines]
        _, task, machine = min((values[t][m], t, m) for t in ready for m in machines)
        if control.log_steps:
            options = [board.try_on(task, each) for each in machines]
            queue = sorted(ready, key=lambda each: (min(values[each]), each))
            of = {each: -values[task][each][0] for each in machines} if shown else None
            control.step(
                placing(
                    problem, options[machine], task, queue=queue, priority=level, word="level",
                    options=options, values=of, value=shown,
                )
            )  # fmt: skip
        board.place(task, machine)
        ready.remove(task)
        for other in ready:
            if not contended:
                values[other][machine] = value(other, board.try_on(other, machine))
        for successor in successors[first[task] : first[task + 1]]:
            waiting[successor] -= 1
            if not waiting[successor]:
                ready.append(successor)
    return board.schedule()
