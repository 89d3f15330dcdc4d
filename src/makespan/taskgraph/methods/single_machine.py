"""Everything on one machine: what parallel plans must beat."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.taskgraph.board import Board
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.needs import NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="single-machine",
    needs=(NO_GIVEN_PLAN,),
    complexity="O(n (log n + m) + e)",
    source="the sum of durations over the cores; shorter than what list scheduling gives where "
    "data are large",
)
def single_machine(problem: TaskGraph, control: Control) -> Solution:
    """Puts all tasks on the machine that executes them soonest: there data are free."""
    dag, network = problem.dag, problem.network
    total = dag.work.sum() / network.speed + len(dag) * network.task_setup
    if len(dag.own):
        total = np.array([problem.durations[:, each].sum() for each in range(len(network))])
    machine = int(np.argmin(total / network.cores))
    board = Board(problem)
    for task in by_level(dag, levels(dag, *weights(problem, w2=0.0))).tolist():
        board.place(task, machine)
    return Solution(schedule=board.schedule())
