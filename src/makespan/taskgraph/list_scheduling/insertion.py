"""A growing plan in which tasks and transfers go into the first gap that is long enough."""

from collections import defaultdict
from typing import Literal

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.list_scheduling import Moved, PartialSchedule, Placement
from makespan.taskgraph.list_scheduling.assigned import (
    columns,
    fallback_plan,
    is_compiled,
    placed,
    planned,
)
from makespan.taskgraph.list_scheduling.free_times import FOREVER, Gaps, Profile, Replaced, Taken
from makespan.taskgraph.list_scheduling.steps import placing_step
from makespan.taskgraph.problem import TaskGraph

Undo = list[tuple[Gaps, Taken] | tuple[Profile, Replaced]]


class InsertionSchedule(PartialSchedule):
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

    def has_cores(self, task: int, machine: int) -> bool:
        """Whether a machine has the cores that a task needs."""
        return not self._profiles or self.width[task] <= self._profiles[machine].cores

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
            undo.append((profile, profile.take(taken, end, self.width[task])))
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
            return self._profiles[machine].first_fit(earliest, length, self.width[task])
        return min(gaps.first_fit(earliest, length) for gaps in self.cores[machine])

    def _ready(self, task: int, machine: int) -> float:
        """Return when all data of a task are on a machine, where nothing waits."""
        ready = self._release[task]
        for edge in self._incoming[task]:
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
        edges = [e for e in self._incoming[task] if self.machine[self._source[e]] >= 0]
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
        if self._profiles:
            options = self._profiles[machine].options(ended, self.width[task])
        else:
            options = sorted({gap for gaps in self.cores[machine] for gap in gaps.after(ended)})
        for taken, until in options:
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


QUICK = 20_000  # tries of a task, and hops of its data, that are made even when the time is up
SLICE = 500_000  # tries of a task on a core between two looks at the clock
SECONDS_APPENDED = 1e-7  # what a task or edge takes where the time is up, and its row

Aim = Literal["end", "start"]


def inserted(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
    logged: tuple[Floats, str, str] | None = None,
) -> Schedule:
    """Return the plan that places the tasks of ``order``, predecessors first, one after another.

    Each is inserted where it ends, or starts, first; ties to the lowest machine. ``pinned`` is the
    machine of tasks that have one, -1 for others; ``bias``, seconds (tasks, machines), is added to
    what is compared; ``logged`` is what orders the tasks, its name, and that of the sum with
    ``bias``. When the time is up, the rest goes behind what is placed, each to the core that is
    free first; where transfers wait, everything goes to one machine. Complexity: O(n m + e) where
    gaps are found at once, all machines exchange data alike and no transfer waits; compiled there
    for large graphs. O(n m g + e m h) else.
    """
    if is_compiled(problem):
        schedule = _compiled(problem, control, order, aim, pinned, bias)
    else:
        schedule = inserted_by_trial(problem, control, order, aim=aim, pinned=pinned, bias=bias)
    if logged is not None:
        priority, word, value = logged
        log_insertion(problem, control, schedule, order, priority, word, bias, value)
    return schedule


def inserted_by_trial(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
) -> Schedule:
    """Like :func:`inserted`, never compiled."""
    hops = 1 if problem.contention == "none" else int(problem.network.routing.hops.max())
    tried = 1 + max(1, hops) * np.diff(problem.dag.first_in)  # tries and hops for each task
    if control.expired() and tried.sum() * len(problem.network) > QUICK:
        return fallback_plan(problem, control)
    plan, machines, done = InsertionSchedule(problem), range(len(problem.network)), 0

    def late(steps: int) -> bool:
        nonlocal done
        done += steps
        return done > QUICK and control.expired()

    for task, steps in zip(order.tolist(), tried[order].tolist(), strict=True):
        fixed = -1 if pinned is None else int(pinned[task])
        if fixed >= 0:
            if late(steps):
                return fallback_plan(problem, control)
            plan.place(task, fixed)
            continue
        best, chosen = np.inf, 0
        for machine in machines:
            if late(steps):
                return fallback_plan(problem, control)
            option = plan.try_on(task, machine)
            value = option.end if aim == "end" else option.start
            if bias is not None:
                value += float(bias[task, machine])
            if value < best:
                best, chosen = value, machine
        plan.place(task, chosen)
    return plan.schedule()


