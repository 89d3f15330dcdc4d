"""How many tasks are to be split under which limit, and why that may be impossible."""

import math
from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.partition.plan import no_count, out_of_reach
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import LARGEST, bits_of, least_feasible, value_of
from makespan.partition.threshold.sums import Ends, Expired, Sums


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
