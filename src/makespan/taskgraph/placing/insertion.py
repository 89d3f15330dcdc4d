"""A growing plan in which tasks and transfers go into the first gap that is long enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, frozen, readonly
from makespan.core.numeric.jit import pays
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.model.core_times import replace_first
from makespan.taskgraph.model.loops import LOADED_FROM, graph_loop
from makespan.taskgraph.placing.board import Growing, Moved, Placement
from makespan.taskgraph.placing.cores import FOREVER, Profile, Replaced
from makespan.taskgraph.placing.gaps import Gaps, Taken
from makespan.taskgraph.problem import TaskGraph

Undo = list[tuple[Gaps, Taken] | tuple[Profile, Replaced]]


class Insertion(Growing):
    """The state of machines, links and ports under a plan that grows by insertion.

    Tasks are placed one after another, each behind those predecessors that are placed already, in
    the first gap of its machine that is long enough; under contention each hop of a transfer goes
    into the first gap of its link or ports (edge scheduling). Nothing that was placed moves.

    Source: Topcuoglu, Hariri and Wu 2002 (insertion); Sinnen and Sousa 2005 (of edges).
    """

    def __init__(self, problem: TaskGraph) -> None:
        super().__init__(problem)
        self._profiles: list[Profile] = []
        self.cores: list[list[Gaps]] = [[] for _ in problem.cores]
        if problem.is_rigid:
            self._profiles = [Profile(cores) for cores in problem.cores.tolist()]
        else:
            claim(300.0 * problem.cores.sum(), "the gaps of all cores")
            self.cores = [[Gaps() for _ in range(cores)] for cores in problem.cores.tolist()]
        self._free: defaultdict[int, Gaps] = defaultdict(Gaps)
        self._plain = not problem.transfers_wait
        self._width: list[int] = problem.dag.cores.tolist()

    def has_cores(self, task: int, machine: int) -> bool:
        """Whether a machine has the cores that a task needs."""
        return not self._profiles or self._width[task] <= self._profiles[machine].cores

    def try_on(self, task: int, machine: int) -> Placement:
        """Return what placing ``task`` on ``machine`` would give, and place nothing."""
        if self._plain:
            ready = self._ready(task, machine)
            length = self._seconds(task, machine)
            start = self._first_fit(task, machine, ready, length)
            return Placement(machine, start, start, start + length, 0.0)
        undo: Undo = []
        placement = self._fitted(task, machine, undo, [])
        _give_back(undo)
        return placement

    def place(self, task: int, machine: int) -> tuple[Placement, Undo]:
        """Place ``task`` on ``machine``; return where, and what takes it away again."""
        undo: Undo = []
        rows: list[Moved] = []
        if self._plain:
            placement = self.try_on(task, machine)
        else:
            placement = self._fitted(task, machine, undo, rows)
        taken, end = placement.taken, placement.end
        if self._profiles:
            profile = self._profiles[machine]
            undo.append((profile, profile.take(taken, end, self._width[task])))
        else:
            free = next(gaps for gaps in self.cores[machine] if gaps.fits(taken, end))
            undo.append((free, free.take(taken, end)))
        self._rows += rows
        self.machine[task] = machine
        self.start[task], self.end[task] = placement.start, placement.end
        return placement, undo

    def take_away(self, task: int, undo: Undo) -> None:
        """Take away the task that was placed last."""
        _give_back(undo)
        self.machine[task] = -1
        while self._rows and self.problem.dag.target[self._rows[-1][0]] == task:
            self._rows.pop()

    def _first_fit(self, task: int, machine: int, earliest: float, length: float) -> float:
        """Return the first start at which the cores that a task needs are free for so long."""
        if self._profiles:
            return self._profiles[machine].first_fit(earliest, length, self._width[task])
        return min(gaps.first_fit(earliest, length) for gaps in self.cores[machine])

    def _ready(self, task: int, machine: int) -> float:
        """Return when all data of a task are on a machine, where nothing waits."""
        ready = self._release[task]
        for edge in self._incoming(task):
            source = self._source[edge]
            origin, arrival = self.machine[source], self.end[source]
            if origin < 0:
                continue
            if origin != machine:
                fixed, per_unit = self._fixed[origin][machine], self._per_unit[origin][machine]
                arrival += fixed + per_unit * self._size[edge]
            ready = max(ready, arrival)
        return ready

    def _fitted(self, task: int, machine: int, undo: Undo, rows: list[Moved]) -> Placement:
        """Return the first fit of a task whose transfers occupy links, ports or the machine."""
        edges = [e for e in self._incoming(task) if self.machine[self._source[e]] >= 0]
        length = self._seconds(task, machine)
        ready, waited = self._release[task], 0.0
        if not self.problem.is_blocking:
            for edge in sorted(edges, key=lambda edge: (self.end[self._source[edge]], edge)):
                begin = self.end[self._source[edge]]
                arrival, wait = self._arrival(edge, machine, begin, undo, rows)
                ready, waited = max(ready, arrival), waited + wait
            start = self._first_fit(task, machine, ready, length)
            return Placement(machine, start, start, start + length, waited)
        ended = max([ready, *(self.end[self._source[edge]] for edge in edges)])
        for taken, until in self._options(task, machine, ended):
            kept, recorded = len(undo), len(rows)
            clock, waited = taken, 0.0
            for edge in edges:
                clock, wait = self._arrival(edge, machine, clock, undo, rows)
                waited += wait
            if clock + length <= until:
                return Placement(machine, taken, clock, clock + length, waited)
            _give_back(undo[kept:])
            del undo[kept:], rows[recorded:]
        if not self.has_cores(task, machine):
            return Placement(machine, FOREVER, FOREVER, FOREVER, 0.0)
        raise AssertionError("the last gap of a machine has no end")

    def _options(self, task: int, machine: int, earliest: float) -> list[tuple[float, float]]:
        """Return from when, and until when, the cores that a task needs are free; rising."""
        if self._profiles:
            return self._profiles[machine].options(earliest, self._width[task])
        return sorted({gap for gaps in self.cores[machine] for gap in gaps.after(earliest)})

    def _arrival(
        self, edge: int, machine: int, earliest: float, undo: Undo, rows: list[Moved]
    ) -> tuple[float, float]:
        """Return when the data of an edge reach a machine, and how long they waited."""
        origin = self.machine[self._source[edge]]
        size = self._size[edge]
        if origin == machine or (size == 0 and self._fixed[origin][machine] == 0):
            return earliest, 0.0
        time, waited = earliest, 0.0
        for hop in self._route(origin, machine):
            occupied = [self._free[key] for key in hop.occupied]
            length = size / hop.rate + hop.setup
            begin = common_fit(occupied, time, length)
            waited += begin - time
            time = begin + length
            undo += [(gaps, gaps.take(begin, time)) for gaps in occupied]
            rows.append((edge, hop.tail, hop.head, begin, time))
        return time + float(self.problem.network.routing.delay[origin, machine]), waited

    def schedule(self) -> Schedule:
        """Return the plan: one row per task, then the hops."""
        if self._plain:
            return planned(self.problem, self.machine, self.start, self.end)
        return super().schedule()


def _give_back(undo: Undo) -> None:
    for free, taken in reversed(undo):
        free.undo(taken)  # type: ignore[arg-type]


def common_fit(occupied: list[Gaps], earliest: float, length: float) -> float:
    """Return the first start of ``length`` seconds that are free everywhere."""
    begin = earliest
    while True:
        later = begin
        for gaps in occupied:
            later = gaps.first_fit(later, length)
        if later == begin or len(occupied) == 1:
            return later
        begin = later


def steps_of_cores(problem: TaskGraph) -> int:
    """Return the steps that loops take over cores where tasks hold several of them."""
    return len(problem.dag) * int(problem.cores.max()) if problem.is_rigid else 0


COMPILE_FROM = 300_000
"""Tries of a task on a machine, and edges, from which loading a compiler pays off."""


def is_compiled(problem: TaskGraph) -> bool:
    """Whether there is enough to place for compiled loops.

    They are made for transfers that wait for nothing, and tasks on one core each.
    """
    steps = len(problem.dag) * len(problem.network) + len(problem.dag.source)
    made = not problem.transfers_wait and not problem.is_rigid
    return made and pays(steps, COMPILE_FROM, LOADED_FROM)


def columns(problem: TaskGraph) -> tuple[Any, ...]:
    """Return what compiled loops read of a problem, in the order of their arguments."""
    dag, network = problem.dag, problem.network
    return readonly(
        dag.work, dag.release, problem.stated_row, problem.stated[1], network.speed,
        network.task_setup, problem.first_core, dag.first_in, dag.predecessors,
        dag.size[dag.in_edges], network.routing.fixed_seconds, network.routing.seconds_per_unit,
    )  # fmt: skip


def in_order(
    problem: TaskGraph, machine: Integers, key: Integers, *, in_turn: bool = False
) -> Schedule:
    """Return the plan that executes tasks on their machines in the order of ``key``.

    Nothing is inserted, and no transfer waits. With ``in_turn`` tasks also start in that order
    where a machine has several cores, or they take no time.

    Complexity: O(n log n + n log c + e), c the cores of a machine; compiled for large graphs.
    """
    dag, network = problem.dag, problem.network
    count, routing = len(dag), network.routing
    start, end = np.zeros(count), np.zeros(count)
    in_sequence.run(count + len(dag.source) + routing.delay.size + steps_of_cores(problem),
        (
            sorted_by(key, dag.position), machine, problem.durations_on(np.arange(count), machine),
            np.minimum(dag.cores, problem.cores[machine]), problem.first_core, dag.release,
            dag.first_in, dag.predecessors, dag.size[dag.in_edges],
            routing.fixed_seconds.ravel(), routing.seconds_per_unit.ravel(),
        ),
        (np.zeros(int(problem.cores.sum())), np.zeros(len(network)), start, end),
        (len(network), in_turn, problem.is_rigid),
    )  # fmt: skip
    return planned(problem, machine, start, end)


def planned(
    problem: TaskGraph,
    machine: Sequence[int] | Integers,
    start: Sequence[float] | Floats,
    end: Sequence[float] | Floats,
) -> Schedule:
    """Return the plan with these tasks and transfers that wait for nothing, each behind another.

    Tasks start as soon as their data and a core are there. On single cores that are all busy with
    them, nothing could then start earlier: what was inserted before others delayed none of them.

    Complexity: O(n + e h), h the hops of the longest route; compiled for large graphs.
    """
    dag, routing, count = problem.dag, problem.network.routing, len(problem.dag)
    place, ends = np.asarray(machine, dtype=np.int64), np.asarray(end, dtype=np.float64)
    steps = count + 4 * len(dag.source) + routing.rates.size
    sent = (
        dag.source, dag.target, dag.size, place, ends, routing.fixed_seconds.ravel(),
        routing.following.ravel(), routing.rates.ravel(), routing.setup,
    )  # fmt: skip
    numbers = len(routing.delay), len(routing.rates)
    room = 0 if len(routing.rates) == 1 else count_hops.run(steps, sent[:7], (), numbers)
    whole = [np.empty(count + room, dtype=np.int64) for _ in range(3)]
    real = [np.empty(count + room) for _ in range(3)]
    tasks = (place, -1, np.arange(count), dag.work, start, ends)
    for column, values in zip((*whole, *real), tasks, strict=True):
        column[:count] = values
    transfer_rows.run(steps, sent, (*whole, *real), (*numbers, count))
    kind = np.full(count + room, Activity.TRANSFER, dtype=np.int8)
    kind[:count] = Activity.COMPUTE
    names = ("machine", "peer", "item", "amount", "start", "end")
    columns: dict[str, Any] = dict(zip(names, map(frozen, (*whole, *real)), strict=True))
    earliest = problem.is_simple and bool((ends > np.asarray(start)).all())
    return Schedule.of_columns(problem.machines, kind=frozen(kind), earliest=earliest, **columns)


@graph_loop
def in_sequence(  # type: ignore[no-untyped-def]
    order, machine, seconds, held, first_core, release, first_in, predecessors, size, fixed,
    per_unit,
    core_free, latest, start, end,
    machines, in_turn, rigid,
):  # fmt: skip
    """Write the starts and ends of tasks on their machines, one behind another in ``order``.

    What takes no time needs no core. With ``in_turn`` no task starts before the one that its
    machine took before it: ``latest`` holds when. ``core_free`` holds a heap of the times at which
    the cores of a machine are free, for each machine; these times in their order where ``rigid``
    tasks hold several cores. ``size`` is in the order of ``predecessors``; tables are flat.
    """
    for index in range(len(order)):
        task = order[index]
        place = machine[task]
        first, cores = first_core[place], first_core[place + 1] - first_core[place]
        begin = release[task]
        if seconds[task] > 0.0:
            begin = max(begin, core_free[first + held[task] - 1])
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            arrival = end[source]
            if machine[source] != place:
                pair = machine[source] * machines + place
                arrival += fixed[pair] + per_unit[pair] * size[position]
            begin = max(begin, arrival)
        if in_turn:
            begin = latest[place] = max(begin, latest[place])
        start[task] = begin
        end[task] = begin + seconds[task]
        if seconds[task] > 0.0 and rigid:
            core, width = first, held[task]
            while core + width < first + cores and core_free[core + width] < end[task]:
                core_free[core] = core_free[core + width]
                core += 1
            for each in range(core, core + width):
                core_free[each] = end[task]
        elif seconds[task] > 0.0:
            replace_first(first, cores, end[task], core_free)


@graph_loop
def count_hops(source, target, size, place, end, fixed, following, machines, nodes):  # type: ignore[no-untyped-def]
    """Return how many rows the transfers of a plan take; see :func:`transfer_rows`."""
    count = 0
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            while at != goal:
                at = following[at * nodes + goal]
                count += 1
    return count


@graph_loop
def transfer_rows(  # type: ignore[no-untyped-def]
    source, target, size, place, end, fixed, following, rates, setup,
    tail, head, item, amount, start, until,
    machines, nodes, row,
):  # fmt: skip
    """Write the hops of all transfers, from ``row`` on, each as soon as its data are there.

    ``place`` and ``end`` are those of tasks; tables are flat.
    """
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            time = end[source[edge]]
            while at != goal:
                via = following[at * nodes + goal]
                tail[row], head[row], item[row] = at, via, edge
                amount[row], start[row] = size[edge], time
                time += size[edge] / rates[at * nodes + via] + setup[at]
                until[row] = time
                at = via
                row += 1
