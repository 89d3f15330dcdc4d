"""Lookahead HEFT: each task goes where its successors can end first."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.list_scheduling.fallback import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.insertion import InsertionSchedule, Undo, log_insertion
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="lookahead",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
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
    first, successors = dag.first_out.tolist(), dag.successors.tolist()
    plan, machines = InsertionSchedule(problem), range(len(problem.network))
    for task in order.tolist():
        ahead = sorted(successors[first[task] : first[task + 1]], key=place.__getitem__)
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
            _take_away(plan, [(task, undo), *trial])
            options.append((latest, placed.end, machine))
        plan.place(task, min(options)[2])
        if following is not None:
            for latest, end, machine in options:
                following[task, machine] = latest - end
    schedule = plan.schedule()
    log_insertion(problem, control, schedule, order, rank, "rank", following, "with successors")
    return Solution(schedule=schedule)


def _take_away(plan: InsertionSchedule, placed: list[tuple[int, Undo]]) -> None:
    for task, undo in reversed(placed):
        plan.take_away(task, undo)
