"""List scheduling by levels: HEFT, two methods that look further ahead, CPOP and MCP."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import by_level, colevels, levels, ranks, ready_by_level, weights
from makespan.taskgraph.list_scheduling.assigned import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.insertion import InsertionSchedule, inserted, log_insertion
from makespan.taskgraph.model.dag import rows_of
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.needs import INSERTION, NO_GIVEN_PLAN, by_insertion, by_tries
from makespan.taskgraph.problem import TaskGraph


@register(needs=(NO_GIVEN_PLAN,), complexity=INSERTION, source="Topcuoglu, Hariri and Wu 2002")
def heft(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """By falling upward rank, each task goes to the machine on which it ends first.

    Tasks are inserted into the first gap that is long enough, under contention transfers too. The
    upward rank is the level: the longest path to an exit task, in mean seconds over the machines
    and over the pairs of different machines. Ties of ranks go to the lowest task, ties of machines
    to the lowest machine. ``w1`` and ``w2`` are the weights of work and of data on a path; None:
    mean seconds.
    """
    rank = ranks(problem, w1, w2)
    order = by_level(problem.dag, rank)
    return Solution(schedule=inserted(problem, control, order, logged=(rank, "rank", "")))


SLICE = 20_000_000  # entries of the table that are read or written between two looks at the clock


@by_insertion(
    name="peft",
    complexity="O(n log n + (n + e) m), compiled; O(n m g + e m h) under contention",
    source="Arabnejad and Barbosa 2014",
)
def peft(problem: TaskGraph, control: Control) -> Solution:
    """Each task goes where its end and the optimistic cost of all that follows are least.

    The optimistic cost of a task on a machine is the longest of the shortest ways from it to an
    exit task, each successor on the machine that is best for it alone. Of the ready tasks the one
    with the greatest mean of them goes first.
    """
    pairs = len(problem.dag) * len(problem.network)
    claim(32.0 * pairs, f"the optimistic costs of {pairs:,} pairs of a task and a machine")
    table = optimistic_costs(problem, control)
    if table is None:
        return Solution(schedule=fallback_plan(problem, control))
    mean = table.mean(axis=1)
    order, logged = ready_by_level(problem.dag, mean), (mean, "rank", "with what follows")
    return Solution(schedule=inserted(problem, control, order, bias=table, logged=logged))


def optimistic_costs(problem: TaskGraph, control: Control) -> Floats | None:
    """Return the optimistic cost table, shape (tasks, machines); None when the time is up.

    Source: Arabnejad and Barbosa 2014, equation 2; communication counts its mean over the pairs
    of different machines.
    """
    dag, machines = problem.dag, len(problem.network)
    _, edge = weights(problem)
    steps = 2 * machines * (len(dag) + len(edge))
    inputs = (
        dag.order, dag.first_out, dag.successors, edge[dag.out_edges], dag.work, problem.stated_row,
        problem.stated[1].ravel(), problem.network.speed, problem.network.task_setup,
    )  # fmt: skip
    table, ahead = np.zeros(len(dag) * machines), np.zeros(len(dag) * machines)
    tables = (table, ahead, np.zeros(len(dag)))
    part = max(1, SLICE * len(dag) // (steps + 1))
    for last in range(len(dag), 0, -part):
        if control.expired():
            return None
        costs_to_exit.run(steps, inputs, tables, (machines, max(0, last - part), last))
    return table.reshape(len(dag), machines)


@graph_loop
def costs_to_exit(  # type: ignore[no-untyped-def]
    order, first_out, successors, transfer, work, own_row, own, speed, setup,
    table, ahead, least_ahead,
    machines, begin, until,
):  # fmt: skip
    """Write the optimistic cost table of PEFT for the tasks from ``begin`` to ``until`` in order.

    ``ahead`` holds the table with the durations of the tasks added, ``least_ahead`` the least of
    each row of it. ``own_row`` holds the row of a task in ``own``, or -1; ``transfer`` is in the
    order of ``successors``. Tables are flat, a row per task.
    """
    for index in range(until - 1, begin - 1, -1):
        task = order[index]
        row = task * machines
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position] * machines
            elsewhere = least_ahead[successors[position]] + transfer[position]
            for machine in range(machines):
                least = min(elsewhere, ahead[other + machine])
                table[row + machine] = max(table[row + machine], least)
        for machine in range(machines):
            if own_row[task] >= 0:
                seconds = own[own_row[task] * machines + machine]
            else:
                seconds = work[task] / speed[machine] + setup[machine]
            ahead[row + machine] = table[row + machine] + seconds
            if machine == 0 or ahead[row + machine] < least_ahead[task]:
                least_ahead[task] = ahead[row + machine]


@by_tries(
    name="lookahead",
    complexity="O((n + e) m² g), g the gaps that are tried",
    source="Bittencourt, Sakellariou and Madeira 2010",
)
def lookahead(problem: TaskGraph, control: Control) -> Solution:
    """Like ``heft``, but a task goes where the last of its successors can end first.

    For each machine the task is placed there on trial, then its successors one after another, by
    upward rank, each where it ends first; of predecessors that have no place yet a successor does
    not wait. Ties go to the machine on which the task itself ends first.
    """
    if cannot_end(problem, control):
        return Solution(schedule=fallback_plan(problem, control))
    dag = problem.dag
    rank = ranks(problem)
    order = by_level(dag, rank)
    following = np.zeros((len(dag), len(problem.network))) if control.log_steps else None
    place = {task: index for index, task in enumerate(order.tolist())}
    successors = rows_of(dag.first_out, dag.successors)
    plan, machines = InsertionSchedule(problem), range(len(problem.network))
    for task in order.tolist():
        ahead = sorted(successors[task], key=place.__getitem__)
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        options = []
        for machine in machines:
            if not plan.has_cores(task, machine):
                continue
            placed, undo = plan.place(task, machine)
            latest, trial = placed.end, []
            for successor in ahead:
                if control.expired():
                    return Solution(schedule=fallback_plan(problem, control))
                option = min(
                    (plan.try_on(successor, each) for each in machines),
                    key=lambda option: (option.end, option.machine),
                )
                trial.append((successor, plan.place(successor, option.machine)[1]))
                latest = max(latest, option.end)
            for each, taken in reversed([(task, undo), *trial]):
                plan.take_away(each, taken)
            options.append((latest, placed.end, machine))
        plan.place(task, min(options)[2])
        if following is not None:
            for latest, end, machine in options:
                following[task, machine] = latest - end
    schedule = plan.schedule()
    log_insertion(problem, control, schedule, order, rank, "rank", following, "with successors")
    return Solution(schedule=schedule)


TIE = 1e-9


@by_insertion(name="cpop", complexity=INSERTION, source="Topcuoglu, Hariri and Wu 2002")
def cpop(problem: TaskGraph, control: Control) -> Solution:
    """Puts a critical path on the machine that executes it first, other tasks where they end first.

    Of the ready tasks the one with the longest path through it goes first: upward rank and
    downward rank together. Means are those of ``heft``; a task's own time counts once.
    """
    dag = problem.dag
    task, edge = weights(problem)
    through = levels(dag, task, edge) + (colevels(dag, task, edge) - task)
    path, machines = critical_path(problem, through), range(len(problem.network))
    seconds = [problem.durations_on(path, np.full(len(path), each)).sum() for each in machines]
    machine = int(np.argmin(seconds))
    pinned = np.full(len(dag), -1, dtype=np.int64)
    pinned[path] = machine
    order, logged = ready_by_level(dag, through), (through, "path", "")
    return Solution(
        schedule=inserted(problem, control, order, pinned=pinned, logged=logged),
        details={
            "critical_path": problem.named(path.tolist()),
            "machine": problem.machines[machine],
        },
    )


def critical_path(problem: TaskGraph, through: Floats) -> Integers:
    """Return the lowest of the longest paths, given the longest path through each task."""
    dag = problem.dag
    path = np.zeros(len(dag), dtype=np.int64)
    length = lowest_path.run(
        len(dag) + len(dag.source),
        (dag.first_in, dag.first_out, dag.successors, through),
        (path,),
        (float(through.max()) * (1 - TIE),),
    )
    return path[:length]


@graph_loop
def lowest_path(first_in, first_out, successors, through, path, least):  # type: ignore[no-untyped-def]
    """Write the lowest of the paths on which all are ``least`` or more; return its length."""
    task = 0
    while first_in[task] < first_in[task + 1] or through[task] < least:
        task += 1
    count = 0
    while task >= 0:
        path[count] = task
        count += 1
        following = -1
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position]
            if through[other] >= least and (following < 0 or other < following):
                following = other
        task = following
    return count


@by_insertion(name="mcp", complexity=INSERTION, source="Wu and Gajski 1990")
def mcp(problem: TaskGraph, control: Control) -> Solution:
    """By rising latest start, each task goes to the machine on which it starts first.

    The latest start of a task is the longest path less its upward rank. Ties go to the task with
    the successor that must start sooner (of the published comparison of all descendants, the first
    step), then to the lowest task.
    """
    dag = problem.dag
    rank = ranks(problem)
    urgent = np.full(len(dag), -1.0)  # the greatest rank among the successors
    np.maximum.at(urgent, dag.source, rank[dag.target])
    order = sorted_by(-rank, -urgent)
    place = inverse(order)
    if not (place[dag.source] < place[dag.target]).all():
        order = ready_by_level(dag, -place)
    logged = (rank.max() - rank, "latest start", "")
    return Solution(schedule=inserted(problem, control, order, aim="start", logged=logged))
