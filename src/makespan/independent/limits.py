"""Limits on machines, as searches need them: numbers of tasks, and what sizes add up to."""

import numpy as np

from makespan import balance
from makespan.core.numeric.arrays import Integers
from makespan.core.system.memory import claim
from makespan.independent.problem import IndependentTasks


def tightened(problem: IndependentTasks) -> tuple[list[int], list[int]]:
    """Return the least and most tasks of each machine, as far as the others' limits leave them."""
    tasks = len(problem.durations)
    machines = problem.useful_machines if problem.identical else problem.machine_count
    if problem.counts is None:
        return [0] * machines, [tasks] * machines
    claim(100.0 * machines, f"the limits of {machines:,} machines")
    least, most = (limit[:machines].astype(np.int64) for limit in problem.count_limits)
    most = np.minimum(most, tasks)
    spare, beyond = tasks - int(least.sum()), int(most.sum()) - tasks
    return np.maximum(least, most - beyond).tolist(), np.minimum(most, least + spare).tolist()


def room_of(problem: IndependentTasks) -> balance.Fits | None:
    """Return what says whether the sizes of tasks fit; None where there are no sizes."""
    if problem.sizes is None or problem.capacity is None:
        return None
    room = problem.capacity[: problem.useful_machines].tolist()
    return balance.Fits(problem.sizes.tolist(), room)


class NoPlace(Exception):
    """A task found no place within the limits on sizes; others may have places for all."""


class Places:
    """Which machines may take a task, as tasks are placed one after another."""

    def __init__(self, problem: IndependentTasks) -> None:
        least, most = tightened(problem)
        self._least, self._most = np.array(least), np.array(most)
        self._count = np.zeros(len(least), dtype=np.int64)
        self._left = len(problem.durations)
        self._sizes = problem.sizes
        self._room = None if problem.capacity is None else problem.capacity.copy()

    def closed(self, task: int) -> np.ndarray:
        """Return the machines that may not take a task: full, or others need all that is left."""
        missing = int(np.maximum(self._least - self._count, 0).sum())
        closed: np.ndarray = self._count >= (self._least if missing == self._left else self._most)
        if self._sizes is not None and self._room is not None:
            closed = closed | (self._sizes[task] > self._room * (1 + balance.ROUNDING))
        return closed

    def take(self, task: int, machine: int) -> None:
        """Put a task on a machine."""
        self._count[machine] += 1
        self._left -= 1
        if self._sizes is not None and self._room is not None:
            self._room[machine] -= self._sizes[task]


def kept(problem: IndependentTasks, machine: Integers) -> bool:
    """Whether tasks on these machines keep the limits."""
    least, most = problem.count_limits
    count = np.bincount(machine, minlength=problem.machine_count)
    if problem.counts is not None and bool(((count < least) | (count > most)).any()):
        return False
    if problem.sizes is None or problem.capacity is None:
        return True
    used = np.bincount(machine, weights=problem.sizes, minlength=problem.machine_count)
    return bool((used <= problem.capacity * (1 + balance.ROUNDING)).all())
