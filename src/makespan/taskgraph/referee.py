"""The referee of task graphs: it knows the statement, and nothing of the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import Activity, Floats, Integers, Schedule
from makespan.taskgraph.problem import TaskGraph

TOLERANCE = 1e-9


def violations(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield every rule that ``schedule`` breaks.

    Rules: ``kind``, ``item``, ``every-task-once``, ``router``, ``amount``, ``duration``,
    ``route``, ``precedence``, ``arrival``, ``blocking``, ``cores``, ``link``, ``port``,
    ``assignment``, ``sequence``. Times are compared to within 1e-9 of the makespan.

    Complexity: O(rows log rows), vectorised.
    """
    schedule = schedule.renamed(problem.machines)
    broken = False
    for violation in _unreadable(problem, schedule):
        broken = True
        yield violation
    if not broken:
        yield from _Match(problem, schedule).violations()


def _unreadable(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield what makes the rest meaningless: foreign rows, tasks missing or executed twice."""
    computes, transfers = (
        schedule.kind == Activity.COMPUTE,
        schedule.kind == Activity.TRANSFER,
    )
    for row in np.flatnonzero(~(computes | transfers)).tolist():
        yield Violation(
            rule="kind",
            message=f"activity {row} is neither a computation nor a transfer",
            activities=(row,),
        )
    limit = np.where(computes, len(problem.dag), len(problem.dag.source))
    wrong = (computes | transfers) & ((schedule.item < 0) | (schedule.item >= limit))
    for row in np.flatnonzero(wrong).tolist():
        what = "task" if computes[row] else "edge"
        yield Violation(
            rule="item",
            message=f"activity {row} names {what} {int(schedule.item[row])}; there is none",
            activities=(row,),
        )
    for row in np.flatnonzero(transfers & (schedule.peer < 0)).tolist():
        yield Violation(rule="item", message=f"transfer {row} names no receiver", activities=(row,))
    routers = computes & (schedule.machine >= len(problem.network))
    for row in np.flatnonzero(routers).tolist():
        name = problem.machines[int(schedule.machine[row])]
        yield Violation(
            rule="router", message=f"{name} is a router; it executes nothing", activities=(row,)
        )
    yield from _task_counts(problem, schedule, computes & ~wrong)


def _task_counts(
    problem: TaskGraph, schedule: Schedule, computes: np.ndarray
) -> Iterator[Violation]:
    counts = np.bincount(schedule.item[computes], minlength=len(problem.dag))
    for task in np.flatnonzero(counts != 1).tolist():
        times = "never" if counts[task] == 0 else f"{counts[task]} times"
        yield Violation(
            rule="every-task-once",
            message=f"task {problem.dag.names[task]} is executed {times}",
            activities=tuple(np.flatnonzero(computes & (schedule.item == task))[:2].tolist()),
        )


class _Match:
    """A schedule whose rows make sense, beside the problem it is said to solve."""

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        dag = problem.dag
        self.problem, self.schedule = problem, schedule
        self.tolerance = TOLERANCE * schedule.makespan
        self.computing = np.flatnonzero(schedule.kind == Activity.COMPUTE)
        task = schedule.item[self.computing]
        self.row = np.zeros(len(dag), dtype=np.int64)
        self.row[task] = self.computing
        self.machine = schedule.machine[self.row]
        self.start, self.end = schedule.start[self.row], schedule.end[self.row]
        self.origin, self.goal = self.machine[dag.source], self.machine[dag.target]
        # Transfer rows by edge, and in an edge by the hops that are left.
        rows = np.flatnonzero(schedule.kind == Activity.TRANSFER)
        left = problem.network.routing.hops[schedule.machine[rows], self.goal[schedule.item[rows]]]
        self.hops = rows[np.lexsort((rows, -left, schedule.item[rows]))]
        self.edge = schedule.item[self.hops]
        self.count = np.bincount(self.edge, minlength=len(dag.source))
        self.first = np.cumsum(self.count) - self.count

    def violations(self) -> Iterator[Violation]:
        yield from self._amounts()
        yield from self._durations()
        sound = True
        for violation in self._routes():
            sound = False
            yield violation
        if sound:
            yield from self._precedences()
            if self.problem.is_blocking:
                yield from self._blocking()
        yield from self._cores()
        if self.problem.contention == "links":
            yield from self._links()
        elif self.problem.contention == "ports":
            yield from self._ports()
        yield from self._given()

    def _task(self, task: int) -> str:
        return str(self.problem.dag.names[task])

    def _edge(self, edge: int) -> str:
        dag = self.problem.dag
        return f"{self._task(int(dag.source[edge]))} → {self._task(int(dag.target[edge]))}"

    def _node(self, node: int) -> str:
        return self.problem.machines[node]

    def _activity(self, row: int) -> str:
        schedule = self.schedule
        item = int(schedule.item[row])
        if schedule.kind[row] == Activity.COMPUTE:
            return self._task(item)
        ends = f"{self._node(int(schedule.machine[row]))} to {self._node(int(schedule.peer[row]))}"
        return f"{self._edge(item)} from {ends}"

    def _amounts(self) -> Iterator[Violation]:
        dag, schedule = self.problem.dag, self.schedule
        due = np.empty(len(schedule))
        due[self.computing] = dag.work[schedule.item[self.computing]]
        due[self.hops] = dag.size[self.edge]
        off = np.abs(schedule.amount - due)
        for row in np.flatnonzero(off > TOLERANCE * due).tolist():
            yield Violation(
                rule="amount",
                message=f"{self._activity(row)} has amount {schedule.amount[row]:.12g}, "
                f"not {due[row]:.12g}",
                activities=(row,),
                excess=float(off[row]),
            )

    def _durations(self) -> Iterator[Violation]:
        schedule, routing = self.schedule, self.problem.network.routing
        due = np.empty(len(schedule))
        rows = self.computing
        due[rows] = self.problem.durations_on(schedule.item[rows], schedule.machine[rows])
        tail, head = schedule.machine[self.hops], schedule.peer[self.hops]
        with np.errstate(divide="ignore", invalid="ignore"):
            data = self.problem.dag.size[self.edge] / routing.rates[tail, head]
        due[self.hops] = data + routing.setup[tail]
        off = np.abs(schedule.end - schedule.start - due)
        for row in np.flatnonzero(off > self.tolerance).tolist():
            yield Violation(
                rule="duration",
                message=f"{self._activity(row)} takes {due[row]:.12g} s, "
                f"not {schedule.end[row] - schedule.start[row]:.12g} s",
                activities=(row,),
                times=(float(schedule.start[row]), float(schedule.end[row])),
                excess=float(off[row]),
            )

    def _routes(self) -> Iterator[Violation]:
        """Yield the edges whose rows are not the hops of their route."""
        problem, schedule = self.problem, self.schedule
        routing = problem.network.routing
        every = np.arange(len(problem.dag.source))
        needed = problem.needs_rows(every, self.origin, self.goal)
        due = routing.hops[self.origin, self.goal]
        wrong = np.where(needed, self.count != due, (self.count != 0) & (self.count != due))
        tail, head = schedule.machine[self.hops], schedule.peer[self.hops]
        goal = self.goal[self.edge]
        leaps = head != routing.following[tail, goal]
        begins = np.concatenate([[True], self.edge[1:] != self.edge[:-1]])[: len(self.edge)]
        expected = np.where(begins, self.origin[self.edge], np.roll(head, 1))
        leaps |= tail != expected
        np.logical_or.at(wrong, self.edge[leaps], True)
        for edge in np.flatnonzero(wrong).tolist():
            rows = self.hops[self.first[edge] : self.first[edge] + self.count[edge]]
            a, b = int(self.origin[edge]), int(self.goal[edge])
            if a == b:
                what = f"stays on {self._node(a)}, so nothing is sent"
            else:
                path = [a, *(head for _, head in routing.route(a, b))]
                what = f"goes {' → '.join(map(self._node, path))}, one transfer a hop"
            yield Violation(
                rule="route",
                message=f"{self._edge(edge)} {what}; the schedule has {len(rows)} rows for it",
                activities=tuple(rows.tolist()),
            )

    def _precedences(self) -> Iterator[Violation]:
        dag, schedule = self.problem.dag, self.schedule
        moved = self.count > 0
        stays = np.flatnonzero(~moved)
        yield from self._late(
            "precedence",
            self.start[dag.target[stays]] - self.end[dag.source[stays]],
            stays,
            lambda edge: (
                f"{self._task(int(dag.target[edge]))} starts before "
                f"{self._task(int(dag.source[edge]))} has ended"
            ),
        )
        begins = self.hops[self.first[moved]]
        edges = np.flatnonzero(moved)
        yield from self._late(
            "precedence",
            schedule.start[begins] - self.end[dag.source[edges]],
            edges,
            lambda edge: (
                f"{self._edge(edge)} leaves before {self._task(int(dag.source[edge]))} has ended"
            ),
        )
        inner = np.flatnonzero(self.edge[1:] == self.edge[:-1]) if len(self.edge) else edges[:0]
        yield from self._late(
            "route",
            schedule.start[self.hops[inner + 1]] - schedule.end[self.hops[inner]],
            self.edge[inner],
            lambda edge: f"{self._edge(edge)} is forwarded before it has arrived whole",
        )
        there = self._arrivals(edges)
        yield from self._late(
            "arrival",
            self.start[dag.target[edges]] - there,
            edges,
            lambda edge: (
                f"{self._task(int(dag.target[edge]))} starts before the data of "
                f"{self._edge(edge)} are there"
            ),
        )

    def _arrivals(self, edges: Integers) -> Floats:
        """Return when the data of edges with rows are on the machine of their target."""
        ends = self.hops[self.first[edges] + self.count[edges] - 1]
        delay = self.problem.network.routing.delay[self.origin[edges], self.goal[edges]]
        return np.asarray(self.schedule.end[ends] + delay)

    def _late(
        self, rule: str, slack: Floats, edges: Integers, message: Callable[[int], str]
    ) -> Iterator[Violation]:
        """Yield a violation for each edge whose slack is negative."""
        dag = self.problem.dag
        for index in np.flatnonzero(slack < -self.tolerance).tolist():
            edge = int(edges[index])
            source, target = int(dag.source[edge]), int(dag.target[edge])
            yield Violation(
                rule=rule,
                message=message(edge),
                activities=(int(self.row[source]), int(self.row[target])),
                times=(float(self.end[source]), float(self.start[target])),
                excess=float(-slack[index]),
            )

    def _taken(self) -> Floats:
        """Return when machines take their tasks: with the first transfer for it, if blocking."""
        taken = self.start.copy()
        if self.problem.is_blocking and len(self.hops):
            target = self.problem.dag.target[self.edge]
            np.minimum.at(taken, target, self.schedule.start[self.hops])
        return taken

    def _blocking(self) -> Iterator[Violation]:
        """Yield fetches before all predecessors have ended, and fetches that overlap."""
        dag = self.problem.dag
        taken = self._taken()
        slack = taken[dag.target] - self.end[dag.source]
        yield from self._late(
            "blocking",
            slack,
            np.arange(len(dag.source)),
            lambda edge: (
                f"{self._task(int(dag.target[edge]))} is taken before "
                f"{self._task(int(dag.source[edge]))} has ended"
            ),
        )
        edges = np.flatnonzero(self.count)
        begin = self.schedule.start[self.hops[self.first[edges]]]
        end = self._arrivals(edges)
        for one, other, excess in _overlaps(dag.target[edges], begin, end, self.tolerance):
            first, second = int(edges[one]), int(edges[other])
            yield Violation(
                rule="blocking",
                message=f"{self._edge(first)} and {self._edge(second)} come at the same time; "
                "a machine fetches one after another",
                activities=(int(self.hops[self.first[first]]), int(self.hops[self.first[second]])),
                times=(float(begin[other]),),
                excess=excess,
            )

    def _cores(self) -> Iterator[Violation]:
        taken, cores = self._taken(), self.problem.network.cores
        single = np.flatnonzero(cores[self.machine] == 1)
        for one, other, excess in _overlaps(
            self.machine[single], taken[single], self.end[single], self.tolerance
        ):
            first, second = int(single[one]), int(single[other])
            yield Violation(
                rule="cores",
                message=f"{self._node(int(self.machine[first]))} has {self._task(first)} and "
                f"{self._task(second)} at the same time",
                activities=(int(self.row[first]), int(self.row[second])),
                times=(float(taken[second]), float(self.end[first])),
                excess=excess,
            )
        for machine in np.flatnonzero(cores > 1).tolist():
            tasks = np.flatnonzero((self.machine == machine) & (self.end > taken))
            tasks = tasks[np.argsort(taken[tasks], kind="stable")]
            ended = np.searchsorted(
                np.sort(self.end[tasks]), taken[tasks] + self.tolerance, side="right"
            )
            running = np.arange(1, len(tasks) + 1) - ended
            for index in np.flatnonzero(running > cores[machine]).tolist():
                task = int(tasks[index])
                yield Violation(
                    rule="cores",
                    message=f"{self._node(machine)} has {int(running[index])} tasks at the same "
                    f"time when it takes {self._task(task)}, but {int(cores[machine])} cores",
                    activities=(int(self.row[task]),),
                    times=(float(taken[task]),),
                    excess=float(running[index] - cores[machine]),
                )

    def _exclusive(
        self, rule: str, rows: Integers, group: Integers, what: str
    ) -> Iterator[Violation]:
        """Yield transfers of one group that overlap."""
        schedule = self.schedule
        start, end = schedule.start[rows], schedule.end[rows]
        for one, other, excess in _overlaps(group, start, end, self.tolerance):
            first, second = int(rows[one]), int(rows[other])
            yield Violation(
                rule=rule,
                message=f"{self._activity(first)} and {self._activity(second)} {what}",
                activities=(first, second),
                times=(float(schedule.start[second]), float(schedule.end[first])),
                excess=excess,
            )

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
            wanted = self._node(int(given.machine_of[task]))
            found = self._node(int(self.machine[task]))
            yield Violation(
                rule="assignment",
                message=f"{self._task(task)} is on {found}; it is assigned to {wanted}",
                activities=(int(self.row[task]),),
            )
        taken = self._taken()
        for machine, tasks in given.sequences.items():
            for index in np.flatnonzero(np.diff(taken[tasks]) < -self.tolerance).tolist():
                first, second = int(tasks[index]), int(tasks[index + 1])
                yield Violation(
                    rule="sequence",
                    message=f"{self._node(machine)} has {self._task(second)} before "
                    f"{self._task(first)}; its sequence says otherwise",
                    activities=(int(self.row[first]), int(self.row[second])),
                    times=(float(taken[first]), float(taken[second])),
                    excess=float(taken[first] - taken[second]),
                )


def _overlaps(
    group: Integers, start: Floats, end: Floats, tolerance: float
) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of neighbouring intervals of one group that overlap, and by how much.

    Where any two intervals of a group overlap, two neighbours by start do. What takes no time
    is never in the way.
    """
    lasting = np.flatnonzero(end > start)
    order = lasting[np.lexsort((end[lasting], start[lasting], group[lasting]))]
    same = group[order[1:]] == group[order[:-1]]
    excess = end[order[:-1]] - start[order[1:]]
    for index in np.flatnonzero(same & (excess > tolerance)).tolist():
        yield int(order[index]), int(order[index + 1]), float(excess[index])
