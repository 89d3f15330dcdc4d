"""The copies of tasks in a plan with duplication, and from where each has its inputs."""

from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, repeated
from makespan.core.numeric.sorting import inverse, places_of, sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.problem import TaskGraph


class Inputs(NamedTuple):
    """The inputs of all copies in turn: which edge, from which copy, by which row, -1 for none."""

    copy: Integers
    edge: Integers
    source: Integers
    hop: Integers


class Copies:
    """The executions of tasks in a plan, in the order of tasks, then of machines.

    ``earliest`` is the copy of each task that ends first, -1 for none; ties go to the lowest
    machine.
    """

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        self.problem, self.schedule = problem, schedule
        rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
        self._nodes = len(problem.machines)
        key = schedule.item[rows] * self._nodes + schedule.machine[rows]
        order = np.argsort(key, kind="stable")
        self._key, self.row = key[order], rows[order]
        self.task, self.machine = schedule.item[self.row], schedule.machine[self.row]
        self.first = np.searchsorted(self.task, np.arange(len(problem.dag) + 1))
        by_end = sorted_by(self.task, schedule.end[self.row], self.machine)
        self.earliest = np.full(len(problem.dag), -1, dtype=np.int64)
        self.earliest[self.task[by_end[::-1]]] = by_end[::-1]

    def on(self, task: Integers, machine: Integers) -> Integers:
        """Return the copies of tasks on machines, -1 where there is none."""
        return places_of(task * self._nodes + machine, self._key, self._nodes)

    def inputs(self) -> Inputs:
        """Return from where each copy has its inputs: from where they are there first.

        Ties go to the copy on the machine itself, then to a transfer.
        """
        dag, schedule = self.problem.dag, self.schedule
        copy, inside = repeated(np.diff(dag.first_in)[self.task])
        edge = dag.in_edges[dag.first_in[self.task[copy]] + inside]
        source = self.on(dag.source[edge], self.machine[copy])
        ready = np.where(source >= 0, schedule.end[self.row[source]], np.inf)
        hop = self._sent(edge, copy, source, ready)
        self._without_row(edge, copy, source, ready, hop)
        source = np.where(source >= 0, source, self.earliest[dag.source[edge]])
        return Inputs(copy, edge, source, hop)

    def _sent(self, edge: Integers, copy: Integers, source: Integers, ready: Floats) -> Integers:
        """Write the sources of inputs that arrive by a transfer; return the rows of these."""
        dag, schedule = self.problem.dag, self.schedule
        hops = np.flatnonzero(schedule.kind == Activity.TRANSFER)
        key = schedule.item[hops] * self._nodes + schedule.peer[hops]
        order = np.argsort(key, kind="stable")
        hops = hops[order]
        place = places_of(edge * self._nodes + self.machine[copy], key[order], self._nodes)
        found = np.flatnonzero(place >= 0)
        row = hops[place[found]]
        origin = schedule.machine[row]
        delay = self.problem.network.routing.delay[origin, self.machine[copy[found]]]
        arrival = schedule.end[row] + delay
        better = arrival < ready[found]
        found, row, origin = found[better], row[better], origin[better]
        ready[found] = arrival[better]
        source[found] = self.on(dag.source[edge[found]], origin)
        hop = np.full(len(edge), -1, dtype=np.int64)
        hop[found] = row
        return hop

    def _without_row(
        self, edge: Integers, copy: Integers, source: Integers, ready: Floats, hop: Integers
    ) -> None:
        """Write the sources of inputs that are there at once, wherever a copy ends first."""
        dag, schedule = self.problem.dag, self.schedule
        light = np.flatnonzero(dag.size[edge] == 0)
        task = dag.source[edge[light]]
        index, inside = repeated(self.first[task + 1] - self.first[task])
        option, at = self.first[task[index]] + inside, light[index]
        rowless = ~self.problem.needs_rows(edge[at], self.machine[option], self.machine[copy[at]])
        option, at = option[rowless], at[rowless]
        end = schedule.end[self.row[option]]
        order = np.lexsort((option, end, at))
        order = order[np.flatnonzero(np.diff(at[order], prepend=-1))]
        order = order[end[order] < ready[at[order]]]
        ready[at[order]] = end[order]
        source[at[order]], hop[at[order]] = option[order], -1


def first_copies(problem: TaskGraph, schedule: Schedule) -> Schedule:
    """Return the plan in which each task is executed only where its first copy ended.

    In the order of their starts predecessors come first, as each copy has waited for some copy of
    them. Complexity: O((rows + edges) log rows).
    """
    copies = Copies(problem, schedule)
    rows = copies.row[copies.earliest]
    order = np.lexsort((problem.dag.position, schedule.end[rows], schedule.start[rows]))
    return in_order(problem, schedule.machine[rows], inverse(order))
