"""IC-PCP: partial critical paths, each on the cheapest machine that ends it in time."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.sorting import inverse
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph import needs
from makespan.taskgraph.levels import weights
from makespan.taskgraph.limits import latest_ends
from makespan.taskgraph.list_scheduling.assigned import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.free_times import Gaps
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.model.dag import rows_of
from makespan.taskgraph.problem import TaskGraph

DUE = Need(
    "a deadline",
    lambda problem: None if problem.has_deadlines else "nothing has to end by any time",
)


@register(
    needs=(
        needs.NO_GIVEN_PLAN,
        needs.NO_DUPLICATION,
        needs.SINGLE_CORES,
        needs.OVERLAP,
        needs.NO_CONTENTION,
        needs.PRICES,
        DUE,
    ),
    reach=(needs.QUICKLY_TRIED,),
    complexity="O(n (n + e) + n m g), g the gaps of a machine",
    source="Abrishami, Naghibzadeh and Epema 2013, with given machines in place of any number of "
    "instances",
)
def ic_pcp(problem: TaskGraph, control: Control) -> Solution:
    """Each critical path, from the last tasks back, goes to the cheapest machine in time.

    Tasks have to end so early that what follows can keep the deadline on the fastest machines.
    Where no machine ends all tasks of a path by then, the path goes where it is late by least; that
    the number of machines is limited may leave it without a plan where there is one.
    """
    if cannot_end(problem, control):
        return Solution(schedule=fallback_plan(problem, control))
    paths, stack = _Paths(problem), [EXIT]
    while stack:
        path = paths.behind(stack[-1])
        if not path:
            stack.pop()
            continue
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        paths.assign(path)
        paths.update()
        stack += reversed(path)
    return Solution(schedule=paths.plan(control))


EXIT = -1  # what stands for the end of the plan, behind all tasks


class _Paths:
    """The tasks that have a machine, and when the others can start and have to end.

    ``start`` and ``end`` are the earliest, of tasks without a machine on their fastest; fixed for
    those that have one. ``latest`` is the latest end of each task (LFT of the paper).
    """

    def __init__(self, problem: TaskGraph) -> None:
        dag, network = problem.dag, problem.network
        self.problem = problem
        self.seconds: list[list[float]] = problem.durations.tolist()
        self.charge: list[list[float]] = (problem.durations * network.price).tolist()
        self.fastest: list[float] = problem.durations.min(axis=1).tolist()
        self.sent: list[float] = weights(problem)[1].tolist()
        self.due: list[float] = latest_ends(problem).tolist()
        self.before = rows_of(dag.first_in, dag.in_edges)
        self.after = rows_of(dag.first_out, dag.out_edges)
        self.source: list[int] = dag.source.tolist()
        self.target: list[int] = dag.target.tolist()
        self.order: list[int] = dag.order.tolist()
        self.exits = [task for task, edges in enumerate(self.after) if not edges]
        self.machine = [-1] * len(dag)
        self.start: list[float] = dag.release.tolist()
        self.end: list[float] = [0.0] * len(dag)
        self.latest: list[float] = list(self.due)
        self.cores = [[Gaps() for _ in range(cores)] for cores in problem.cores.tolist()]
        self.used = [False] * len(network)
        self.update()

    def update(self) -> None:
        """Work out the earliest starts and latest ends of tasks without a machine."""
        release = self.problem.dag.release
        for task in self.order:
            if self.machine[task] < 0:
                arrivals = (self._arrival(edge, -1) for edge in self.before[task])
                self.start[task] = max([float(release[task]), *arrivals])
                self.end[task] = self.start[task] + self.fastest[task]
        for task in reversed(self.order):
            if self.machine[task] < 0:
                self.latest[task] = min(
                    [self.due[task], *(self._latest_before(edge) for edge in self.after[task])]
                )

    def _latest_before(self, edge: int) -> float:
        task = self.target[edge]
        if self.machine[task] >= 0:
            return self.start[task] - self.sent[edge]
        return self.latest[task] - self.fastest[task] - self.sent[edge]

    def _arrival(self, edge: int, machine: int) -> float:
        """Return when the data of an edge are on a machine; -1 for one that is not known."""
        source = self.source[edge]
        origin = self.machine[source]
        if origin < 0 or machine < 0:
            return self.end[source] + self.sent[edge]
        if origin == machine:
            return float(self.end[source])
        routing = self.problem.network.routing
        size = self.problem.dag.size[edge]
        fixed, per_unit = routing.fixed_seconds, routing.seconds_per_unit
        return float(self.end[source] + fixed[origin, machine] + per_unit[origin, machine] * size)

    def behind(self, task: int) -> list[int]:
        """Return the partial critical path before a task, by the latest data of the unassigned."""
        path: list[int] = []
        while True:
            if task == EXIT:
                waiting = [(self.end[each], -each) for each in self.exits if self.machine[each] < 0]
            else:
                waiting = [
                    (self._arrival(edge, -1), -self.source[edge])
                    for edge in self.before[task]
                    if self.machine[self.source[edge]] < 0
                ]
            if not waiting:
                return path[::-1]
            task = -max(waiting)[1]
            path.append(task)

    def assign(self, path: list[int]) -> None:
        """Give a path to the cheapest machine that ends all its tasks in time."""
        tried = [self._tried(path, machine) for machine in range(len(self.cores))]
        machine = min(range(len(tried)), key=lambda each: (*tried[each][:2], each))
        self.used[machine] = True
        for task, (core, start) in zip(path, tried[machine][2], strict=True):
            end = start + self.seconds[task][machine]
            self.cores[machine][core].take(start, end)
            self.machine[task], self.start[task], self.end[task] = machine, start, end

    def _tried(self, path: list[int], machine: int) -> tuple[float, float, list[tuple[int, float]]]:
        """Return how late a path is on a machine, what it costs, and its cores and starts."""
        price = 0.0 if self.used[machine] else float(self.problem.network.start_price[machine])
        late, ended, found = 0.0, 0.0, []
        for index, task in enumerate(path):
            within = path[index - 1] if index else EXIT
            arrivals = [
                self._arrival(edge, machine)
                for edge in self.before[task]
                if self.source[edge] != within
            ]
            ready = max([float(self.problem.dag.release[task]), ended, *arrivals])
            lasts = self.seconds[task][machine]
            start, core = min(
                (gaps.first_fit(ready, lasts), core)
                for core, gaps in enumerate(self.cores[machine])
            )
            ended = start + lasts
            late = max(late, ended - self.latest[task])
            price += self.charge[task][machine]
            found.append((core, start))
        return late, price, found

    def plan(self, control: Control) -> Schedule:
        """Return the plan with these machines, tasks in the order of their starts."""
        order = np.lexsort((self.problem.dag.position, np.array(self.start)))
        place, dag = inverse(order), self.problem.dag
        if not (place[dag.source] < place[dag.target]).all():  # the fastest were too hopeful
            order = np.lexsort((place, dag.position))
        return inserted(self.problem, control, order, pinned=np.array(self.machine))
