"""Rates of a plan on a tree: dual values of the programme of a tree with its choices fixed.

The load has no row of its own there. The makespan is homogeneous of degree 1 in the load and the
fixed costs, so the rates of these and Euler's theorem give that of the load; of the most load by a
deadline the same holds with the deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.core.sensitivity import Rate, Varied
from makespan.divisible.model.plan import computed
from makespan.divisible.model.tree import RULES, Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.trees.programme import TreeProgramme, siblings_of

STEP = 2.0**-20
"""Relative to what numbers are measured by in the programme."""
MAX_PAIRS = 2_000
"""Of siblings, each of which has rows in the programme."""
SAME = 1e-6


def varied_tree(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a tree.

    Complexity: a linear programme, and O(nodes + pairs of siblings) for each number.
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    if sum(len(children) ** 2 for children in tree.children) > 2 * MAX_PAIRS:
        note = f"costs: of more than {MAX_PAIRS:,} pairs of siblings there are no dual values"
        return Varied(rates=(), notes=(note,))
    schedule = schedule.renamed(tree.names)
    horizon = schedule.makespan if problem.load is not None else problem.deadline
    if not horizon:
        return Varied(rates=(), notes=("costs: nothing is done",))
    choices = _choices(tree, schedule)
    built = TreeProgramme(problem, horizon, choices)
    answer = built.programme.solve(Control())
    if answer.verdict is not Verdict.OPTIMAL:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    out = horizon if problem.load is not None else -built.unit
    best, value = answer.value * out, _value(problem, schedule)
    notes: tuple[str, ...] = ()
    if abs(best - value) > SAME * value:
        notes = (f"costs: of the best amounts in the order of the plan, which give {best:.8g}",)
    columns = {name: getattr(tree, name) for name in RULES}
    used = choices[len(tree) : 2 * len(tree)] > 0
    rates, fixed = [], 0.0
    asked = {tree.names.index(name) for name in machines}
    for index in range(len(tree)):
        for name, column in columns.items():
            there = tree.computes[index] if name.startswith("compute") else index != tree.root
            if not there or not (index in asked or (name.endswith("fixed") and column[index])):
                continue
            step = STEP * (horizon if name.endswith("fixed") else horizon / built.unit)
            change = 0.0
            if used[index]:
                more = column.copy()
                more[index] += step
                changed = Tree.from_arrays(
                    names=tree.names, parent=tree.parent, **{**columns, name: more}
                )
                again = replace(problem, platform=changed)
                other = TreeProgramme(again, horizon, choices, built.unit)
                change = built.programme.change(answer, other.programme) * out / step
            fixed += change * float(column[index]) if name.endswith("fixed") else 0.0
            if index in asked:
                cost, number = name.replace("_", ".", 1), float(column[index])
                rates.append(
                    Rate(machine=tree.names[index], cost=cost, value=number, change=change + 0.0)
                )
    name, goal = ("load", problem.load) if problem.load else ("deadline", problem.deadline)
    assert goal is not None
    whole = Rate(machine="", cost=name, value=goal, change=(best - fixed) / goal)
    return Varied(rates=(whole, *rates), notes=notes)


def _value(problem: DivisibleLoad, schedule: Schedule) -> float:
    return schedule.makespan if problem.load is not None else float(computed(schedule).sum())


def _choices(tree: Tree, schedule: Schedule) -> Floats:
    """Return who computes, who is served and who before whom in a plan, as the programme has it."""
    count = len(tree)
    computes, used = np.zeros((2, count))
    computes[schedule.machine[schedule.kind == Activity.COMPUTE]] = 1.0
    sends = schedule.rows_of(Activity.SEND)
    used[schedule.peer[sends]] = 1.0
    used[tree.root] = 1.0
    begun = np.full(count, np.inf)
    begun[schedule.peer[sends]] = schedule.start[sends]
    first = [float(begun[one] <= begun[other]) for one, other in siblings_of(tree)]
    return np.concatenate([computes, used, first])
