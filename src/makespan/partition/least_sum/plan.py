"""The frame of methods that search a table: target, search, explanation, a plan that is late."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.core.solution import Objective, Solution
from makespan.partition.answer import counts_of
from makespan.partition.plan import no_plan, plan, sum_at
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import GRACE, quick_entries, value_of
from makespan.partition.threshold.sums import Expired, Sums, sums_of
from makespan.partition.threshold.target import Target, cap_of, explanation, target_of

LATE_PLAN = "the time limit was reached: this is the best plan found so far"

Search = Callable[[Sums, Target], Solution | None]
"""From the sums of the table and the target to a solution; None where there is no plan."""


def plan_for_target(problem: Partition, control: Control, search: Search) -> Solution:
    """Return what ``search`` finds, why there is no plan, or some plan where the time is up."""
    sums = sums_of(problem.choices, control=control)
    target: Target | None = None
    try:
        target = target_of(problem, sums, control)
        found = None if target.infeasible is not None else search(sums, target)
    except Expired as expired:
        return late_plan(problem, target, expired)
    if found is None:
        return no_plan(target.infeasible or explanation(problem, sums, control))
    return found


def late_plan(problem: Partition, target: Target | None, expired: Expired) -> Solution:
    """Return the best plan known when the time was up, or another that is found quickly."""
    bound = value_of(expired.bound) if problem.objective == "makespan" else None
    entries = None
    if target is not None and expired.feasible is not None and problem.objective == "makespan":
        with suppress(Expired, TooLarge):
            sums = sums_of(problem.choices, control=Control(time_limit=GRACE))
            entries = sums.trace(expired.feasible, target.tasks)
    return quick_plan(problem, target, entries, (LATE_PLAN,), bound)


def quick_plan(
    problem: Partition,
    target: Target | None,
    entries: Integers | None,
    notes: tuple[str, ...],
    bound: float | None = None,
) -> Solution:
    """Return the plan with these ``entries``, or one that is found quickly; nothing is proved.

    Without an ``target``, and where ``require`` is "most", as many tasks are split as the greatest
    counts allow, or none: that fewer are the most was not proved.
    """
    if entries is None and not len(problem.choices.empty_rows):
        tasks = _tasks_split(problem) if target is None else target.tasks
        entries = quick_entries(problem.choices, tasks, cap_of(problem))
    if entries is None:
        return Solution(schedule=None, lower_bound=bound)
    remarks = () if target is None else target.notes
    found = plan(
        problem,
        entries,
        optimal=False,
        notes=(*remarks, *notes),
        lower_bound=bound,
        objective=objective_of(problem, entries),
    )
    return _one_point(problem, found) if problem.objective == "pareto" else found


def _one_point(problem: Partition, found: Solution) -> Solution:
    """Return a plan of which nothing is known as a front of one point."""
    if found.schedule is None or found.objective is None:
        return found
    counts = dict(zip(problem.machines, counts_of(problem, found.schedule).tolist(), strict=True))
    point = {"time": found.makespan, "energy": found.objective.value, "counts": counts}
    bits = problem.choices.bits
    slowest = value_of(int(bits[bits <= cap_of(problem)].max()))
    details = {**found.details, "front": [point], "unknown": [[0.0, slowest]]}
    return replace(found, details=details)


def _tasks_split(problem: Partition) -> int:
    if problem.require == "all":
        return problem.tasks
    ends = sums_of(problem.choices).ends(cap_of(problem), None, None)
    return problem.tasks if ends is None else min(problem.tasks, ends.greatest)


def objective_of(problem: Partition, entries: Integers) -> Objective | None:
    """Return the value of the sum that is wanted; of a front that is not complete, the energy.

    (A plan on the front would be called optimal for its makespan.)
    """
    if problem.objective == "makespan":
        return None
    table = problem.choices.table
    if problem.objective == "total":
        return Objective(name="total", value=sum_at(table.values, entries))
    assert table.energies is not None
    return Objective(name="energy", value=sum_at(table.energies, entries))
