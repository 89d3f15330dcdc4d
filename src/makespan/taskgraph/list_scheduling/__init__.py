"""Plans that grow by one task after another: who is busy until when."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.numeric.arrays import Integers, Rows
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.list_scheduling.free_times import Cores
from makespan.taskgraph.model.dag import rows_of
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


class Hop(NamedTuple):
    """A hop of a route: its ends, its rate and set-up, and the keys of what it occupies."""

    tail: int
    head: int
    rate: float
    setup: float
    occupied: tuple[int, ...]


Moved = tuple[int, int, int, float, float]
"""A row of a transfer: its edge, sender and receiver, start and end."""


class PartialSchedule:
    """A plan to which tasks are added one after another; ``machine`` is -1 for those to come."""

    def __init__(self, problem: TaskGraph) -> None:
        dag, routing, count = problem.dag, problem.network.routing, len(problem.dag)
        self.problem = problem
        self.machine = [-1] * count
        self.start = [0.0] * count
        self.end = [0.0] * count
        self._rows: list[Moved] = []
        self._fixed = Rows(routing.fixed_seconds)
        self._per_unit = Rows(routing.seconds_per_unit)
        self._routes: dict[tuple[int, int], list[Hop]] = {}
        self._size, self._source = dag.size.tolist(), dag.source.tolist()
        self._incoming = rows_of(dag.first_in, dag.in_edges)
        self._seconds = problem.seconds
        self.width: list[int] = dag.cores.tolist()
        self._release: list[float] = dag.release.tolist()

    def _route(self, origin: int, machine: int) -> list[Hop]:
        if (origin, machine) not in self._routes:
            self._routes[origin, machine] = hops_of(self.problem, origin, machine)
        return self._routes[origin, machine]

    def schedule(self) -> Schedule:
        """Return the plan: one row per task in their order, then the hops as they were placed."""
        columns = np.array(self._rows, dtype=np.float64).reshape(-1, 5).T
        tasks = (np.arange(len(self.machine)), self.machine, self.start, self.end)
        return schedule_of(self.problem, tasks, tuple(columns))


def hops_of(problem: TaskGraph, origin: int, machine: int) -> list[Hop]:
    """Return the hops of the route from one machine to another."""
    rates, setup = problem.network.routing.rates, problem.network.routing.setup
    return [
        Hop(*hop, float(rates[hop]), float(setup[hop[0]]), occupied(problem, *hop))
        for hop in problem.network.routing.route(origin, machine)
    ]


def occupied(problem: TaskGraph, tail: int, head: int) -> tuple[int, ...]:
    """Return what a hop occupies, as keys: a medium, or the ports of machines."""
    if problem.contention == "none":
        return ()
    if problem.contention == "links":
        return (int(problem.network.medium[tail, head]),)
    machines = len(problem.network)
    sending = (tail,) if tail < machines else ()
    return (*sending, -1 - head) if head < machines else sending


def schedule_of(
    problem: TaskGraph, tasks: tuple[ArrayLike, ...], hops: tuple[np.ndarray, ...]
) -> Schedule:
    """Return the rows of tasks (task, machine, start, end), then (edge, tail, head, start, end)."""
    task, machine, start, end = map(np.asarray, tasks)
    edge, tail, head = (column.astype(np.int64) for column in hops[:3])
    return Schedule.of_columns(
        problem.machines,
        kind=np.repeat([Activity.COMPUTE, Activity.TRANSFER], [len(task), len(edge)]),
        machine=np.concatenate([machine, tail]),
        peer=np.concatenate([np.full(len(task), -1), head]),
        item=np.concatenate([task, edge]),
        amount=np.concatenate([problem.dag.work[task], problem.dag.size[edge]]),
        start=np.concatenate([start, hops[3]]),
        end=np.concatenate([end, hops[4]]),
    )


class AppendSchedule(PartialSchedule):
    """The state of machines, links and ports under a plan that only grows at its end.

    Tasks are placed one after another, predecessors first, each behind what its machine has;
    each transfer goes behind what its links or ports have. Nothing that was placed moves.
    """

    def __init__(self, problem: TaskGraph) -> None:
        super().__init__(problem)
        self.cores = [Cores(cores) for cores in problem.cores.tolist()]
        self._blocking = problem.is_blocking
        self._contention = problem.contention
        self._free: dict[int, float] = {}

    def free_at(self, machine: int, width: int = 1) -> float:
        """Return when so many cores of ``machine`` are next free; inf where it has fewer."""
        return self.cores[machine].free_at(width)

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

    def occupy(self, task: int, placement: Placement) -> Cores:
        """Keep a task where it was tried; return the cores of the machine as they were before."""
        cores = self.cores[placement.machine]
        before = cores.copy()
        self.machine[task] = placement.machine
        self.start[task], self.end[task] = placement.start, placement.end
        if placement.end > placement.taken:
            cores.take(self.width[task], placement.end)
        return before

    def _placed(
        self, task: int, machine: int, not_before: float, held: dict[int, float], *, record: bool
    ) -> Placement:
        edges = self._incoming[task]
        end, source = self.end, self._source
        seconds, taken = self._seconds(task, machine), max(not_before, self._release[task])
        if self._blocking or seconds > 0:  # what takes no time needs no core
            taken = max(taken, self.cores[machine].free_at(self.width[task]))
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
                arrival, wait = self._arrival(edge, machine, end[source[edge]], held, record=record)
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
        direct = earliest + (fixed + self._per_unit[origin][machine] * size)
        if not record and self._contention == "none":
            return direct, 0.0
        time, waited = earliest, 0.0
        for hop in self._route(origin, machine):
            begin = time
            for key in hop.occupied:
                begin = max(begin, held.get(key, self._free.get(key, 0.0)))
            waited += begin - time
            time = begin + (size / hop.rate + hop.setup)
            held |= dict.fromkeys(hop.occupied, time)
            if record:
                self._rows.append((edge, hop.tail, hop.head, begin, time))
        if self._contention == "none":  # the same sum as where it was tried
            return direct, 0.0
        return time + float(self.problem.network.routing.delay[origin, machine]), waited


def append_in_order(
    problem: TaskGraph,
    machine: Integers,
    order: Integers,
    expired: Callable[[], bool] = lambda: False,
) -> Schedule | None:
    """Return the plan that places the tasks of ``order`` on their machines, one after another.

    No task starts before the one that its machine took before it. None once ``expired``.
    """
    partial = AppendSchedule(problem)
    latest = [0.0] * len(problem.network)
    for task, place in zip(order.tolist(), machine[order].tolist(), strict=True):
        if expired():
            return None
        latest[place] = partial.place(task, place, latest[place]).taken
    return partial.schedule()
