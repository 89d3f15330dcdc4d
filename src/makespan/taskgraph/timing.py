"""Decisions → start times, as early as possible.

Decided are the machine of each task, the order of the tasks on each machine, and the order of the
transfers on each link or port; with blocking communication also the order in which a task's data
are fetched. Where tasks have copies, decided is also from where each copy has its inputs: from
where they are there first in the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay
from makespan.taskgraph.copies import Copies
from makespan.taskgraph.model.loops import graph_loop, replace_first
from makespan.taskgraph.problem import TaskGraph

SECONDS_CHECKED, SECONDS_TIMED = 2.5e-7, 1.5e-7
"""What a task or an edge of a large plan takes: its check and its bounds, and its timing."""


def postprocessing_seconds(problem: TaskGraph) -> float:
    """Return about how many seconds it takes to time, referee and bound a plan."""
    timed = problem.is_simple and not problem.duplication  # as a rule, see insertion.planned
    seconds = SECONDS_CHECKED if timed else SECONDS_CHECKED + SECONDS_TIMED
    return seconds * (len(problem.dag) + len(problem.dag.source))


def tasks(problem: TaskGraph) -> Sequence[str]:
    """Return the names that the items of computations index."""
    return problem.dag.names


def retimed(problem: TaskGraph, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return ``schedule`` with the same decisions, everything as early as possible.

    ``factors`` multiply the durations of the rows; None: nominal durations.

    Rows are dispatched in the order of their starts, each as early as what it needs allows.
    Complexity: O((rows + edges) log rows); compiled where there are many.
    """
    schedule = schedule.renamed(problem.machines)
    rows = _rows(problem, schedule)
    start, end = rows.dispatch(1)(rows.seconds if factors is None else rows.seconds * factors)
    return schedule.timed(start, end, earliest=False)


