"""What Dask will do with an order of tasks on machines: each result goes to a machine once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf, nextafter

import numpy as np

from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.list_scheduling import Moved, hops_of
from makespan.taskgraph.list_scheduling.free_times import Gaps
from makespan.taskgraph.list_scheduling.insertion import common_fit
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph


class Forecast:
    """When everything happens under an order of tasks and their machines.

    Tasks go to their machines one after another in the order, each behind what its machine has. A
    result goes to a machine when its task has ended, once, however many tasks need it there; under
    contention in the first gap of what it occupies. A task starts at the earliest a ``task_setup``
    after the last of its inputs was computed: the scheduler has to hear of it.

    Communication overlaps. Durations hold the ``task_setup`` of the machine; where a task has
    waited for its inputs or its machine that long anyway, it is not charged. Complexity of
    :meth:`run`: O(n + e h g), g gaps that are tried.
    """

    def __init__(self, problem: TaskGraph) -> None:
        dag, network = problem.dag, problem.network
        self.problem = problem
        self.count, self.machines = len(dag), len(network)
        self.setup = network.task_setup.tolist()
        self.seconds = np.maximum(0.0, problem.durations - network.task_setup[None, :]).tolist()
        first, edges = dag.first_in.tolist(), dag.in_edges.tolist()
        self.incoming = [edges[first[t] : first[t + 1]] for t in range(self.count)]
        first, edges = dag.first_out.tolist(), dag.out_edges.tolist()
        self.outgoing = [edges[first[t] : first[t + 1]] for t in range(self.count)]
        self.source, self.target = dag.source.tolist(), dag.target.tolist()
        self.size = dag.size.tolist()
        self.cores = network.cores.tolist()
        self.delay: list[list[float]] = network.routing.delay.tolist()
        self.routes = [
            [hops_of(problem, a, b) if a != b else [] for b in range(self.machines)]
            for a in range(self.machines)
        ]
        self.start = [0.0] * self.count
        self.end = [0.0] * self.count
        self.begin = [0.0] * self.count
        self.cause = [-1] * self.count
        self.moves: list[Moved] = []
        self.carrier: dict[tuple[int, int], int] = {}

    def run(
        self,
        order: Sequence[int],
        machine_of: Sequence[int],
        after: Mapping[int, tuple[int, ...]] | None = None,
        *,
        late: bool = False,
    ) -> float:
        """Time an order, predecessors first; return the makespan.

        ``after`` has tasks that a task is made to wait for beside those that it needs. Where
        ``late``, inputs leave when the last of them is computed, as Dask by itself has it.

        Leaves ``start``, ``end``, ``begin`` (when machine and inputs were there), ``cause`` (the
        task that each waited for), ``moves``, and ``carrier``: the edge by (source, machine).
        """
        free = [[0.0] * cores for cores in self.cores]
        last: list[list[int]] = [[-1] * cores for cores in self.cores]
        busy: defaultdict[int, Gaps] = defaultdict(Gaps)
        there: dict[tuple[int, int], float] = {}
        self.moves, self.carrier = [], {}
        source, end = self.source, self.end
        latest = [0.0] * self.machines  # starts on a machine differ: they say the order
        makespan = 0.0
        for task in order:
            machine = machine_of[task]
            cores = free[machine]
            core = cores.index(min(cores))
            begin, cause = max(cores[core], latest[machine]), last[machine][core]
            known = -inf
            if after and task in after:
                known = max(end[before] for before in after[task])
            edges = self.incoming[task]
            if len(edges) > 1:
                edges = sorted(edges, key=lambda edge: end[source[edge]])
            for edge in edges:
                known = max(known, end[source[edge]])
            for edge in edges:
                before = source[edge]
                arrival = end[before]
                if machine_of[before] != machine:
                    pair = (before, machine)
                    if pair not in there:
                        leaves = known if late else arrival
                        way = machine_of[before], machine
                        there[pair] = self._carried(edge, *way, leaves, busy)
                        self.carrier[pair] = edge
                    arrival = there[pair]
                if arrival > begin:
                    begin, cause = arrival, before
            start = max(begin, known + self.setup[machine])
            done = start + self.seconds[task][machine]
            self.begin[task], self.start[task], end[task] = begin, start, done
            self.cause[task] = cause
            latest[machine] = nextafter(begin, inf)
            cores[core] = done
            last[machine][core] = task
            makespan = max(makespan, done)
        return makespan

    def _carried(
        self, edge: int, tail: int, head: int, time: float, busy: defaultdict[int, Gaps]
    ) -> float:
        """Send a result from then on; return when it is there."""
        for hop in self.routes[tail][head]:
            length = self.size[edge] / hop.rate + hop.setup
            occupied = [busy[key] for key in hop.occupied] if length else []
            begin = common_fit(occupied, time, length)
            time = begin + length
            for gaps in occupied:
                gaps.take(begin, time)
            self.moves.append((edge, hop.tail, hop.head, begin, time))
        return time + self.delay[tail][head]

    def problem_as_run(self, order: Sequence[int], machine_of: Sequence[int]) -> TaskGraph:
        """Return the problem of this very plan, with its assignment and sequences.

        An edge is left out where an earlier one of the same source brings the data to the same
        machine: the sequence says that its task comes later. A task's duration holds what it
        waits for the scheduler.
        """
        problem = self.problem
        dag, network = problem.dag, problem.network
        used = [
            edge
            for edge in range(len(self.source))
            if self.carrier.get((self.source[edge], machine_of[self.target[edge]]), edge) == edge
        ]
        own = self.seconds
        rows = []
        for task in range(self.count):
            machine = machine_of[task]
            row = list(own[task])
            row[machine] = self.end[task] - self.begin[task]
            rows.append((dag.names[task], row))
        edges = [(dag.names[self.source[e]], dag.names[self.target[e]], self.size[e]) for e in used]
        names = network.names
        return TaskGraph(
            Dag(rows, edges),
            network,
            contention=problem.contention,
            assignment={dag.names[task]: names[machine_of[task]] for task in range(self.count)},
            sequence={
                name: [dag.names[task] for task in order if machine_of[task] == index]
                for index, name in enumerate(names)
            },
        )

    def schedule(self, as_run: TaskGraph, machine_of: Sequence[int]) -> Schedule:
        """Return what was timed last as a schedule of its own problem."""
        dag = as_run.dag
        pairs = zip(dag.source.tolist(), dag.target.tolist(), strict=True)
        number = {pair: edge for edge, pair in enumerate(pairs)}
        rows: list[tuple[str, int, int, int, float, float, float]] = []
        for task in range(self.count):
            times = (self.begin[task], self.end[task])
            rows.append(("compute", machine_of[task], -1, task, float(dag.work[task]), *times))
        for edge, tail, head, start, end in self.moves:
            size = self.size[edge]
            if size > 0.0 or end > start:
                own = number[self.source[edge], self.target[edge]]
                rows.append(("transfer", tail, head, own, size, start, end))
        return Schedule.of_rows(tuple(as_run.machines), rows)


def tasks_of(schedule: Schedule, count: int) -> tuple[list[int], list[int]]:
    """Return the tasks of a plan in the order of their starts, and the machine of each."""
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    rows = rows[np.lexsort((schedule.item[rows], schedule.end[rows], schedule.start[rows]))]
    machine = np.zeros(count, dtype=np.int64)
    machine[schedule.item[rows]] = schedule.machine[rows]
    return schedule.item[rows].tolist(), machine.tolist()
