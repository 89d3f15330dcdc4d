"""The optimum without communication: machines that are alike are one resource."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import CP_SAT, at_most, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.taskgraph import needs
from makespan.taskgraph.cp_sat import PROVES, LateError, Parts, proved
from makespan.taskgraph.levels import heads
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.free_times import Cores
from makespan.taskgraph.methods.equal_tasks import transitive_reduction
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

    from makespan.backends.cp_sat import Scaling, Settings

MAX_TASKS = 5_000
QUICKLY_BUILT = 100_000
COMPARED = 1_000  # tasks up to which all pairs are looked at for those that can change places


@register(
    needs=(
        CP_SAT,
        needs.LEAST_MAKESPAN,
        needs.NO_BUDGET,
        needs.NO_GIVEN_PLAN,
        needs.NO_RELEASES,
        needs.NO_DEADLINES,
        needs.OVERLAP,
        needs.NO_CONTENTION,
        needs.NO_DUPLICATION,
        needs.NO_COMMUNICATION,
        needs.FEW_CORES,
        at_most(MAX_TASKS, "tasks", lambda problem: len(problem.dag)),
    ),
    reach=(
        at_most(
            QUICKLY_BUILT,
            "edges, and tasks on machines that differ",
            lambda p: len(p.dag.source) + len(p.dag) * len(_groups(p)),
        ),
    ),
    proves=PROVES,
    complexity="exponential",
    source="one cumulative constraint per group of equal machines, which tasks get as an interval "
    "graph is coloured; OR-tools CP-SAT",
)
def cumulative(problem: TaskGraph, control: Control) -> Solution:
    """Choose starts alone, so many tasks at a time on machines that are alike.

    Which of these machines executes a task is chosen afterwards: each task gets the one that is
    free first. The search begins with the best plan known, or with that of ``heft``. Of two tasks
    of equal durations and cores the one with fewer tasks before it and more behind it starts no
    later: they could change places.
    """
    start = control.known_or(lambda: heft(problem, control))
    return proved(problem, control, start, problem.durations.ravel(), _InGroups)


def _groups(problem: TaskGraph) -> list[list[int]]:
    """Return groups of machines on which all tasks take equally long; of one each for cores."""
    if problem.is_rigid:
        return [[machine] for machine in range(len(problem.network))]
    if not len(problem.dag.own):
        network = problem.network
        columns = np.vstack([network.speed, network.task_setup])
    else:
        columns = problem.durations
    group = np.unique(columns, axis=1, return_inverse=True)[1].ravel()
    return [np.flatnonzero(group == each).tolist() for each in range(int(group.max()) + 1)]


class _InGroups(Parts):
    """Tasks in groups of machines; ``on`` is empty where there is one."""

    settings: ClassVar[Settings] = {
        "use_timetable_edge_finding_in_cumulative": True,
        "use_overload_checker_in_cumulative": True,
    }
    two: ClassVar[Settings] = {"subsolvers": ("default_lp", "quick_restart")}
    deciding: ClassVar[tuple[Settings, ...]] = (two, {**two, **settings})

    def __init__(
        self, problem: TaskGraph, control: Control, scaling: Scaling, plan: Schedule, until: float
    ) -> None:
        super().__init__(problem, control, scaling, plan, until)
        self.groups = _groups(problem)
        durations = problem.durations[:, [group[0] for group in self.groups]]
        self.seconds = scaling.down(np.minimum(durations, until))
        self.after = transitive_reduction(problem.dag, control)
        if self.after is None:
            raise LateError
        self.before: list[list[int]] = [[] for _ in self.after]
        for task, successors in enumerate(self.after):
            for each in successors:
                self.before[each].append(task)
        group_of = np.empty(len(problem.network), dtype=np.int64)
        for index, group in enumerate(self.groups):
            group_of[group] = index
        self.group = group_of[machine_of_tasks(problem, plan)]
        self.begun = self._rounded_starts(plan)
        tasks = np.arange(len(problem.dag))
        self.horizon = int((self.begun + self.seconds[tasks, self.group]).max(initial=0))
        self.seconds[durations > until] = self.horizon + 1
        least, cores = self.seconds.min(axis=1), int(problem.cores.sum())
        order, area = problem.dag.order.tolist(), least * problem.dag.cores
        self.heads, self.ancestors = heads(order, self.before, least, cores, area)
        self.tails, self.descendants = heads(order[::-1], self.after, least, cores, area)
        self.least = least

    def least_end(self, seconds: float) -> int:
        longest = int((self.heads + self.least + self.tails).max(initial=0))
        return max(longest, self.scaling.at_least(seconds)) if self.scaling.exact else longest

    def _rounded_starts(self, plan: Schedule) -> Integers:
        """Return the starts of the plan's tasks in rounded times, in its order."""
        computes = plan.kind == Activity.COMPUTE
        item, found = plan.item[computes], np.zeros(len(self.problem.dag), dtype=np.int64)
        ends = np.zeros_like(found)
        free = [Cores(int(self.problem.cores[group].sum())) for group in self.groups]
        for task in item[
            np.lexsort((self.problem.dag.position[item], plan.start[computes]))
        ].tolist():
            cores, held = free[self.group[task]], int(self.problem.dag.cores[task])
            lasts = int(self.seconds[task, self.group[task]])
            begin = max([int(ends[each]) for each in self.before[task]], default=0)
            if lasts:
                begin = max(begin, int(cores.free_at(held)))
                cores.take(held, begin + lasts)
            found[task], ends[task] = begin, begin + lasts
        return found

    def tasks(self) -> None:
        """Add an interval per task, or an optional one per group, and the cores of the groups."""
        model, fixed = self.model, self.model.new_fixed_size_interval_var
        optional = model.new_optional_fixed_size_interval_var
        intervals: list[list[Any]] = [[] for _ in self.groups]
        held: list[list[int]] = [[] for _ in self.groups]
        alone = len(self.groups) == 1
        for task, row in enumerate(self.seconds.tolist()):
            self.look()
            behind = int(self.tails[task])
            latest = self.horizon - behind - int(self.least[task])
            begin = model.new_int_var(int(self.heads[task]), latest, "")
            literals = [] if alone else [model.new_bool_var("") for _ in row]
            if not alone:
                model.add_exactly_one(literals)
                self.on.append(literals)
            for place, lasts in enumerate(row):
                if not lasts:  # what takes no time needs no core
                    continue
                intervals[place].append(
                    fixed(begin, lasts, "")
                    if alone
                    else optional(begin, lasts, literals[place], "")
                )
                held[place].append(int(self.problem.dag.cores[task]))
            model.add(begin + self._lasts(task, literals) + behind <= self.end)
            self.start.append(begin)
        for group, each, demands in zip(self.groups, intervals, held, strict=True):
            model.add_cumulative(each, demands, int(self.problem.cores[group].sum()))

    def _lasts(self, task: int, literals: list[IntVar]) -> Any:
        from ortools.sat.python.cp_model import LinearExpr

        if not literals:
            return int(self.seconds[task, 0])
        return LinearExpr.weighted_sum(literals, self.seconds[task].tolist())

    def rules(self) -> None:
        """A task starts behind its predecessors; of tasks that can change places, one is first."""
        assert self.after is not None
        model, start, on = self.model, self.start, self.on
        for task, successors in enumerate(self.after):
            self.look()
            ended = start[task] + self._lasts(task, on[task] if on else [])
            for each in successors:
                model.add(start[each] >= ended)
        self.pairs = self._exchangeable() if len(start) <= COMPARED else []
        for one, other in self.pairs:
            model.add(start[one] <= start[other])

    def _exchangeable(self) -> list[tuple[int, int]]:
        """Return pairs of equal tasks of which some shortest plan starts the first no later.

        The first has no task before it that the other hasn't, and all behind it that the other
        has. A plan that starts the other sooner stays one when both change places. The pairs are
        part of an order of all tasks, and of shortest plans one that starts what comes first in it
        soonest has all pairs right.
        """
        alike: dict[tuple[int, ...], list[int]] = {}
        cores = self.problem.dag.cores.tolist()
        for task, row in enumerate(self.seconds.tolist()):
            alike.setdefault((cores[task], *row), []).append(task)
        before, behind = self.ancestors, self.descendants
        found = []
        for tasks in alike.values():
            self.look()
            for one, other in combinations(tasks, 2):
                for a, b in ((one, other), (other, one)):
                    if not before[a] & ~before[b] and not behind[b] & ~behind[a]:
                        found.append((a, b))
                        break
        return found

    def hint(self) -> None:
        """Begin with the known plan, in which tasks change places until all pairs are right."""
        model, begin, group = self.model, self.begun.tolist(), self.group.tolist()
        wrong = True
        while wrong:
            wrong = False
            for a, b in self.pairs:
                if begin[a] > begin[b]:
                    begin[a], begin[b] = begin[b], begin[a]
                    group[a], group[b] = group[b], group[a]
                    wrong = True
        for task, variable in enumerate(self.start):
            model.add_hint(variable, begin[task])
        for place, literals in zip(group, self.on, strict=False):
            for index, literal in enumerate(literals):
                model.add_hint(literal, int(index == place))
        model.add_hint(self.end, self.horizon)

    def schedule(self, value: Callable[[Any], int]) -> Schedule:
        """Return the plan with these starts, each task on the machine that is free first."""
        starts = np.array([value(each) for each in self.start], dtype=np.int64)
        chosen = [[value(x) for x in row].index(1) for row in self.on] or [0] * len(starts)
        cores = self.problem.cores
        if self.problem.is_rigid:
            return in_order(self.problem, np.array(chosen), starts)  # each group is one machine
        free = [[(0, each) for each in group for _ in range(cores[each])] for group in self.groups]
        machine = np.empty(len(starts), dtype=np.int64)
        for task in np.lexsort((self.problem.dag.position, starts)).tolist():
            place = chosen[task]
            lasts = int(self.seconds[task, place])
            machine[task] = free[place][0][1]
            if lasts:
                heappop(free[place])
                heappush(free[place], (int(starts[task]) + lasts, int(machine[task])))
        return in_order(self.problem, machine, starts)
