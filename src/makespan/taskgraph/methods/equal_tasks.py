"""Equal tasks without communication: the algorithms of Hu, and of Coffman and Graham."""

import heapq

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse
from makespan.core.registry import at_most, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, listed
from makespan.core.system.memory import claim
from makespan.taskgraph import needs
from makespan.taskgraph.levels import by_level, levels
from makespan.taskgraph.list_scheduling.assigned import fallback_plan, in_order
from makespan.taskgraph.list_scheduling.steps import QUEUED
from makespan.taskgraph.methods.list_scheduling import Ready
from makespan.taskgraph.model.dag import Dag, rows_of
from makespan.taskgraph.problem import TaskGraph

EQUAL = (
    needs.NO_GIVEN_PLAN,
    needs.LEAST_MAKESPAN,
    needs.NO_RELEASES,
    needs.SINGLE_CORES,
    needs.EQUAL_DURATIONS,
    needs.NO_COMMUNICATION,
)


@register(
    needs=(*EQUAL, needs.FOREST),
    reach=(at_most(1e6, "tasks", lambda problem: len(problem.dag)),),
    proves="highest level first is optimal for equal tasks in an in-forest (Hu 1961, theorem 1); "
    "an out-forest is one backwards in time",
    complexity="O(n log n)",
    source="Hu 1961",
)
def hu(problem: TaskGraph, control: Control) -> Solution:
    """Highest level first: optimal for forests of equal tasks without communication.

    Copies of tasks would not help: without communication only those that end first are needed.
    """
    dag = problem.dag
    towards_roots = bool((np.diff(dag.first_out) <= 1).all())
    forest = dag if towards_roots else dag.reversed()
    level = levels(forest, np.ones(len(dag)), np.zeros(len(dag.source)))
    return in_slots(problem, control, forest, by_level(forest, level), backwards=not towards_roots)


@register(
    needs=(*EQUAL, needs.TWO_PROCESSORS),
    reach=(at_most(20_000, "tasks", lambda problem: len(problem.dag)),),
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
        return Solution(schedule=fallback_plan(problem, control))
    return in_slots(problem, control, problem.dag, np.argsort(-label, kind="stable"))


def labels(dag: Dag, control: Control) -> Integers | None:
    """Return the labels 1 to n: next is the task whose successors' labels, falling, are least.

    Ties go to the lowest task. None when the time is up.

    >>> labels(Dag({"a": 1, "b": 1, "c": 1}, [("a", "c"), ("b", "c")]), Control()).tolist()
    [2, 3, 1]
    """
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
    successors, position = rows_of(dag.first_out, dag.successors), dag.position.tolist()
    reached = [0] * len(dag)
    kept: list[list[int]] = [[] for _ in reached]
    for task in dag.order[::-1].tolist():
        if control.expired():
            return None
        mask = 0
        for successor in sorted(successors[task], key=position.__getitem__):
            if not mask >> successor & 1:
                kept[task].append(successor)
                mask |= reached[successor] | 1 << successor
        reached[task] = mask
    return kept


def in_slots(
    problem: TaskGraph, control: Control, dag: Dag, order: Integers, *, backwards: bool = False
) -> Solution:
    """Return the plan, proved, in which each slot takes the first ready tasks of ``order``.

    ``dag`` is the graph, or ``backwards`` the graph with its edges turned round, whose last slot is
    the first. When the time is up, :func:`fallback_plan` says what to do.
    Complexity: O((n + e) log n).
    """
    ready, processors = Ready(dag, -inverse(order).astype(float)), range(int(problem.cores.sum()))
    slot = np.zeros(len(dag), dtype=np.int64)
    while ready:
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        queue = ready.tasks if control.log_steps else []
        taken = [ready.pop() for _ in processors if ready]
        if control.log_steps:
            _log(problem, control, int(ready.time), queue, taken, backwards=backwards)
        for task in taken:
            slot[task] = ready.time
            ready.run_until(task, ready.time + 1)
        ready.advance()
    slot = slot.max(initial=0) - slot if backwards else slot
    return Solution(schedule=_executed(problem, slot), optimal=True)


def _log(
    problem: TaskGraph,
    control: Control,
    slot: int,
    queue: list[int],
    taken: list[int],
    *,
    backwards: bool,
) -> None:
    names = problem.named
    word = "slot from the end" if backwards else "slot"
    first, rest = " ".join(names(taken)), listed(names(queue[len(taken) :]), QUEUED)
    control.step(
        Step(
            text=f"{word} {slot + 1}: {first}; still ready: {rest}",
            cells={word: slot + 1.0, "tasks": first, "still ready": rest},
            items={"ready": queue, "chosen": taken, "placed": taken},
        )
    )


def _executed(problem: TaskGraph, slot: Integers) -> Schedule:
    """Return the plan that executes each task in its slot, on the lowest free machine.

    Data take no time. With blocking communication, a machine fetches them when it takes the task.
    """
    count = len(problem.dag)
    order = np.lexsort((problem.dag.position, slot))
    first = np.searchsorted(slot[order], slot[order])
    lowest = np.repeat(np.arange(len(problem.network)), problem.cores)
    machine = np.empty(count, dtype=np.int64)
    machine[order] = lowest[np.arange(count) - first]
    schedule = in_order(problem, machine, slot)
    if not problem.is_blocking:
        return schedule
    moved = schedule.kind == Activity.TRANSFER
    fetched = schedule.start[problem.dag.target[schedule.item[moved]]]
    start, end = schedule.start.copy(), schedule.end.copy()
    start[moved] = end[moved] = fetched
    return schedule.timed(start, end, earliest=schedule.earliest)
