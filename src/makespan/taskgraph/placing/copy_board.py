"""A growing plan in which a task may be executed on several machines."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, Rows
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.model.copies import Copies
from makespan.taskgraph.placing.board import schedule_of
from makespan.taskgraph.placing.gaps import Gaps, Taken
from makespan.taskgraph.placing.insertion import in_order
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import retimed

Placed = tuple[int, int, Gaps, Taken]
"""A task, its machine, the core, and what it took there."""


Times = list[dict[int, float]]
"""A time of each copy of each task, by machine."""


class Copying:
    """The state of machines under a plan that grows by insertion, with copies of predecessors.

    Parameters
    ----------
    problem
        With duplication; transfers wait for nothing.
    control
        When its time is up, no more is copied.
    earliest
        A lower bound on the start of each task, to give up early.
    most
        Copies of predecessors, and of theirs, that are tried for one task on one machine.
    """

    def __init__(self, problem: TaskGraph, control: Control, earliest: Floats, most: int) -> None:
        dag, routing = problem.dag, problem.network.routing
        self.problem, self._most, self._left = problem, most, most
        self._control = control
        claim(300.0 * problem.cores.sum(), "the gaps of all cores")
        self.cores = [[Gaps() for _ in range(cores)] for cores in problem.cores.tolist()]
        self.starts: Times = [{} for _ in range(len(dag))]
        self.ends: Times = [{} for _ in range(len(dag))]
        self._earliest, self._release = earliest.tolist(), dag.release.tolist()
        self._seconds = problem.seconds
        self._fixed = Rows(routing.fixed_seconds.T)
        self._per_unit = Rows(routing.seconds_per_unit.T)
        self._first, self._sources = dag.first_in.tolist(), dag.predecessors.tolist()
        self._sizes = dag.size[dag.in_edges].tolist()

    def least_end(self, task: int, machine: int) -> float:
        """Return a time before which ``task`` can't end on ``machine``."""
        length = self._seconds(task, machine)
        return self._fit(machine, self._earliest[task], length) + length

    def try_on(self, task: int, machine: int) -> tuple[float, int]:
        """Return when ``task`` would end on ``machine`` and with how many copies; keep nothing."""
        trail = self.place(task, machine)
        end = self.ends[task][machine]
        self._take_away(trail, 0)
        return end, len(trail)

    def place(self, task: int, machine: int) -> list[Placed]:
        """Place ``task`` on ``machine``, after those copies that let it start earlier."""
        self._left = self._most
        trail: list[Placed] = []
        self._place(task, machine, trail)
        return trail

    def _place(self, task: int, machine: int, trail: list[Placed]) -> float:
        """Place a task and what helps it; return its end.

        As long as the data that come last come from elsewhere, their task is copied here, itself
        after what helps it. What is kept are the copies after which the start was earliest.
        """
        length = self._seconds(task, machine)
        ready, latest = self._ready(task, machine)
        best, kept = self._fit(machine, ready, length), len(trail)
        while (
            latest >= 0
            and self._left
            and not self._control.expired()
            and self._copied(latest, machine, ready, trail)
        ):
            ready, latest = self._ready(task, machine)
            start = self._fit(machine, ready, length)
            if start < best:
                best, kept = start, len(trail)
        self._take_away(trail, kept)
        self._put(task, machine, best, trail)
        return best + length

    def _copied(self, task: int, machine: int, arrival: float, trail: list[Placed]) -> bool:
        """Copy a task to a machine where its data would arrive at ``arrival``, if that is later."""
        if self.least_end(task, machine) >= arrival:
            return False
        self._left -= 1
        kept = len(trail)
        if self._place(task, machine, trail) < arrival:
            return True
        self._take_away(trail, kept)
        return False

    def _ready(self, task: int, machine: int) -> tuple[float, int]:
        """Return when the inputs of a task are on a machine, and the source of the last of them.

        The source is -1 if it has a copy there already.
        """
        ready, latest = self._release[task], -1
        fixed, per_unit = self._fixed[machine], self._per_unit[machine]
        first, last = self._first[task], self._first[task + 1]
        for source, size in zip(self._sources[first:last], self._sizes[first:last], strict=True):
            ends = self.ends[source]
            arrival = min(
                [
                    end if origin == machine else end + fixed[origin] + per_unit[origin] * size
                    for origin, end in ends.items()
                ]
            )
            if arrival > ready:
                ready, latest = arrival, -1 if machine in ends else source
        return ready, latest

    def _fit(self, machine: int, ready: float, length: float) -> float:
        return min([gaps.first_fit(ready, length) for gaps in self.cores[machine]])

    def _put(self, task: int, machine: int, start: float, trail: list[Placed]) -> None:
        end = start + self._seconds(task, machine)
        free = next(gaps for gaps in self.cores[machine] if gaps.fits(start, end))
        trail.append((task, machine, free, free.take(start, end)))
        self.starts[task][machine], self.ends[task][machine] = start, end

    def _take_away(self, trail: list[Placed], kept: int) -> None:
        """Take away what was placed last, until ``kept`` placements are left."""
        for task, machine, gaps, taken in reversed(trail[kept:]):
            gaps.undo(taken)
            del self.starts[task][machine], self.ends[task][machine]
        del trail[kept:]

    def schedule(self) -> Schedule:
        """Return the plan as early as possible, without the copies that nobody needs.

        What goes may make others start earlier, so that more goes, until nothing does.
        """
        plan = thinned(self.problem, self.starts, self.ends)
        while True:
            copies = Copies(self.problem, retimed(self.problem, plan))
            starts, ends = _by_task(copies, "start"), _by_task(copies, "end")
            fewer = thinned(self.problem, starts, ends)
            if len(fewer) >= len(plan) or self._control.expired():
                return copies.schedule
            plan = fewer