def replay(problem: TaskGraph, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out many times.

    Complexity: O(rows + edges) a repetition, more where machines have many cores; compiled where
    there is much to do.
    """
    rows = _rows(problem, schedule.renamed(problem.machines))
    earliest_of = rows.dispatch(repetitions)

    def end(factors: Floats) -> float:
        return float(earliest_of(rows.seconds * factors)[1].max(initial=0.0))

    return Replay(end)


def machine_of_tasks(problem: TaskGraph, schedule: Schedule) -> Integers:
    """Return the machine of each task, -1 for tasks without a row."""
    computes = schedule.kind == Activity.COMPUTE
    found = np.full(len(problem.dag), -1, dtype=np.int64)
    found[schedule.item[computes]] = schedule.machine[computes]
    return found


def times_of_tasks(problem: TaskGraph, schedule: Schedule) -> tuple[Floats, Floats]:
    """Return when each task starts and ends, 0 for tasks without a row."""
    computes = schedule.kind == Activity.COMPUTE
    start, end = np.zeros((2, len(problem.dag)))
    start[schedule.item[computes]] = schedule.start[computes]
    end[schedule.item[computes]] = schedule.end[computes]
    return start, end


def occupied(problem: TaskGraph, tail: Integers, head: Integers) -> tuple[Integers, Integers, int]:
    """Return indices of what hops occupy at both ends, -1 for none, and how many there are."""
    none, machines = np.full(len(tail), -1, dtype=np.int64), len(problem.network)
    if problem.contention == "none" or not len(tail):
        return none, none, 0
    if problem.contention == "links":
        media, index = np.unique(problem.network.medium[tail, head], return_inverse=True)
        return index, none, len(media)
    sending = np.where(tail < machines, tail, -1)
    return sending, np.where(head < machines, head + machines, -1), 2 * machines


def _rows(problem: TaskGraph, schedule: Schedule) -> _Rows:
    return (_CopyRows if problem.duplication else _Rows)(problem, schedule)


HELD = float("inf")


class _Rows:
    """The rows of a schedule with what each needs.

    ``machine_of`` each task; the ``task`` that a row computes or brings data to, and the ``edge``
    that it brings; the ``graph``: what a task waits for (``first_in``, ``in_edges``, ``source``,
    and which edges have rows); the cores ``held`` by a task.
    """

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        dag, routing = problem.dag, problem.network.routing
        self.problem, self.schedule = problem, schedule
        self.computes = schedule.kind == Activity.COMPUTE
        self.machine_of = machine_of_tasks(problem, schedule)
        transfers = ~self.computes
        has_rows = np.zeros(len(dag.source), dtype=bool)
        has_rows[schedule.item[transfers]] = True
        self.graph = (dag.first_in, dag.in_edges, dag.source, has_rows)
        self.edge = np.where(transfers, schedule.item, 0)
        self.task = np.where(self.computes, schedule.item, 0)
        if len(dag.source):
            self.task[transfers] = dag.target[self.edge[transfers]]
        goal = self.machine_of[self.task]
        self.hops_left = np.where(transfers, routing.hops[schedule.machine, goal], 0)
        self.seconds = self._seconds(transfers)
        self.last = transfers & (schedule.peer == goal)
        self.after = np.zeros(len(schedule))
        self.first = np.zeros(len(schedule), dtype=bool)
        if len(dag.source):
            origin = self.machine_of[dag.source[self.edge]]
            self.first = transfers & (schedule.machine == origin)
            self.after[self.last] = routing.delay[origin[self.last], goal[self.last]]
        self.position = problem.given.chained.position[self.task]
        self.release = dag.release
        self.held = np.minimum(dag.cores, problem.cores[self.machine_of])

    def _seconds(self, transfers: np.ndarray) -> Floats:
        problem, schedule = self.problem, self.schedule
        routing = problem.network.routing
        seconds = np.zeros(len(schedule))
        own = self.computes
        seconds[own] = problem.durations_on(schedule.item[own], schedule.machine[own])
        tail, head = schedule.machine[transfers], schedule.peer[transfers]
        with np.errstate(divide="ignore", invalid="ignore"):
            time = problem.dag.size[schedule.item[transfers]] / routing.rates[tail, head]
        seconds[transfers] = time + routing.setup[tail]
        return seconds

    def _order(self) -> Integers:
        """Return the rows by start; at one time, what others build on goes first."""
        start, end = self.schedule.start, self.schedule.end
        keys: tuple[np.ndarray, ...] = (end, self.position)
        if self.problem.is_blocking:  # who holds a machine ends before another one fetches there
            taken = np.full(len(self.machine_of), np.inf)
            np.minimum.at(taken, self.task, start)
            keys = (end, taken[self.task], self.position)
        if self.problem.given.sequences:  # they say what goes first, then what ends first does
            keys = (self.position, end)
        if not self.problem.transfers_wait and self.hops_left.max(initial=0) <= 1:
            return self._behind_sources(start, *keys)
        return sorted_by(start, *keys, self.computes, -self.hops_left)

    def _behind_sources(self, *keys: np.ndarray) -> Integers:
        """Return the tasks by start, each before the transfers that wait for nothing but it."""
        count, rows = len(self.machine_of), np.flatnonzero(self.computes)
        tasks = self.task[rows[sorted_by(*(key[rows] for key in keys))]]
        rank = np.full(count, len(tasks), dtype=np.int64)
        rank[tasks] = np.arange(len(tasks))
        owner = self.task
        if len(rows) < len(owner):
            owner = np.where(self.computes, owner, self.graph[2][self.edge])
        order = np.zeros(len(owner), dtype=np.int64)
        place = np.zeros(len(tasks) + 3, dtype=np.int64)
        by_owner.run(4 * len(owner), (rank, self.computes, owner), (place, order))
        return order

    def _occupied(self) -> tuple[Integers, Integers, int]:
        """Return the things that transfers occupy as indices, -1 for none, and their number."""
        schedule, transfers = self.schedule, ~self.computes
        sending, receiving = np.full((2, len(schedule)), -1, dtype=np.int64)
        tail, head = schedule.machine[transfers], schedule.peer[transfers]
        sending[transfers], receiving[transfers], things = occupied(self.problem, tail, head)
        return sending, receiving, things

    def dispatch(self, repetitions: int) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Return what gives the earliest starts and ends of all rows, for their seconds."""
        problem, schedule = self.problem, self.schedule
        count, rows = len(self.machine_of), len(schedule)
        steps = count * int(problem.cores.max()) if problem.is_rigid else 0  # over cores
        sending, receiving, things = self._occupied()
        nominal = np.zeros(count)
        nominal[self.task[self.computes]] = schedule.end[self.computes]
        first_in, in_edges, source, has_rows = self.graph
        run = earliest.prepared_by_name(
            repetitions * (2 * rows + len(in_edges) + steps),
            {
                "order": self._order(), "computes": self.computes, "task": self.task,
                "edge": self.edge, "following_hop": ~self.first, "last": self.last,
                "sending": sending, "receiving": receiving, "after": self.after,
                "first_in": first_in, "in_edges": in_edges, "source": source,
                "has_rows": has_rows, "machine_of": self.machine_of,
                "first_core": problem.first_core, "release": self.release, "held": self.held,
            },
        )  # fmt: skip
        numbers = {
            "blocking": problem.is_blocking,
            "in_their_order": problem.is_blocking or problem.is_rigid,
        }

        def dispatched(seconds: Floats) -> tuple[Floats, Floats]:
            start, end = np.zeros(rows), np.zeros(rows)
            room = {
                "seconds": seconds, "start": start, "end": end, "task_end": nominal.copy(),
                "there": np.zeros(len(source)), "free": np.zeros(things),
                "core_free": np.zeros(int(problem.cores.sum())), "clock": np.full(count, -1.0),
                "taken": np.zeros(count, dtype=np.int64),
                "taken_last": np.zeros(len(problem.network)),
            }  # fmt: skip
            run(room, numbers)
            return start, end

        return dispatched


class _CopyRows(_Rows):
    """The rows of a schedule with copies: each copy is a task of a larger graph.

    Its edges are the inputs of the copies, each from the copy that supplies it first, and behind
    these the transfers that nobody waits for.
    """

    def __init__(self, problem: TaskGraph, schedule: Schedule) -> None:
        self.problem, self.schedule = problem, schedule
        self.computes = schedule.kind == Activity.COMPUTE
        copies = Copies(problem, schedule)
        self.machine_of = copies.machine
        transfers = np.flatnonzero(~self.computes)
        sender, receiver = schedule.machine[transfers], schedule.peer[transfers]
        self.task = np.zeros(len(schedule), dtype=np.int64)
        self.task[copies.row] = np.arange(len(copies.row))
        self.task[transfers] = copies.on(problem.dag.target[schedule.item[transfers]], receiver)
        self._connect(copies)
        self.hops_left = (~self.computes).astype(np.int64)
        self.first = self.last = ~self.computes
        self.seconds = self._seconds(~self.computes)
        self.after = np.zeros(len(schedule))
        self.after[transfers] = problem.network.routing.delay[sender, receiver]
        self.position = problem.dag.position[copies.task[self.task]]
        self.release = problem.dag.release[copies.task]
        self.held = np.minimum(problem.dag.cores[copies.task], problem.cores[copies.machine])

    def _connect(self, copies: Copies) -> None:
        """Set the graph of the copies, and the edge in it that each transfer brings."""
        schedule, inputs = self.schedule, copies.inputs()
        edge = np.full(len(schedule), -1, dtype=np.int64)
        sent = np.flatnonzero(inputs.hop >= 0)
        edge[inputs.hop[sent]] = sent
        unused = np.flatnonzero(~self.computes & (edge < 0))
        edge[unused] = len(inputs.hop) + np.arange(len(unused))
        self.edge = np.where(self.computes, 0, edge)
        task = self.problem.dag.source[schedule.item[unused]]
        source = np.concatenate([inputs.source, copies.on(task, schedule.machine[unused])])
        has_rows = np.concatenate([inputs.hop >= 0, np.ones(len(unused), dtype=bool)])
        first_in = np.searchsorted(inputs.copy, np.arange(len(copies.row) + 1))
        in_edges = np.arange(len(inputs.copy))
        self.graph = (frozen(first_in), frozen(in_edges), frozen(source), has_rows)


@graph_loop
def by_owner(rank, computes, owner, place, order):  # type: ignore[no-untyped-def]
    """Write the rows by the ``rank`` of the tasks that own them, computations first."""
    for row in range(len(owner)):
        place[rank[owner[row]] + 2] += 1
    for index in range(2, len(place)):
        place[index] += place[index - 1]
    for transfers in range(2):
        for row in range(len(owner)):
            if computes[row] == (transfers == 0):
                index = rank[owner[row]] + 1
                order[place[index]] = row
                place[index] += 1


@graph_loop
def earliest(  # type: ignore[no-untyped-def]
    order, computes, task, edge, following_hop, last, sending, receiving, after,
    first_in, in_edges, source, has_rows, machine_of, first_core, release, held,
    seconds, start, end, task_end, there, free, core_free, clock, taken, taken_last,
    blocking, in_their_order,
):  # fmt: skip
    """Write the earliest start and end of every row, dispatched in ``order``.

    A row starts when the row before it on everything that it occupies has ended, and what it
    builds on is there; what takes no time and fetches nothing needs no core. ``core_free`` holds a
    heap of the times at which the cores of a machine are free, for each machine; or these times
    ``in_their_order``, where tasks hold several cores or, with ``blocking``, take them before they
    start. ``taken`` is room for how many cores each task has. ``task`` is the task that a row
    computes or brings data to; ``sending`` and ``receiving`` index ``free``, or are -1.
    ``task_end`` comes in with the ends to be used for tasks that have not been dispatched.
    """
    for index in range(len(order)):
        row = order[index]
        goal = task[row]
        place = machine_of[goal]
        if clock[goal] < 0.0 and (blocking or computes[row]):
            begin = max(release[goal], taken_last[place])
            for position in range(first_in[goal], first_in[goal + 1]):
                each = in_edges[position]
                if has_rows[each] and not blocking:
                    begin = max(begin, there[each])
                else:
                    begin = max(begin, task_end[source[each]])
            if seconds[row] > 0.0 or not computes[row]:
                first, behind, width = first_core[place], first_core[place + 1], held[goal]
                if core_free[first + width - 1] < HELD:
                    begin = max(begin, core_free[first + width - 1])
                taken[goal] = width
                if in_their_order:  # the last are those that are held
                    for core in range(first, behind - width):
                        core_free[core] = core_free[core + width]
                    for core in range(behind - width, behind):
                        core_free[core] = HELD
            taken_last[place] = begin
            clock[goal] = begin
        if computes[row]:
            start[row] = clock[goal]
            end[row] = start[row] + seconds[row]
            task_end[goal] = end[row]
            first, cores = first_core[place], first_core[place + 1] - first_core[place]
            if in_their_order:
                core, width = first + cores - 1, taken[goal]
                while core - width >= first and core_free[core - width] > end[row]:
                    core_free[core] = core_free[core - width]
                    core -= 1
                for each in range(core - width + 1, core + 1):
                    core_free[each] = end[row]
            elif taken[goal] > 0:
                replace_first(first, cores, end[row], core_free)
            continue
        each = edge[row]
        if blocking:
            begin = clock[goal]
        elif following_hop[row]:
            begin = there[each]
        else:
            begin = task_end[source[each]]
        if sending[row] >= 0:
            begin = max(begin, free[sending[row]])
        if receiving[row] >= 0:
            begin = max(begin, free[receiving[row]])
        start[row] = begin
        end[row] = begin + seconds[row]
        if sending[row] >= 0:
            free[sending[row]] = end[row]
        if receiving[row] >= 0:
            free[receiving[row]] = end[row]
        there[each] = end[row] + (after[row] if last[row] else 0.0)
        if blocking:
            clock[goal] = there[each]
