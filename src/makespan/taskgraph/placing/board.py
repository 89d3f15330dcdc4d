"""Who is busy until when, while a plan grows by one task after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers, Rows
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph


class Placement(NamedTuple):
    """A task on a machine: when the machine takes it, starts and ends it.

    ``waited`` is the time that its incoming transfers wait for busy links or ports, in all: the
    contention delay.
    """

    machine: int
    taken: float
    start: float
    end: float
    waited: float


class Board:
    """The state of machines, links and ports under a growing plan.

    Tasks are placed one after another, predecessors first, each behind what its machine has;
    each transfer goes behind what its links or ports have. Nothing that was placed moves.

    Attributes
    ----------
    machine, start, end
        Machine and times of the placed tasks; machine -1 for those not placed yet.
    """

    def __init__(self, problem: TaskGraph) -> None:
        dag, network, count = problem.dag, problem.network, len(problem.dag)
        routing = network.routing
        self.problem = problem
        self.machine = [-1] * count
        self.start = [0.0] * count
        self.end = [0.0] * count
        self.cores = [[0.0] * cores for cores in problem.cores.tolist()]
        self._blocking = problem.is_blocking
        self._contention = problem.contention
        self._free: dict[int, float] = {}
        self._rows: list[tuple[int, int, int, float, float]] = []
        self._fixed = Rows(routing.fixed_seconds)
        self._per_unit = Rows(routing.seconds_per_unit)
        self._routes: dict[tuple[int, int], list[tuple[int, int, float, float]]] = {}
        self._size = dag.size.tolist()
        self._source = dag.source.tolist()
        self._first, self._edges = dag.first_in.tolist(), dag.in_edges.tolist()
        self._seconds = problem.seconds

    def free_at(self, machine: int) -> float:
        """Return when a core of ``machine`` is next free."""
        return min(self.cores[machine])

    def try_on(self, task: int, machine: int, not_before: float = 0.0) -> Placement:
        """Return what placing ``task`` on ``machine`` would give, and place nothing."""
        return self._placed(task, machine, not_before, {}, record=False)

    def place(self, task: int, machine: int, not_before: float = 0.0) -> Placement:
        """Place ``task`` on ``machine``, its incoming transfers included."""
        held: dict[int, float] = {}
        placement = self._placed(task, machine, not_before, held, record=True)
        self._free.update(held)
        self.occupy(task, placement)
        return placement

    def occupy(self, task: int, placement: Placement) -> list[float]:
        """Keep a task where it was tried; return when the cores of the machine were free before."""
        cores = self.cores[placement.machine]
        before = cores.copy()
        self.machine[task] = placement.machine
        self.start[task], self.end[task] = placement.start, placement.end
        if placement.end > placement.taken:
            cores[cores.index(min(cores))] = placement.end
        return before

    def _placed(
        self, task: int, machine: int, not_before: float, held: dict[int, float], *, record: bool
    ) -> Placement:
        edges = self._edges[self._first[task] : self._first[task + 1]]
        end, source = self.end, self._source
        seconds, taken = self._seconds(task, machine), not_before
        if self._blocking or seconds > 0:  # what takes no time needs no core
            taken = max(taken, min(self.cores[machine]))
        waited = 0.0
        if self._blocking:
            for edge in edges:
                taken = max(taken, end[source[edge]])
            clock = taken
            for edge in edges:
                arrival, wait = self._arrival(edge, machine, clock, held, record=record)
                clock = arrival
                waited += wait
            start = clock
        else:
            if self._contention != "none":
                edges = sorted(edges, key=lambda edge: (end[source[edge]], edge))
            start = taken
            for edge in edges:
                earliest = end[source[edge]]
                arrival, wait = self._arrival(edge, machine, earliest, held, record=record)
                start = max(start, arrival)
                waited += wait
            taken = start
        return Placement(machine, taken, start, start + seconds, waited)

    def _arrival(
        self, edge: int, machine: int, earliest: float, held: dict[int, float], *, record: bool
    ) -> tuple[float, float]:
        """Return when the data of an edge reach a machine, and how long they waited."""
        origin = self.machine[self._source[edge]]
        size, fixed = self._size[edge], self._fixed[origin][machine]
        if origin == machine or (size == 0 and fixed == 0):
            return earliest, 0.0
        if not record and self._contention == "none":
            return earliest + (fixed + self._per_unit[origin][machine] * size), 0.0
        time, waited = earliest, 0.0
        for tail, head, rate, setup in self._route(origin, machine):
            begin = time
            keys = self._keys(tail, head)
            for key in keys:
                begin = max(begin, held.get(key, self._free.get(key, 0.0)))
            waited += begin - time
            time = begin + (size / rate + setup)
            for key in keys:
                held[key] = time
            if record:
                self._rows.append((edge, tail, head, begin, time))
        return time + float(self.problem.network.routing.delay[origin, machine]), waited

    def _route(self, origin: int, machine: int) -> list[tuple[int, int, float, float]]:
        """Return the hops as (tail, head, rate, set-up)."""
        if (origin, machine) not in self._routes:
            routing = self.problem.network.routing
            self._routes[origin, machine] = [
                (tail, head, float(routing.rates[tail, head]), float(routing.setup[tail]))
                for tail, head in routing.route(origin, machine)
            ]
        return self._routes[origin, machine]

    def _keys(self, tail: int, head: int) -> tuple[int, ...]:
        """Return what a hop occupies: a medium, or the ports of machines."""
        if self._contention == "none":
            return ()
        if self._contention == "links":
            return (int(self.problem.network.medium[tail, head]),)
        machines = len(self.problem.network)
        sending = (tail,) if tail < machines else ()
        return (*sending, -1 - head) if head < machines else sending

    def schedule(self) -> Schedule:
        """Return the plan: one row per task in their order, then the hops as they were placed."""
        dag, count = self.problem.dag, len(self.problem.dag)
        columns = np.array(self._rows, dtype=np.float64).reshape(-1, 5)
        edge, tail, head = (columns[:, index].astype(np.int64) for index in range(3))
        kind = np.full(count + len(edge), Activity.TRANSFER)
        kind[:count] = Activity.COMPUTE
        return Schedule.of_columns(
            self.problem.machines,
            kind=kind,
            machine=np.concatenate([np.array(self.machine, dtype=np.int64), tail]),
            peer=np.concatenate([np.full(count, -1), head]),
            item=np.concatenate([np.arange(count), edge]),
            amount=np.concatenate([dag.work, dag.size[edge]]),
            start=np.concatenate([self.start, columns[:, 3]]),
            end=np.concatenate([self.end, columns[:, 4]]),
        )


def on_board(
    problem: TaskGraph,
    machine: Integers,
    order: Integers,
    expired: Callable[[], bool] = lambda: False,
) -> Schedule | None:
    """Return the plan that places the tasks of ``order`` on their machines, one after another.

    No task starts before the one that its machine took before it. None once ``expired``.
    """
    board = Board(problem)
    latest = [0.0] * len(problem.network)
    for task, place in zip(order.tolist(), machine[order].tolist(), strict=True):
        if expired():
            return None
        latest[place] = board.place(task, place, latest[place]).taken
    return board.schedule()
