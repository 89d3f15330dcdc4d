"""The programme of assignments: solved in whole numbers, or in shares that are rounded."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.assignment import (
    assigned,
    assignments,
    below,
    first_machines,
    left_after,
    relaxed,
)
from makespan.independent.bounds import best_bound
from makespan.independent.needs import NO_LIMITS, NO_PREEMPTION, NO_RELEASES, PROGRAMMES, UNLIKE
from makespan.independent.problem import IndependentTasks

ENOUGH = 0.9  # the share of a step between two makespans that the search may leave open


@register(
    needs=(UNLIKE, NO_PREEMPTION),
    reach=(PROGRAMMES,),
    proves="a bound of HiGHS, rounded outward and up to the grain of the durations",
    complexity="exponential",
    source="HiGHS on the assignment model of R || C_max, as in Lenstra, Shmoys and Tardos 1990",
)
def milp(problem: IndependentTasks, control: Control) -> Solution:
    """Search all assignments that a shorter plan may hold with HiGHS, from the best plan so far.

    Which it may hold says the Lagrangean bound: one that with a task there would be longer is left
    out, but for those of the best plan.
    """
    machines, table = first_machines(problem, control), problem.table
    start = None if machines is None else assigned(problem, machines)
    release = problem.release
    lower = best_bound(problem)
    longest = float(np.where(np.isfinite(table), table, 0.0).max(axis=1).sum())
    longest = longest if start is None else start.makespan
    if control.expired() or lower >= longest:
        return Solution(schedule=start, lower_bound=lower, stopped=start is None)
    shorter = below(problem, longest)
    relaxation = relaxed(table, longest, control)
    lower = max(lower, relaxation.bound)
    if control.expired() or lower > shorter:
        return Solution(schedule=start, lower_bound=lower, stopped=start is None)
    kept = relaxation.within(longest if start is None else shorter)
    if machines is not None:
        kept[np.arange(len(machines)), machines] = True
    if release is not None:
        table = np.where(release[:, None] + table <= longest, table, np.inf)
        release = release / longest
    table = np.where(kept, table / longest, np.inf)
    programme, task, machine = assignments(
        table, 1.0, integer=True, release=release, limited=problem if problem.limited else None
    )
    known = None
    if machines is not None:
        known = np.append(machine == machines[task], 1.0).astype(np.float64)
    if release is not None and machines is not None and known is not None:
        known = np.append(known, left_after(problem, machines) / longest)
    answer = programme.solve(control, start=known, gap=ENOUGH * (1 - shorter / longest))
    lower = max(lower, answer.bound * longest)
    if not answer.found:
        return Solution(schedule=start, lower_bound=lower, stopped=True)
    taken = answer.values[: len(task)] > 0.5
    machines = np.zeros(len(table), dtype=np.int64)
    machines[task[taken]] = machine[taken]
    plan = assigned(problem, machines)
    return Solution(
        schedule=plan if start is None or plan.makespan < longest else start,
        lower_bound=lower,
        stopped=answer.verdict == "feasible",
    )


CLOSE = 0.01
WHOLE = 1e-7


@register(
    needs=(UNLIKE, NO_PREEMPTION, NO_RELEASES, NO_LIMITS),
    reach=(PROGRAMMES,),
    complexity="a linear programme of n m variables for each of a few deadlines",
    source="Lenstra, Shmoys and Tardos 1990: at most twice the optimum, and 1 % of it",
)
def lenstra_shmoys_tardos(problem: IndependentTasks, control: Control) -> Solution:
    """Bisect for the least deadline that shares of tasks can keep, no task longer; then round.

    A vertex of the programme cuts at most as many tasks as there are machines, and each machine
    can take one of those that it has a share of.
    """
    machines = first_machines(problem, control)
    assert machines is not None, "there are no limits"
    start = assigned(problem, machines)
    lower, upper = best_bound(problem), start.makespan
    if lower >= upper:
        return Solution(schedule=start, lower_bound=lower)
    table, best, longest = problem.table / upper, None, upper
    lower, upper = lower / longest, 1.0
    while upper - lower > CLOSE and not control.expired():
        deadline = (lower + upper) / 2 if best is not None else 1.0
        programme, task, machine = assignments(table, deadline, integer=False)
        answer = programme.solve(control)
        if not answer.found:
            break
        if answer.bound > deadline:
            lower = deadline
        else:
            upper = deadline
            best = _rounded(table.shape, task, machine, answer.values[:-1])
            lower = max(lower, answer.bound) if deadline == 1.0 else lower
    if best is None:
        return Solution(schedule=start, lower_bound=lower * longest)
    plan = assigned(problem, best)
    return Solution(
        schedule=plan if plan.makespan < start.makespan else start, lower_bound=lower * longest
    )


def _rounded(shape: tuple[int, ...], task: Integers, machine: Integers, share: Floats) -> Integers:
    """Return the machine of each task: of those that are cut, one goes to each machine."""
    shares = np.zeros(shape)
    shares[task, machine] = share
    chosen: Integers = shares.argmax(axis=1)
    cut = np.flatnonzero(shares.max(axis=1) < 1 - WHOLE)
    taken: dict[int, int] = {}

    def finds(one: int, seen: set[int]) -> bool:
        """Whether ``one`` gets a machine, others moving on (an augmenting path)."""
        for place in np.flatnonzero(shares[one] > WHOLE).tolist():
            if place not in seen:
                seen.add(place)
                if place not in taken or finds(taken[place], seen):
                    taken[place] = one
                    return True
        return False

    for one in cut.tolist():
        finds(one, set())
    for place, one in taken.items():
        chosen[one] = place
    return chosen
