"""The table over resources and totals, as published."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import pays
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.core.system.memory import claim
from makespan.partition.least_sum.plan import aimed_plan
from makespan.partition.model.choices import Choices
from makespan.partition.model.table import Flags
from makespan.partition.needs import LEAST_MAKESPAN_OR_TOTAL, LEXICOGRAPHIC
from makespan.partition.plan import plan, sum_at
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim, cap_of
from makespan.partition.threshold.sums import Expired, Sums

COMPILED_FROM = 1_000_000
"""From this many steps on, the compiled loop is worth loading."""
STEPS = 50_000_000
"""After so many steps the clock is read."""


@register(
    "partition",
    name="dynamic-programming",
    needs=(LEAST_MAKESPAN_OR_TOTAL, LEXICOGRAPHIC),
    proves="induction over the resources (Pilla 2022, theorem 1)",
    complexity="O(n T^2) time, O(n T) memory",
    source="Pilla 2022, algorithm 1, corrected: limits clamped to T, windows on the totals, "
    "infeasible problems recognised",
)
def dynamic_programming(problem: Partition, control: Control) -> Solution:
    """Optimum for any costs by the published table: all totals, resource after resource.

    The resources are taken from the last to the first, and only the values are kept, so that
    the plan is the lexicographically least among the optima.
    """
    summed, cap = problem.objective == "total", cap_of(problem)

    def search(_: Sums, aim: Aim) -> Solution | None:
        table = _table(problem.choices, aim.tasks, cap, summed, control)
        if table is None:
            raise Expired(0)
        if table[0][aim.tasks] == np.inf:
            return None
        entries = _trace(problem.choices, table, aim.tasks, cap, summed)
        objective = None
        if summed:
            value = sum_at(problem.choices.table.values, entries)
            objective = Objective(name="total", value=value, bound=value)
        return plan(problem, entries, optimal=True, notes=aim.notes, objective=objective)

    return aimed_plan(problem, control, search)


def _table(
    choices: Choices, tasks: int, cap: int, summed: bool, control: Control
) -> list[Floats] | None:
    """Return per row the best value of every total of this row and the later ones.

    Only totals are computed to which the earlier rows can add up to the tasks.
    """
    least = np.concatenate([[0], np.cumsum(choices.least_counts)]).tolist()
    most = np.concatenate([[0], np.cumsum(choices.greatest_counts)]).tolist()
    claim(8 * (len(choices) + 1) * (tasks + 1), f"a table of {len(choices):,} x {tasks:,} totals")
    row_function = _row_function(choices, tasks, control)
    values = np.full(tasks + 1, np.inf)
    values[0] = 0.0 if summed else -np.inf
    rows = [values]
    for row in range(len(choices) - 1, -1, -1):
        if control.expired():
            return None
        low, high = max(0, tasks - most[row]), tasks - least[row]
        values = np.full(tasks + 1, np.inf)
        if high >= low:
            row_function(row, rows[-1], cap, low, high, summed, values)
            if control.expired():
                return None
        rows.append(values)
    return rows[::-1]


RowFunction = Callable[[int, Floats, int, int, int, bool, Floats], None]


def _row_function(choices: Choices, tasks: int, control: Control) -> RowFunction:
    """Return what fills one row; where the time is up, the row is left unfinished."""
    if not pays(choices.size * (tasks + 1), COMPILED_FROM):
        return lambda *arguments: _plain_row(choices, *arguments)
    from makespan.partition.least_sum.kernels import table_row

    table = choices.table
    slice_ = max(1, STEPS // (tasks + 1))

    def compiled(
        row: int, old: Floats, cap: int, low: int, high: int, summed: bool, new: Floats
    ) -> None:
        for begin in range(int(choices.low[row]), int(choices.high[row]), slice_):
            end = min(begin + slice_, int(choices.high[row]))
            table_row(
                old, table.values, choices.bits, cap, table.listed, table.base[row], begin, end,
                low, high, summed, new,
            )  # fmt: skip
            if control.expired():
                return

    return compiled


def _plain_row(
    choices: Choices,
    row: int,
    old: Floats,
    cap: int,
    low: int,
    high: int,
    summed: bool,
    new: Floats,
) -> None:
    counts, costs, _ = _allowed(choices, row, cap)
    for count, cost in zip(counts.tolist(), costs.tolist(), strict=True):
        begin = max(low, count)
        if begin > high:
            break
        source = old[begin - count : high + 1 - count]
        extended = source + cost if summed else np.maximum(source, cost)
        np.minimum(new[begin : high + 1], extended, out=new[begin : high + 1])


def _allowed(choices: Choices, row: int, cap: int) -> tuple[Integers, Floats, Integers]:
    entries = choices.allowed(row, cap)
    return choices.table.counts_at(entries, row), choices.table.values[entries], entries


def _reaches(later: Floats, costs: Floats, value: float, summed: bool) -> Flags:
    """Return with which counts a value is reached, given the values of the later rows."""
    found: Flags = later + costs == value if summed else np.maximum(later, costs) <= value
    return found


def _trace(choices: Choices, table: list[Floats], tasks: int, cap: int, summed: bool) -> Integers:
    """Return each row's least count with which the value of the whole is still reached."""
    best = table[0][tasks]
    chosen, rest = [], tasks
    for row in range(len(choices)):
        counts, costs, entries = _allowed(choices, row, cap)
        fitting = counts <= rest
        counts, costs, entries = counts[fitting], costs[fitting], entries[fitting]
        later = table[row + 1][rest - counts]
        at = int(np.argmax(_reaches(later, costs, table[row][rest] if summed else best, summed)))
        chosen.append(int(entries[at]))
        rest -= int(counts[at])
    return np.array(chosen, dtype=np.int64)
