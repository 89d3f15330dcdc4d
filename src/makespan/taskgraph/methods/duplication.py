"""Task duplication: copies of predecessors go where they let a task start earlier."""

from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.binding import bind
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import MAX_ROWS, Step, Table, listed, number
from makespan.core.system.memory import claim
from makespan.taskgraph.bounds import least_durations
from makespan.taskgraph.copies import Copies
from makespan.taskgraph.levels import by_level, colevels, ranks
from makespan.taskgraph.limits import worth
from makespan.taskgraph.list_scheduling import schedule_of
from makespan.taskgraph.list_scheduling.assigned import cannot_end
from makespan.taskgraph.list_scheduling.duplication import insert_copies, needed_copies
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.needs import DUPLICATION, QUICKLY_COPIED, SINGLE_CORES
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import retimed

SLICE = 100_000  # tasks and edges on machines that are tried between two looks at the clock
STEPS = 6  # elementary steps for each of them
SECONDS_THINNED = 1e-6  # what a task or an edge takes when copies that nobody needs go


class DuplicationSchedule:
    """The state of machines under a plan that grows by insertion, with copies of predecessors.

    Of the ``order`` the first tasks are ``placed``. ``earliest`` bounds their starts from below, to
    give up early; at ``most`` so many copies of predecessors, and of theirs, are tried for one task
    on one machine. There is room for ``width`` free times of a core.
    """

    def __init__(self, problem: TaskGraph, order: Integers, earliest: Floats, most: int) -> None:
        dag, count, machines = problem.dag, len(problem.dag), len(problem.network)
        self.problem, self.placed = problem, 0
        self.width, cores = 2 * (most + 2), int(problem.cores.sum())
        claim(56.0 * count * machines, f"copies of {count:,} tasks on all machines")
        self._tried = (count + len(dag.source)) * machines
        loop, self._column = insert_copies.chosen(STEPS * self._tried)
        real, whole = np.zeros(most + 1), np.zeros(most + 1, dtype=np.int64)
        none = np.full(count * machines, -1.0)
        given = {
            "order": order, "seconds": problem.durations.ravel(), "release": dag.release,
            "earliest": earliest, "first_in": dag.first_in, "predecessors": dag.predecessors,
            "size": dag.size[dag.in_edges], **_costs(problem), "first_core": problem.first_core,
            "copies": np.zeros(count * machines, dtype=np.int64),
            "count": np.zeros(count, dtype=np.int64), "starts": none, "ends": none,
            "gaps": np.ones(cores, dtype=np.int64), "tried_ends": np.full(machines, -1.0),
            "tried_copies": np.zeros(machines, dtype=np.int64),
            "goal": whole, "phase": whole, "best": real, "kept": whole, "since": whole,
            "arrival": real, "placed": whole, "core_of": whole, "place_of": whole,
            "opened": real, "closed": real, "pieces": whole,
        }  # fmt: skip
        self._columns = {name: self._column(each) for name, each in given.items()}
        self._run = bind(loop, **self._columns, most=most, machines=machines)
        self._free: list[Any] = [np.zeros(0), np.zeros(0)]
        self._widen(self.width)

    def _widen(self, width: int) -> None:
        """Make room for so many free times of each core; at first there is one, without an end."""
        count = len(self._columns["gaps"])
        claim(32.0 * count * width, "the gaps of all cores")
        wider = [np.full((count, width), last) for last in (0.0, np.inf)]
        for table, before in zip(wider, self._free, strict=True):
            known = np.reshape(before, (count, -1))
            table[:, : known.shape[1]] = known
        self.width, self._free = width, [self._column(each.ravel()) for each in wider]

    def place(self, tasks: int | None = None) -> None:
        """Place the next tasks, so many or as many as are quickly placed."""
        count = len(self.problem.dag)
        after = min(count, self.placed + (tasks or 1 + SLICE * count // (self._tried + 1)))
        while self.placed < after:
            opens, closes = self._free
            self.placed = self._run(
                opens=opens, closes=closes, first=self.placed, after=after, width=self.width
            )
            if self.placed < after:
                self._widen(2 * self.width)

    @property
    def times(self) -> tuple[Floats, Floats]:
        """Starts and ends by task and machine, as flat tables, -1 where there is no copy."""
        return np.asarray(self._columns["starts"]), np.asarray(self._columns["ends"])

    def tries(self) -> list[tuple[float, int, int]]:
        """Return the end, the copies and the machine of each try of the last task, best first."""
        ends, copies = self._columns["tried_ends"], self._columns["tried_copies"]
        each = zip(ends, copies, range(len(ends)), strict=True)
        return sorted((float(end), int(more), machine) for end, more, machine in each if end >= 0)

    def schedule(self, control: Control) -> Schedule:
        """Return the plan as early as possible, without the copies that nobody needs.

        What goes may make others start earlier, so that more goes, until nothing does.
        """
        starts, ends = self.times
        plan = thinned(self.problem, starts, ends)
        while True:
            copies = Copies(self.problem, retimed(self.problem, plan))
            place = copies.task * len(self.problem.network) + copies.machine
            starts, ends = np.full((2, len(starts)), -1.0)
            starts[place] = copies.schedule.start[copies.row]
            ends[place] = copies.schedule.end[copies.row]
            fewer = thinned(self.problem, starts, ends)
            if len(fewer) >= len(plan) or control.expired():
                return copies.schedule
            plan = fewer


def _costs(problem: TaskGraph) -> dict[str, Floats]:
    """Return the seconds of a message between two machines, and those of a unit, as flat tables."""
    routing = problem.network.routing
    return {"fixed": routing.fixed_seconds.ravel(), "per_unit": routing.seconds_per_unit.ravel()}


def thinned(problem: TaskGraph, starts: Floats, ends: Floats) -> Schedule:
    """Return the plan of the copies that are needed, with their transfers.

    ``starts`` and ``ends`` are flat tables by task and machine, -1 where there is no copy.
    Complexity: O(n m + c e m), c the copies of a task.
    """
    dag, routing, machines = problem.dag, problem.network.routing, len(problem.network)
    copied = (ends >= 0.0).reshape(len(dag), machines).sum(axis=1)
    most = int((copied * np.diff(dag.first_in)).sum())
    needed = np.zeros(len(ends), dtype=bool)
    edge, tail, head = np.zeros((3, most), dtype=np.int64)
    found = needed_copies.run(
        len(ends) + most * machines,
        (
            dag.order, dag.first_in, dag.in_edges, dag.source, dag.first_out, dag.size, ends,
            *_costs(problem).values(),
        ),
        (needed, edge, tail, head),
        (machines,),
    )  # fmt: skip
    edge, tail, head = edge[:found], tail[:found], head[:found]
    rows = problem.needs_rows(edge, tail, head)
    edge, tail, head = edge[rows], tail[rows], head[rows]
    leaves = ends[dag.source[edge] * machines + tail]
    arrives = leaves + (dag.size[edge] / routing.rates[tail, head] + routing.setup[tail])
    copies = np.flatnonzero(needed)
    task, machine = np.divmod(copies, machines)
    return schedule_of(
        problem, (task, machine, starts[copies], ends[copies]), (edge, tail, head, leaves, arrives)
    )


MOST = 32  # copies that are tried for one task on one machine


@register(
    needs=(DUPLICATION, SINGLE_CORES),
    reach=(QUICKLY_COPIED,),
    complexity="O(n m k (c d + g)), k the copies tried for a task on a machine, up to 32, c the "
    "copies of a task, d its predecessors, g the gaps that are tried",
    source="Ahmad and Kwok 1998 (the predecessor whose data come last is copied, and its own "
    "before it); for unequal machines Hagras and Janeček 2005",
)
def duplication(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """By falling upward rank, each task goes where it ends first, with copies of predecessors.

    On each machine that is tried, the predecessor whose data come last is copied into a gap, after
    what lets that copy start earlier, and so on, as long as the task starts earlier. Copies that
    nobody needs in the end go. Where ``heft`` gives a shorter plan, that is kept.

    Ties of ranks go to the lowest task; of machines to the fewest copies, then to the lowest
    machine. ``w1`` and ``w2`` are the weights of work and of data on a path, as of ``heft``.
    """
    dag = problem.dag
    order = by_level(dag, ranks(problem, w1, w2))
    least = least_durations(problem)
    plain = inserted(problem, control, order)
    if cannot_end(problem, control):
        return Solution(schedule=plain)
    earliest = colevels(dag, least, 0.0 * dag.size, dag.release) - least
    plan = DuplicationSchedule(problem, order, earliest, MOST)
    with control.reserving(SECONDS_THINNED * (len(order) + len(dag.source))):
        while plan.placed < len(order):
            if control.expired():
                return Solution(schedule=plain)
            plan.place(1 if control.log_steps else None)
            if control.log_steps:
                _log(problem, control, int(order[plan.placed - 1]), plan.tries())
        copied = plan.schedule(control)
    plans = (plain, plain if plain.earliest else retimed(problem, plain), copied)
    best = min(plans, key=lambda each: worth(problem, each))
    if best is not plans[-1]:
        control.step("the plan of heft, without copies, is as short: it is kept")
    return Solution(schedule=best)


def _log(
    problem: TaskGraph, control: Control, task: int, tries: list[tuple[float, int, int]]
) -> None:
    """Log where a task goes, given the end, the copies and the machine of all tries, best first."""
    name, machines = problem.dag.names[task], problem.machines
    names = ("machine", "end", "copies")
    rows = [(machines[machine], end, float(copies)) for end, copies, machine in tries]
    (where, end, copies), more = rows[0], " with copies of predecessors" * (rows[0][2] > 0)
    shown = listed((f"{each}: {number(ends)}" for each, ends, _ in rows), MAX_ROWS)
    control.step(
        Step(
            text=f"{name} would end at {shown}; {name} to {where}{more}, ends at {number(end)}",
            cells={"task": name, "to": where, "copies": copies, "end": end},
            items={"chosen": (task,), "placed": (task,)},
            tables=(Table(f"{name} on the machines", names, tuple(rows[:MAX_ROWS]), 0),),
        )
    )
