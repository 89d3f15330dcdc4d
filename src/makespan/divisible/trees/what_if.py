"""Rates of a plan on a tree: dual values of the programme of a tree with its choices fixed.

The load has no row of its own there. The makespan is homogeneous of degree 1 in the load and the
fixed costs: a share more of the load is worth that share of the makespan, and what it changes to
have as much less of all fixed costs. Of the most load by a deadline the same holds with the
deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from makespan.backends.highs import Programme
from makespan.backends.one_sided import SECONDS, Number, Sides, one_sided
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.core.sensitivity import Varied
from makespan.divisible.model.plan import computed
from makespan.divisible.model.tree import RULES, Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.trees.programme import TreeProgramme, siblings_of

MAX_PAIRS = 2_000
"""Of siblings, each of which has rows in the programme."""
SAME = 1e-6


def varied_tree(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a tree.

    Complexity: a linear programme, O(nodes + pairs of siblings) for each number, and a few pivots
    where it has a kink.
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
    sides = Sides(built.programme)
    if not sides.answer.found:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    out = horizon if problem.load is not None else -built.unit
    best, value = sides.answer.value * out, _value(problem, schedule)
    notes: tuple[str, ...] = ()
    if abs(best - value) > SAME * value:
        notes = (f"costs: of the best amounts in the order of the plan, which give {best:.8g}",)
    columns = {name: getattr(tree, name) for name in RULES}
    used = choices[len(tree) : 2 * len(tree)] > 0
    per_unit = horizon / built.unit

    def changed(more: dict[str, Floats]) -> Programme:
        """Return the programme with other columns, measured alike."""
        other = Tree.from_arrays(names=tree.names, parent=tree.parent, **{**columns, **more})
        again = replace(problem, platform=other)
        return TreeProgramme(again, horizon, choices, built.unit).programme

    def numbers() -> Iterator[Number]:
        yield _whole(problem, best, out, columns, changed)
        for index in sorted(tree.names.index(name) for name in machines):
            for name, column in columns.items():
                there = tree.computes[index] if name.startswith("compute") else index != tree.root
                if not there:
                    continue
                measure = horizon if name.endswith("fixed") else per_unit

                def stepped(
                    by: float, index: int = index, name: str = name, column: Floats = column
                ) -> Programme:
                    more = column.copy()
                    more[index] += by * (horizon if name.endswith("fixed") else per_unit)
                    return changed({name: more})

                cost, number = name.replace("_", ".", 1), float(column[index])
                yield Number(
                    tree.names[index], cost, number, out / measure, stepped if used[index] else None
                )

    rates, more = one_sided(sides, numbers(), Control(time_limit=SECONDS))
    return Varied(rates=tuple(rates), notes=(*notes, *more))


def _whole(
    problem: DivisibleLoad,
    best: float,
    out: float,
    columns: dict[str, Floats],
    changed: Callable[[dict[str, Floats]], Programme],
) -> Number:
    """Return the load, or the deadline: a share more of it is as much less of all fixed costs."""
    name, goal = ("load", problem.load) if problem.load else ("deadline", problem.deadline)
    assert goal is not None

    def stepped(by: float) -> Programme:
        fixed = (each for each in columns if each.endswith("fixed"))
        return changed({each: columns[each] * (1 - by) for each in fixed})

    return Number("", name, goal, out / goal, stepped, always=best / goal)


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
