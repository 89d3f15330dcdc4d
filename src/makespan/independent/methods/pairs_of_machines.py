"""Two machines at a time: tasks change places, or all are shared out evenly."""

from collections.abc import Sequence

import numpy as np

from makespan import balance
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.independent.bounds import best_bound
from makespan.independent.limits import NoPlace, room_of, tightened
from makespan.independent.list_scheduling import by_longest, first_plan, groups_of, of_groups
from makespan.independent.needs import IN_ONE_PIECE, NO_LIMITS, useful_machines
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

MAX_MACHINES = 10_000


@register(
    needs=IN_ONE_PIECE,
    reach=(useful_machines(MAX_MACHINES),),
    complexity="O(m + k log k) for each improvement, k tasks a machine",
    source="Finn and Horowitz 1979 (0/1-interchange), França et al. 1994 (with swaps), Thompson "
    "and Psaraftis 1993 (around three machines); the plain form of makespan.balance",
)
def interchange(problem: IndependentTasks, control: Control) -> Solution:
    """From LPT and from a better plan: the exchange that best evens two machines, again, again.

    One of them is the longest, the other that which ends first of those where anything helps. Two
    tasks change places with two where one with one doesn't help, and then around three machines.
    """
    try:
        starts = [by_longest(problem)]
        best = first_plan(problem, control)
    except NoPlace:
        return Solution(schedule=None, stopped=True)
    bound = best_bound(problem)
    if not np.array_equal(best.machine, starts[0].machine):
        starts.append(best)
    for start in starts:
        if control.expired() or best.makespan <= bound:
            break
        plan = _evened(problem, start, bound, control)
        best = min(best, plan, key=lambda schedule: schedule.makespan)
    return Solution(schedule=best)


def _evened(problem: IndependentTasks, start: Schedule, bound: float, control: Control) -> Schedule:
    groups, fits = groups_of(problem, start), room_of(problem)
    if fits is not None:
        for group, tasks in enumerate(groups):
            fits.change(group, (), tasks)

    def note(moves: Sequence[balance.Move], before: Sequence[float], now: Sequence[float]) -> None:
        tasks, machines = problem.tasks, problem.machines
        moved = [(tasks[task], machines[one], machines[other]) for task, one, other in moves]
        places = dict.fromkeys(place for _, *both in moves for place in both)
        loads = [f"{machines[at]} {number(before[at])} to {number(now[at])}" for at in places]
        control.step(
            Step(
                text=f"{', '.join(f'{task} from {one} to {other}' for task, one, other in moved)}: "
                + ", ".join(loads),
                cells={"tasks": " ".join(task for task, *_ in moved), "loads": ", ".join(loads)},
                items={"chosen": tuple(task for task, *_ in moves)},
            )
        )

    noting = note if control.log_steps else None
    seconds, limits = problem.durations.tolist(), tightened(problem)
    found = balance.even_out(seconds, groups, limits, bound, fits, control.expired, noting)
    return of_groups(problem, found)


HALF = 12  # of so many tasks all subsets are listed; twice as many are shared out anew
MOST_SHARED_OUT = 1_000
FRUITLESS = 3  # times that the longest machine is tried with every other before the search ends
GAIN, CLOSE = 0.01, 1e-9
"""The share of what the longest machine has to lose that is worth a change, and that is not."""


@register(
    needs=(*IN_ONE_PIECE, NO_LIMITS),
    reach=(useful_machines(MOST_SHARED_OUT),),
    proves="a bound is met to within 1e-9",
    complexity="O(2^(k/2)) for a pair of machines with k tasks, k up to 24",
    source="Haouari, Gharbi and Jemmali 2006 (problems of two machines, one after another); the "
    "subset sums by Horowitz and Sahni 1974",
)
def subset_sum(problem: IndependentTasks, control: Control) -> Solution:
    """Share the tasks of the longest machine and another out as evenly as can be, again, again.

    Another is the shortest that helps; of many tasks, all but 24 stay where they are.
    """
    best = first_plan(problem, control)
    bound = best_bound(problem)
    enough = bound * (1 + CLOSE)
    if not control.expired() and best.makespan > enough:
        plan = _shared_out(problem, best, enough, control)
        best = min(best, plan, key=lambda schedule: schedule.makespan)
    return Solution(schedule=best, lower_bound=bound, optimal=best.makespan <= enough)


def _shared_out(
    problem: IndependentTasks, start: Schedule, enough: float, control: Control
) -> Schedule:
    machine, count = np.unique(start.machine, return_inverse=True)[1], problem.useful_machines
    seconds = problem.durations[start.item]
    load = np.bincount(machine, weights=seconds, minlength=count)
    fruitless = 0
    while fruitless < FRUITLESS:
        longest = int(load.argmax())
        least_gain = GAIN * (load[longest] - enough)
        fruitless += 1
        for other in np.argsort(load, kind="stable")[:-1].tolist():
            if load[longest] <= enough or control.expired():
                return scheduled(problem, start.item, seconds, machine)
            rows = np.flatnonzero((machine == longest) | (machine == other))
            free = control.rng.permutation(rows)[: 2 * HALF]
            stay = np.setdiff1d(rows[machine[rows] == longest], free)
            half = float(seconds[rows].sum()) / 2 - float(seconds[stay].sum())
            takes = np.concatenate([stay, free[_nearest(seconds[free], half)]])
            loads = float(seconds[takes].sum()), float(seconds[np.setdiff1d(rows, takes)].sum())
            if max(loads) <= load[longest] - least_gain:
                machine[rows] = other
                machine[takes] = longest
                load[longest], load[other] = loads
                fruitless = 0
                break
    return scheduled(problem, start.item, seconds, machine)


def _nearest(seconds: Floats, target: float) -> Integers:
    """Return the places of a subset whose sum is nearest to ``target``."""
    middle = len(seconds) // 2
    left, right = _sums(seconds[:middle]), _sums(seconds[middle:])
    order = np.argsort(left, kind="stable")
    above = np.searchsorted(left[order], target - right)
    near = np.stack([np.maximum(above - 1, 0), np.minimum(above, len(left) - 1)])
    off = np.abs(left[order][near] + right - target)
    side, of_right = np.unravel_index(int(off.argmin()), off.shape)
    chosen = int(order[near[side, of_right]]) | int(of_right) << middle
    return np.array([at for at in range(len(seconds)) if chosen >> at & 1], dtype=np.int64)


def _sums(seconds: Floats) -> Floats:
    """Return the sums of all subsets, numbered by their bits."""
    sums = np.zeros(1)
    for each in seconds.tolist():
        sums = np.concatenate([sums, sums + each])
    return sums
