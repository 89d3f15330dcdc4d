"""The optimum of tiny graphs by trying what starts next, again and again."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import at_most, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph import needs
from makespan.taskgraph.bounds import bounds, least_durations
from makespan.taskgraph.levels import by_level, levels
from makespan.taskgraph.limits import latest_ends, missed
from makespan.taskgraph.list_scheduling import AppendSchedule, Placement
from makespan.taskgraph.list_scheduling.assigned import planned
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.model.dag import rows_of
from makespan.taskgraph.problem import TaskGraph

MAX_TASKS = 12
MAX_TRIES = 5_000  # tries of a task on a machine: less than building a model takes


@register(
    needs=(
        needs.NO_GIVEN_PLAN,
        needs.LEAST_MAKESPAN,
        needs.NO_BUDGET,
        needs.OVERLAP,
        needs.NO_CONTENTION,
        needs.NO_DUPLICATION,
        at_most(MAX_TASKS, "tasks", lambda problem: len(problem.dag)),
    ),
    proves="some shortest plan is made by placing its tasks in the order of their starts, each as "
    "early as possible; what is cut off is no shorter than the best",
    complexity="O(n! mⁿ), cut off after some thousand tries",
    source="definition: semi-active plans in the order of their starts, bounded by longest paths",
)
def branch_and_bound(problem: TaskGraph, control: Control, *, tries: int = MAX_TRIES) -> Solution:
    """Of the ready tasks on all machines, try each that can start next, from the best plan known.

    Of machines that are alike and idle only the first is tried. A branch ends where the longest
    path of what is left, from its start on, is no shorter than the best plan. After so many
    ``tries`` of a task on a machine the search gives up.
    """
    start = control.known_or(lambda: heft(problem, control))
    least = max(bound.value for bound in bounds(problem))
    in_time = missed(problem, start) is None
    if in_time and start.makespan <= least:
        return Solution(schedule=start, lower_bound=least)
    search = _Search(problem, control, start if in_time else None, tries)
    search.extend()
    if search.best is None and search.left > 0:
        return Solution(schedule=None, infeasible="no plan meets the deadlines: all were tried")
    return Solution(schedule=search.best, optimal=search.left > 0, stopped=search.left <= 0)


class _Search:
    """The plan that grows and shrinks by one task, and the best plan found."""

    def __init__(
        self, problem: TaskGraph, control: Control, start: Schedule | None, tries: int
    ) -> None:
        dag, least = problem.dag, least_durations(problem)
        self.best, self.left = start, tries
        self._problem, self._expired = problem, control.expired
        self._makespan = np.inf if start is None else start.makespan
        self._due: list[float] = latest_ends(problem).tolist()
        self._partial, self._machines = AppendSchedule(problem), range(len(problem.network))
        self._before = {  # of the machines alike
            later: earlier for group in problem.alike for earlier, later in pairwise([-1, *group])
        }
        level = levels(dag, least, np.zeros(len(dag.source)))
        self._level, self._behind = level.tolist(), (level - least).tolist()
        self._order = by_level(dag, level).tolist()
        self._sources = rows_of(dag.first_in, dag.predecessors)

    def extend(self, since: float = 0.0, after: int = -1) -> None:
        """Place what starts next in every way that may be shorter than the best plan.

        It starts after ``since``, or just then, behind the place ``after`` in the order by levels.
        """
        partial = self._partial
        left = [task for task in self._order if partial.machine[task] < 0]
        if not left:
            self.best = planned(self._problem, partial.machine, partial.start, partial.end)
            self._makespan = self.best.makespan
        for start, place, end, machine in sorted(self._options(since, after)):
            task = self._order[place]
            longest = next((self._level[each] for each in left if each != task), 0.0)
            if max(end + self._behind[task], start + longest) >= self._makespan:
                continue
            if end > self._due[task]:
                continue
            if self.left <= 0 or self._expired():
                self.left = 0
                return
            free = partial.occupy(task, Placement(machine, start, start, end, 0.0))
            self.extend(start, place)
            partial.machine[task], partial.cores[machine] = -1, free

    def _options(self, since: float, after: int) -> Iterator[tuple[float, int, float, int]]:
        """Yield start, place in the order, end and machine of what can start next.

        Of machines that are alike and idle there is only the first.
        """
        partial, used = self._partial, {-1, *self._partial.machine}
        machines = [each for each in self._machines if self._before[each] in used]
        for place, task in enumerate(self._order):
            if partial.machine[task] < 0 and all(
                partial.machine[s] >= 0 for s in self._sources[task]
            ):
                for machine in machines:
                    self.left -= 1
                    option = partial.try_on(task, machine)
                    if (option.start, place) > (since, after):
                        yield option.start, place, option.end, machine
