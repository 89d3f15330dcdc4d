"""The optimum without preemption, by constraint programming."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan import balance
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import CP_SAT, Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.limits import tightened
from makespan.independent.list_scheduling import first_plan_if_any
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from makespan.backends.cp_sat import Scaling

MAX_VARIABLES = 100_000


def _too_many(problem: IndependentTasks) -> str | None:
    few = problem.durations[: 2 * MAX_VARIABLES]  # often enough to see that there are too many
    distinct = len(np.unique(few))
    if distinct * problem.useful_machines <= MAX_VARIABLES and len(few) < len(problem.durations):
        distinct = len(np.unique(problem.durations))
    if distinct * problem.useful_machines <= MAX_VARIABLES:
        return None
    return f"there are {distinct} distinct durations and {problem.useful_machines} machines"


def _without_a_unit(problem: IndependentTasks) -> str | None:
    if problem.sizes is None:
        return None
    from makespan.backends.cp_sat import scaling_of

    return None if scaling_of(problem.sizes).exact else "they have none"


@register(
    needs=(
        CP_SAT,
        IDENTICAL,
        NO_PREEMPTION,
        Need("sizes that are multiples of a unit", _without_a_unit),
        Need(f"at most {MAX_VARIABLES} pairs of a distinct duration and a machine", _too_many),
    ),
    proves="CP-SAT's complete search, where the durations are whole multiples of a unit",
    complexity="exponential",
    source="OR-tools CP-SAT on the assignment model, tasks of equal duration counted together; "
    "Dell'Amico and Martello 1995 for the bounds it starts from",
)
def exact(problem: IndependentTasks, control: Control) -> Solution:
    """Search all assignments with CP-SAT, from the plan of LPT or a better one."""
    start, bound = first_plan_if_any(problem, control), best_bound(problem)
    end = math.inf if start is None else start.makespan
    if control.expired() or end <= bound:
        return Solution(schedule=start, lower_bound=bound)
    from makespan.backends.cp_sat import scaling_of, search

    release = problem.release
    scaling = scaling_of(
        problem.durations if release is None else np.append(problem.durations, release)
    )
    counted = _counted(problem, scaling)
    hint = None if start is None else counted.counts_in(start)
    lower = counted.lower_bound()
    upper = int(counted.units @ counted.size) if hint is None else counted.end(hint)
    best, proved, stopped = start, hint is not None and lower >= upper, False
    if not proved:
        model, counts = _model(counted, hint, (lower, upper), problem, control)
        if control.expired():
            return Solution(schedule=start, lower_bound=_seconds(scaling, lower, problem))
        found = search(model, control, in_seconds=scaling.seconds)
        stopped = found.stopped
        if start is None and found.outcome == "infeasible":
            return Solution(schedule=None, infeasible="no plan keeps the limits on sizes")
        if found.bound is not None:
            lower = max(lower, found.bound)
        if found.solved:
            value = np.array([[found.value(count) for count in row] for row in counts])
            proved = min(counted.end(value), upper) <= lower
            plan = counted.plan(problem, value)
            best = plan if plan.makespan < end else start
    bound = _seconds(scaling, lower, problem)
    if scaling.exact:
        return Solution(schedule=best, lower_bound=bound, optimal=proved, stopped=stopped)
    error = _error(problem)
    return Solution(
        schedule=best,
        lower_bound=bound,
        stopped=stopped,
        notes=(
            f"the durations have no common unit: they were rounded up to multiples of "
            f"{scaling.unit:.3g} s; the lower bound allows for {scaling.seconds(error):.3g} s",
        ),
    )


def _error(problem: IndependentTasks) -> int:
    """Return by how many units a plan gets longer, where durations and a release are rounded up."""
    return len(problem.durations) + (problem.release is not None)


def _seconds(scaling: Scaling, lower: int, problem: IndependentTasks) -> float:
    """Return a bound in units as one in seconds."""
    if not scaling.exact:
        lower = max(0, lower - _error(problem))
    return scaling.bound(lower)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """The tasks in integer units, equal ones counted together; those released last come first, of
    these the longest.

    ``group`` is the group of each of the ``tasks``; ``units``, ``release``, ``volume`` and ``size``
    are a group's duration, its release, the size of a task, and its number of tasks. ``capacity``
    is what the sizes on each machine may add up to, None without a limit.
    """

    tasks: Integers
    group: Integers
    units: Integers
    release: Integers
    volume: Integers
    size: Integers
    machines: int
    capacity: list[int | None]
    counts: Any
    alike: bool

    def counts_in(self, schedule: Schedule) -> Integers:
        """Return how many tasks of each group (row) each machine in use (column) runs."""
        group_of = np.zeros(int(self.tasks.max(initial=-1)) + 1, dtype=np.int64)
        group_of[self.tasks] = self.group
        used = schedule.machine
        if self.alike:
            used = np.unique(used, return_inverse=True)[1]
        counts = np.zeros((len(self.units), self.machines), dtype=np.int64)
        np.add.at(counts, (group_of[schedule.item], used), 1)
        return counts

    def end(self, counts: Integers) -> int:
        """Return when the last machine ends that runs so many tasks of each group, in units."""
        left = np.cumsum(counts * self.units[:, None], axis=0)
        return int(np.where(counts > 0, self.release[:, None] + left, 0).max(initial=0))

    def lower_bound(self) -> int:
        """Return the best bound, in units."""
        durations = np.repeat(self.units, self.size).astype(np.float64)
        release = np.repeat(self.release, self.size).astype(np.float64)
        machines = max(1, self.machines)
        whole = IndependentTasks(machines, durations, release=release, counts=self.counts)
        return math.ceil(best_bound(whole))

    def plan(self, problem: IndependentTasks, counts: Integers) -> Schedule:
        """Return the schedule in which each machine runs so many tasks of each group."""
        order = np.argsort(self.group, kind="stable")
        machine = np.concatenate([np.repeat(np.arange(self.machines), row) for row in counts])
        tasks = self.tasks[order]
        if problem.release is not None:
            tasks, machine = tasks[::-1], machine[::-1]
        return scheduled(problem, tasks, problem.durations[tasks], machine)


def _counted(problem: IndependentTasks, scaling: Scaling) -> _Counted:
    late = np.zeros(len(problem.durations)) if problem.release is None else problem.release
    tasks = np.flatnonzero((problem.durations > 0) | (late > 0) | problem.limited)
    volume, capacity = _volumes(problem)
    columns = [scaling.up(late[tasks]), scaling.up(problem.durations[tasks]), volume[tasks]]
    descending, group, size = np.unique(
        -np.stack(columns), axis=1, return_inverse=True, return_counts=True
    )
    return _Counted(
        tasks=tasks,
        group=group.ravel(),
        units=-descending[1],
        release=-descending[0],
        volume=-descending[2],
        size=size,
        machines=problem.useful_machines
        if problem.limited
        else min(problem.machine_count, len(tasks)),
        capacity=capacity,
        counts=problem.counts,
        alike=problem.alike_limits,
    )


def _volumes(problem: IndependentTasks) -> tuple[Integers, list[int | None]]:
    """Return the sizes of the tasks in units, and what each machine has room for."""
    if problem.sizes is None or problem.capacity is None:
        return np.zeros(len(problem.durations), dtype=np.int64), [None] * problem.useful_machines
    from makespan.backends.cp_sat import scaling_of

    scaling = scaling_of(problem.sizes)
    unit = Fraction(scaling.numerator, scaling.denominator)
    return scaling.up(problem.sizes), [
        None if math.isinf(each) else math.floor(Fraction(each * (1 + balance.ROUNDING)) / unit)
        for each in problem.capacity[: problem.useful_machines].tolist()
    ]


def _model(
    counted: _Counted,
    hint: Integers | None,
    within: tuple[int, int],
    problem: IndependentTasks,
    control: Control,
) -> tuple[CpModel, list[list[Any]]]:
    """Return the model and its variables: how many tasks of each group each machine runs.

    Where the time is up, it is not complete.

    That machines are interchangeable CP-SAT finds by itself; constraints that break the symmetry
    made it slower.
    """
    from makespan.backends.cp_sat import library

    cp_model = library()
    model, linear, upper = cp_model.CpModel(), cp_model.LinearExpr, within[1]
    end = model.new_int_var(*within, "makespan")
    machines = range(counted.machines)
    counts = []
    for group, (units, size) in enumerate(
        zip(counted.units.tolist(), counted.size.tolist(), strict=True)
    ):
        most = min(size, upper // max(1, units))
        row = [model.new_int_var(0, most, f"{group}_{machine}") for machine in machines]
        model.add(linear.sum(row) == size)
        for machine, known in enumerate(() if hint is None else hint[group].tolist()):
            model.add_hint(row[machine], known)
        counts.append(row)
        if control.expired():
            return model, counts
    _limit(model, counted, counts, problem)
    weights, release = counted.units.tolist(), counted.release
    last = np.flatnonzero(np.diff(release, append=-1)).tolist()  # groups of each release
    for machine in machines:
        left: list[Any] = []  # what is to do after a release
        first = 0
        for group in last:
            terms = [row[machine] for row in counts[first : group + 1]]
            total = linear.weighted_sum(terms, weights[first : group + 1]) + sum(left)
            if group == last[-1] and not release[group]:
                model.add(total <= end)
                break
            left = [model.new_int_var(0, upper, "")]
            model.add(total <= left[0])
            model.add(left[0] + int(release[group]) <= end)
            first = group + 1
    model.add_hint(end, upper)
    model.minimize(end)
    return model, counts


def _limit(
    model: CpModel, counted: _Counted, counts: list[list[Any]], problem: IndependentTasks
) -> None:
    """Keep the number of tasks on each machine, and their sizes, within its limits."""
    if problem.counts is not None:
        for machine, (least, most) in enumerate(zip(*tightened(problem), strict=True)):
            model.add_linear_constraint(sum(row[machine] for row in counts), least, most)
    for machine, room in enumerate(counted.capacity if problem.sizes is not None else ()):
        if room is not None:
            terms = zip(counts, counted.volume.tolist(), strict=True)
            model.add(sum(row[machine] * volume for row, volume in terms) <= room)
