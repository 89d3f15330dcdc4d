"""The referee of task graphs: it knows the statement, and nothing of the solvers.

First, whether the rows make sense; then the rules for plans in which every task is executed once,
and for those with copies.
"""

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, repeated
from makespan.core.numeric.sorting import places_of, sorted_by
from makespan.core.report import Violation, broken
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.referee.rows import Rows, overlaps


def violations(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield every rule that ``schedule`` breaks.

    Rules: ``kind``, ``item``, ``every-task-once``, ``router``, ``amount``, ``duration``,
    ``release``, ``deadline``, ``budget``, ``route``, ``precedence``, ``arrival``, ``blocking``,
    ``cores``, ``link``, ``port``, ``assignment``, ``sequence``; with duplication ``every-task`` and
    ``copy`` instead of ``every-task-once``, and ``input``. Times are compared to within 1e-9 of the
    makespan. Complexity: O(rows log rows), vectorised.
    """
    schedule = schedule.renamed(problem.machines)
    broken = False
    for violation in _unreadable(problem, schedule):
        broken = True
        yield violation
    if not broken:
        judge = Copies if problem.duplication else Plan
        yield from judge(problem, schedule).violations()


def _unreadable(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield what makes the rest meaningless: foreign rows, tasks missing or executed twice."""
    computes, transfers = (schedule.kind == Activity.COMPUTE, schedule.kind == Activity.TRANSFER)
    for row in np.flatnonzero(~(computes | transfers)).tolist():
        yield broken("kind", f"activity {row} is neither a computation nor a transfer", (row,))
    limit = np.where(computes, len(problem.dag), len(problem.dag.source))
    wrong = (computes | transfers) & ((schedule.item < 0) | (schedule.item >= limit))
    for row in np.flatnonzero(wrong).tolist():
        what = "task" if computes[row] else "edge"
        text = f"activity {row} names {what} {int(schedule.item[row])}; there is none"
        yield broken("item", text, (row,))
    for row in np.flatnonzero(transfers & (schedule.peer < 0)).tolist():
        yield broken("item", f"transfer {row} names no receiver", (row,))
    for row in np.flatnonzero(computes & (schedule.machine >= len(problem.network))).tolist():
        name = problem.machines[int(schedule.machine[row])]
        yield broken("router", f"{name} is a router; it executes nothing", (row,))
    count = _copy_counts if problem.duplication else _task_counts
    yield from count(problem, schedule, computes & ~wrong)


def _task_counts(
    problem: TaskGraph, schedule: Schedule, computes: np.ndarray
) -> Iterator[Violation]:
    counts = np.bincount(schedule.item[computes], minlength=len(problem.dag))
    for task in np.flatnonzero(counts != 1).tolist():
        times = "never" if counts[task] == 0 else f"{counts[task]} times"
        text = f"task {problem.dag.names[task]} is executed {times}"
        yield broken(
            "every-task-once", text, np.flatnonzero(computes & (schedule.item == task))[:2]
        )


def _copy_counts(
    problem: TaskGraph, schedule: Schedule, computes: np.ndarray
) -> Iterator[Violation]:
    """Yield tasks without a copy, and those with several on one machine."""
    names = problem.dag.names
    counts = np.bincount(schedule.item[computes], minlength=len(problem.dag))
    for task in np.flatnonzero(counts == 0).tolist():
        yield broken("every-task", f"task {names[task]} is never executed")
    copies = np.flatnonzero(computes)
    copies = copies[np.lexsort((copies, schedule.machine[copies], schedule.item[copies]))]
    item, machine = schedule.item[copies], schedule.machine[copies]
    for index in np.flatnonzero((item[1:] == item[:-1]) & (machine[1:] == machine[:-1])).tolist():
        where = problem.machines[int(machine[index])]
        text = f"task {names[int(item[index])]} is executed more than once on {where}"
        yield broken("copy", text, (copies[index], copies[index + 1]))


class Plan(Rows):
    """A schedule whose rows make sense, with every task executed once."""

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        dag = problem.dag
        computing = np.flatnonzero(schedule.kind == Activity.COMPUTE)
        row = np.zeros(len(dag), dtype=np.int64)
        row[schedule.item[computing]] = computing
        machine = schedule.machine[row]
        self.origin, self.goal = machine[dag.source], machine[dag.target]
        # Transfer rows by edge, and in an edge by the hops that are left.
        rows = np.flatnonzero(schedule.kind == Activity.TRANSFER)
        left = problem.network.routing.hops[schedule.machine[rows], self.goal[schedule.item[rows]]]
        hops = rows[np.lexsort((rows, -left, schedule.item[rows]))]
        super().__init__(problem, schedule, row, hops)
        self.count = np.bincount(self.edge, minlength=len(dag.source))
        self.first = np.cumsum(self.count) - self.count

    def violations(self) -> Iterator[Violation]:
        yield from super().violations()
        if self.problem.contention == "links":
            yield from self._links()
        elif self.problem.contention == "ports":
            yield from self._ports()
        yield from self._given()

    def transfers(self) -> Iterator[Violation]:
        """Yield the edges whose rows are not the hops of their route."""
        problem, schedule = self.problem, self.schedule
        routing = problem.network.routing
        needed = problem.needs_rows(np.arange(len(problem.dag.source)), self.origin, self.goal)
        due = routing.hops[self.origin, self.goal]
        wrong = np.where(needed, self.count != due, (self.count != 0) & (self.count != due))
        tail, head = schedule.machine[self.hops], schedule.peer[self.hops]
        leaps = head != routing.following[tail, self.goal[self.edge]]
        begins = np.concatenate([[True], self.edge[1:] != self.edge[:-1]])[: len(self.edge)]
        leaps |= tail != np.where(begins, self.origin[self.edge], np.roll(head, 1))
        np.logical_or.at(wrong, self.edge[leaps], True)
        for edge in np.flatnonzero(wrong).tolist():
            rows = self.hops[self.first[edge] : self.first[edge] + self.count[edge]]
            a, b = int(self.origin[edge]), int(self.goal[edge])
            if a == b:
                what = f"stays on {self._node(a)}, so nothing is sent"
            else:
                path = [a, *(head for _, head in routing.route(a, b))]
                what = f"goes {' → '.join(map(self._node, path))}, one transfer a hop"
            text = f"{self._edge(edge)} {what}; the schedule has {len(rows)} rows for it"
            yield broken("route", text, rows)

    def waits(self) -> Iterator[Violation]:
        """Yield what begins before its data are there, and, with blocking, what overlaps it."""
        yield from self._precedences()
        if self.problem.is_blocking:
            yield from self._blocking()

    def _precedences(self) -> Iterator[Violation]:
        dag, schedule = self.problem.dag, self.schedule
        moved = self.count > 0
        stays = np.flatnonzero(~moved)
        ended, late = self.end[dag.source], self._late
        slack = self.start[dag.target[stays]] - ended[stays]
        yield from late("precedence", slack, stays, "{target} starts before {source} has ended")
        edges = np.flatnonzero(moved)
        slack = schedule.start[self.hops[self.first[edges]]] - ended[edges]
        yield from late("precedence", slack, edges, "{edge} leaves before {source} has ended")
        inner = np.flatnonzero(self.edge[1:] == self.edge[:-1]) if len(self.edge) else edges[:0]
        slack = schedule.start[self.hops[inner + 1]] - schedule.end[self.hops[inner]]
        what = "{edge} is forwarded before it has arrived whole"
        yield from late("route", slack, self.edge[inner], what)
        slack = self.start[dag.target[edges]] - self._arrivals(edges)
        yield from late(
            "arrival", slack, edges, "{target} starts before the data of {edge} are there"
        )

    def _arrivals(self, edges: Integers) -> Floats:
        """Return when the data of edges with rows are on the machine of their target."""
        ends = self.hops[self.first[edges] + self.count[edges] - 1]
        delay = self.problem.network.routing.delay[self.origin[edges], self.goal[edges]]
        return np.asarray(self.schedule.end[ends] + delay)

    def _late(self, rule: str, slack: Floats, edges: Integers, what: str) -> Iterator[Violation]:
        """Yield a violation for each edge whose slack is negative, named in ``what``."""
        dag = self.problem.dag
        for index in np.flatnonzero(slack < -self.tolerance).tolist():
            edge = int(edges[index])
            ends = source, target = dag.source[edge], dag.target[edge]
            names = {"source": self._task(source), "target": self._task(target)}
            names["on"] = self._node(int(self.machine[target]))
            text = what.format(edge=self._edge(edge), **names)
            times = self.end[source], self.start[target]
            yield broken(rule, text, self.row[[*ends]], times, -slack[index])

    def taken(self) -> Floats:
        """Return when machines take their tasks: with the first transfer for it, if blocking."""
        taken = self.start.copy()
        if self.problem.is_blocking and len(self.hops):
            np.minimum.at(taken, self.problem.dag.target[self.edge], self.schedule.start[self.hops])
        return taken

    def _blocking(self) -> Iterator[Violation]:
        """Yield fetches before all predecessors have ended, and fetches that overlap."""
        dag = self.problem.dag
        taken = self.taken()
        slack, every = taken[dag.target] - self.end[dag.source], np.arange(len(dag.source))
        yield from self._late(
            "blocking",
            slack,
            every,
            "{on} begins fetching data for {target} before {source} has ended",
        )
        edges = np.flatnonzero(self.count)
        begin = self.schedule.start[self.hops[self.first[edges]]]
        end = self._arrivals(edges)
        for one, other, excess in overlaps(dag.target[edges], begin, end, self.tolerance):
            first, second = int(edges[one]), int(edges[other])
            text = (
                f"{self._edge(first)} and {self._edge(second)} come at the same time; "
                "a machine fetches one after another"
            )
            rows = self.hops[self.first[[first, second]]]
            yield broken("blocking", text, rows, (begin[other],), excess)

    def _exclusive(
        self, rule: str, rows: Integers, group: Integers, what: str
    ) -> Iterator[Violation]:
        """Yield transfers of one group that overlap."""
        schedule = self.schedule
        start, end = schedule.start[rows], schedule.end[rows]
        for one, other, _ in overlaps(group, start, end, self.tolerance):
            first, second = int(rows[one]), int(rows[other])
            text = f"{self._activity(first)} and {self._activity(second)} {what}"
            yield broken(rule, text, (first, second), (schedule.start[second], schedule.end[first]))

    def _links(self) -> Iterator[Violation]:
        schedule = self.schedule
        medium = self.problem.network.medium[schedule.machine[self.hops], schedule.peer[self.hops]]
        yield from self._exclusive("link", self.hops, medium, "are on one link at the same time")

    def _ports(self) -> Iterator[Violation]:
        schedule, machines = self.schedule, len(self.problem.network)
        for node, word in ((schedule.machine, "sent by"), (schedule.peer, "received by")):
            rows = self.hops[node[self.hops] < machines]
            yield from self._exclusive(
                "port", rows, node[rows], f"are {word} one machine at the same time"
            )

    def _given(self) -> Iterator[Violation]:
        given = self.problem.given
        if given.machine_of is None:
            return
        for task in np.flatnonzero(given.machine_of != self.machine).tolist():
            wanted = self._node(given.machine_of[task])
            found = self._node(self.machine[task])
            text = f"{self._task(task)} is on {found}; it is assigned to {wanted}"
            yield broken("assignment", text, (self.row[task],))
        taken = self.taken()
        for machine, tasks in given.sequences.items():
            for index in np.flatnonzero(np.diff(taken[tasks]) < -self.tolerance).tolist():
                first, second = int(tasks[index]), int(tasks[index + 1])
                text = (
                    f"{self._node(machine)} has {self._task(second)} before "
                    f"{self._task(first)}; its sequence says otherwise"
                )
                both = [first, second]
                yield broken("sequence", text, self.row[both], taken[both])


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

    def _copy_on(self, task: Integers, machine: Integers) -> Integers:
        """Return the copies of tasks on machines, -1 where there is none."""
        return places_of(task * self.nodes + machine, self.copy_key, self.nodes)

    def transfers(self) -> Iterator[Violation]:
        """Yield transfers from or to machines without a copy, and those that come twice."""
        dag = self.problem.dag
        for tasks, node in ((dag.source, self.sender), (dag.target, self.receiver)):
            task = tasks[self.edge]
            for index in np.flatnonzero(self._copy_on(task, node) < 0).tolist():
                text = (
                    f"{self._activity(self.hops[index])}: "
                    f"{self._node(node[index])} has no copy of {self._task(task[index])}"
                )
                yield broken("route", text, (self.hops[index],))
        for index in np.flatnonzero(self.sender == self.receiver).tolist():
            text = (
                f"{self._edge(self.edge[index])} stays on "
                f"{self._node(self.sender[index])}, so nothing is sent"
            )
            yield broken("route", text, (self.hops[index],))
        for index in np.flatnonzero(self.hop_key[1:] == self.hop_key[:-1]).tolist():
            text = (
                f"{self._edge(self.edge[index])} is sent to "
                f"{self._node(self.receiver[index])} more than once"
            )
            yield broken("route", text, (self.hops[index], self.hops[index + 1]))

    def waits(self) -> Iterator[Violation]:
        """Yield the transfers and the copies that begin before their data are there."""
        yield from self._departures()
        yield from self._inputs()

    def _departures(self) -> Iterator[Violation]:
        """Yield transfers that leave before the copy on their machine has ended."""
        copy = self._copy_on(self.problem.dag.source[self.edge], self.sender)
        start = self.schedule.start[self.hops]
        for index in np.flatnonzero(self.end[copy] - start > self.tolerance).tolist():
            source = self._task(self.task[copy[index]])
            text = f"{self._activity(self.hops[index])} leaves before {source} has ended there"
            rows, times = (
                (self.row[copy[index]], self.hops[index]),
                (self.end[copy[index]], start[index]),
            )
            yield broken("precedence", text, rows, times)

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
            source, name = self._task(dag.source[edge]), self._task(self.task[target])
            where = self._node(self.machine[target])
            if np.isinf(late[index]):
                text = (
                    f"{name} on {where} lacks the data of {self._edge(edge)}: {source} "
                    "has no copy there, and nothing is sent"
                )
                yield broken("input", text, (self.row[target],))
                continue
            arrives = far[index] < near[index]
            what = f"the data of {self._edge(edge)} are there" if arrives else f"{source} has ended"
            text = f"{name} starts on {where} before {what}"
            rule, times = "arrival" if arrives else "precedence", (self.start[target],)
            yield broken(rule, text, (self.row[target],), times, late[index])

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
    index, inside = repeated(first[task + 1] - first[task])
    return index, first[task[index]] + inside
