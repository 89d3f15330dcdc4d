"""Moves and swaps of tasks between two machines, until none helps."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.needs import IN_ONE_PIECE, useful_machines
from makespan.independent.placing.greedy import first_plan, greedy, longest_first
from makespan.independent.placing.steps import log_exchange
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
                    log_exchange(problem, control, moved, pair, [*before, *load[pair]])
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
