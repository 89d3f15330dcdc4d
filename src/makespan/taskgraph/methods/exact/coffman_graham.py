"""The algorithm of Coffman and Graham: equal tasks on two machines without communication."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.needs import (
    EQUAL_DURATIONS,
    LEAST_MAKESPAN,
    NO_COMMUNICATION,
    NO_GIVEN_PLAN,
    NO_RELEASES,
    SINGLE_CORES,
    TWO_PROCESSORS,
    few_steps,
)
from makespan.taskgraph.placing.in_time import in_time
from makespan.taskgraph.placing.slots import in_slots
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="coffman-graham",
    needs=(
        NO_GIVEN_PLAN,
        LEAST_MAKESPAN,
        NO_RELEASES,
        SINGLE_CORES,
        EQUAL_DURATIONS,
        NO_COMMUNICATION,
        TWO_PROCESSORS,
    ),
    reach=(few_steps(20_000, "tasks", lambda problem: len(problem.dag)),),
    proves="lexicographic labels on the transitive reduction are optimal for equal tasks on two "
    "processors (Coffman and Graham 1972, theorem 1)",
    complexity="O(n e / 64 + n²) for the reduction",
    source="Coffman and Graham 1972",
)
def coffman_graham(problem: TaskGraph, control: Control) -> Solution:
    """Highest label first: optimal for equal tasks on two machines without communication.

    Copies of tasks would not help: without communication only those that end first are needed.
    """
    label = labels(problem.dag, control)
    if label is None:
        return Solution(schedule=in_time(problem, control))
    return in_slots(problem, control, problem.dag, np.argsort(-label, kind="stable"))


def labels(dag: Dag, control: Control) -> Integers | None:
    """Return the labels 1 to n: next is the task whose successors' labels, falling, are least.

    Ties go to the lowest task. None when the time is up.

    >>> labels(Dag({"a": 1, "b": 1, "c": 1}, [("a", "c"), ("b", "c")]), Control()).tolist()
    [2, 3, 1]
    """
    import heapq

    successors = transitive_reduction(dag, control)
    if successors is None:
        return None
    predecessors: list[list[int]] = [[] for _ in successors]
    for task, after in enumerate(successors):
        for successor in after:
            predecessors[successor].append(task)
    waiting = [len(after) for after in successors]
    label = np.zeros(len(dag), dtype=np.int64)
    queue: list[tuple[list[int], int]] = [([], task) for task, n in enumerate(waiting) if not n]
    heapq.heapify(queue)
    for number in range(1, len(dag) + 1):
        if control.expired():
            return None
        _, task = heapq.heappop(queue)
        label[task] = number
        for before in predecessors[task]:
            waiting[before] -= 1
            if not waiting[before]:
                falling = sorted((int(label[each]) for each in successors[before]), reverse=True)
                heapq.heappush(queue, (falling, before))
    return label


def transitive_reduction(dag: Dag, control: Control) -> list[list[int]] | None:
    """Return the successors of each task without those that are reached by a longer way.

    Reached tasks are bits of one integer per task. None when the time is up. Complexity:
    O(n e / 64).
    """
    claim(len(dag) ** 2 / 8, f"what each of {len(dag):,} tasks reaches")
    first, successors = dag.first_out.tolist(), dag.successors.tolist()
    position = dag.position.tolist()
    reached = [0] * len(dag)
    kept: list[list[int]] = [[] for _ in reached]
    for task in dag.order[::-1].tolist():
        if control.expired():
            return None
        mask = 0
        for successor in sorted(
            successors[first[task] : first[task + 1]], key=position.__getitem__
        ):
            if not mask >> successor & 1:
                kept[task].append(successor)
                mask |= reached[successor] | 1 << successor
        reached[task] = mask
    return kept
