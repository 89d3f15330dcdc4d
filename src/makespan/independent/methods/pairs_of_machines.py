"""Two machines at a time: tasks change places, or all are shared out evenly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.independent.bounds import best_bound
from makespan.independent.list_scheduling import first_plan, greedy, longest_first
from makespan.independent.needs import IN_ONE_PIECE, useful_machines
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

MAX_MACHINES = 10_000
ROUNDING = 1e-13
"""The share of a load that a swap has to gain, so that it is never one and then its reverse."""


@register(
    "independent",
    name="interchange",
    needs=IN_ONE_PIECE,
    reach=(useful_machines(MAX_MACHINES),),
    complexity="O(m log m + k m log k) for each improvement, k tasks a machine",
    source="Finn and Horowitz 1979 (0/1-interchange), França et al. 1994 (with swaps)",
)
def interchange(problem: IndependentTasks, control: Control) -> Solution:
    """From LPT and from a better plan: the move or swap that best evens two machines, again, again.

    One of them is the longest, the other that which ends first of those where anything helps.
    """
    best = first_plan(problem, control)
    bound = best_bound(problem)
    for start in (greedy(problem, *longest_first(problem)), best):
        if control.expired() or best.makespan <= bound:
            break
        plan = _evened(problem, start, bound, control)
        best = min(best, plan, key=lambda schedule: schedule.makespan)
    return Solution(schedule=best)


def _evened(problem: IndependentTasks, start: Schedule, bound: float, control: Control) -> Schedule:
    tasks, machine = start.item, np.unique(start.machine, return_inverse=True)[1]
    seconds = problem.durations[tasks]
    count = problem.useful_machines
    load: Floats = np.bincount(machine, weights=seconds, minlength=count).astype(np.float64)
    of = np.argsort(machine, kind="stable")
    rows = np.split(of, np.searchsorted(machine[of], np.arange(1, count)))
    while not control.expired():
        longest = int(load.argmax())
        if load[longest] <= bound:
            break
        for other in np.argsort(load, kind="stable").tolist():
            swap = _best_swap(seconds[rows[longest]], seconds[rows[other]], load[[longest, other]])
            if swap is not None:
                pair, before = [longest, other], load[[longest, other]]
                given, taken = rows[longest][swap[0]], rows[other][swap[1] :][:1]
                _exchange(rows, longest, other, swap)
                for changed in pair:
                    load[changed] = seconds[rows[changed]].sum()
                if control.log_steps:
                    moved = [int(tasks[given]), *tasks[taken if swap[1] >= 0 else []].tolist()]
                    _log_exchange(problem, control, moved, pair, [*before, *load[pair]])
                break
        else:
            break
    of = np.concatenate(rows)
    machine = np.repeat(np.arange(count), [len(each) for each in rows])
    return scheduled(problem, tasks[of], seconds[of], machine)


def _best_swap(take: Floats, give: Floats, load: Floats) -> tuple[int, int] | None:
    """Return the places of two tasks, in ``take`` and ``give``, whose swap best evens the machines.

    The second is -1 where the first is only moved. None where nothing helps by more than rounding.
    """
    half = (load[0] - load[1]) / 2
    give = np.append(give, 0.0)
    order = np.argsort(give, kind="stable")
    near = np.searchsorted(give[order], take - half)
    best, least = None, half - ROUNDING * load[0]
    for place in (np.maximum(near - 1, 0), np.minimum(near, len(give) - 1)):
        off = np.abs(take - give[order[place]] - half)
        index = int(off.argmin())
        if off[index] < least:
            least, partner = float(off[index]), int(order[place[index]])
            best = (index, partner if partner < len(give) - 1 else -1)
    return best


def _exchange(rows: list[Integers], longest: int, other: int, swap: tuple[int, int]) -> None:
    given, taken = swap
    gone, back = rows[longest][given], rows[other][taken:][:1] if taken >= 0 else rows[other][:0]
    kept = np.delete(rows[other], taken) if taken >= 0 else rows[other]
    rows[longest] = np.append(np.delete(rows[longest], given), back)
    rows[other] = np.append(kept, gone)


def _log_exchange(
    problem: IndependentTasks,
    control: Control,
    tasks: Sequence[int],
    pair: Sequence[int],
    loads: Sequence[float],
) -> None:
    """Log a move of a task, or a swap of two, on a pair of machines.

    Parameters
    ----------
    loads
        Of the machine that the first task leaves, of the other, and of both afterwards.
    """
    one, other = (problem.machines[each] for each in pair)
    given, back = [*(problem.tasks[each] for each in tasks), ""][:2]
    was, had, now, has = map(float, loads)
    control.step(
        Step(
            text=f"{given} from {one} to {other}{f', {back} back' if back else ''}: "
            f"{one} {number(was)} to {number(now)}, {other} {number(had)} to {number(has)}",
            cells={
                "task": given, "from": one, "to": other, "back": back,
                "load": was, "now": now, "its load": had, "then": has,
            },
            items={"chosen": tuple(tasks)},
        )
    )  # fmt: skip


HALF = 12
"""Of so many tasks all subsets are listed; twice as many are shared out anew."""
MOST_SHARED_OUT = 1_000
FRUITLESS = 3
"""Times that the longest machine is tried with every other before the search ends."""
GAIN, CLOSE = 0.01, 1e-9
"""The share of what the longest machine has to lose that is worth a change, and that is not."""


@register(
    "independent",
    name="subset-sum",
    needs=IN_ONE_PIECE,
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
