"""Branch and bound on machines that differ, by the regrets of a Lagrangean bound."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.jit import loop
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.assignment import assigned, first_machines, relaxed
from makespan.independent.bounds import best_bound
from makespan.independent.needs import NO_LIMITS, NO_PREEMPTION, NO_RELEASES, UNLIKE, few_pairs
from makespan.independent.problem import IndependentTasks

EACH, MOST = 20_000, 2_000_000  # steps between two looks at the clock, and of the whole search


@register(
    needs=(UNLIKE, NO_PREEMPTION, NO_RELEASES, NO_LIMITS),
    reach=(few_pairs(200),),
    proves="complete search; ends of floats are compared as they are",
    complexity="exponential",
    source="van de Velde 1993: tasks one after another, cut off by the Lagrangean bound",
)
def branch_and_bound(problem: IndependentTasks, control: Control) -> Solution:
    """Search all assignments depth first, those of least regret first, from the best plan so far.

    A plan is no shorter than the bound and the regrets of all its tasks. Each task goes to machines
    of ever greater regret, until the bound and the regrets so far reach the best plan. Tasks that
    are long wherever they run come first.
    """
    machine = first_machines(problem, control)
    assert machine is not None, "there are no limits"
    best, lower = assigned(problem, machine), best_bound(problem)
    if control.expired() or lower >= best.makespan:
        return Solution(schedule=best, lower_bound=lower)
    table = problem.table
    relaxation = relaxed(table, best.makespan, control)
    tasks = np.argsort(-table.min(axis=1), kind="stable")
    seconds, regret = table[tasks], relaxation.regret[tasks]
    count, machines = seconds.shape
    places = np.argsort(regret, axis=1, kind="stable")
    load, spent = np.zeros((count + 1, machines)), np.full(count + 1, relaxation.bound)
    tried, plan = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    found, state = machine[tasks], np.array([0.0, best.makespan])
    steps = 0
    while state[0] >= 0 and steps < MOST and not control.expired():
        form = search.at(steps)  # compiled only where a search turns out to be long
        form(*readonly(seconds, regret, places), load, spent, tried, plan, found, state, EACH)
        steps += EACH
    machine = np.empty(count, dtype=np.int64)
    machine[tasks] = found
    shorter = assigned(problem, machine)
    return Solution(
        schedule=shorter if shorter.makespan < best.makespan else best,
        lower_bound=max(lower, relaxation.bound),
        optimal=bool(state[0] < 0),
        stopped=bool(state[0] >= 0),
    )


@loop(pays_from=400_000)  # steps so far
def search(  # type: ignore[no-untyped-def]
    seconds, regret, places, load, spent, tried, plan, found, state, steps
):
    """Go on with a search for some steps; ``state``: how many tasks have a place, the best end.

    ``places`` holds the machines of each task (row) by regret, and ``tried`` how many of them it
    had. ``load`` of the machines (columns) and ``spent``, the bound with the regrets, are those of
    so many tasks (rows). ``plan`` are the machines now, ``found`` those of the best plan. The
    search is over where the number of tasks is -1.
    """
    count, machines = seconds.shape
    depth, best = int(state[0]), state[1]
    for _ in range(steps):
        if depth < 0:
            break
        if depth == count:
            end = load[depth].max()
            if end < best:
                best = end
                np.positive(plan, found)
            depth -= 1
            continue
        here = spent[depth]
        machine = places[depth, tried[depth]] if tried[depth] < machines else -1
        if machine < 0 or here + regret[depth, machine] >= best:
            tried[depth] = 0
            depth -= 1
            continue
        tried[depth] += 1
        end = load[depth, machine] + seconds[depth, machine]
        if end < best:
            np.positive(load[depth], load[depth + 1])
            load[depth + 1, machine] = end
            spent[depth + 1] = here + regret[depth, machine]
            plan[depth] = machine
            depth += 1
    state[0], state[1] = depth, best
