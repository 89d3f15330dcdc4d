"""How many tasks are to be split under which limit, why that may be impossible, and by whom.

:func:`plan_for_target` is the frame of methods that search a table: target, search, explanation,
and a plan where the time is up.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.core.solution import Objective, Solution
from makespan.partition.answer import counts_of
from makespan.partition.plan import no_count, no_plan, out_of_reach, plan, sum_at
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import (
    GRACE,
    LARGEST,
    bits_of,
    least_feasible,
    quick_entries,
    value_of,
)
from makespan.partition.threshold.sums import Ends, Expired, Sums, sums_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """``tasks`` are to be split at costs up to ``cap`` (bits); or ``infeasible`` says why not.

    ``notes`` say how many tasks remain where not all can be split.
    """

    tasks: int
    cap: int = LARGEST
    infeasible: str | None = None
    notes: tuple[str, ...] = ()


def cap_of(problem: Partition) -> int:
    """Return the greatest cost that the deadline allows, in bits."""
    return LARGEST if problem.deadline is None else bits_of(problem.deadline)


def target_of(problem: Partition, sums: Sums, control: Control) -> Target:
    """Return what is to be split; with ``require="most"`` the greatest total that can be."""
    cap = cap_of(problem)
    ends = _ends(problem, sums, cap)
    if isinstance(ends, str):
        return Target(tasks=0, infeasible=ends)
    tasks = problem.tasks
    if ends.least > tasks:
        return Target(tasks=0, infeasible=explanation(problem, sums, control))
    if problem.require == "most":
        if ends.greatest <= tasks:
            tasks = ends.greatest
        elif not sums.reach(ends, tasks):
            tasks = ends.least + sums.most(ends, tasks - ends.least, from_top=False)
        few = f"{tasks} of {problem.tasks} tasks can be split at most"
        return Target(tasks=tasks, cap=cap, notes=(few,) if tasks < problem.tasks else ())
    if ends.greatest < tasks:
        return Target(tasks=tasks, infeasible=explanation(problem, sums, control))
    return Target(tasks=tasks, cap=cap)


def explanation(problem: Partition, sums: Sums, control: Control) -> str:
    """Say why all tasks can't be split, for a problem of which that was found."""
    try:
        return _explanation(problem, sums, control)
    except Expired:
        return f"no allowed counts add up to {problem.tasks}" + (
            "" if problem.deadline is None else f" by the deadline {problem.deadline!r}"
        )


def _explanation(problem: Partition, sums: Sums, control: Control) -> str:
    ends = _ends(problem, sums, cap_of(problem))
    if problem.deadline is not None:
        without = _ends(problem, sums, LARGEST)
        if not isinstance(without, str) and without.contain(problem.tasks):
            found = least_feasible(sums, problem.tasks, LARGEST, control)
            if found is not None:
                entries = sums.trace(found, problem.tasks)
                assert entries is not None
                least = value_of(int(problem.choices.bits[entries].max()))
                return f"the least makespan is {least!r}, above the deadline {problem.deadline!r}"
        ends = without
    if isinstance(ends, str):
        return ends
    return out_of_reach(problem, ends.least, ends.greatest) or _gap(problem, sums, ends)


def _ends(problem: Partition, sums: Sums, cap: int) -> Ends | str:
    """Return the ends at ``cap``, or which resource has no allowed count."""
    choices = problem.choices
    empty = choices.empty_rows
    if len(empty):
        return no_count(problem, int(empty[0]))
    ends = sums.ends(cap, None, None)
    if ends is not None:
        return ends
    cheapest = [
        float(choices.table.values[low:high].min())
        for low, high in zip(choices.low, choices.high, strict=True)
    ]
    row = next(row for row, cost in enumerate(cheapest) if bits_of(cost) > cap)
    name, least = problem.machines[row], cheapest[row]
    return f"{name!r} takes at least {least!r}, above the deadline {problem.deadline!r}"


def _gap(problem: Partition, sums: Sums, ends: Ends) -> str:
    """Say which totals near the tasks can be reached, and the granularity if that is why."""
    tasks = problem.tasks
    below = ends.least + sums.most(ends, tasks - ends.least, from_top=False)
    above = ends.greatest - sums.most(ends, ends.greatest - tasks, from_top=True)
    nearest = f"the nearest totals that can be reached are {below} and {above}"
    divisor = _granularity(problem)
    if divisor > 1 and (tasks - ends.least) % divisor:
        rest = ends.least % divisor
        multiples = f"multiples of {divisor}" + (f" plus {rest}" if rest else "")
        return f"the allowed counts add up only to {multiples}, which {tasks} is not; {nearest}"
    return f"no allowed counts add up to {tasks}; {nearest}"


def _granularity(problem: Partition) -> int:
    """Return the greatest common divisor of the differences of allowed counts."""
    choices = problem.choices
    divisor = 0
    for row in range(len(choices)):
        counts = choices.table.counts_at(choices.allowed(row, LARGEST), row)
        divisor = math.gcd(divisor, int(np.gcd.reduce(np.diff(counts))))
        if divisor == 1:
            break
    return divisor


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
    return replace(found, details={**found.details, "front": [point], "unknown": [[0.0, slowest]]})


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