def _by_task(copies: Copies, name: str) -> Times:
    times: Times = [{} for _ in copies.earliest]
    values = getattr(copies.schedule, name)[copies.row]
    each = zip(copies.task.tolist(), copies.machine.tolist(), values.tolist(), strict=True)
    for task, machine, time in each:
        times[task][machine] = time
    return times


def thinned(problem: TaskGraph, starts: Times, ends: Times) -> Schedule:
    """Return the plan of the copies that are needed, with their transfers.

    Needed is the copy of an exit task that ends first, and of each input of a needed copy the one
    whose data are there first: that on the same machine before others, then on the lowest.
    Complexity: O(c² e), c the copies of a task.
    """
    dag, routing = problem.dag, problem.network.routing
    needed: list[dict[int, bool]] = [{} for _ in ends]
    first_in, edges, sources = dag.first_in.tolist(), dag.in_edges.tolist(), dag.source.tolist()
    first_out, sizes = dag.first_out.tolist(), dag.size.tolist()
    fixed, per_unit = routing.fixed_seconds.tolist(), routing.seconds_per_unit.tolist()
    supplies: list[tuple[int, int, int]] = []
    for task in dag.order[::-1].tolist():
        if first_out[task] == first_out[task + 1]:
            needed[task][min(ends[task], key=lambda each: (ends[task][each], each))] = True
        for machine in sorted(needed[task]):
            for edge in edges[first_in[task] : first_in[task + 1]]:
                source, size = sources[edge], sizes[edge]
                origin = min(
                    (end, False, each)
                    if each == machine
                    else (end + fixed[each][machine] + per_unit[each][machine] * size, True, each)
                    for each, end in ends[source].items()
                )[2]
                needed[source][origin] = True
                supplies.append((edge, origin, machine))
    copies = [(task, machine) for task, on in enumerate(needed) for machine in sorted(on)]
    start, end = (
        np.array([times[task][machine] for task, machine in copies]) for times in (starts, ends)
    )
    return _planned(problem, np.array(copies).reshape(-1, 2), start, end, supplies)


def _planned(
    problem: TaskGraph,
    copies: Integers,
    start: Floats,
    end: Floats,
    supplies: list[tuple[int, int, int]],
) -> Schedule:
    """Return the plan with these copies and the transfers of (edge, origin, machine)."""
    dag, routing = problem.dag, problem.network.routing
    edge, tail, head = np.array(supplies, dtype=np.int64).reshape(-1, 3).T
    rows = problem.needs_rows(edge, tail, head)
    edge, tail, head = edge[rows], tail[rows], head[rows]
    ends = dict(zip(map(tuple, copies.tolist()), end.tolist(), strict=True))
    sources = zip(dag.source[edge].tolist(), tail.tolist(), strict=True)
    leaves = np.array([ends[each] for each in sources], dtype=np.float64)
    arrives = leaves + (dag.size[edge] / routing.rates[tail, head] + routing.setup[tail])
    return schedule_of(
        problem, (copies[:, 0], copies[:, 1], start, end), (edge, tail, head, leaves, arrives)
    )


def first_copies(problem: TaskGraph, schedule: Schedule) -> Schedule:
    """Return the plan in which each task is executed only where its first copy ended.

    In the order of their starts predecessors come first, as each copy has waited for some copy of
    them. Complexity: O((rows + edges) log rows).
    """
    copies = Copies(problem, schedule)
    rows = copies.row[copies.earliest]
    rank = np.empty(len(rows), dtype=np.int64)
    rank[np.lexsort((problem.dag.position, schedule.end[rows], schedule.start[rows]))] = np.arange(
        len(rows)
    )
    return in_order(problem, schedule.machine[rows], rank)
