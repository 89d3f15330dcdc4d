"""A model of tasks on machines, with times for data between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.cp_sat import FINE, Parts
from makespan.taskgraph.levels import colevels, heads_apart, levels
from makespan.taskgraph.limits import ALLOWED, latest_ends
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.free_times import Cores
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

    from makespan.backends.cp_sat import Scaling

NEVER = 2**53
MAX_APART = 100_000
"""Tasks squared on machines for which it is looked what comes behind the first task elsewhere."""
SYMMETRIC = 50  # the first tasks, in whose order machines that are alike are used


class OnMachines(Parts):
    """Tasks as optional intervals on machines; ``horizon`` is where the known plan ends.

    Where that misses a deadline, it is ``until``.
    """

    def __init__(
        self, problem: TaskGraph, control: Control, scaling: Scaling, plan: Schedule, until: float
    ) -> None:
        super().__init__(problem, control, scaling, plan, until)
        dag = problem.dag
        self.machines = range(len(problem.network))
        self.seconds = scaling.down(np.minimum(problem.durations, until))
        times = problem.network.routing.seconds_of(dag.size)
        self.transfer = scaling.down(np.minimum(times, until))
        computes = plan.kind == Activity.COMPUTE
        item = plan.item[computes]
        self.alike = problem.alike
        self.sequence = _sequence(dag)
        self.machine_of = self._renamed(machine_of_tasks(problem, plan))
        self.release = scaling.down(np.minimum(dag.release, until))
        # times are rounded down: a whole number of units up to a deadline is none above its floor
        self.due = np.floor(np.minimum(latest_ends(problem) / scaling.unit, NEVER)).astype(np.int64)
        rounded = self.rounded_starts(plan.start[computes], item)
        self.start_of = rounded
        ends = rounded + self.seconds[np.arange(len(dag)), self.machine_of]
        self.horizon = self.plan_end = int(ends.max(initial=0))
        if until > plan.makespan:
            self.horizon = max(self.horizon, int(np.ceil(until / scaling.unit)))
        self.seconds[problem.durations > until] = self.horizon + 1
        self.area = self.seconds * dag.cores[:, None]
        self.transfer[times > until] = self.horizon + 1
        least = self.seconds.min(axis=1).astype(np.float64)
        none = np.zeros(len(dag.source))
        head = self.release.astype(np.float64)
        self.earliest = (colevels(dag, least, none, head) - least).astype(np.int64)
        self.behind = levels(dag, least, none).astype(np.int64)

    def least_end(self, seconds: float) -> int:
        """Return the least end, in units: where times are rounded, less a unit for each."""
        if self.scaling.exact:
            return self.scaling.at_least(seconds)
        terms = len(self.problem.dag) + len(self.problem.dag.source)
        return max(0, int(self.scaling.down(seconds)) - terms)

    def rounded_starts(self, start: Floats, item: Integers) -> Integers:
        """Return the starts of the plan's decisions in rounded times: a solution of the model."""
        dag, found = self.problem.dag, np.zeros(len(self.problem.dag), dtype=np.int64)
        free = [Cores(cores) for cores in self.problem.cores.tolist()]
        order = item[np.lexsort((dag.position[item], start))]
        for task in order.tolist():
            machine = int(self.machine_of[task])
            lasts = int(self.seconds[task, machine])
            width = int(dag.cores[task])
            begin = max(int(self.release[task]), int(free[machine].free_at(width)) if lasts else 0)
            for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
                source = int(dag.source[edge])
                origin = int(self.machine_of[source])
                arrival = int(found[source] + self.seconds[source, origin])
                if origin != machine:
                    arrival += int(self.transfer[edge, origin, machine])
                begin = max(begin, arrival)
            found[task] = begin
            if lasts:
                free[machine].take(width, begin + lasts)
        return found

    def tasks(self) -> None:
        """Add tasks as optional intervals on every machine; a machine has so many at a time."""
        model, end = self.model, self.end
        intervals: list[list[Any]] = [[] for _ in self.machines]
        held: list[list[int]] = [[] for _ in self.machines]
        for task in range(len(self.problem.dag)):
            self.look()
            earliest = int(self.earliest[task])
            latest = max(earliest, self.horizon - int(self.behind[task]))  # below rules it out
            begin = model.new_int_var(earliest, latest, "")
            due = int(self.due[task])
            row = [model.new_bool_var("") for _ in self.machines]
            model.add_exactly_one(row)
            for machine, interval in self.intervals(task, begin, row):
                intervals[machine].append(interval)
                held[machine].append(int(self.problem.dag.cores[task]))
            model.add(begin + self.duration(task, row) <= end)
            if due < self.horizon:
                model.add(begin + self.duration(task, row) <= due)
            model.add(begin + int(self.behind[task]) <= end)
            self.start.append(begin)
            self.on.append(row)
        for machine, cores in enumerate(self.problem.cores.tolist()):
            if cores == 1:
                model.add_no_overlap(intervals[machine])
            else:
                model.add_cumulative(intervals[machine], held[machine], cores)
        for machine, cores in enumerate(self.problem.cores.tolist()):
            # what a machine executes takes no longer than there is
            literals = [row[machine] for row in self.on]
            model.add(_summed(literals, self.area[:, machine]) <= cores * end)

    def intervals(self, task: int, begin: IntVar, row: list[IntVar]) -> list[tuple[int, Any]]:
        """Return the intervals of a task on machines; what takes no time needs no core."""
        optional = self.model.new_optional_fixed_size_interval_var
        lasting = zip(self.seconds[task].tolist(), row, strict=True)
        return [
            (machine, optional(begin, lasts, literal, ""))
            for machine, (lasts, literal) in enumerate(lasting)
            if lasts
        ]

    def apart(self) -> None:
        """What waits for the one first task elsewhere waits for data, too; and before the last.

        All tasks of a machine that can't start there until the same time are executed behind it.
        With the starts of tasks on machines without the first task this describes forks and joins
        completely.
        """
        on, end = self.on, self.end
        dag, least, count = self.problem.dag, self.seconds.min(axis=1), len(self.machines)
        if count == 1 or len(dag) ** 2 * count > MAX_APART:
            return
        across = self.transfer[:, ~np.eye(count, dtype=bool)].min(axis=1)
        tails = self.behind - least
        for graph, behind in ((dag, tails), (dag.reversed(), self.earliest)):
            roots = np.flatnonzero(np.diff(graph.first_in) == 0)
            if len(roots) != 1:
                continue
            root = int(roots[0])
            head = heads_apart(graph, root, least, across)
            for time in np.unique(head[head > 0]).tolist():
                self.look()
                late = np.flatnonzero(head >= time)
                late = late[late != root]
                wait = int(time + behind[late].min())
                for machine, cores in enumerate(self.problem.cores.tolist()):
                    literals = [on[task][machine] for task in late.tolist()]
                    work, away = _summed(literals, self.area[late, machine]), on[root][machine]
                    for task in late[head[late] == time].tolist():
                        whole = work + cores * wait * on[task][machine] <= cores * end
                        self.model.add(whole).only_enforce_if(away.negated())

    def duration(self, task: int, row: list[IntVar]) -> Any:
        return _summed(row, self.seconds[task])

    def edges(self) -> Iterator[tuple[int, int, int, Any]]:
        """Yield each edge with its ends, and the end of its source, looking at the clock."""
        ends = zip(self.problem.dag.source.tolist(), self.problem.dag.target.tolist(), strict=True)
        for edge, (source, target) in enumerate(ends):
            self.look()
            yield edge, source, target, self.start[source] + self.duration(source, self.on[source])

    def transfers(self) -> None:
        """A task starts behind its predecessors, and behind their data from other machines."""
        model, start, on = self.model, self.start, self.on
        equal = self.problem.network.routing.is_uniform
        for edge, source, target, ended in self.edges():
            times = self.transfer[edge]
            model.add(start[target] >= ended)
            if len(self.machines) == 1 or not times.any():
                continue
            if equal:
                together = model.new_bool_var("")
                for machine in self.machines:
                    here, there = on[source][machine], on[target][machine]
                    model.add_implication(here, there).only_enforce_if(together)
                    model.add_bool_or(here.negated(), there.negated(), together)
                lasts = int(times[0, 1])
                model.add(start[target] >= ended + lasts).only_enforce_if(together.negated())
                continue
            for a, b in permutations(self.machines, 2):
                if times[a, b]:
                    arrives = start[source] + int(self.seconds[source, a] + times[a, b])
                    both = on[source][a], on[target][b]
                    model.add(start[target] >= arrives).only_enforce_if(*both)

    def rules(self) -> None:
        self.transfers()
        self.apart()
        self.symmetry()

    def sought(self) -> tuple[Any, Scaling]:
        """Add the budget; return the makespan, or what the plan costs, rounded down."""
        from makespan.backends.cp_sat import scaling_of

        model, on = self.model, self.on
        network, budget = self.problem.network, self.problem.budget
        by_price = self.problem.objective == "price"
        if not by_price and (budget is None or not network.is_priced):
            return self.end, self.scaling
        charge = np.where(np.isfinite(self.problem.charges), self.problem.charges, 0.0)
        most = charge.max(axis=1).sum() + network.start_price.sum()
        every = np.concatenate([charge.ravel(), network.start_price])
        scaling = scaling_of(every, total=float(most) or 1.0, largest_sum=FINE)
        literals = [literal for row in on for literal in row]
        weights = scaling.down(charge).ravel().tolist()
        for machine, cost in enumerate(scaling.down(network.start_price).tolist()):
            if cost:
                used = model.new_bool_var("")
                for row in on:
                    model.add_implication(row[machine], used)
                literals.append(used)
                weights.append(cost)
        paid = _summed(literals, np.array(weights))
        if budget is not None:
            limit = min(budget, float(most)) * (1 + ALLOWED) / scaling.unit
            model.add(paid <= int(np.floor(limit)))
        return (paid, scaling) if by_price else (self.end, self.scaling)

    def _renamed(self, machine_of: Integers) -> Integers:
        """Return the machines such that of those alike the first is used by the first task."""
        found = machine_of.copy()
        for group in self.alike:
            used = dict.fromkeys(
                machine for machine in machine_of[self.sequence].tolist() if machine in group
            )
            for new, old in zip(group, used, strict=False):
                found[machine_of == old] = new
        return found

    def symmetry(self) -> None:
        """Of machines that are alike, one is used only behind a task on the one before."""
        rows = [self.on[task] for task in self.sequence[:SYMMETRIC].tolist()]
        for group in self.alike:
            for before, machine in pairwise(group):
                self.look()
                for place, row in enumerate(rows):
                    earlier = [other[before] for other in rows[:place]]
                    self.model.add_bool_or(row[machine].negated(), *earlier)

    def hint(self) -> None:
        """Begin with the known plan."""
        add_hint = self.model.add_hint
        for task, row in enumerate(self.on):
            add_hint(self.start[task], int(self.start_of[task]))
            for machine in self.machines:
                add_hint(row[machine], int(self.machine_of[task] == machine))
        add_hint(self.end, self.plan_end)

    def decisions(self, value: Callable[[Any], int]) -> tuple[Integers, Integers]:
        """Return the machines and starts of a solution."""
        machine = np.array([[value(x) for x in row].index(1) for row in self.on], dtype=np.int64)
        return machine, np.array([value(each) for each in self.start], dtype=np.int64)

    def schedule(self, value: Callable[[Any], int]) -> Schedule:
        """Return the plan with these machines and this order."""
        return in_order(self.problem, *self.decisions(value))


def _summed(literals: list[Any], weights: np.ndarray) -> Any:
    from ortools.sat.python.cp_model import LinearExpr

    return LinearExpr.weighted_sum(literals, weights.tolist())


def _sequence(dag: Dag) -> Integers:
    """Return the tasks in the order that names machines: one before or behind all others first."""
    tasks = np.arange(len(dag))
    for degree in (np.diff(dag.first_in), np.diff(dag.first_out)):
        alone = np.flatnonzero(degree == 0)
        if len(alone) == 1:
            return np.concatenate([alone, tasks[tasks != alone[0]]])
    return tasks