def _compiled(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    aim: Aim,
    pinned: Integers | None,
    bias: Floats | None,
) -> Schedule:
    """Insert in slices, and look at the clock in between."""
    from makespan.taskgraph.list_scheduling.insertion_kernels import BLOCK, append_some, insert_some

    dag, count = problem.dag, len(problem.dag)
    cores = int(problem.cores.sum())
    blocks = 2 * cores + 2 + 4 * count // BLOCK
    claim(16 * BLOCK * blocks + 64 * cores, f"the gaps of {cores:,} cores")
    read = columns(problem)
    order, extra = readonly(order, np.zeros((0, 0)) if bias is None else bias)
    written = placed(problem, pinned)
    insert = bind(
        insert_some, **read, **written, bias=extra, by_start=aim == "start",
        uniform=problem.network.routing.is_uniform, since=np.full(cores, -1.0),
        widest=np.full(cores, -1.0), until=np.full(cores, -1.0),
        blocks=np.zeros(cores, dtype=np.int64), count=np.zeros(blocks, dtype=np.int64),
        first=np.empty((blocks, BLOCK)), last=np.empty((blocks, BLOCK)),
        longest=np.full(blocks, -1.0),
    )  # fmt: skip
    rows, used = np.full((cores, 16), -1, dtype=np.int32), 0
    step, place = max(1, SLICE // (cores + len(dag.source) // count + 1)), 0
    with control.reserving(SECONDS_APPENDED * (count + len(dag.source))):
        while place < count and not control.expired():
            rows, used = insert(order=order[place : place + step], rows=rows, used=used)
            place += step
    if place < count and control.incumbent is not None:
        return fallback_plan(problem, control)
    if place < count:
        bind(append_some, **read, **written)(order[place:])
    return planned(problem, written["machine"], written["start"], written["end"])


def log_insertion(
    problem: TaskGraph,
    control: Control,
    schedule: Schedule,
    order: Integers,
    priority: Floats,
    word: str,
    bias: Floats | None = None,
    value: str = "",
) -> None:
    """Log the steps of a plan made by insertion: its decisions, taken once more.

    Only where a log is kept; the plan itself may be made by compiled loops. ``bias`` is added to
    the ends on the machines, and the sum called ``value``.
    """
    if not control.log_steps or control.expired():
        return
    dag, plan, machines = problem.dag, InsertionSchedule(problem), range(len(problem.network))
    place = inverse(order)
    waiting = np.diff(dag.first_in)
    ready = set(np.flatnonzero(waiting == 0).tolist())
    where = schedule.machine[: len(dag)].tolist()
    for task in order.tolist():
        if control.expired():
            return
        queue = sorted(ready, key=place.__getitem__)
        options = [plan.try_on(task, machine) for machine in machines]
        gap = _gap(plan, where[task], options[where[task]])
        option, _ = plan.place(task, where[task])
        values = None
        if bias is not None:
            values = {o.machine: o.end + float(bias[task, o.machine]) for o in options}
        control.step(
            placing_step(
                problem, option, task, queue=queue, priority=priority, word=word, options=options,
                gap=gap, values=values, value=value,
            )
        )  # fmt: skip
        ready.remove(task)
        for other in dag.successors[dag.first_out[task] : dag.first_out[task + 1]].tolist():
            waiting[other] -= 1
            if not waiting[other]:
                ready.add(other)


def _gap(
    plan: InsertionSchedule, machine: int, option: Placement
) -> tuple[float, float] | tuple[()]:
    """Return the gap before another task that a placement fills, nothing behind all others."""
    for gaps in plan.cores[machine]:
        for start, end in gaps.after(0.0):
            if start <= option.taken and option.end <= end < float("inf"):
                return start, end
            if start <= option.taken and end == float("inf"):
                return ()
    return ()
