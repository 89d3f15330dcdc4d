"""The rules for plans in which a task may have a copy on each of several machines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import places_of, sorted_by
from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.referee.rows import Rows


class Copies(Rows):
    """A schedule whose rows make sense, with at most one copy of a task on a machine.

    Copies are in the order of tasks, then of machines; transfers in that of edges, then of
    receivers. All transfers go over one hop.
    """

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        nodes = len(problem.machines)
        place = np.where(schedule.kind == Activity.COMPUTE, schedule.machine, schedule.peer)
        self.nodes = nodes
        order = sorted_by(schedule.item * nodes + place)
        computes = schedule.kind[order] == Activity.COMPUTE
        super().__init__(problem, schedule, order[computes], order[~computes])
        self.copy_key = self.task * nodes + self.machine
        self.sender, self.receiver = schedule.machine[self.hops], schedule.peer[self.hops]
        self.hop_key = self.edge * nodes + self.receiver
        self.first = np.searchsorted(self.task, np.arange(len(problem.dag) + 1))

    def violations(self) -> Iterator[Violation]:
        yield from self.amounts()
        yield from self.durations()
        yield from self.times()
        yield from self.limits()
        sound = True
        for violation in self._transfers():
            sound = False
            yield violation
        if sound:
            yield from self._departures()
            yield from self._inputs()
        yield from self.cores()

    def _copy_on(self, task: Integers, machine: Integers) -> Integers:
        """Return the copies of tasks on machines, -1 where there is none."""
        return places_of(task * self.nodes + machine, self.copy_key, self.nodes)

    def _transfers(self) -> Iterator[Violation]:
        """Yield transfers from or to machines without a copy, and those that come twice."""
        dag = self.problem.dag
        for tasks, node in ((dag.source, self.sender), (dag.target, self.receiver)):
            task = tasks[self.edge]
            for index in np.flatnonzero(self._copy_on(task, node) < 0).tolist():
                yield Violation(
                    rule="route",
                    message=f"{self._activity(int(self.hops[index]))}: "
                    f"{self._node(int(node[index]))} has no copy of {self._task(int(task[index]))}",
                    activities=(int(self.hops[index]),),
                )
        for index in np.flatnonzero(self.sender == self.receiver).tolist():
            yield Violation(
                rule="route",
                message=f"{self._edge(int(self.edge[index]))} stays on "
                f"{self._node(int(self.sender[index]))}, so nothing is sent",
                activities=(int(self.hops[index]),),
            )
        for index in np.flatnonzero(self.hop_key[1:] == self.hop_key[:-1]).tolist():
            yield Violation(
                rule="route",
                message=f"{self._edge(int(self.edge[index]))} is sent to "
                f"{self._node(int(self.receiver[index]))} more than once",
                activities=(int(self.hops[index]), int(self.hops[index + 1])),
            )

    def _departures(self) -> Iterator[Violation]:
        """Yield transfers that leave before the copy on their machine has ended."""
        copy = self._copy_on(self.problem.dag.source[self.edge], self.sender)
        start = self.schedule.start[self.hops]
        late = self.end[copy] - start
        for index in np.flatnonzero(late > self.tolerance).tolist():
            source = self._task(int(self.task[copy[index]]))
            yield Violation(
                rule="precedence",
                message=f"{self._activity(int(self.hops[index]))} leaves before {source} "
                "has ended there",
                activities=(int(self.row[copy[index]]), int(self.hops[index])),
                times=(float(self.end[copy[index]]), float(start[index])),
                excess=float(late[index]),
            )

    def _inputs(self) -> Iterator[Violation]:
        """Yield copies that start before each of their inputs is there in some way."""
        dag = self.problem.dag
        pair, copy = _expanded(self.first, dag.target)
        near = self._without_transfer(pair, copy)
        sent = places_of(pair * self.nodes + self.machine[copy], self.hop_key, self.nodes)
        far = np.full(len(pair), np.inf)
        has = np.flatnonzero(sent >= 0)
        hop = sent[has]
        delay = self.problem.network.routing.delay[self.sender[hop], self.receiver[hop]]
        far[has] = self.schedule.end[self.hops[hop]] + delay
        late = np.minimum(near, far) - self.start[copy]
        for index in np.flatnonzero(late > self.tolerance).tolist():
            edge, target = int(pair[index]), int(copy[index])
            source, name = self._task(int(dag.source[edge])), self._task(int(self.task[target]))
            where = self._node(int(self.machine[target]))
            if np.isinf(late[index]):
                yield Violation(
                    rule="input",
                    message=f"{name} on {where} lacks the data of {self._edge(edge)}: {source} "
                    "has no copy there, and nothing is sent",
                    activities=(int(self.row[target]),),
                )
                continue
            arrives = far[index] < near[index]
            what = f"the data of {self._edge(edge)} are there" if arrives else f"{source} has ended"
            yield Violation(
                rule="arrival" if arrives else "precedence",
                message=f"{name} starts on {where} before {what}",
                activities=(int(self.row[target]),),
                times=(float(self.start[target]),),
                excess=float(late[index]),
            )

    def _without_transfer(self, edge: Integers, copy: Integers) -> Floats:
        """Return when inputs of copies are there without a row: infinity where they need one.

        They are where the source has a copy on the same machine, or anywhere if the edge has no
        data and messages between the two machines take no time.
        """
        dag = self.problem.dag
        near = np.full(len(edge), np.inf)
        same = self._copy_on(dag.source[edge], self.machine[copy])
        near[same >= 0] = self.end[same[same >= 0]]
        light = np.flatnonzero(dag.size[edge] == 0)
        pair, source = _expanded(self.first, dag.source[edge[light]])
        index = light[pair]
        rowless = ~self.problem.needs_rows(
            edge[index], self.machine[source], self.machine[copy[index]]
        )
        np.minimum.at(near, index[rowless], self.end[source[rowless]])
        return near


def _expanded(first: Integers, task: Integers) -> tuple[Integers, Integers]:
    """Return (index, copy) for every index of ``task`` and every copy of that task."""
    count = first[task + 1] - first[task]
    index = np.repeat(np.arange(len(task)), count)
    inside = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    return index, first[task[index]] + inside
