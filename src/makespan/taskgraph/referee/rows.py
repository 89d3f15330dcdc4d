"""What the rules for plans with and without copies have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.report import Violation, broken
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph

TOLERANCE = 1e-9
PRICE_TOLERANCE = 2e-9
SHORT = 2**16  # integers below are sorted in linear time


class Rows(ABC):
    """The rows of a schedule, which of them executes each task, and its transfers."""

    def __init__(
        self, problem: TaskGraph, schedule: Schedule, row: Integers, hops: Integers
    ) -> None:
        self.problem, self.schedule = problem, schedule
        self.tolerance = TOLERANCE * schedule.makespan
        self.row, self.hops = row, hops
        self.task, self.machine = schedule.item[row], schedule.machine[row]
        self.start, self.end = schedule.start[row], schedule.end[row]
        self.edge = schedule.item[hops]

    def taken(self) -> Floats:
        """Return when machines take their tasks."""
        return self.start

    def _task(self, task: int) -> str:
        return str(self.problem.dag.names[task])

    def _edge(self, edge: int) -> str:
        dag = self.problem.dag
        return f"{self._task(dag.source[edge])} → {self._task(dag.target[edge])}"

    def _node(self, node: int) -> str:
        return self.problem.machines[node]

    def _activity(self, row: int) -> str:
        schedule = self.schedule
        item = int(schedule.item[row])
        if schedule.kind[row] == Activity.COMPUTE:
            return self._task(item)
        ends = f"{self._node(schedule.machine[row])} to {self._node(schedule.peer[row])}"
        return f"{self._edge(item)} from {ends}"

    def violations(self) -> Iterator[Violation]:
        """Yield what breaks a rule; who waits for whom, where all transfers are those of a plan."""
        yield from self.amounts()
        yield from self.durations()
        yield from self.times()
        yield from self.limits()
        sound = True
        for violation in self.transfers():
            sound = False
            yield violation
        if sound:
            yield from self.waits()
        yield from self.cores()

    @abstractmethod
    def transfers(self) -> Iterator[Violation]:
        """Yield the transfers that are missing, or that no plan has."""

    @abstractmethod
    def waits(self) -> Iterator[Violation]:
        """Yield what begins before its data are there."""

    def amounts(self) -> Iterator[Violation]:
        dag, schedule = self.problem.dag, self.schedule
        due = np.empty(len(schedule))
        due[self.row] = dag.work[schedule.item[self.row]]
        due[self.hops] = dag.size[self.edge]
        off = np.abs(schedule.amount - due)
        for row in np.flatnonzero(off > TOLERANCE * due).tolist():
            text = (
                f"{self._activity(row)} has amount {schedule.amount[row]:.12g}, not {due[row]:.12g}"
            )
            yield broken("amount", text, (row,), excess=off[row])

    def durations(self) -> Iterator[Violation]:
        schedule, routing = self.schedule, self.problem.network.routing
        due = np.empty(len(schedule))
        rows = self.row
        due[rows] = self.problem.durations_on(schedule.item[rows], schedule.machine[rows])
        impossible = rows[np.isinf(due[rows])]  # see cores
        due[impossible] = schedule.end[impossible] - schedule.start[impossible]
        tail, head = schedule.machine[self.hops], schedule.peer[self.hops]
        with np.errstate(divide="ignore", invalid="ignore"):
            data = self.problem.dag.size[self.edge] / routing.rates[tail, head]
        due[self.hops] = data + routing.setup[tail]
        off = np.abs(schedule.end - schedule.start - due)
        for row in np.flatnonzero(off > self.tolerance).tolist():
            text = (
                f"{self._activity(row)} takes {due[row]:.12g} s, "
                f"not {schedule.end[row] - schedule.start[row]:.12g} s"
            )
            times = schedule.start[row], schedule.end[row]
            yield broken("duration", text, (row,), times, off[row])

    def times(self) -> Iterator[Violation]:
        """Yield tasks that start before their release, or whose first copy misses the deadline."""
        dag = self.problem.dag
        if not dag.release.any() and not self.problem.has_deadlines:
            return
        taken, release = self.taken(), dag.release[self.task]
        for index in np.flatnonzero(taken < release - self.tolerance).tolist():
            text = (
                f"{self._task(self.task[index])} is begun at {taken[index]:.12g}, "
                f"before its release at {release[index]:.12g}"
            )
            yield broken("release", text, (self.row[index],), (taken[index], release[index]))
        ends, rows = np.zeros(len(dag)), np.zeros(len(dag), dtype=np.int64)
        last_first = np.argsort(-self.end, kind="stable")  # of equal indices the last counts
        ends[self.task[last_first]] = self.end[last_first]
        rows[self.task[last_first]] = self.row[last_first]
        for task in np.flatnonzero(ends > dag.deadline + self.tolerance).tolist():
            text = (
                f"{self._task(task)} ends at {ends[task]:.12g}, after its deadline "
                f"{dag.deadline[task]:.12g}"
            )
            yield broken("deadline", text, (rows[task],), (ends[task], dag.deadline[task]))

    def limits(self) -> Iterator[Violation]:
        """Yield a plan that ends after its deadline, or costs more than the budget."""
        problem, schedule = self.problem, self.schedule
        deadline, budget, network = problem.deadline, problem.budget, problem.network
        if deadline is not None and schedule.makespan > deadline + self.tolerance:
            text = f"the plan ends at {schedule.makespan:.12g}, after the deadline {deadline:.12g}"
            yield broken("deadline", text, times=(schedule.makespan, deadline))
        if budget is None:
            return
        seconds = problem.durations_on(self.task, self.machine)
        held = np.where(np.isfinite(seconds), seconds, 0.0) * problem.dag.cores[self.task]
        price = float(held @ network.price[self.machine])
        price += float(network.start_price[np.unique(self.machine)].sum())
        if price > budget * (1 + PRICE_TOLERANCE):
            text = f"the plan costs {price:.12g}, but the budget is {budget:.12g}"
            yield broken("budget", text, excess=price - budget)

    def cores(self) -> Iterator[Violation]:
        """Yield tasks that hold more cores than their machine has, alone or with others."""
        taken, cores = self.taken(), self.problem.network.cores
        needed = self.problem.dag.cores[self.task]
        for index in np.flatnonzero(needed > cores[self.machine]).tolist():
            machine = int(self.machine[index])
            text = (
                f"{self._task(self.task[index])} needs {needed[index]} cores, "
                f"{self._node(machine)} has {cores[machine]}"
            )
            yield broken("cores", text, (self.row[index],), excess=needed[index] - cores[machine])
        single = np.flatnonzero(cores[self.machine] == 1)
        columns = self.machine[single], taken[single], self.end[single]
        for one, other, _ in overlaps(*columns, self.tolerance):
            first, second = int(single[one]), int(single[other])
            text = (
                f"{self._node(self.machine[first])} has {self._task(self.task[first])} and "
                f"{self._task(self.task[second])} at the same time"
            )
            yield broken("cores", text, self.row[[first, second]], (taken[second], self.end[first]))
        for machine in np.flatnonzero(cores > 1).tolist():
            tasks = np.flatnonzero((self.machine == machine) & (self.end > taken))
            tasks = tasks[np.argsort(taken[tasks], kind="stable")]
            by_end = tasks[np.argsort(self.end[tasks], kind="stable")]
            ended = np.searchsorted(self.end[by_end], taken[tasks] + self.tolerance, side="right")
            released = np.concatenate([[0], np.cumsum(needed[by_end])])[ended]
            held = np.cumsum(needed[tasks]) - released
            for index in np.flatnonzero(held > cores[machine]).tolist():
                task = int(tasks[index])
                name = self._task(self.task[task])
                if needed[task] > cores[machine]:
                    continue
                running = index + 1 - int(ended[index])
                on = "" if running == held[index] else f" on {int(held[index])} cores"
                text = (
                    f"{self._node(machine)} has {running} tasks{on} at the same "
                    f"time when it takes {name}, but {int(cores[machine])} cores"
                )
                excess = held[index] - cores[machine]
                yield broken("cores", text, (self.row[task],), (taken[task],), excess)


def overlaps(
    group: Integers, start: Floats, end: Floats, tolerance: float
) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of neighbouring intervals of one group that overlap, and by how much.

    Where any two intervals of a group overlap, two neighbours by start do. What takes no time
    is never in the way.
    """
    lasting = np.flatnonzero(end > start)
    order = lasting[sorted_by(start[lasting], end[lasting])]
    groups = group[order].astype(np.uint16 if group.max(initial=0) < SHORT else np.int64)
    order = order[np.argsort(groups, kind="stable")]
    same = group[order[1:]] == group[order[:-1]]
    excess = end[order[:-1]] - start[order[1:]]
    for index in np.flatnonzero(same & (excess > tolerance)).tolist():
        yield int(order[index]), int(order[index + 1]), float(excess[index])
